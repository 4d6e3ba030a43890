"""The contracts of solvers are asked in two parts."""

from tests.part_of_seeds import part_of_seeds, pytest_generate_tests

__all__ = ["part_of_seeds", "pytest_generate_tests"]
