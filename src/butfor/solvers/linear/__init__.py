"""Linear models: a closed form for one inequality, an interior point for quadratic forms."""
