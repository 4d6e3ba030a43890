"""Supervised feature compression based on counterfactual analysis, reproduced and taken further."""
