"""How far away the nearest row is that misses a target, in a round norm. It is the cheapest change that leads out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.scores import ScoreSet
from butfor.neighbours.ball import Ball, BallNorm
from butfor.problem.domain import Domain
from butfor.problem.prices import Prices
from butfor.problem.problem import Problem
from butfor.solvers.choose import choose
from butfor.solvers.outcome import tolerated
from butfor.solvers.solver import Budget

WHOLE = 1e6
"""What the whole radius costs. Solvers are exact to a millionth of 1 and of the cost, which is little beside this."""


def nearest_miss(problem: Problem, score_set: ScoreSet, ball: Ball, budget: Budget) -> tuple[float, FloatArray | None]:
    """Within which share of a ball around the only row no row leaves a set of scores, and one that does behind it.

    The row is None if none was found in the ball.
    """
    asked = replace(
        problem,
        score_sets=_missed(score_set),
        prices=_lengths(ball),
        domain=_box(problem.domain, ball),
    ).with_witnesses(confirmation=None)  # it speaks of the target itself
    solver, _ = choose(asked.form())
    found = solver.solve(asked, budget)
    bound = float(found.bound[0])
    if bound >= WHOLE:
        return 1.0, None
    least = max(0.0, bound - tolerated(bound)) / WHOLE
    missed = found.points[0] if found.found()[0] and found.cost[0] <= WHOLE else None
    return least if ball.norm is BallNorm.L1 else float(np.sqrt(least)), missed


def _missed(score_set: ScoreSet) -> tuple[ScoreSet, ...]:
    """Where each of the inequalities of a set does not hold."""
    return tuple(
        replace(
            score_set,
            A=-score_set.A[[i]],
            b=-score_set.b[..., [i]],
            strict=~score_set.strict[[i]],
            below=np.broadcast_to(score_set.above, score_set.strict.shape)[[i]],
            above=np.broadcast_to(score_set.below, score_set.strict.shape)[[i]],
        )
        for i in range(len(score_set.A))
    )


def _lengths(ball: Ball) -> Prices:
    """A shift costs its length, or the square of it, and a slip nothing."""
    nothing = np.zeros(len(ball.radius))
    lost = np.stack([nothing, nothing])
    share = np.divide(1.0, ball.radius, out=nothing.copy(), where=ball.radius > 0)
    prices = Prices(l0=nothing, l1=nothing, l2=nothing, linf=nothing, missing=lost, linf_missing=lost)
    if ball.norm is BallNorm.L1:
        return replace(prices, l1=WHOLE * share)
    return replace(prices, l2=WHOLE * share**2)


def _box(domain: Domain, ball: Ball) -> Domain:
    """The ball's own box, which may reach beyond the ranges of the columns, and what levels may slip to. The rest stays."""
    levels = {j: np.zeros_like(able) for j, able in domain.levels.items()}
    for j in ball.slips.seen:
        seen = ball.slips.seen_as(j, float(domain.factuals[0, j]))
        levels[j][:, seen[~np.isnan(seen)].astype(np.intp)] = True
    moved = (ball.radius > 0) & ~np.isnan(domain.factuals)
    return replace(
        domain,
        low=np.where(moved, ball.low(domain.factuals), np.inf),
        high=np.where(moved, ball.high(domain.factuals), -np.inf),
        stay=np.ones_like(moved),
        missing=np.zeros_like(moved),
        levels=levels,
        single=np.zeros_like(domain.single),
    )
