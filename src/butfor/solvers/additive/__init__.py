"""Sums of functions of single columns. `lines.py` bounds each piece of a column by lines, `knapsack.py` chooses and refines."""
