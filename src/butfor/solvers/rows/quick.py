"""Quick answers to many rows at once: training rows, and one change after the other. Nothing is proven."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compiled.clock import now
from butfor.formulation.choices import choices_of
from butfor.formulation.oracles import model_oracle
from butfor.problem.constraints.computed import ComputedColumn
from butfor.problem.oracle import AbstractOracle
from butfor.problem.problem import Problem
from butfor.solvers.merged.columns import split
from butfor.solvers.outcome import Outcome, answers_of, joined, nothing_found

TRIED_AT_ONCE = 256
"""How many rows are looked at at once."""

EXAMPLES_TRIED = 32
"""So many training rows that meet the target are tried for each row."""

CHANGES_TRIED = 4
"""So many changes are made one after the other, each the one that brings the row closest to the target."""

DATA_VALUES = 12
"""So many values of a column of numbers are tried, besides the ends of what it may become."""

LEVELS_TRIED = 40
"""So many levels of a column are tried."""


def quick_answers(problem: Problem, until: float) -> Outcome:
    """A valid answer to each row for which one is soon found. The last block of rows begins no later than `until`."""
    if problem.witnesses.oracle is not None or problem.demands.kinds:
        return nothing_found(problem)  # only a model that was read says in no time what it predicts
    if problem.relations_of(ComputedColumn):
        return split(problem.freeing.layout, quick_answers(problem.freed, until))
    found, oracle = [], model_oracle(problem)
    for start in range(0, len(problem), TRIED_AT_ONCE):
        rows = np.arange(start, min(start + TRIED_AT_ONCE, len(problem)))
        if now() > until:
            break
        block = problem.take(rows)
        search = _Tries(block, oracle.take(rows))
        search.examples()
        search.changes()
        found.append(answers_of(rows, search.points, search.cost, np.zeros(len(rows))))
    return joined(found) if found else nothing_found(problem)


class _Tries:
    """The best answers to some rows so far: `points` and `cost`."""

    def __init__(self, problem: Problem, oracle: AbstractOracle) -> None:
        self.problem, self.oracle = problem, oracle
        self.points, self.cost = np.full(problem.factuals.shape, np.nan), np.full(len(problem), np.inf)

    def _try(self, tries: FloatArray, rows: IntArray) -> FloatArray:
        """Take the valid ones of some points (rows, tries, features). How far each is from the target."""
        whose = np.repeat(rows, tries.shape[1])
        flat, many = tries.reshape(len(whose), -1), self.problem.take(whose)
        said, able = self.oracle.take(whose).ask(flat, np.arange(len(whose))), many.admits(flat)
        cost = np.where(able & said.met, many.prices.total(many.factuals, flat) + said.offset, np.inf)
        cost = cost.reshape(tries.shape[:2])
        at = cost.argmin(axis=1)
        best = cost[np.arange(len(rows)), at]
        better = best < self.cost[rows]
        self.cost[rows[better]] = best[better]
        self.points[rows[better]] = tries[np.flatnonzero(better), at[better]]
        return np.where(able, said.distance, np.inf).reshape(tries.shape[:2])

    def examples(self) -> None:
        """Try training rows. Where a row may not become what they are, it stays as it is."""
        known, rows = self.oracle.examples, np.arange(len(self.problem))
        met = np.flatnonzero(self.oracle.take(rows[:1]).of_examples(0).met) if len(known) else rows[:0]
        if not len(met):
            return
        some = known[met[np.linspace(0, len(met) - 1, min(EXAMPLES_TRIED, len(met))).astype(np.intp)]]
        tries, own = np.repeat(some[None], len(rows), axis=0), self.problem.factuals[:, None]
        able = self.problem.domain.take(np.repeat(rows, len(some))).takes(tries.reshape(-1, tries.shape[2]))
        tries = np.where(able.reshape(tries.shape), tries, own)
        self._try(tries, rows)

    def changes(self) -> None:
        """Change the rows without an answer where that brings them closest to the target, again and again."""
        rows = np.flatnonzero(np.isinf(self.cost))
        here, least = self.problem.factuals[rows], np.full(len(rows), np.inf)
        for _ in range(CHANGES_TRIED):
            if not len(rows):
                break
            tries = self._changed(here, rows)
            if not tries.shape[1]:
                break
            distance = self._try(tries, rows)
            at = distance.argmin(axis=1)
            near = distance[np.arange(len(rows)), at]
            going = np.isinf(self.cost[rows]) & (near < least)
            here, rows, least = tries[np.flatnonzero(going), at[going]], rows[going], near[going]

    def _changed(self, here: FloatArray, rows: IntArray) -> FloatArray:
        """Points with one feature changed (rows, tries, features)."""
        made = []
        for j in np.flatnonzero(self.problem.domain.movable).tolist():
            values = self._values(j)[rows]
            tries = np.repeat(here[:, None], values.shape[1], axis=1)
            tries[:, :, j] = values
            made.append(tries)
        return np.concatenate(made, axis=1) if made else here[:, None][:, :0]

    def _values(self, j: int) -> FloatArray:
        """Values of a feature that are tried for each row: levels, or values of the data and the ends of what it may become."""
        choices = choices_of(self.problem, j)
        if choices.cells.levels:
            return choices.levels.value[:, : min(choices.cells.levels, LEVELS_TRIED)]
        first, last = (np.where(np.isfinite(end), end, choices.own) for end in choices.ends)
        known = np.unique(self.oracle.examples[:, j])
        known = known[np.isfinite(known)]
        some = known[np.linspace(0, len(known) - 1, min(DATA_VALUES, len(known))).astype(np.intp)]
        return np.hstack([first, last, np.clip(some[None], first, last)])
