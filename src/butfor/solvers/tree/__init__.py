"""One axis-aligned tree: every target leaf is a box."""
