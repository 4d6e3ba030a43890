"""Several inequalities of an additive model at once, exactly: by programs over pieces of columns (`joint_pieces.py`).

A class among several asks for them. So does a leaf of an oblique tree of bent columns, and each leaf is a score set.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.formulation.half_spaces import goals
from butfor.model.bent_tree import BentTree
from butfor.model.questions import ModelKind
from butfor.model.scores import ScoreSet
from butfor.problem.form import BLENDED, ConstraintKind, Form, coupled
from butfor.problem.problem import Problem
from butfor.solvers.additive.joint_pieces import JointPieces
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.outcome import Outcome, nothing_found
from butfor.solvers.solver import AbstractSolver, Budget, Support


class PiecePrograms(AbstractSolver):
    """Programs over pieces that are cut ever finer. Guarantee: optimal (to 1e-6), or a proven bound."""

    name = "piece_programs"
    row_by_row = True
    by_programs = True
    does = "an oblique tree of bent columns, and several inequalities over functions of single columns: programs over pieces"

    def accepts(self, form: Form) -> Support:
        if form.model not in (ModelKind.ADDITIVE, ModelKind.BENT_TREE):
            return Support(False, f"it takes functions of single columns, added up, and the model is a {form.model}")
        if form.blended:
            return Support(False, BLENDED)
        if form.curved and form.model is ModelKind.ADDITIVE:
            return Support(False, "the target is a curved set of scores, and it takes inequalities")
        why = coupled(form, {ConstraintKind.AT_MOST})
        return Support(not why, why or "all of its inequalities are about functions of single columns")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(_inequalities(one), budget))


def _inequalities(problem: Problem) -> Problem:
    """The problem with the decisions of a tree as its scores, and its leaves as score sets."""
    model = problem.model
    if not isinstance(model, BentTree):
        return problem
    wanted = goals(replace(problem, model=model.tree))
    sets = [replace(goal.path.inside(model.tree.gates.scores), offset=goal.offset) for goal in wanted]
    return replace(problem, model=model.gates, score_sets=tuple(sets))


def _solve_row(problem: Problem, budget: Budget) -> Outcome:
    """The score sets of the only row, those with low bounds first."""
    if not problem.score_sets:
        return nothing_found(problem, np.inf)
    every = [JointPieces(problem, part) for part in problem.score_sets]
    floors = [pieces.floor(budget) for pieces in every]
    order = np.argsort([floor + one.score_set.offset for floor, one in zip(floors, every, strict=True)], kind="stable")
    left = iter(order.tolist())

    def solve(score_set: ScoreSet, limit: float) -> SetAnswer:
        at: int = next(left)
        if floors[at] >= limit:
            return SetAnswer(None, np.inf, floors[at])
        return every[at].solve(limit, budget).proven(budget)

    return over_score_sets(replace(problem, score_sets=tuple(every[at].score_set for at in order)), solve)
