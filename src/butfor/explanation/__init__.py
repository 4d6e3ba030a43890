"""The answer as plain data."""
