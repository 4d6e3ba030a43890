"""Survival functions: curves, laws, and how raw scores are read as them."""
