"""The worst row of a ball or a box, for a sum of trees."""
