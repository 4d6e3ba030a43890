"""Counterfactual explanations of survival models: the paper's tables and figures."""
