"""Sums of axis-aligned trees: dual bounds, local search, branching."""
