"""Forms of a problem, as arrays that several solvers share."""
