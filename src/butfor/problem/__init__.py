"""What is asked: target, cost, constraints; and the problem they make of a factual and a model."""
