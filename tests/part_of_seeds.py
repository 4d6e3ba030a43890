"""The contract of a solver: the short run asks a part of its random problems, and the long run the others as well."""

from __future__ import annotations

from typing import Any

import pytest

from butfor.testing.solver_contract import SolverContract

SHARE, LEAST, MOST = 200, 5, 6
"""The short run takes one in how many of the seeds, but no fewer and no more than these."""


def pytest_generate_tests(metafunc: Any) -> None:
    if metafunc.cls is not None and issubclass(metafunc.cls, SolverContract) and metafunc.cls.exact:
        parts = ["first seeds", pytest.param("other seeds", marks=pytest.mark.long)]
        metafunc.parametrize("part_of_seeds", parts, indirect=True)


@pytest.fixture(autouse=True)
def part_of_seeds(request: Any) -> None:
    """The seeds that a test of a contract takes. Other tests are left as they are."""
    if hasattr(request, "param"):
        seeds = request.cls.seeds
        count = min(max(len(seeds) // SHARE, LEAST), MOST)
        request.instance.seeds = seeds[:count] if request.param == "first seeds" else seeds[count:]
