"""Importers: from a fitted estimator to butfor's own form of the model."""
