"""The solver for answers that must be one of given rows. It takes any model."""
