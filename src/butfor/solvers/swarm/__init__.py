"""Any model that predicts: a particle swarm and a polish."""
