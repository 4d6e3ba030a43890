"""The particle swarm: its own work, its share beside prediction, the compiled evaluator, and how far from the optimum it is."""
