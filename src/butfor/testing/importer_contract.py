"""What every importer must do: its model must predict what the estimator predicts.

This is tested on data, at every cut and beside it. For example:

class TestMine(ImporterContract):
    def fitted(self, rng):
        X = rng.normal(size=(200, 3))
        return MyEstimator().fit(X, X[:, 0] > 0), X
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from butfor.errors import FidelityError, NotFittedError
from butfor.importers.fidelity import disagreements, probes
from butfor.importers.read import Reading, read
from butfor.model.black_box import BlackBox
from butfor.space import frames
from butfor.space.infer import Declaration


def check_importer(
    estimator: Any, data: Any, rng: np.random.Generator | int = 0, *, space: Mapping[str, Declaration] | None = None
) -> Reading:
    """Read a fitted estimator, and compare the model with the estimator's predictions.

    Values or labels are compared, and probabilities if they follow from the scores. This is done on the data and on
    generated rows: random ones, every level, missing values, and every cut with its neighbours of one float64 and one
    float32. Each row is written into the same kind of table as `data` before the estimator is called. Raises
    `FidelityError` if they differ.
    """
    reading = read(estimator, data, space)
    name = type(estimator).__name__
    if isinstance(reading.model, BlackBox):
        raise FidelityError(f"{name} was not read: {reading.model.why}")
    data = frames.as_table(data)
    rows = reading.space.encode(data)
    made = probes(reading.space, reading.model, rows, np.random.default_rng(rng))
    template = frames.take(data, np.arange(len(made)) % len(rows))
    for table in (data, reading.space.decode(made, template)):
        wrong = disagreements(reading.source, reading.space, reading.model, reading.readout, table)
        if wrong:
            codes = reading.space.encode(frames.take(table, [wrong[0].row]))[0].tolist()
            raise FidelityError(
                f"{name} and the model read from it differ in {len(wrong)} predictions "
                f"for {frames.height(table)} rows:",
                f"{wrong[0].words}, for {dict(zip(reading.space.names, codes, strict=True))}.",
            )
    return reading


class ImporterContract(ABC):
    """The contract of an importer.

    It agrees with its estimator on generated rows, refuses an estimator that is not fitted, and changes nothing.
    """

    seeds: range = range(10)

    @abstractmethod
    def fitted(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """A fitted estimator and the rows it was fitted on."""

    def test_agrees_with_the_estimator(self) -> None:
        for seed in self.seeds:
            rng = np.random.default_rng(seed)
            check_importer(*self.fitted(rng), rng)

    def test_reads_what_was_saved_and_loaded(self) -> None:
        estimator, data = self.fitted(np.random.default_rng(0))
        check_importer(pickle.loads(pickle.dumps(estimator)), data)

    def test_leaves_estimator_and_data_untouched(self) -> None:
        estimator, data = self.fitted(np.random.default_rng(0))
        before = pickle.dumps((estimator, data))
        check_importer(estimator, data)
        assert pickle.dumps((estimator, data)) == before

    def test_refuses_what_is_not_fitted(self) -> None:
        from sklearn.base import clone

        estimator, data = self.fitted(np.random.default_rng(0))
        with pytest.raises(NotFittedError, match="not fitted"):
            read(clone(estimator), data)
