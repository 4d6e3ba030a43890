"""Answers that keep a distance to earlier ones."""
