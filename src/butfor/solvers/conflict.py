"""Find a smallest set of constraints that already makes a problem impossible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.solvers.solver import Budget
from butfor.space.space import Space

Impossible = Callable[[Sequence[AbstractConstraint], bool], bool]
"""A function: is the problem with only these constraints proven impossible? The flag widens the ranges of numbers."""

RANGES = "the ranges of the data"
MODEL = "the model itself"


def smallest_conflict(atoms: Sequence[AbstractConstraint], impossible: Impossible, budget: Budget) -> tuple[str, ...]:
    """A smallest conflicting set, in words. It is only irreducible if the budget ends first.

    First an irreducible set is found by halving (Junker, QUICKXPLAIN, AAAI 2004). Then all smaller sets are tried.
    """
    if impossible([], False):
        return (MODEL,) if impossible([], True) else (RANGES,)
    kept = _irreducible([], False, list(atoms)[::-1], impossible, budget)[::-1]
    for size in range(1, len(kept)):
        for chosen in combinations(atoms, size):
            if budget.spent():
                break
            if impossible(chosen, False):
                return _words(chosen, impossible, budget)
    return _words(kept, impossible, budget)


def _irreducible(
    base: list[AbstractConstraint],
    added: bool,
    atoms: list[AbstractConstraint],
    impossible: Impossible,
    budget: Budget,
) -> list[AbstractConstraint]:
    """An irreducible part of `atoms` that contradicts `base`.

    It is empty if `base` is contradictory by itself. This is tested only if something was just `added` to `base`.
    """
    if added and impossible(base, False):
        return []
    if len(atoms) == 1 or budget.spent():
        return atoms
    first, second = atoms[: len(atoms) // 2], atoms[len(atoms) // 2 :]
    late = _irreducible([*base, *first], True, second, impossible, budget)
    return [*_irreducible([*base, *late], bool(late), first, impossible, budget), *late]


def _words(chosen: Sequence[AbstractConstraint], impossible: Impossible, budget: Budget) -> tuple[str, ...]:
    words = tuple(repr(atom) for atom in chosen)
    return words if budget.spent() or impossible(chosen, True) else (*words, RANGES)


def widened(space: Space) -> Space:
    """The same space with wider ranges: a thousand ranges more on both sides of each."""
    return Space(
        tuple(
            feature
            if feature.levels is not None
            else replace(
                feature,
                low=float(np.floor(feature.low - 1000 * feature.range)),
                high=float(np.ceil(feature.high + 1000 * feature.range)),
            )
            for feature in space.features
        )
    )
