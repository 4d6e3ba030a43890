"""Oblique trees: what one leaf costs to solve, and with which solver.

`python -m benchmarks.oblique.qp_solvers` measures (a few minutes) every contender that is installed and names the others.
"""
