"""Portfolios: answers to many rows, in a folder that is the whole state. Whatever is missing in it is done by the next call."""
