"""A kit for testing your own solvers and importers: contracts, and random problems."""
