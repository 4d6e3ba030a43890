"""Columns that belong together, as one column."""
