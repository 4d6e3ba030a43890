"""Cost against radius: answers that stay valid in larger and larger balls."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from butfor.errors import InputError, number
from butfor.explanation.explanation import Explanation
from butfor.explanation.front import Front
from butfor.problem.constraints.robust import Robust
from butfor.solvers.outcome import Status

Solve = Callable[[Robust | None, int], Explanation]
"""The answer that is robust in a ball (None: no ball), when so many radii are left."""


def front(radii: Iterable[float], norm: str, solve: Solve, stays: Callable[[Explanation, Robust], bool]) -> Front:
    """The cheapest answers at some radii, smallest first.

    An answer that stays valid at the next radius is the cheapest there, too. An answer at a radius is one at all
    smaller radii, and a bound holds for all larger ones: both are passed on.
    """
    lengths = _ascending(radii)
    answers: list[Explanation] = []
    for at, radius in enumerate(lengths):
        ball = Robust(radius, norm) if radius else None
        if answers and _settles(answers[-1], ball, stays):
            answers.append(answers[-1])
        else:
            answers.append(solve(ball, len(lengths) - at))
    costs = np.array([answer.cost for answer in answers])
    bounds = np.maximum.accumulate([answer.certificate.bound for answer in answers])
    for at in range(len(answers) - 2, -1, -1):
        if costs[at + 1] < costs[at]:
            costs[at], answers[at] = costs[at + 1], answers[at + 1]
    return Front(np.array(lengths), costs, np.minimum(bounds, costs), answers)


def _settles(answer: Explanation, ball: Robust | None, stays: Callable[[Explanation, Robust], bool]) -> bool:
    """Whether an answer at a smaller radius settles what happens at a larger one."""
    if answer.certificate.status is Status.PROVEN_INFEASIBLE:
        return True
    return ball is not None and answer.certificate.status is Status.PROVEN_OPTIMAL and stays(answer, ball)


def _ascending(radii: Iterable[float]) -> list[float]:
    given = [number(one, f"radii={radii!r} was given.", "Radii must be numbers.") for one in radii]
    if not given or not all(np.isfinite(one) and one >= 0 for one in given):
        raise InputError(f"radii={radii!r} was given.", "At least one is needed, all finite and not negative.")
    return sorted(set(given))
