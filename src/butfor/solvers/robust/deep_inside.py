"""First robust answers of hard networks: points so deep inside that the adversary soon has no doubt.

Linear steps end beside the boundary of a network. Whether a point there is robust may take longer to tell than there is time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.solvers.combine import SetAnswer
from butfor.solvers.network.descent import Descent
from butfor.solvers.robust.bring_back import Better, among_rows, better, brought_back
from butfor.solvers.robust.network_in_ball import NetworkInBall
from butfor.solvers.solver import Budget

FIRST_DEPTH, DEPTHS_TRIED, SAME_DEPTH = 0.05, 10, 0.1
"""How deep inside it is aimed at first (as a share of the spread of scores), how often, and how near two depths are the same."""

CHECK_SECONDS, QUICK_SECONDS = 0.5, 0.1
"""How long it is looked at whether a point is robust: a good one, and one of many."""

HALVINGS_OF_NETWORKS = 3
"""How often the way back is halved, to bring one feature of an answer back. Judges of networks take long."""


def look_inside(network: NetworkInBall, shifts: Sequence[FloatArray], best: SetAnswer, budget: Budget) -> SetAnswer:
    """An answer where the adversary soon has no doubt, or else the best one so far."""
    found = _deeper(network, shifts, best, budget)
    if found.point is not None:
        return found
    quick = _judged_within(network, QUICK_SECONDS, budget)
    return among_rows(network.problem, network.sure, found, quick, budget)


def walk_back(network: NetworkInBall, best: SetAnswer, budget: Budget) -> SetAnswer:
    """An answer from deep inside, brought back towards the row."""
    quick = _judged_within(network, QUICK_SECONDS, budget)
    return brought_back(network.problem, best, quick, HALVINGS_OF_NETWORKS, budget)


def _judged_within(network: NetworkInBall, seconds: float, budget: Budget) -> Better:
    """Whether a point is a better answer, if that is known soon."""

    def is_robust(point: FloatArray) -> bool:
        return network.is_robust(point, min(budget.until, now() + seconds))

    return lambda point, best: better(network.problem, point, best, is_robust)


def _deeper(network: NetworkInBall, shifts: Sequence[FloatArray], best: SetAnswer, budget: Budget) -> SetAnswer:
    """Aim further inside, twice as far each time, and then less far, as long as there is no doubt."""
    examples = network.problem.witnesses.examples
    if examples is None:
        return best
    spread = network.scores(examples.examples).std(axis=0)
    checked = _judged_within(network, CHECK_SECONDS, budget)
    shallow, deep, depth = 0.0, np.inf, FIRST_DEPTH
    for _ in range(DEPTHS_TRIED):
        if budget.spent() or deep - shallow < SAME_DEPTH * deep < np.inf:
            break
        deeper = replace(network.inside, b=network.inside.b + depth * spread)
        descent = Descent(*network.under(shifts, deeper), budget)
        found = descent.best_from(descent.starts())
        if found is None:
            break
        robust = checked(found[0], replace(best, cost=np.inf))
        best = robust if robust is not None and robust.cost < best.cost else best
        shallow, deep = (shallow, depth) if robust else (depth, deep)
        depth = 2 * depth if deep == np.inf else (shallow + deep) / 2
    return best
