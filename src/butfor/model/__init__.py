"""The IR: small frozen models over raw features, each with a slow obvious evaluator."""
