"""What the tests of several importers ask alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder

import butfor as bf
from butfor.importers import registry
from butfor.importers.fidelity import disagreements
from butfor.importers.read import read
from butfor.model.black_box import BlackBox
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.samples import NUMBERS, REST, TEXT, labels, numbers
from tests.shorter import diagonal

MISSING = pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
SEVERAL = pytest.mark.parametrize("several", [False, True], ids=["two classes", "several classes"])


def why_unread(estimator: Any, X: Any) -> str:
    """Why a fitted estimator is left a black box."""
    model = read(estimator, X).model
    assert isinstance(model, BlackBox)
    return model.why


def check_never_told_wrongly(estimator: Any, X: Any, rows: Any) -> Any:
    """A fitted estimator is left a black box, or read so that it predicts further rows as the estimator does.

    Rows that the space refuses are not compared. Returns the reading.
    """
    reading = read(estimator, X)
    if not isinstance(reading.model, BlackBox):
        missing = [feature.name for feature in reading.space if not feature.missing]
        taken = rows[rows[missing].notna().all(axis=1)]
        assert not disagreements(reading.source, reading.space, reading.model, reading.readout, taken)
    return reading


def check_refused(estimator: Any, reason: str) -> None:
    """An estimator, fitted on few positive numbers and two answers, is left a black box for that reason."""
    X = np.abs(np.random.default_rng(0).normal(size=(80, 3)))
    assert reason in why_unread(estimator.fit(X, (X[:, 0] > 1).astype(int)), X)


def check_caught(importer: registry.ReadModel, estimator: Any, X: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong importer in the place of the right one is found out."""
    check_importer(estimator, X)
    monkeypatch.setitem(registry._models, type(estimator), importer)
    with pytest.raises(bf.errors.FidelityError, match=r"disagree|differ"):
        check_importer(estimator, X)


def check_booster(train: Callable[[Any], Any], X: np.ndarray, target: Any = "other") -> None:
    """A booster that was trained on an array or on a frame is read, and explained."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    for table in (X, frame):
        booster = train(table)
        check_importer(booster, table)
    answer = bf.Explainer(booster, frame).explain(frame.iloc[[0]], target=target)
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def usual_columns() -> Iterator[ColumnTransformer]:
    """The first steps of usual pipelines over people, with missing incomes left, filled or away."""
    for step in (OneHotEncoder(), OrdinalEncoder()):
        for first in (SimpleImputer(), "passthrough", KBinsDiscretizer(4, strategy="uniform")):
            chosen = ["age"] if isinstance(first, KBinsDiscretizer) else NUMBERS
            yield make_column_transformer((first, chosen), (step, TEXT), ("passthrough", REST), sparse_threshold=0)


class BoostingContract(ImporterContract):
    """An importer of boosted trees: every kind of classifier, with two and several classes, with and without gaps."""

    seeds = range(3)
    classifiers: Mapping[str, Callable[[], Any]]
    """Made anew, by name; one of them is called "plain"."""

    classes = staticmethod(labels)
    """The answers that are learnt."""

    def fitted(self, rng):
        X = numbers(rng, missing=True)
        return self.classifiers["plain"]().fit(X, self.classes(rng, X, 3)), X

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "make" in metafunc.fixturenames:
            metafunc.parametrize("make", self.classifiers.values(), ids=list(self.classifiers))

    @pytest.mark.shorter(12)
    @pytest.mark.parametrize(("kind", "seed"), diagonal(product([False, True], repeat=2), range(2)))
    def test_classifiers(self, make, kind, seed) -> None:
        several, missing = kind
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=missing, single=bool(seed))
        reading = check_importer(make().fit(X, self.classes(rng, X, 3 if several else 2)), X, rng)
        assert {feature.missing for feature in reading.space} == {True}
