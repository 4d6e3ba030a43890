"""What the cells of a row count towards limits: changes, and what columns must do together.

A relation is a limit, too. Each cell counts the least that one of its values adds to the relation:

    sum_j a_j x_j <= b            a cell of column j counts the least of a_j x_j in it, and the limit is b
    cause implies consequence     a cell of the cause counts 1, one without the consequence counts 1, and the limit is 1

So no row that keeps the relation is beyond the limit, whichever cells it is in. The other way round, an implication is kept
within its limit, because it holds or does not hold in a whole cell. A sum may still be broken by the values in the cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.choices import FeatureChoices, choices_of
from butfor.formulation.tables import Tables
from butfor.model.cells import Cells, number_cells
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.form import ConstraintKind
from butfor.problem.held import turn
from butfor.problem.problem import Problem
from butfor.space.space import same

FEW_VALUES = 200
"""A column with at most so many values on its grid has a cell for each of them, where cells are to be narrow."""

LOST_TO_ROUNDING = 1e-9
"""By which share of the most that a cell counts a limit on a sum is raised, so that the rounding of sums drops no row."""


class CellLimits(NamedTuple):
    """What cells count towards limits.

    side (limits, cells): what each cell counts towards each limit, at least
    limit (limits): what the cells of a row may count at most
    kind (cells): cells of one kind count the same, and have the same values. Others must not be merged
    counting: so many limits, which come first, count changes
    """

    side: FloatArray
    limit: FloatArray
    kind: IntArray
    counting: int


COUNTED = frozenset({ConstraintKind.AT_MOST, ConstraintKind.FRESH})
"""The constraints that count changes."""

RELATIONS = frozenset({ConstraintKind.IMPLIES, ConstraintKind.LINEAR})
"""The constraints that are limits on what cells count, too."""


def with_numbers(problem: Problem) -> Problem:
    """The problem in which no column of a sum is missing: what is missing keeps no sum."""
    columns = sum_columns(problem)
    return replace(problem, domain=problem.domain.without_missing(columns)) if columns else problem


def sum_columns(problem: Problem) -> list[int]:
    """The columns of sums."""
    sums = problem.relations_of(LinearRelation)
    return sorted({problem.space.index(name) for relation in sums for name in relation.numbers})


def narrow_cells(problem: Problem, cells: tuple[Cells, ...]) -> tuple[Cells, ...]:
    """Finer cells: a related number has a cell for its own value and, on a grid of few values, for each of these.

    On other numbers, parts of implications end to hold between two cells.
    """
    related = {
        name for kind in (Implication, LinearRelation) for found in problem.relations_of(kind) for name in found.numbers
    }
    if not related:
        return cells
    out, movable = list(cells), problem.domain.movable
    for j in sorted(map(problem.space.index, related)):
        if movable[j] and not cells[j].levels:
            own = around(problem.factuals[0, j])
            between = between_values(problem, j)
            turns = _turns(problem, j) if between is None else between
            out[j] = number_cells(np.concatenate([cells[j].edges, own, turns]))
    return tuple(out)


def around(own: float) -> FloatArray:
    """The edges of the cell of a single number; none if it is missing."""
    return np.array([] if np.isnan(own) else [np.nextafter(own, -np.inf), own])


def between_values(problem: Problem, j: int) -> FloatArray | None:
    """Edges between all numbers of a grid to which the only row may move; None if they are too many."""
    step = float(problem.domain.step[j])
    first, last = (float(end[0, 0]) for end in choices_of(problem, j).ends)
    if not first < last:
        return np.empty(0)
    if not last - first <= FEW_VALUES * step:
        return None
    return np.asarray(first + step * (np.arange(round((last - first) / step)) + 0.5))


def _turns(problem: Problem, j: int) -> FloatArray:
    """Where a part of an implication about a number begins or ends to hold."""
    parts = [
        part for one in problem.relations_of(Implication) for part in one.parts(problem.space, problem.factuals[0])
    ]
    found = [turn(problem.domain, j, holds) for its, holds in parts if its == j]
    return np.array([at for at in found if at < np.inf])


def limits_of(problem: Problem, cells: tuple[Cells, ...], tables: Tables) -> CellLimits:
    """The limits of the only row over some cells."""
    feature = np.repeat(np.arange(len(cells)), np.diff(tables.start))
    changed = ~same(tables.value[0], problem.factuals[0, feature])
    counted = [(changed & counts[feature], float(most)) for counts, most in problem.limits]
    implied = [(_unkept(problem, relation, tables), 1.0) for relation in problem.relations_of(Implication)]
    sums = [limit for relation in problem.relations_of(LinearRelation) for limit in _sums(problem, relation, cells)]
    at_once = [*counted, *implied]
    side = np.array([side for side, _ in [*at_once, *sums]], dtype=np.float64).reshape(-1, len(feature))
    _, kind = np.unique(side[: len(at_once)], axis=1, return_inverse=True) if at_once else (0, np.zeros(len(feature)))
    kind = kind.astype(np.intp).ravel()
    alone = np.flatnonzero(np.isin(feature, sum_columns(problem)))
    kind[alone] = len(feature) + alone
    return CellLimits(side, np.array([most for _, most in [*at_once, *sums]]), kind, len(counted))


def _unkept(problem: Problem, relation: Implication, tables: Tables) -> FloatArray:
    """What each cell counts towards an implication."""
    out = np.zeros(tables.start[-1])
    (cause, caused), (consequence, follows) = relation.parts(problem.space, problem.factuals[0])
    first, second = (slice(tables.start[j], tables.start[j + 1]) for j in (cause, consequence))
    out[first] += caused(tables.value[0, first])
    out[second] += ~follows(tables.value[0, second])
    return out


def _sums(problem: Problem, relation: LinearRelation, cells: tuple[Cells, ...]) -> Iterator[tuple[FloatArray, float]]:
    """What each cell counts towards the ends of a sum, as shares of the most that one counts."""
    space, start = problem.space, np.concatenate([[0], np.cumsum([cell.count + 1 for cell in cells])])
    terms = {j: float(weight) * _hull(problem, j, cells[j]) for j, weight in relation.of_numbers(space).items()}
    terms |= {j: np.array([each], dtype=np.float64) for j, each in relation.of_levels(space).items()}
    doubt = relation.doubt(space, {j: np.nanmax(np.abs(ends), initial=0.0) for j, ends in terms.items()})
    low, high = relation.ends(space, problem.factuals[0])
    for sign, end in ((1.0, high), (-1.0, None if low is None else -low)):
        if end is None:
            continue
        side, left = np.zeros(start[-1]), float(end) + doubt
        for j, ends in terms.items():
            counts = (sign * ends).min(axis=0)
            least = np.nanmin(counts, initial=np.inf)
            if np.isfinite(least):
                side[start[j] : start[j + 1] - 1] += np.nan_to_num(counts - least)
                left -= least
        if (most := float(side.max(initial=0.0)) or 1.0) < np.inf and not np.isnan(left):
            yield side / most, max(left / most, -0.5) + LOST_TO_ROUNDING


def _hull(problem: Problem, j: int, cells: Cells) -> FloatArray:
    """The smallest and the largest number in each cell (2, cells without "missing"); NaN if the row has none there."""
    first, last = (end[0] for end in FeatureChoices(problem, j, cells).hull)
    return np.where(first <= last, np.array([first, last]), np.nan)
