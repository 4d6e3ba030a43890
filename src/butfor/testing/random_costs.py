"""Random costs for tests of solvers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from butfor.problem.costs import L0, L1, L2, AbstractCost, LInf, Quadratic, Table
from butfor.problem.missing_price import Missing
from butfor.space.space import Space

Random = np.random.Generator


def random_cost(rng: Random, space: Space, kinds: Sequence[str]) -> AbstractCost:
    """A random cost of the allowed kinds, with weights."""
    weights = {name: float(rng.integers(1, 4)) for name in space.names if rng.random() < 0.5}
    made: dict[str, Any] = {
        "l1": lambda: L1(weights),
        "l2": lambda: L2(weights),
        "l0": lambda: L0(),
        "linf": lambda: LInf(weights),
        "mix": lambda: L1(weights) + 0.25 * L0() + 0.5 * L2(),
        "table": lambda: _random_table(rng, space) + L1(),
        "l1+l2": lambda: L1(weights) + 0.5 * L2(),
        "lost and found": lambda: _with_missing(rng, space, L1(weights) + 0.25 * L0()),
        "largest, lost and found": lambda: _with_missing(rng, space, LInf(weights) + 0.5 * L1()),
        "form": lambda: _random_form(rng, space),
        "form+linf": lambda: _random_form(rng, space) + LInf(weights),
    }
    cost: AbstractCost = made[str(rng.choice(list(kinds)))]()
    return cost


def _with_missing(rng: Random, space: Space, cost: AbstractCost) -> AbstractCost:
    """A cost with other prices for what becomes missing, and for what becomes known."""
    able = [feature.name for feature in space.features if feature.missing]
    lost, found = ({name: float(rng.integers(0, 5)) / 4 for name in able if rng.random() < 0.8} for _ in range(2))
    return cost + Missing(lost, found) if lost or found else cost


def _random_table(rng: Random, space: Space) -> AbstractCost:
    prices: dict[str, Any] = {}
    for feature in space.features:
        if feature.levels is None:
            continue
        pairs = [(a, b) for a in feature.levels for b in feature.levels if a != b]
        prices[feature.name] = {pair: float(rng.integers(0, 4)) / 2 for pair in pairs if rng.random() < 0.8}
    return Table(prices)


def _random_form(rng: Random, space: Space) -> AbstractCost:
    """A quadratic form of all numbers, sometimes a flat one. Levels have L1 prices."""
    numbers = tuple(feature.name for feature in space.features if feature.levels is None)
    if not numbers:
        return L1()
    root = rng.normal(size=(rng.integers(1, len(numbers) + 1), len(numbers)))
    return Quadratic(root.T @ root, columns=numbers) + L1(dict.fromkeys(numbers, 0.0))
