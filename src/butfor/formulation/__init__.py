"""The problem as arrays that several solvers share."""
