"""Look near the row first: programs measure numbers in the width of what they may become, and that may be far too wide.

A column that says 999999999 for "unknown" has a range in which HiGHS cannot tell usual values apart. So numbers with such a
range are kept in a window around the row. To leave the window costs something. If the answer inside costs no more than
that, it is the cheapest of all; otherwise the window grows until it is so wide, or as wide as the range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.questions import cuts
from butfor.problem.constraints.implications import Event, Implication
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.problem import Problem
from butfor.solvers.milp.relations import end_of
from butfor.solvers.outcome import Outcome, better_of, to_beat
from butfor.solvers.solver import Budget

WIDE = 1e4
"""A range is too wide if it has more than so many typical changes."""

FIRST_REACH, FARTHER, ON = 100.0, 4.0, 1000.0
"""The first window is so many typical changes wide to each side. It grows by the second factor to let in all that is cheaper
than a known answer, and by the third to find any answer."""


def nearest_first(problem: Problem, solve: Callable[[Problem], Outcome], budget: Budget) -> Outcome:
    """Solve for the only row in windows that grow."""
    scale = _typical_changes(problem)
    if scale is None:
        return solve(problem)
    best, reach = None, FIRST_REACH * scale
    while True:
        inside, least = _window(problem, reach)
        found = solve(inside)
        if np.isfinite(least):
            found = replace(found, notes={}, bound=np.minimum(found.bound, least))
        best = found if best is None else better_of(best, found)
        cost, bound = float(best.cost[0]), float(best.bound[0])
        if np.isinf(least) or bound >= to_beat(cost, 1 / 2) or budget.spent():
            return best
        if np.isinf(cost):
            reach = ON * reach
            continue
        wider = _wide_enough(problem, reach, cost)
        if wider is None:  # the bound is not that of the window
            return best
        reach = wider


def _wide_enough(problem: Problem, reach: FloatArray, cost: float) -> FloatArray | None:
    """Windows that nothing leaves that costs less; None if these are such already."""
    each = _leaving(problem, reach)
    if each.min(initial=np.inf) >= cost:
        return None
    reach = reach.copy()
    while (low := _leaving(problem, reach) < cost).any():
        reach[low] *= FARTHER
    return reach


def _window(problem: Problem, reach: FloatArray) -> tuple[Problem, float]:
    """The problem with numbers that stay near the row, and what it costs at least to leave the window."""
    middle, domain = _middle(problem), problem.domain
    low, high = np.maximum(domain.low, middle - reach), np.minimum(domain.high, middle + reach)
    domain = replace(domain, low=low, high=high)
    return replace(problem, domain=domain), float(_leaving(problem, reach).min(initial=np.inf))


def _middle(problem: Problem) -> FloatArray:
    """The row, and typical numbers where it has none."""
    row = problem.factuals[0]
    return np.where(np.isnan(row), problem.domain.typical, row)


def _leaving(problem: Problem, reach: FloatArray) -> FloatArray:
    """What it costs at least that a number leaves its window (features). It is infinite if there is nothing beyond."""
    middle, domain, prices = _middle(problem), problem.domain, problem.prices
    out = np.full(len(middle), np.inf)
    for j in np.flatnonzero(np.isfinite(reach)).tolist():
        ends = np.array([middle[j] - reach[j], middle[j] + reach[j]])
        beyond = np.array([domain.low[0, j] < ends[0], domain.high[0, j] > ends[1]])
        if beyond.any():
            start, ends = problem.factuals[:, [j]], ends[beyond][None]
            out[j] = (prices.separable(j, start, ends) + prices.reach(j, start, ends)).min()
    return out


def _typical_changes(problem: Problem) -> FloatArray | None:
    """A typical change of each number whose range is too wide (others: infinite); None if no range is."""
    domain, middle = problem.domain, _middle(problem)
    size = np.array([_typical(problem, j, float(x)) for j, x in enumerate(middle.tolist())])
    size = _for_relations(problem, size)
    width = np.array([domain.width(j) for j in range(len(size))])
    wide = domain.movable & (size > 0) & (width > WIDE * size)
    wide[list(domain.levels)] = False
    return np.where(wide, size, np.inf) if wide.any() else None


def _typical(problem: Problem, j: int, x: float) -> float:
    """The deviation that is typical in the data, or from the edges of the model's cells; 0 if nothing is known."""
    feature = problem.space.features[j]
    if feature.levels is not None:
        return 0.0
    edges = np.abs(cuts(problem.model, j) - x)
    return max(feature.mad, float(np.median(edges)) if len(edges) else 0.0, float(problem.domain.step[j]))


def _for_relations(problem: Problem, size: FloatArray) -> FloatArray:
    """Changes that are large enough to mend a relation which the row breaks, and for events."""
    index, size, row = problem.space.index, size.copy(), problem.factuals[0]
    for relation in problem.relations_of(Implication):
        for name, part in zip(relation.numbers, (relation.cause, relation.consequence), strict=True):
            j = index(name)
            if j not in problem.domain.levels:
                change = part.by if isinstance(part, Event) else _to_end(part, float(row[j]))
                size[j] = max(size[j], change)
    for one in problem.relations_of(LinearRelation):
        columns, levels = one.of_numbers(problem.space), one.of_levels(problem.space)
        if one.holds_between(problem.space, row[None], row[None])[0] or np.isnan(row[[*columns, *levels]]).any():
            continue
        total = sum(float(terms[int(row[j])]) for j, terms in levels.items())
        missed = abs(total + sum(float(weight) * row[j] for j, weight in columns.items()) - one.bound)
        for j, weight in columns.items():
            size[j] = max(size[j], missed / float(abs(weight)) / FIRST_REACH) if size[j] and weight else 0.0
    return size


def _to_end(part: Between | Allowed, x: float) -> float:
    """A change that leads from a number to where a column should end, or not: a share of it reaches in the first window."""
    if not isinstance(part, Between) or np.isnan(x):
        return 0.0
    sign, end = end_of(part)
    return abs(sign * x - end) / FIRST_REACH
