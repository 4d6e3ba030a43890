"""Which kernels belong together."""

from __future__ import annotations

from typing import NamedTuple


class Search(NamedTuple):
    """The kernels of a package.

    words: what the user knows it as; empty if it takes no time worth a word
    seconds: how long compiling takes on two processors, about
    apart: the kernels that another process compiles meanwhile; those that are called last
    """

    words: str
    seconds: int
    apart: tuple[str, ...] = ()


SEARCHES = {
    "butfor.model": Search("", 1),
    "butfor.solvers.tree": Search("trees", 3),
    "butfor.solvers.linear": Search("linear models", 2),
    "butfor.solvers.oblique": Search("oblique trees", 12),
    "butfor.solvers.swarm": Search("black boxes", 3),
    "butfor.solvers.ensemble": Search("sums of trees", 7, ("improve", "ascend", "regions", "carried")),
}
"""Each package with kernels."""


def search_of(module: str) -> str:
    """The package of `SEARCHES` that a module is in."""
    return next(name for name in SEARCHES if module.startswith(name))
