"""Answers that stay valid in a whole ball around them."""
