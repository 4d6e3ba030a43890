"""The problem: the target, the prices of changes, and what a change must respect."""
