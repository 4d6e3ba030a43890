"""Solvers, one method per file. Each says which problems it takes, and why it refuses the others."""
