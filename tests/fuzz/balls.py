"""Balls around answers: random ones, and their neighbours by plain enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from butfor.arrays import FloatArray
from tests.fuzz.columns import Known, Random
from tests.fuzz.rules import Rule

PARTS_OF_A_RADIUS = (-1.0, -0.7, -0.5, 0.5, 0.7, 1.0)
"""Where real numbers are looked at in a ball, as shares of its radius."""


def random_ball(rng: Random, facts: Sequence[Known]) -> Rule | None:
    """A ball of shifts of one or two columns of numbers, if there are some. Among whole numbers it is a box."""
    numbers = [
        fact for fact in facts if not fact.levels and not fact.binary and not fact.single and abs(fact.high) < 1e6
    ]
    if not numbers:
        return None
    chosen = [numbers[int(k)] for k in rng.permutation(len(numbers))[: int(rng.integers(1, 3))]]
    radii = tuple(float(fact.step or rng.choice([0.02, 0.1]) * (fact.high - fact.low)) for fact in chosen)
    norm = "linf" if any(fact.step for fact in chosen) else str(rng.choice(["linf", "l2", "l1"]))
    return Rule("robust", tuple(fact.name for fact in chosen), (radii, norm))


def sampled(rule: Rule, facts: Sequence[Known]) -> bool:
    """Whether the ball holds more neighbours than those that are enumerated."""
    return any(fact.name in rule.names and fact.real for fact in facts)


def neighbours(rule: Rule, facts: Sequence[Known], points: FloatArray) -> FloatArray:
    """The neighbours of each point, the point among them: (points, neighbours, columns). Missing values stay missing."""
    place = [[fact.name for fact in facts].index(name) for name in rule.names]
    ways = []
    for j, radius in zip(place, rule.given[0], strict=True):
        step = facts[j].step
        most = int(np.floor(radius / step + 1e-9)) if step else 0
        shifts = step * np.arange(-most, most + 1) if step else radius * np.array([0.0, *PARTS_OF_A_RADIUS])
        ways.append(shifts.tolist())
    every = np.array(list(product(*ways)))
    share = np.abs(every) / rule.given[0]
    size = {"linf": share.max(axis=1), "l2": np.linalg.norm(share, axis=1), "l1": share.sum(axis=1)}[rule.given[1]]
    every = every[size <= 1]
    out = np.repeat(points[:, None], len(every), axis=1)
    out[:, :, place] += every
    return out
