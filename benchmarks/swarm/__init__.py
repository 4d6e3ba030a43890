"""The particle swarm: its own work, its share beside prediction, the compiled evaluator, the optimum, and rivals."""
