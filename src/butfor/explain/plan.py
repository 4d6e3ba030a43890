"""From a question to problems: rows with the same score sets form one problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.formulation.oracles import Confirmation, EstimatorOracle, HastyOracle
from butfor.model.questions import is_read
from butfor.problem.constraints.constraint import Changes, all_hold
from butfor.problem.constraints.demanded import entered
from butfor.problem.demands import Demands, Pool
from butfor.problem.problem import Problem, state
from butfor.problem.question import Question
from butfor.problem.referee import Referee
from butfor.problem.targets.target import Group
from butfor.problem.witnesses import Refusals, Witnesses
from butfor.space.space import Space
from butfor.verdict.alone import open_factuals, partly_alone


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the rows (their numbers), and their problem."""

    rows: IntArray
    problem: Problem

    def take(self, chosen: BoolArray) -> Part:
        """The chosen rows of this part."""
        at = np.flatnonzero(chosen)
        return Part(self.rows[at], self.problem.take(at))


def plan(
    question: Question,
    referee: Referee,
    factuals: FloatArray,
    before: Prediction,
    *,
    space: Space | None = None,
    free: BoolArray | None = None,
    guard: float = 0.0,
) -> Iterator[Part]:
    """The problems of some rows. Their costs are in coins (see `Prices.with_coin`).

    - `space`: the space to search (default: the model's);
    - `free` (rows, features): what each row may change, beside the constraints (default: everything).
    """
    question = question.in_coins
    reading = question.target.focus(referee.reading, before)
    groups: list[Group] = [(np.arange(len(factuals)), ())]
    oracle = EstimatorOracle(referee, question.target, before)
    seen = is_read(reading.model)
    if seen:
        groups = question.target.groups(reading.readout, before)
    columns = space or reading.space
    consequences = question.consequences(columns)
    whole = state(columns, reading.model, factuals, (), question.prices, question.constraints)
    if free is not None:
        whole = replace(whole, domain=whole.domain.without_moves(~free))
    pool = _pool(question, referee, before)
    witnesses = Witnesses(
        oracle=None if seen else HastyOracle(referee, question.target, before),
        confirmation=Confirmation(oracle, question.judged, factuals),
        examples=oracle,
        referee=referee,
        refusals=Refusals(),
        unit=reading.unit,
        guard=guard,
    )
    whole = replace(whole, demands=Demands(pool=pool), witnesses=witnesses)
    for rows, score_sets in groups:
        problem = replace(whole.take(rows), score_sets=score_sets)
        for constraint in question.judged:
            if pool is None or not constraint.of_point:
                problem = entered(problem, constraint, referee)
        if not consequences:
            yield Part(rows, problem)
            continue
        alone = bool(problem.demands.judged)  # what is judged point by point must know of which row
        for at in np.array_split(np.arange(len(rows)), len(rows) if alone else 1):
            yield Part(rows[at], problem.take(at).about_actions(consequences))


def _pool(question: Question, referee: Referee, before: Prediction) -> Pool | None:
    """The rows listed by every `candidates` constraint, minus those that a judged constraint excludes."""
    if not question.candidates:
        return None
    first, *others = question.candidates
    points = first.rows(referee.space)
    _, after = referee.once(id(first.table), lambda: (first.table, Prediction(referee.reading.source, first.table)))
    after = partly_alone(after, open_factuals(question, referee, Changes(points, points, after, after)))
    changes = Changes(points, points, after, after)
    judged = tuple(constraint for constraint in question.judged if constraint.of_point)
    kept = np.flatnonzero(all_hold((*others, *judged), changes, referee))
    return Pool(points[kept], after.take(kept), before, question.target)
