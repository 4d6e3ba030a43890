"""Targets: what the model is to predict instead."""
