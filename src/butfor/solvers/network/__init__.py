"""Exact answers for piecewise linear networks.

directions: how a row may change, direction by direction, and what that costs
ball: what the directions can reach within the cost of a known answer
units: the ranges of all units of a network within a ball, and lines above and below them
rows: what is known of the units, as rows of a mixed-integer program
wanted: how far scores are inside a score set, and where they go
descent: good answers, by linear steps from real rows
exact: the solver
"""
