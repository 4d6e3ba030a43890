"""butfor's own models: small and frozen, over raw features, each with a simple evaluator."""
