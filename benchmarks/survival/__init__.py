"""How fast survival is: the compiled evaluator, Cox models by the thousand, forests to the proof, the full swarm."""
