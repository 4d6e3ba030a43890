"""Constraints: what a change must respect."""
