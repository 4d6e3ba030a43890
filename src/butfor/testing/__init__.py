"""The shipped kit: contracts that solvers and importers of your own can be tested with, and random problems."""
