"""Estimators and steps of one's own, and importers that are wrong: the contract must catch each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.importers import registry
from butfor.importers.builtin import load_builtin
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.libraries.sklearn_linear import read_classifier
from butfor.importers.libraries.sklearn_steps import standard_scaler
from butfor.importers.libraries.sklearn_tree import read_tree
from butfor.importers.read import read
from butfor.importers.registry import Imported
from butfor.model.black_box import BlackBox
from butfor.model.readout import Sign, Value
from butfor.testing.importer_contract import ImporterContract, check_importer


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """What a test registers is gone after it."""
    load_builtin()
    models, steps = dict(registry._models), dict(registry._steps)
    yield
    registry._models.clear()
    registry._steps.clear()
    registry._models.update(models)
    registry._steps.update(steps)


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=150), rng.integers(0, 12, 150) / 4])
    return X, (X @ [1.0, 0.7] + rng.normal(size=150) * 0.2 > 1).astype(int)


class Vote(ClassifierMixin, BaseEstimator):
    """Approves what weighs enough; nothing that butfor knows."""

    def fit(self, X, y):
        self.classes_, self.weights_ = np.unique(y), np.linspace(1, 2, X.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X) @ self.weights_ > 2.0).astype(int)]


class Thousands(TransformerMixin, BaseEstimator):
    """Divides by 1000."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return np.asarray(X) / 1000


def read_vote(estimator: Vote, columns: list[Column]) -> Imported:
    return linear_over(columns, estimator.weights_, -2.0), Sign(tuple(estimator.classes_.tolist()))


def read_thousands(step: Thousands, columns: list[Column]) -> list[Column]:
    return [column.map(lambda x: x / 1000, slope=column.slope / 1000) for column in columns]


class TestVote(ImporterContract):
    seeds = range(3)

    @pytest.fixture(autouse=True)
    def _taught(self) -> None:
        bf.teach.register_importer(Vote, read_vote)

    def fitted(self, rng):
        X, y = data(int(rng.integers(100)))
        return Vote().fit(X, y), X


def test_an_unknown_estimator_is_a_black_box_that_names_it_until_it_is_taught() -> None:
    X, y = data()
    estimator = Vote().fit(X, y)
    before = read(estimator, X).model
    assert isinstance(before, BlackBox)
    assert "Vote" in before.why
    assert "register_importer" in before.why
    with pytest.raises(bf.errors.FidelityError, match="Vote was not read"):
        check_importer(estimator, X)
    bf.teach.register_importer(Vote, read_vote)
    answer = bf.Explainer(estimator, X).explain(X[:1])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert estimator.predict(answer.point) != estimator.predict(X[:1])


def test_a_subclass_is_read_as_its_ancestor_unless_it_is_registered_itself() -> None:
    class Upside(LogisticRegression):
        def predict(self, X):
            return 1 - super().predict(X)

    X, y = data()
    estimator = Upside().fit(X, y)
    with pytest.raises(bf.errors.FidelityError, match="disagrees with the estimator"):
        bf.Explainer(estimator, X)
    bf.teach.register_importer(
        Upside, lambda model, columns: (linear_over(columns, -model.coef_, -model.intercept_), Sign((0, 1)))
    )
    check_importer(estimator, X)


def test_a_step_of_ones_own() -> None:
    X, y = data()
    for model in (LogisticRegression(), DecisionTreeClassifier(max_depth=4)):
        fitted = make_pipeline(Thousands(), StandardScaler(), model).fit(X, y)
        assert "Thousands" in read(fitted, X).model.why
    bf.teach.register_step(Thousands, read_thousands)
    for model in (LogisticRegression(), DecisionTreeClassifier(max_depth=4)):
        check_importer(make_pipeline(Thousands(), StandardScaler(), model).fit(X, y), X)


def swapped(estimator, columns):
    model, readout = read_classifier(estimator, columns)
    return replace(model, slope=-model.slope), readout


