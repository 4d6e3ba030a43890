"""Robust answers of networks beside a point: whole programs over a small box, where most units stay on one side of 0.

Linear steps end at a kink. A program goes past it, and over a small box it takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.scores import ScoreSet
from butfor.problem.domain import Domain
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import tolerated
from butfor.solvers.robust.network_in_ball import NetworkInBall
from butfor.solvers.solver import Budget

BOX = 0.02
"""How far a number may move from the point, as a share of its range."""

PROGRAMS = 15
"""How many programs are solved. Each adds the shifts under which the answer of the last one failed."""

LATE = 1 / 2
"""The share of the time that is left for a last program, which asks for more than the target."""

MATTERS = 1e-3
"""How much more than a threshold, relative to 1 + its size, a score may be for its shift to matter."""


def look_around(
    network: NetworkInBall, shifts: Sequence[FloatArray], near: FloatArray, best: SetAnswer, budget: Budget
) -> tuple[SetAnswer, list[FloatArray]]:
    """A robust answer beside a point, or else the best one so far; and the shifts that matter where it was looked at last."""
    known, cost = network.tight(shifts, near, MATTERS) or [*shifts[:1]], 0.0
    late = LATE * budget.left()
    for number in range(1, PROGRAMS + 1):
        found = _beside(network, network.inside, known, near, best.cost, budget)
        if found.point is None or found.stopped:
            break
        near = found.point
        failures = network.failures(near, network.sure.b, budget.until)
        if not failures:
            best = replace(best, point=near, cost=found.cost)
            break
        known = network.joined(known, network.to_failures(near, failures))
        stands = abs(found.cost - cost) < tolerated(found.cost) / 4
        if stands or number == PROGRAMS or budget.left() < late:  # the shifts follow a kink, and come closer to it
            worst = np.array([failure.point for failure in failures])
            missing = 2 * float((network.sure.b - network.scores(worst)).max())
            firmer = replace(network.inside, b=network.inside.b + missing)
            deeper = _beside(network, firmer, known, near, best.cost, budget)
            if deeper.point is not None and not network.failures(deeper.point, network.sure.b, budget.until):
                best = replace(best, point=deeper.point, cost=deeper.cost)
            break
        cost = found.cost
    return best, network.tight(known, near, MATTERS)


def _beside(
    network: NetworkInBall,
    inside: ScoreSet,
    shifts: Sequence[FloatArray],
    point: FloatArray,
    limit: float,
    budget: Budget,
) -> SetAnswer:
    """The cheapest point near another one that lies in a score set under all of some shifts."""
    if budget.spent():
        return SetAnswer(None, np.inf, 0.0)
    problem, every = network.under(shifts, inside)
    return network.handing.cheapest(replace(problem, domain=_box(problem.domain, point)), every, limit, budget)


def _box(domain: Domain, point: FloatArray) -> Domain:
    """The values of numbers that are near to those of a point."""
    numbers = [j for j in np.flatnonzero(~np.isnan(point)).tolist() if j not in domain.levels]
    near, room = point[numbers], BOX * (domain.extent.high - domain.extent.low)[numbers]
    return domain.narrowed(numbers, near - room, near + room)
