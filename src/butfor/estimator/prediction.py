"""What the estimator predicts for some rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.estimator.likeliest import ALWAYS
from butfor.estimator.source import Source
from butfor.model.survival.curves import Curves, PartlyOther
from butfor.space import frames

LEAST = 1e-300
"""Smaller probabilities are replaced by this one, so that their logarithm is finite."""


MOST_KEPT = 5_000
"""Transformed rows are kept for further methods if they are no more than this. Those of all data would fill the memory."""


class Prediction:
    """What the estimator predicts for the rows of a table. It is called when needed, and only once."""

    def __init__(self, source: Source, table: Any) -> None:
        self.source = source
        self._table = table
        self._known: dict[str, Any] = {}
        self._origin: tuple[Prediction, IntArray] | None = None

    @property
    def table(self) -> Any:
        """The rows."""
        if self._table is None:
            assert self._origin is not None
            whole, rows = self._origin
            self._table = frames.take(whole.table, rows)
        return self._table

    @property
    def height(self) -> int:
        """The number of rows."""
        return frames.height(self._table) if self._origin is None else len(self._origin[1])

    @cached_property
    def begun(self) -> Any:
        """The rows as the estimator's methods are asked about them."""
        return self.source.begun(self.table) if self.height <= MOST_KEPT else self.table

    @property
    def labels(self) -> list[Any]:
        """The classes."""
        found: list[Any] = self._once("labels", _labels)
        return found

    @property
    def values(self) -> FloatArray:
        """The values of a regressor."""
        found: FloatArray = self._once("values", lambda p: p.source.values(p.begun))
        return found

    @property
    def probabilities(self) -> FloatArray:
        """The probabilities, one column per class."""
        found: FloatArray = self._once("probabilities", lambda p: p.source.probabilities(p.begun))
        return found

    @property
    def curves(self) -> Curves:
        """The survival functions of a model of survival."""
        found: Curves = self._once("curves", lambda p: p.source.curves(p.table))
        return found

    @property
    def scores(self) -> FloatArray | None:
        """How much the estimator prefers each class, one column per class.

        These are logarithms of probabilities, or the decision function; None if the estimator has neither.
        """
        found: FloatArray | None = self._once("scores", _scores)
        return found

    @property
    def largest(self) -> list[Any]:
        """The class with the largest score, for each row."""
        scores = self.scores
        assert scores is not None
        return _chosen(self.source, scores)

    def assuming_labels_follow_scores(self) -> Prediction:
        """This prediction, with labels taken from its scores. That saves one call of the estimator.

        The caller must have compared labels and scores on rows of the data. The verdict predicts every answer again.
        """
        self._known["labels"] = self.largest
        return self

    def outputs(self) -> list[Any]:
        """Labels or values, as plain Python values."""
        labelled = self.source.classes or self.source.undeclared
        return self.labels if labelled else self.values.tolist()

    def take(self, rows: IntArray) -> Prediction:
        """Some of the rows, in this order. A row may be taken more than once.

        Nothing is copied before it is needed.
        """
        if np.array_equal(rows, np.arange(self.height)):
            return self
        some = Prediction(self.source, None)
        some._origin = (self, rows)
        return some

    def _once(self, what: str, ask: Callable[[Prediction], Any]) -> Any:
        """A result of the estimator. It is called only if the result is not yet known.

        It may be known here, or in the prediction from which these rows were taken.
        """
        if what not in self._known:
            if self._origin is not None and self._origin[0]._answers_for_less(what, self._origin[1]):
                whole, rows = self._origin
                self._known[what] = _taken(whole._once(what, ask), rows)
            else:
                self._known[what] = ask(self)
        return self._known[what]

    def _answers_for_less(self, what: str, rows: IntArray) -> bool:
        """Whether it is cheaper to predict all rows here than only the given ones elsewhere."""
        if what in self._known or len(rows) >= self.height:
            return True
        return self._origin is not None and self._origin[0]._answers_for_less(what, self._origin[1][rows])


class PartlyAlone(Prediction):
    """A prediction for many rows, of which some were asked about alone. In company, their last digits may differ."""

    def __init__(self, together: Prediction, rows: IntArray) -> None:
        super().__init__(together.source, together.table)
        self._together = together
        self._alone = {row: Prediction(together.source, frames.take(together.table, [row])) for row in rows.tolist()}

    def _once(self, what: str, ask: Callable[[Prediction], Any]) -> Any:
        if what not in self._known:
            together = self._together._once(what, ask)
            self._known[what] = _partly(together, {row: one._once(what, ask) for row, one in self._alone.items()})
        return self._known[what]

    def _answers_for_less(self, what: str, rows: IntArray) -> bool:
        return True


def _labels(prediction: Prediction) -> list[Any]:
    source = prediction.source
    if source.doubted_within == ALWAYS or _in_doubt(prediction.probabilities, source.doubted_within):
        return source.labels(prediction.begun)
    return _chosen(source, prediction.probabilities)


def _in_doubt(probabilities: FloatArray, within: float) -> bool:
    """Whether the two largest probabilities of some row are that close."""
    if within < 0 or probabilities.shape[1] < 2:
        return False
    largest = np.partition(probabilities, -2, axis=1)[:, -2:]
    return bool((largest[:, 1] - largest[:, 0] <= within).any())


def _chosen(source: Source, scores: FloatArray) -> list[Any]:
    """The class with the largest score, for each row."""
    classes = source.classes
    return [classes[k] for k in np.argmax(scores, axis=1).tolist()]


def _scores(prediction: Prediction) -> FloatArray | None:
    source = prediction.source
    if source.judges_by == "predict_proba":
        return np.asarray(np.log(np.maximum(prediction.probabilities, LEAST)))
    return source.decisions(prediction.begun) if source.judges_by else None


def _taken(answers: Any, rows: IntArray) -> Any:
    if isinstance(answers, Curves):
        return answers.take(rows)
    if isinstance(answers, list):
        return [answers[row] for row in rows.tolist()]
    return None if answers is None else answers[rows]


def _partly(answers: Any, others: dict[int, Any]) -> Any:
    """Answers for many rows, some of which are replaced by that for one row."""
    if isinstance(answers, Curves):
        return PartlyOther(answers, others)
    if answers is None:
        return None
    answers = answers.copy()
    for row, one in others.items():
        answers[row] = one[0]
    return answers