def shifted(estimator, columns):
    model, readout = read_classifier(estimator, columns)
    return replace(model, intercept=model.intercept + 0.2), readout


def mirrored(estimator, columns):
    model, readout = read_classifier(estimator, columns)
    return model, Sign(readout.classes[::-1], readout.link)


def cut_in_float64(estimator, columns):
    """The threshold taken as it stands: wrong by up to one float32, which no row of the data shows."""
    model, readout = read_tree(estimator, columns)
    inner = model.feature >= 0
    cut = np.where(inner, estimator.tree_.threshold, 0.0)
    cells = tuple(
        replace(cell, edges=np.unique(cut[inner & (model.feature == j)])) for j, cell in enumerate(model.cells)
    )
    return replace(model, cut=cut, cells=cells), readout


def strict_cut(estimator, columns):
    """Left iff below, not at most: wrong exactly on the cut."""
    model, readout = read_tree(estimator, columns)
    cut = np.nextafter(model.cut, -np.inf)
    inner = model.feature >= 0
    cells = tuple(
        replace(cell, edges=np.unique(cut[inner & (model.feature == j)])) for j, cell in enumerate(model.cells)
    )
    return replace(model, cut=cut, cells=cells), readout


def missing_astray(estimator, columns):
    model, readout = read_tree(estimator, columns)
    return replace(model, missing_left=~model.missing_left), readout


def other_leaf(estimator, columns):
    """One leaf off by a thousandth."""
    model, readout = read_tree(estimator, columns)
    value = model.value.copy()
    value[-1] += 1e-3
    return replace(model, value=value), readout


def drop_intercept(estimator, columns):
    return linear_over(columns, estimator.coef_, 0.0), Value()


WRONG = [
    (LogisticRegression, swapped), (LogisticRegression, shifted), (LogisticRegression, mirrored),
    (DecisionTreeClassifier, cut_in_float64), (DecisionTreeClassifier, strict_cut), (DecisionTreeClassifier, missing_astray),
    (DecisionTreeRegressor, other_leaf), (DecisionTreeRegressor, strict_cut), (LinearRegression, drop_intercept),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "importer"), WRONG, ids=lambda thing: thing.__name__)
def test_a_wrong_importer_is_caught(kind, importer) -> None:
    X, y = data()
    if importer is missing_astray:
        X[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    estimator = kind().fit(X, y)
    check_importer(estimator, X)
    bf.teach.register_importer(kind, importer)
    with pytest.raises(bf.errors.FidelityError, match=r"disagree|differ"):
        check_importer(estimator, X)


def test_wrong_probabilities_are_caught() -> None:
    """The labels are right, what is said of the probabilities is not."""
    X, y = data()
    estimator = LogisticRegression().fit(X, y)

    def doubled(model, columns):
        return linear_over(columns, 2 * model.coef_, 2 * model.intercept_), Sign((0, 1), "logistic")

    bf.teach.register_importer(LogisticRegression, doubled)
    with pytest.raises(bf.errors.FidelityError, match="the probabilities"):
        check_importer(estimator, X)


def test_a_wrong_step_is_caught() -> None:
    X, y = data()
    fitted = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=5)).fit(X, y)

    def unscaled(step, columns):
        return [column.map(lambda x: x) for column in columns]

    def nearly(step, columns):
        """The same arithmetic in another order: off by one ulp, which no row of the data shows."""
        return [
            column.map(lambda x, i=i: x * (1 / step.scale_[i]) - step.mean_[i] / step.scale_[i])
            for i, column in enumerate(columns)
        ]

    for wrong in (unscaled, nearly):
        bf.teach.register_step("StandardScaler", wrong)
        with pytest.raises(bf.errors.FidelityError):
            check_importer(fitted, X)
    bf.teach.register_step("StandardScaler", standard_scaler)
    check_importer(fitted, X)
