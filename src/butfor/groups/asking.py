"""Ask an explainer about many rows, without the certificates that a reader of single answers wants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, InputTypeError, UnsupportedProblemError
from butfor.explain.asking import Asking
from butfor.explain.explainer import Explainer
from butfor.explain.solve import Search, confirm, solve
from butfor.problem.constraints.admissible import admissible
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.costs import AbstractCost
from butfor.problem.written.constraints import Constraints
from butfor.solvers.outcome import Outcome, answers_of
from butfor.solvers.solver import Budget
from butfor.space import frames
from butfor.verdict.case import Case
from butfor.verdict.verify import HOLDING, verify

POINTS_AT_ONCE = 50_000
"""How many points the estimator is asked about at once."""


def case_of(
    explainer: Explainer, X: Any, target: Any, cost: AbstractCost | str | None = None, constraints: Constraints = ()
) -> Case:
    """The question about some rows, with what the estimator predicts for them now."""
    if not isinstance(explainer, Explainer):
        raise InputTypeError(f"{type(explainer).__name__} was given.", "An Explainer is needed, and then the rows.")
    return Asking(explainer.reading).case(X, *explainer.rules.asked(target, cost, constraints))


def in_need(case: Case) -> IntArray:
    """The rows that do not meet the target yet. An error says so if there are none."""
    rows = case.unmet
    if not len(rows):
        raise InputError("every row meets the target already.", "At least one must need a change.")
    return rows


def answered(case: Case, budget: Budget) -> Outcome:
    """The cheapest answer to each row. One that the estimator does not confirm counts as not found."""
    search = Search()
    outcome, verdict = confirm(solve(case, search, budget, _quiet), case, search, budget)
    believed = verdict.passed.all(axis=1)
    cost = np.where(outcome.found() & believed, verdict.cost, np.inf)
    return replace(outcome, cost=cost, points=np.where(np.isfinite(cost)[:, None], outcome.points, np.nan))


def tried(case: Case, rows: IntArray, points: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Which points are answers to their rows, by the estimator and every constraint, and what each costs.

    The points are written into the user's own table, and the estimator predicts that. It is not asked about those that
    leave the admissible values.
    """
    if case.consequences:
        raise UnsupportedProblemError(
            f"{case.consequences.rules[0]!r} was given for a group of rows.",
            "An action on many rows is tried as it is: nothing may follow from it.",
            "Leave the consequence out, or explain the rows one by one.",
        )
    fine, price = np.zeros(len(rows), dtype=np.bool_), np.full(len(rows), np.inf)
    for begin in range(0, len(rows), POINTS_AT_ONCE):
        part = slice(begin, begin + POINTS_AT_ONCE)
        start = case.factuals[rows[part]]
        cost = case.question.prices.total(start, points[part])
        inside = admissible(case.referee.space, start, case.question.constraints).admits(points[part])
        able = np.flatnonzero(inside & np.isfinite(cost))
        claimed = answers_of(rows[part][able], points[part][able], cost[able], np.zeros(len(able)))
        verdict = verify(case, claimed, handed_out=False)
        fine[begin + able] = verdict.passed[:, HOLDING].all(axis=1)
        price[begin + able] = verdict.cost
    return fine, price


def under(case: Case, constraints: Iterable[AbstractConstraint]) -> Case:
    """The same rows under further constraints."""
    return replace(case, question=case.question.also_under(*constraints))


def labels(case: Case) -> list[Any]:
    """The label of each row in the user's table; its position if it has none."""
    table = case.before.table
    own = frames.row_labels(table)
    return list(range(frames.height(table))) if own is None else own


def framed(case: Case, columns: dict[str, list[Any]]) -> Any:
    """Columns as a table of the kind that was given."""
    return frames.framed(case.before.table, columns)


def _quiet(rows: int) -> None:
    """Tell nobody."""
