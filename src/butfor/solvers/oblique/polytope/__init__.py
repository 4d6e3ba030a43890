"""Compiled: cheapest points of polytopes, few half-spaces, the price a sum over columns."""
