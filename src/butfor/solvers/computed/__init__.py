"""Columns that are computed from others.

- `columns.py`: the solver: it puts the cheapest places in place of each group of such columns, and solves what is left;
- `places.py`: the places of a group, cheapest first;
- `axes.py`: the cells of a single free column;
- `inside.py`: the cheapest point of a place.
"""
