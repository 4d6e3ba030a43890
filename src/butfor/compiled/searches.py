"""Which kernels belong together."""

from __future__ import annotations

from typing import NamedTuple


class KernelGroup(NamedTuple):
    """The kernels of a package that Python calls.

    words: what the user knows it as; empty if it takes no time worth a word
    seconds: how long compiling takes on two processors that have nothing else to do, about
    shares: which kernels one process compiles, if there are several; those of the first are called first
    """

    words: str
    seconds: int
    shares: tuple[tuple[str, ...], ...]


SEARCHES = {
    "butfor.solvers.ensemble": KernelGroup(
        "sums of trees",
        10,
        (
            ("walk", "kept", "improve", "least_prices"),
            ("reduced", "regions", "tighten", "reach", "parted", "ascend", "branching", "carried"),
        ),
    ),
    "butfor.solvers.oblique": KernelGroup("oblique trees", 12, (("nearest_leaves", "side_bounds"),)),
    "butfor.solvers.tree": KernelGroup("trees", 3, (("nearest_leaves",),)),
    "butfor.solvers.swarm": KernelGroup(
        "black boxes", 3, (("decode", "move", "take_over", "add_prices", "uniform_pair"),)
    ),
    "butfor.solvers.linear": KernelGroup(
        "linear models", 2, (("_rise", "rise_at_once", "_fewest_changes", "cheapest_choices"),)
    ),
    "butfor.model.adversary": KernelGroup(
        "what a sum of trees does nearby", 4, (("begin_search", "merged"), ("search",))
    ),
    "butfor.trees.tao": KernelGroup("", 4, (("descend", "paths", "logistic"),)),
    "butfor.model": KernelGroup("", 1, (("add_leaves", "add_leaves_of_numbers"),)),
}
"""Each package with kernels, those that take longest first. A package comes before the one that it is in."""


def search_of(module: str) -> str:
    """The package of `SEARCHES` that a module is in."""
    return next(name for name in SEARCHES if module.startswith(name))
