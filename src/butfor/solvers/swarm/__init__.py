"""The solver for any model that predicts: a particle swarm and a polish."""
