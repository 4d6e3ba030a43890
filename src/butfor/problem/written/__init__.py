"""Costs and constraints that are written as text, in Python or on a command line."""
