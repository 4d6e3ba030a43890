"""What changes cost, in the words of the proof: prices that are added up, what they reach, and a quadratic form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray
from butfor.problem.prices import Prices
from butfor.problem.problem import Problem
from butfor.proof.model_files import hexes
from butfor.proof.wanted import not_asked
from butfor.space.space import Space

FORM_BLUR = 2.0**-48
"""By which share of the largest sum of a row an eigenvalue of a quadratic form may be below 0, for each of its columns."""


def added_prices(problem: Problem, *, before_weights: bool, lost: BoolArray) -> Prices:
    """The prices, of which those that are added up count: all of them, or the dearest one.

    Before weights, squares of numbers that stay known go into the form, if something is added that columns share.
    """
    given = problem.prices
    if given.is_largest:
        levels = {j: len(one.levels) + 1 for j, one in enumerate(problem.space) if one.levels is not None}
        none = np.zeros(len(given.l1))
        return given.added_above.plus("l1", none, none, {j: np.zeros((size, size)) for j, size in levels.items()})
    if not before_weights or given.is_added:
        return given
    number = np.array([feature.levels is None for feature in problem.space])
    moved = np.where(number & ~lost, given.l2, 0.0)
    return replace(given, l2=given.l2 - moved, Q=np.diag(moved) + (0 if given.Q is None else given.Q))


def reach_of_number(prices: Prices, j: int, *, known: bool, lost: bool) -> list[float]:
    """What a number reaches by any change, per unit, and by becoming missing."""
    lose, find = prices.linf_missing[:, j].tolist()
    return [0.0, float(prices.linf[j]), lose if lost else 0.0] if known else [find, 0.0, 0.0]


def form_of(prices: Prices, space: Space, lost: BoolArray) -> dict[str, Any]:
    """A quadratic form of changes that is added to prices, if there is one. Raises an error if it is about missing numbers."""
    whole = prices.Q
    at = np.flatnonzero(whole.any(axis=0)) if whole is not None else np.zeros(0, dtype=np.intp)
    if whole is None or not len(at):
        return {}
    named = [space.features[j].name for j in at.tolist() if lost[j]]
    if named:
        raise not_asked(f"a quadratic form of {named[0]!r}, which may be missing")
    Q = (whole[np.ix_(at, at)] + whole[np.ix_(at, at)].T) / 2
    off = FORM_BLUR * len(Q) * float(np.abs(Q).sum(axis=1).max())  # eigenvalues are found up to this
    off = 0.0 if float(np.linalg.eigvalsh(Q).min()) > off else off
    return {"columns": at.tolist(), "q": hexes(Q.tolist()), "off": off.hex()}
