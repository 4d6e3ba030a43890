"""The counterfactuals of the training rows that a model is right about, and what they cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, IntArray
from butfor.compress.columns import BinaryColumns
from butfor.compress.crossings import crossed
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.source import Source
from butfor.explain.explainer import Explainer
from butfor.explanation.explanations import Explanations
from butfor.problem.costs import L0, L1, L2, AbstractCost, Scale
from butfor.problem.written.constraints import Constraints
from butfor.solvers.outcome import Status, Stopped
from butfor.space import frames
from butfor.space.space import Space


@dataclass(frozen=True)
class CounterfactualSearch:
    """Which counterfactuals are looked for, and which thresholds are made of them.

    - `cost`: what a change costs;
    - `constraints`: what a change must respect (the set X^0 of the paper);
    - `p0`, `p1`: the probabilities of the rows that are asked about;
    - `merge`: as for `crossed`;
    - `time_limit`: seconds for all rows, or None.
    """

    cost: AbstractCost
    constraints: Constraints
    p0: float
    p1: float
    merge: float
    time_limit: float | None


@dataclass(frozen=True, eq=False)
class Crossings:
    """What the counterfactuals of the training rows cross.

    - `source`: the fitted estimator, and how it is called;
    - `space`: its columns;
    - `columns`: all binary columns, whatever their counts;
    - `lacking`: the positions of the raw columns of which some training values are missing;
    - `training_rows`, `rows`, `answered`, `proven`: how many there were, were asked about, got an answer, and one that
      is proven optimal;
    - `stopped`: why the search ended early, if it did.
    """

    source: Source
    space: Space
    columns: BinaryColumns
    lacking: frozenset[int]
    training_rows: int
    rows: int
    answered: int
    proven: int
    stopped: Stopped

    def predicted(self, rows: Any) -> NDArray[Any]:
        """The class that the model predicts for each row of a table."""
        return np.asarray(self.source.labels(rows))

    def __str__(self) -> str:
        told = f"{self.rows} of {self.training_rows} training rows were asked about: {self.answered} answered"
        told += f", {self.proven} proven optimal"
        return told + (f" ({self.stopped.words})" if self.stopped else "")


def weighted_cost(lambda0: float, lambda1: float, lambda2: float, scale: Scale = "range") -> AbstractCost:
    """`lambda0 |.|_0 + lambda1 |.|_1 + lambda2 |.|_2^2`, each column measured in its range, or in another unit."""
    weighted = ((lambda0, L0()), (lambda1, L1(scale=scale)), (lambda2, L2(scale=scale)))
    terms = [weight * term for weight, term in weighted if weight]
    if not terms:
        raise InputError("lambda0, lambda1 and lambda2 are all 0.", "A change must cost something.")
    total: AbstractCost = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def search(
    model: Any, table: Any, labels: Sequence[Any], how: CounterfactualSearch, n_jobs: int | None, progress: bool | None
) -> Crossings:
    """Find the counterfactuals of the rows that the model is right about, and count what they cross."""
    explainer = Explainer(model, data=table)
    source = explainer.reading.source
    if not source.classes:
        raise UnsupportedModelError(
            f"{type(model).__name__} does not predict classes.",
            "Thresholds are found where the class changes.",
            "Give a classifier.",
        )
    chosen = np.flatnonzero(rows_of_interest(source, table, labels, how.p0, how.p1))
    if not len(chosen):
        raise InputError(
            "the model is right about none of the rows with a probability in reach.",
            f"At least one must be classified correctly with a probability from {how.p0:g} to {how.p1:g}.",
            "Check the labels, or widen p0 and p1.",
        )
    answers = explainer.explain(
        frames.take(table, chosen),
        cost=how.cost,
        constraints=how.constraints,
        time_limit=how.time_limit,
        n_jobs=n_jobs,
        progress=progress,
    )
    found = _of_use(answers)
    before = answers.factual_codes[answers.table_rows[found]]
    training = explainer.space.encode(table)
    after = answers.point_codes[found]
    columns = crossed(explainer.space, explainer.reading.model, training, before, after, how.merge)
    return Crossings(
        source=source,
        space=explainer.space,
        columns=columns,
        lacking=frozenset(np.flatnonzero(np.isnan(training).any(axis=0)).tolist()),
        training_rows=len(training),
        rows=len(chosen),
        answered=len(found),
        proven=sum(status is Status.PROVEN_OPTIMAL for status in answers.statuses),
        stopped=_stopped(answers),
    )


def _of_use(answers: Explanations) -> IntArray:
    """The answers whose crossings count. Where some have a bound, one that was only tried at the end crosses too much."""
    bounded = np.array([status in (Status.PROVEN_OPTIMAL, Status.WITHIN_GAP) for status in answers.statuses])
    return np.flatnonzero(bounded if bounded.any() else answers.found)


def rows_of_interest(source: Source, table: Any, labels: Sequence[Any], p0: float, p1: float) -> BoolArray:
    """The rows that the model classifies correctly, with a probability from `p0` to `p1`.

    A model without probabilities takes all rows that it is right about, if no probability was asked for.
    """
    right = np.array([said == label for said, label in zip(source.labels(table), labels, strict=True)], dtype=np.bool_)
    if source.judges_by == "predict_proba":
        sure = source.probabilities(table).max(axis=1)
        return np.asarray(right & (sure >= p0) & (sure <= p1))
    if (p0, p1) != (0.0, 1.0):
        raise UnsupportedModelError(
            f"{type(source.estimator).__name__} has no predict_proba, but p0={p0:g} and p1={p1:g} were given.",
            "The rows are chosen by their probability.",
            "Leave p0=0 and p1=1, or wrap the model in CalibratedClassifierCV.",
        )
    return right


def _stopped(answers: Explanations) -> Stopped:
    """Why the search ended early, if some row is not settled. Ctrl-C says more than a time limit."""
    reasons = {certificate.stopped for certificate in answers.certificates if not certificate.status.settled}
    return next((one for one in (Stopped.INTERRUPTED, Stopped.TIME) if one in reasons), Stopped.DONE)
