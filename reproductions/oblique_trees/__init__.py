"""Carreira-Perpinan and Hada, "Counterfactual explanations for oblique decision trees", AAAI 2021."""
