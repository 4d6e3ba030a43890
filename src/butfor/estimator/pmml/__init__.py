"""Models in PMML, read and asked without any library: trees, sums and votes of them, regressions, scorecards."""
