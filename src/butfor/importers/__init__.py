"""From a fitted estimator to our own form of the model."""
