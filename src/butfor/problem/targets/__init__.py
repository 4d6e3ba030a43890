"""What the model is to say instead."""
