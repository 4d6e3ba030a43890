"""Which kernels belong together."""

from __future__ import annotations

from collections.abc import Mapping
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


SEARCHES: dict[str, KernelGroup] = {}
"""Each package with kernels, those that take longest first. A package comes before the one that it is in."""

_examples: list[str] = []


def declare(searches: Mapping[str, KernelGroup], examples: str) -> None:
    """Say which packages have kernels, and which module has an example for each. What stands above says it."""
    SEARCHES.update(searches)
    _examples[:] = [examples]


def module_of_examples() -> str:
    """The module with an example for each search."""
    return _examples[0]


def search_of(module: str) -> str:
    """The package of `SEARCHES` that a module is in."""
    return next(name for name in SEARCHES if module.startswith(name))
