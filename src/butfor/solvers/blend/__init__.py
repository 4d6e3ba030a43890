"""Means of monotone functions of several sums of scores: boxes of sums, each solved by another exact solver."""
