"""The paper's program (2)-(7) as it stands, for boosted stumps and with HiGHS, and its thresholds (10)-(11).

Nothing of butfor is used. So what both find can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, vstack

LEAST_DISTANCE = 1e-4
"""The least distance from a cut, as a share of the range: that of the authors' code."""

BEYOND = 1e-4
"""How far beyond 0 the score must be: the epsilon of constraint (6), as in the paper."""

DIGITS = 12
"""Cuts of two trees that agree in so many decimals are one cut."""

Cut = tuple[int, float]
"""A column, and where it is cut."""

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def distances(rows: FloatArray) -> FloatArray:
    """The eps_j of constraints (3)-(4): half the smallest gap between values of each column.

    The paper takes the whole gap. Then a column of two values, such as 0 and 1, has no value that is far enough from a
    cut between them. The authors' code halves it.
    """
    values = [np.unique(column) for column in rows.T]
    gaps = [np.diff(one).min(initial=np.inf if len(one) < 2 else one[-1] - one[0]) for one in values]
    return np.array([0.0 if np.isinf(gap) else max(gap / 2, LEAST_DISTANCE) for gap in gaps])


@dataclass(frozen=True)
class Stumps:
    """Boosted stumps over columns from 0 to 1.

    - `column`, `cut`: what each asks;
    - `left`, `right`: what its sides add to the score, and `base`: the score before them. Above 0 it is class 1;
    - `low`, `width` (columns): how the columns were scaled.
    """

    column: Any
    cut: FloatArray
    left: FloatArray
    right: FloatArray
    base: float
    low: FloatArray
    width: FloatArray

    def scaled(self, rows: Any) -> FloatArray:
        """Rows with columns from 0 to 1."""
        return np.asarray((np.asarray(rows, dtype=float) - self.low) / self.width)

    def added(self, row: FloatArray) -> float:
        """What all stumps add for a scaled row."""
        return float(np.where(row[self.column] <= self.cut, self.left, self.right).sum())


def read(model: Any, X: Any) -> Stumps:
    """The stumps of a fitted GradientBoostingClassifier of depth 1, and the ranges of its training rows."""
    trees = [one.tree_ for one in model.estimators_.ravel() if one.tree_.node_count > 1]
    rows = np.asarray(X, dtype=float)
    low, width = rows.min(axis=0), np.ptp(rows, axis=0)
    width[width == 0] = 1.0
    column = np.array([tree.feature[0] for tree in trees])
    cut = (np.array([tree.threshold[0] for tree in trees]) - low[column]) / width[column]
    left, right = (np.array([model.learning_rate * tree.value[leaf, 0, 0] for tree in trees]) for leaf in (1, 2))
    found = Stumps(column, cut, left, right, 0.0, low, width)
    return replace(found, base=float(model.decision_function(X[:1])[0]) - found.added(found.scaled(rows[0])))


@dataclass(frozen=True)
class Program:
    """The counterfactual program of one model. `fixed` columns may not change: the plausibility set X^0.

    Its variables are x (columns), |x - x0| (columns), whether a column changes, and whether a stump goes right.
    """

    stumps: Stumps
    eps: FloatArray
    lambda0: float = 0.1
    lambda1: float = 1.0
    fixed: Sequence[int] = ()

    def counterfactual(self, row: FloatArray, wanted: int) -> FloatArray | None:
        """The cheapest point of the wanted class; None if there is none."""
        of, (m, trees) = self.stumps, (len(row), len(self.stumps.cut))
        one, none = eye_array(m), csr_array((m, trees))
        picked = csr_array((np.ones(trees), (np.arange(trees), of.column)), shape=(trees, m))
        empty = csr_array((trees, m))
        near = self.eps[of.column]
        sign = 1.0 if wanted else -1.0
        adds = hstack([csr_array((1, 3 * m)), csr_array(sign * (of.right - of.left)[None])])
        rules = [
            (
                hstack([picked, empty, empty, -eye_array(trees)]),
                of.cut - near,
            ),  # (3): x <= c - eps, unless it goes right
            (hstack([-picked, empty, empty, eye_array(trees)]), 1 - of.cut - near),  # (4): x >= c + eps, if it does
            (-adds, np.array([sign * (of.base + of.left.sum()) - BEYOND])),  # (6)
            (hstack([one, -one, 0 * one, none]), row),  # x - x0 <= |x - x0|
            (hstack([-one, -one, 0 * one, none]), -row),
            (hstack([0 * one, one, -one, none]), np.zeros(m)),  # |x - x0| <= 1 if the column changes, else 0
        ]
        low, high = np.zeros(3 * m + trees), np.ones(3 * m + trees)
        for j in self.fixed:
            low[j] = high[j] = row[j]
        found = milp(
            np.concatenate([np.zeros(m), np.full(m, self.lambda1), np.full(m, self.lambda0), np.zeros(trees)]),
            constraints=LinearConstraint(vstack([rule for rule, _ in rules]), ub=np.concatenate([b for _, b in rules])),
            integrality=np.repeat([0, 1], [2 * m, m + trees]),
            bounds=Bounds(low, high),
            options={"mip_rel_gap": 0.0},
        )
        return None if found.x is None else np.asarray(found.x[:m])


def thresholds(rows: FloatArray, answers: FloatArray, eps: FloatArray) -> list[Cut]:
    """The thresholds of equations (10)-(11), one for each column that an answer moves by more than eps_j."""
    moved = np.abs(rows - answers) > eps
    at = answers + eps * np.sign(rows - answers)
    return [(int(j), float(at[n, j])) for n, j in zip(*np.nonzero(moved), strict=True)]


@dataclass(frozen=True)
class Crossed:
    """How many rows were asked about and answered, and how often each cut of the model was crossed.

    `off` is the largest distance of a threshold from the nearest cut, in eps_j of its column.
    """

    rows: int
    answered: int
    count: Counter[Cut]
    off: float

    def kept(self, quantile: float) -> list[Cut]:
        """The thresholds of tau^Q."""
        least = np.quantile(list(self.count.values()), quantile)
        return sorted(cut for cut, count in self.count.items() if count >= least)


def crossed(model: Any, X: Any, y: Any, p1: float) -> Crossed:
    """Algorithm 1 up to its phase 2, with the defaults. The cuts are in the units of `X`."""
    of = read(model, X)
    rows = of.scaled(X)
    program = Program(of, distances(rows))
    chosen = np.flatnonzero((model.predict(X) == y) & (model.predict_proba(X).max(axis=1) <= p1))
    answers = [program.counterfactual(rows[row], 1 - y[row]) for row in chosen]
    there = [n for n, one in enumerate(answers) if one is not None]
    count, off = Counter[Cut](), 0.0
    for j, at in thresholds(rows[chosen[there]], np.array([answers[n] for n in there]), program.eps):
        cuts = of.cut[of.column == j]
        nearest = cuts[np.abs(cuts - at).argmin()]
        off = max(off, float(abs(nearest - at) / program.eps[j]))
        count[j, round(float(of.low[j] + nearest * of.width[j]), DIGITS)] += 1
    return Crossed(len(chosen), len(there), count, off)
