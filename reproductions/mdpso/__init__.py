"""Mixed-discrete particle swarms beside their rivals: Table II of the paper."""
