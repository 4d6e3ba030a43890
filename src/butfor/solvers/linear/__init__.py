"""Solvers for linear models: a closed form, and an interior point for quadratic costs."""
