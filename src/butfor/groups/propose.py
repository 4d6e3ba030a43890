"""Actions worth trying for many rows, made of the rows' own cheapest answers.

Rows whose answers change the same columns in the same directions form a pattern. From each pattern come actions of
several sizes: amounts that suffice for a quarter of its rows, for half of them, for three quarters, and for all. Patterns
are also joined, because one row may need what another does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from math import ceil, floor, log10, prod

import numpy as np

from butfor.arrays import FloatArray
from butfor.groups.action import Action
from butfor.space.feature import Feature
from butfor.space.space import Space, same

MOST_PROPOSED = 500
"""How many actions are tried at most."""

SHARES_SERVED = (0.25, 0.5, 0.75, 1.0)
"""For which shares of the answers that move a column one way its amounts suffice."""

FULL_GRID = 64
"""A pattern with at most this many combinations of amounts is tried in all of them; a larger one in equal shares."""

PATTERNS_JOINED = 8
"""How many of the most frequent patterns are joined, in pairs and one after the other."""

SMALLER = (0.9, 0.75, 0.5, 0.25)
"""The shares of an amount that are tried in place of it."""

LEAST_AMOUNT = 1e-3
"""A smaller share of a range is not worth telling people."""

SIGNIFICANT = 2
"""Amounts are rounded up to so many digits. People remember "+3000"."""

Pattern = frozenset[tuple[int, float]]
"""Column and direction (1 or -1) of numbers, column and code of levels."""


def proposals(space: Space, start: FloatArray, points: FloatArray) -> list[Action]:
    """Actions that may serve many rows. `points` are answers to the rows `start` (all NaN: none)."""
    sizes: dict[tuple[int, float], list[float]] = defaultdict(list)
    rows_of: dict[Pattern, int] = defaultdict(int)
    for before, after in zip(start, points, strict=True):
        pattern = _pattern(space, before, after)
        rows_of[pattern] += bool(pattern)
        for j, way in pattern:
            sizes[j, way].append(abs(after[j] - before[j]))
    frequent = sorted((p for p in rows_of if p), key=lambda p: (-rows_of[p], sorted(p)))
    patterns = list(dict.fromkeys([*frequent, *_joined(frequent[:PATTERNS_JOINED])]))
    amounts = {part: _amounts(space.features[part[0]], found) for part, found in sizes.items()}
    every = (
        action
        for sized in (_in_equal_shares, _in_all_sizes)
        for pattern in patterns
        for action in sized(space, sorted(pattern), amounts)
    )
    found: dict[Action, None] = {}
    for action in every:
        found[action] = None
        if len(found) == MOST_PROPOSED:
            break
    return list(found)


def smaller(action: Action, space: Space) -> list[Action]:
    """The action with one amount smaller, or without one of its changes."""
    found: dict[Action, None] = {}
    for i, (name, amount) in enumerate(action.amounts):
        others = action.amounts[:i] + action.amounts[i + 1 :]
        found[Action(others, action.levels)] = None
        for share in SMALLER:
            less = float(np.copysign(_rounded_up(share * abs(amount), space[name]), amount))
            if abs(less) < abs(amount):
                found[Action((*action.amounts[:i], (name, less), *action.amounts[i + 1 :]), action.levels)] = None
    for i in range(len(action.levels)):
        found[Action(action.amounts, action.levels[:i] + action.levels[i + 1 :])] = None
    return [one for one in found if one.changes]


def _pattern(space: Space, before: FloatArray, after: FloatArray) -> Pattern:
    """What an answer changes. Empty if there is none, or if a number becomes known or missing."""
    moved = np.flatnonzero(~same(before, after))
    numbers = [j for j in moved.tolist() if space.features[j].levels is None]
    if np.isnan(after[moved]).any() or np.isnan(before[numbers]).any():
        return frozenset()
    ways = {j: float(np.sign(after[j] - before[j])) if j in numbers else float(after[j]) for j in moved.tolist()}
    return frozenset(ways.items())


def _joined(patterns: list[Pattern]) -> Iterator[Pattern]:
    """Two patterns at once, and the first few of them, as far as they do not contradict each other."""
    for one, other in combinations(patterns, 2):
        if _compatible(one, other):
            yield one | other
    whole: Pattern = frozenset()
    for pattern in patterns:
        if _compatible(whole, pattern):
            whole |= pattern
            yield whole


def _compatible(one: Pattern, other: Pattern) -> bool:
    """Whether no column would have to go two ways."""
    both = one | other
    return len({j for j, _ in both}) == len(both)


def _amounts(feature: Feature, sizes: list[float]) -> list[float]:
    """The amounts that suffice for the shares of the rows, easy to remember; of a level, none."""
    if feature.levels is not None:
        return [0.0]
    quantiles = np.quantile(sizes, SHARES_SERVED, method="higher")
    return [_rounded_up(float(size), feature) for size in quantiles]


def _rounded_up(size: float, feature: Feature) -> float:
    """An amount of at least this size, with few digits and on the grid of the column, within its range."""
    size = max(size, LEAST_AMOUNT * feature.range)
    unit = 10.0 ** (floor(log10(size)) + 1 - SIGNIFICANT)
    unit = max(unit, feature.step)
    rounded = ceil(size / unit - 1e-9) * unit
    if feature.step:
        rounded = ceil(rounded / feature.step - 1e-9) * feature.step
    return float(f"{min(rounded, max(feature.range, size)):.12g}")


def _in_equal_shares(
    space: Space, parts: list[tuple[int, float]], amounts: dict[tuple[int, float], list[float]]
) -> Iterator[Action]:
    """One action for each share, with the amount of each column that suffices for this share."""
    for i in range(len(SHARES_SERVED)):
        yield _action(space, parts, [amounts[part][min(i, len(amounts[part]) - 1)] for part in parts])


def _in_all_sizes(
    space: Space, parts: list[tuple[int, float]], amounts: dict[tuple[int, float], list[float]]
) -> Iterator[Action]:
    """All combinations of amounts, if there are not too many."""
    every = [list(dict.fromkeys(amounts[part])) for part in parts]
    if prod(len(sizes) for sizes in every) <= FULL_GRID:
        for sizes in product(*every):
            yield _action(space, parts, list(sizes))


def _action(space: Space, parts: list[tuple[int, float]], sizes: list[float]) -> Action:
    amounts = [
        (space.names[j], way * size)
        for (j, way), size in zip(parts, sizes, strict=True)
        if space.features[j].levels is None
    ]
    levels = [
        (space.names[j], space.features[j].value(way)) for j, way in parts if space.features[j].levels is not None
    ]
    return Action(tuple(amounts), tuple(levels))
