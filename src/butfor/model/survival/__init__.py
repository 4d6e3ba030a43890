"""Survival functions: curves, laws, and readouts that turn raw scores into them."""
