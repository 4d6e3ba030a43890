"""Sums of trees: how fast the optimum is proven, what rivals need and find, and how it grows.

`python -m benchmarks.ensembles` measures (about 25 minutes; RIVAL_PYTHON names a Python 3.12 for the rivals), and
`python -m benchmarks.ensembles.report` makes the page and the picture of the documentation from what was written.
"""
