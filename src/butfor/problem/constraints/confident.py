"""Answers that hold for the true coefficients of a linear score, at a level of confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, UnsupportedProblemError, number
from butfor.importers.coefficients import Coefficients, coefficients_of
from butfor.importers.fold.linear import linear_over
from butfor.model.cone import Cone
from butfor.model.linear import Linear
from butfor.model.questions import kind_of, score_count, widen
from butfor.model.rounding import FURTHER_STEPS, Extent
from butfor.model.scores import UNIT_DOUBLE, ScoreSet
from butfor.model.side_by_side import lines_side_by_side
from butfor.problem.constraints.constraint import Changes
from butfor.problem.constraints.demanded import Demanded
from butfor.problem.problem import Problem
from butfor.problem.referee import Referee
from butfor.space.space import Space

WELL_CONDITIONED = 1e10
"""Up to this condition, the inverse of a correlation has digits that count."""

ASYMMETRY = 1e-9
"""By which share of its largest entry a covariance may differ from its transpose, or have a negative eigenvalue."""


class _Spread(NamedTuple):
    """Scores and their variances, and by how much rounding may change both."""

    score: FloatArray
    variance: FloatArray
    score_off: FloatArray
    variance_off: FloatArray


@dataclass(frozen=True)
class Confident(Demanded):
    """See `confident`. The covariance is given by rows."""

    level: float
    covariance: tuple[tuple[float, ...], ...] | None = None

    adds_scores = True
    has_level = True

    def __repr__(self) -> str:
        return f"confident({self.level!r}{'' if self.covariance is None else ', covariance=...'})"

    def validate(self, space: Space) -> None:
        if not 0.5 <= number(self.level, f"{self!r} was given.", "A level must be a number.") < 1:
            share = self.level / 100
            raise InputError(
                f"{self!r} was given.",
                "A level must be at least 0.5 and below 1.",
                f"Did you mean {share:g}?" if 0.5 <= share < 1 else "",
            )
        if self.covariance is not None:
            _check_covariance(np.array(self.covariance, dtype=np.float64))

    @property
    def deviations(self) -> float:
        """How many standard deviations the score stays on the wanted side."""
        return float(ndtri(self.level))

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        """Which changes keep it, by the estimator's coefficients and rows. Only rounding is made up for.

        None if the target is not known.
        """
        fine = np.zeros(len(changes), dtype=np.bool_)
        if referee.target is None:
            return fine
        at = self._spread(changes, referee)
        away = self.deviations * np.sqrt(np.maximum(at.variance - at.variance_off, 0.0))
        for rows, side, least in self._edges(changes, referee):
            best = np.outer(at.score[rows], side) + np.outer(at.score_off[rows] - away[rows], np.abs(side))
            fine[rows] |= (best >= least).all(axis=1)
        return fine

    def confidence(self, changes: Changes, referee: Referee) -> FloatArray | None:
        """At which level each point would keep it."""
        at = self._spread(changes, referee)
        most = np.full(len(changes), -np.inf)
        for rows, side, least in self._edges(changes, referee):
            beyond = np.outer(at.score[rows], side) - least
            with np.errstate(divide="ignore", invalid="ignore"):
                room = beyond / np.outer(np.sqrt(at.variance[rows]), np.abs(side))
            room = np.where(np.isnan(room), np.inf, room)
            most[rows] = np.maximum(most[rows], room.min(axis=1, initial=np.inf))
        return np.asarray(ndtr(most))

    def _spread(self, changes: Changes, referee: Referee) -> _Spread:
        """The scores of points and their variances, and by how much rounding may change both."""
        known, covariance = self._read(referee)
        x = known.rows(changes.after.table)
        off = (x.shape[1] + FURTHER_STEPS) * UNIT_DOUBLE
        return _Spread(
            x @ known.weights,
            np.einsum("ij,jk,ik->i", x, covariance, x),
            2 * off * (np.abs(x) @ np.abs(known.weights)),
            4 * off * np.einsum("ij,jk,ik->i", np.abs(x), np.abs(covariance), np.abs(x)),
        )

    def _edges(self, changes: Changes, referee: Referee) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """For each set of scores that meets the target: its rows, the sides (1 or -1) of its edges, and where they are."""
        assert referee.target is not None
        for rows, score_sets in referee.target.groups(referee.reading.readout, changes.before):
            for part in score_sets:
                _refuse_curved(part, self)
                side = part.A[:, 0]
                yield rows, side, np.broadcast_to(part.b - part.below, (changes.before.height, len(side)))[rows]

    def enter(self, problem: Problem, referee: Referee) -> Problem:
        """Add the parts of the standard deviation as scores of the model. Every score set gets its cone."""
        known, covariance = self._read(referee)
        if not isinstance(problem.model, Linear) or problem.model.scores != 1:
            raise UnsupportedProblemError(
                f"{self!r} was given for a {kind_of(problem.model)} model with {score_count(problem.model)} scores.",
                "A single linear score is needed, of columns that nothing has bent.",
                "Ask a model of two classes or of a value, calculate logarithms and powers before the model, and leave "
                "bf.robust_to out.",
            )
        root = _root(covariance)
        levels = tuple(len(feature.levels or ()) for feature in problem.space.features)
        parts, terms = (
            widen(linear_over(known.columns, some, np.zeros(len(some))), levels)
            for some in (self.deviations * root, np.eye(len(covariance)))
        )
        assert isinstance(parts, Linear)
        assert isinstance(terms, Linear)
        model = lines_side_by_side([problem.model, parts])
        unsure = self.deviations * _off(covariance, terms, problem)
        unit = float(_sizes(problem.model, problem)[0]) or 1.0
        sets = tuple(_in_cone(part, len(root), unit, unsure, self) for part in problem.score_sets)
        return replace(problem, model=model, score_sets=sets)

    def _read(self, referee: Referee) -> tuple[Coefficients, FloatArray]:
        """The coefficients of the explained model, and their covariance."""
        known: Coefficients = referee.once("coefficients", lambda: coefficients_of(referee.reading))
        count, found = len(known.weights), known.covariance
        if self.covariance is not None:
            found = np.array(self.covariance, dtype=np.float64)
        if found is None:
            raise InputError(
                f"{self!r} was given, and {type(referee.reading.source.estimator).__name__} knows no covariance.",
                "The covariance of its coefficients is needed.",
                "Write bf.confident(level, covariance=...), the intercept first; or fit the model with statsmodels.",
            )
        if len(found) != count:
            raise InputError(
                f"{self!r} was given with a covariance of {len(found)} coefficients.",
                f"The model has {count}: the intercept, if it has one, and then its columns.",
            )
        return known, np.asarray((found + found.T) / 2)


def _in_cone(part: ScoreSet, parts: int, unit: float, unsure: float, constraint: Confident) -> ScoreSet:
    """A set of one score, in which the score stays away from its edges by the norm of `parts` further scores."""
    _refuse_curved(part, constraint)
    if part.per_row:
        raise UnsupportedProblemError(
            f"{constraint!r} was given, and the target is another value for each row.",
            "All rows of a call must share one.",
            "Ask for one row at a time, or for bf.value(...).",
        )
    rows = np.pad(part.A, ((0, 0), (0, parts)))
    if not len(rows):
        return replace(part, A=rows)
    moved = float(np.max(np.maximum(part.below, part.above)))
    scale = float(np.abs(part.A).max())
    spread = np.pad(np.eye(parts), ((0, 0), (1, 0)))
    return replace(part, A=rows, curve=Cone(rows, part.b, spread, scale * unit, moved + scale * unsure))


def _root(covariance: FloatArray) -> FloatArray:
    """R with `R' R = C`: that of the correlation, scaled. So its rounding is a share of the terms, in whatever unit they are."""
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, 1.0)
    size, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return np.asarray((vectors * np.sqrt(np.maximum(size, 0.0)) * scale[:, None]).T[size > 0])


def _sizes(model: Linear, problem: Problem) -> FloatArray:
    """How large each score of a linear model may be in the domain, term by term."""
    extent = problem.domain.extent
    lost: BoolArray = np.any(np.isnan(problem.factuals) | problem.domain.missing, axis=0)
    far = np.maximum(np.abs(extent.low - model.centre), np.abs(extent.high - model.centre))
    steps = np.where(lost, model.largest_step, model.largest_known_step)
    return np.asarray(np.abs(model.intercept) + np.abs(model.slope) @ far + steps.sum(axis=1))


def _off(covariance: FloatArray, terms: Linear, problem: Problem) -> float:
    """By how much rounding may change a standard deviation: its square is a sum of products, and so are its parts.

    A term that is the same in all rows keeps the deviation above 0, where a square root changes little.
    """
    sizes = _sizes(terms, problem)
    square = 8 * (len(sizes) + FURTHER_STEPS) * UNIT_DOUBLE * float(np.sqrt(np.diag(covariance)) @ sizes) ** 2
    least = _least_variance(covariance, terms, problem.domain.extent)
    return float(square / np.sqrt(least) if least > square else np.sqrt(square))


def _least_variance(covariance: FloatArray, terms: Linear, extent: Extent) -> float:
    """A lower bound on `x' C x` over all x in which some term is what it is in all rows: its square over `(C^-1)_ii`.

    It is 0 if nothing is known. A half makes up for the rounding of the inverse.
    """
    deviation = np.sqrt(np.diag(covariance))
    if not (deviation > 0).all():
        return 0.0
    correlation = covariance / np.outer(deviation, deviation)
    if np.linalg.cond(correlation) > WELL_CONDITIONED:
        return 0.0
    narrowest = np.diag(np.linalg.inv(correlation)) / deviation**2
    steady = (terms.slope * (extent.high - extent.low) == 0).all(axis=1)
    value = terms.intercept + terms.slope @ (extent.low - terms.centre)
    for j in terms.stepped:
        step = terms.steps[j][:, :-1]
        steady, value = steady & (step == step[:, :1]).all(axis=1), value + step[:, 0]
    return float((value[steady] ** 2 / narrowest[steady]).max(initial=0.0)) / 2


def _refuse_curved(part: ScoreSet, constraint: Confident) -> None:
    if part.curve is not None:
        raise UnsupportedProblemError(
            f"{constraint!r} was given for a target with a curved boundary.",
            "Its target must be one or two thresholds of a linear score.",
            "Ask for a class of two, a value, or a probability.",
        )


def _check_covariance(covariance: FloatArray) -> None:
    given = f"a covariance of shape {covariance.shape} was given to bf.confident."
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        raise InputError(given, "It must be square: one row and one column per coefficient.")
    if not np.isfinite(covariance).all():
        raise InputError(given, "Its numbers must be finite.")
    most = ASYMMETRY * float(np.abs(covariance).max(initial=0.0))
    if np.abs(covariance - covariance.T).max(initial=0.0) > most:
        raise InputError(given, "It must be symmetric.")
    if len(covariance) and np.linalg.eigvalsh(covariance)[0] < -len(covariance) * most:
        raise InputError(
            given, "No combination of coefficients may have a negative variance: all eigenvalues must be at least 0."
        )
