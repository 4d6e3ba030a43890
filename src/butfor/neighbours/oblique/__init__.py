"""The worst row near a row, for oblique trees: which leaves a ball reaches."""
