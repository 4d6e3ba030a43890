"""How large a ball around an answer may be, for rows that have no answer with the ball that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

import numpy as np

from butfor.explain.blame import CONFLICT_ROWS, free
from butfor.explain.plan import plan
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.solvers.choose import choose
from butfor.solvers.outcome import Outcome, Status
from butfor.solvers.solver import Budget
from butfor.verdict.case import Case
from butfor.verdict.evidence import Radius
from butfor.verdict.verify import CONSTRAINTS, PREDICTION, verify

RADIUS_HALVINGS = 8
"""How often the share of the radius is halved."""

RADIUS_SECONDS = 2.0
"""How long one share of the radius is looked at. If that is not enough, what is known by then is told."""


def largest_radii(
    outcome: Outcome, case: Case, budget: Budget, blamed: Mapping[int, tuple[str, ...]]
) -> dict[int, Radius]:
    """What is known of impossible answers: a share of the radius at which there is an answer, and one at which there is none."""
    balls = [found for found in case.question.constraints if found.in_ball and _shifts(found, case)]
    if not balls or case.question.candidates:
        return {}
    impossible = np.flatnonzero(~outcome.found() & (outcome.bound == np.inf)).tolist()
    at_fault = (i for i in impossible if repr(balls[0]) in blamed.get(i, (repr(balls[0]),)))
    return {i: _between(case.take(outcome.row[[i]]), balls[0], budget) for i in islice(at_fault, CONFLICT_ROWS)}


def _shifts(constraint: AbstractConstraint, case: Case) -> bool:
    """Whether a constraint has a ball that shifts numbers. One in which only levels slip has no radius."""
    ball = constraint.ball(case.referee.space)
    return ball is not None and bool(ball.radius.any())


def _between(case: Case, ball: AbstractConstraint, budget: Budget) -> Radius:
    """The largest share of the radius at which an answer was found, and the smallest at which there is none."""
    some, none = 0.0, 1.0
    for _ in range(RADIUS_HALVINGS):
        if budget.spent():
            break
        share = (some + none) / 2
        status = _status(case, ball, share, budget.at_most(RADIUS_SECONDS))
        if status is Status.PROVEN_INFEASIBLE:
            none = share
        elif status.found:
            some = share
        else:
            break
    return Radius(some, none)


def _status(case: Case, ball: AbstractConstraint, share: float, budget: Budget) -> Status:
    """What is known about one row with a share of the radius. An answer counts only if it passes every check."""
    smaller = ball.scaled(share)
    question = case.question.under(smaller if rule is ball else rule for rule in case.question.constraints)
    part = next(plan(question, case.referee, case.factuals, case.before))
    solver, _ = choose(part.problem.form())
    found = solver.solve(free(part.problem), budget)
    (status,) = found.status()
    if not status.found:
        return status
    verdict = verify(replace(case, question=question), found)
    return status if verdict.passed[:, [PREDICTION, CONSTRAINTS]].all() else Status.NOT_FOUND
