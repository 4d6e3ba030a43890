"""The later check of an answer, by anybody who has the model."""
