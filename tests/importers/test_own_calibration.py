"""Calibrators that were fitted apart from the model: read, proven, and refused where they are no function that never turns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import butfor as bf
from butfor.testing.importer_contract import check_importer
from tests.shorter import diagonal

MODELS: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0),
    "line": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "oblique": lambda: bf.trees.TAOClassifier(max_depth=2, init="random", alpha=0.3, random_state=0),
    "network": lambda: make_pipeline(StandardScaler(), MLPClassifier((3,), solver="lbfgs", max_iter=999, alpha=0.1)),
}


class VennAbers:
    """Venn-ABERS predictors, with the interface of the library venn-abers: isotonic regressions with one more row each."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> VennAbers:
        self.known = np.unique(p[:, 1])
        self.pairs = np.array([[self.with_row(p[:, 1], y, x, label) for label in (0, 1)] for x in self.known])
        return self

    def predict_proba(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Between two known numbers nothing changes."""
        pairs = self.pairs[np.minimum(np.searchsorted(self.known, p[:, 1]), len(self.known) - 1)]
        second = pairs[:, 1] / (1 - pairs[:, 0] + pairs[:, 1])
        return np.column_stack([1 - second, second]), pairs

    def with_row(self, p: np.ndarray, y: np.ndarray, x: float, label: int) -> float:
        return float(IsotonicRegression().fit(np.append(p, x), np.append(y, label)).predict([x])[0])


def beta(p: np.ndarray) -> np.ndarray:
    """Beta calibration: a logistic function of two logarithms."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return 1 / (1 + np.exp(-(0.7 * np.log(p) - 1.3 * np.log1p(-p) + 0.2)))


def logits(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return np.log(p / (1 - p))


def isotonic(said: np.ndarray, y: np.ndarray) -> Any:
    return IsotonicRegression(out_of_bounds="clip").fit(said, y)


CALIBRATORS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "isotonic": isotonic,
    "falling": lambda p, y: IsotonicRegression(out_of_bounds="clip", increasing=False).fit(p, -p),
    "Platt": lambda p, y: LogisticRegression().fit(p[:, None], y),
    "Platt of logits": lambda p, y: make_pipeline(FunctionTransformer(logits), LogisticRegression()).fit(p[:, None], y),
    "beta": lambda p, y: beta,
    "Venn-ABERS": lambda p, y: VennAbers().fit(np.column_stack([1 - p, p])[:40], y[:40]),
}


def made(model: str, calibrator: str, X: Any, y: np.ndarray) -> Any:
    """A model that was fitted on one half, and a calibrator on the other one."""
    fitted = MODELS[model]().fit(X[::2], y[::2])
    found = CALIBRATORS[calibrator](fitted.predict_proba(X[1::2])[:, 1], y[1::2])
    if calibrator == "falling":
        found = lambda p, of=found: 1 + of.predict(p)  # noqa: E731
    return bf.calibrated(fitted, found)


EVERY = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(5)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 5, size=(160, 3)), columns=list("abc"))
    return X, (X["a"] + X["b"] - X["c"] + rng.normal(size=160) > 2.5).astype(int).to_numpy()


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("model", "calibrator"), diagonal(MODELS, CALIBRATORS))
def test_answers_are_the_cheapest_of_all(model, calibrator) -> None:
    X, y = table()
    both = made(model, calibrator, X, y)
    check_importer(both, X)
    explainer, row = bf.Explainer(both, X), X.iloc[[0]]
    cost = (np.abs(EVERY - row.to_numpy()) / 4).sum(axis=1).to_numpy()
    given = both.predict_proba(EVERY)
    wanted = [(label, both.predict(EVERY) == label) for label in (0, 1)]
    for p in np.quantile(given[:, 1], (0.1, 0.5, 0.9)).tolist():
        wanted += [(bf.probability(1, at_least=p), given[:, 1] >= p)] if p > 0 else []
        wanted += [(bf.probability(1, at_most=p), given[:, 1] <= p)] if p < 1 else []
    for target, met in wanted:
        able = next(solver for solver, yes in explainer.solvers(target=target) if yes and solver.exact)
        assert able.name != "enumeration"
        answer = explainer.explain(row, target=target, cost=bf.L1(scale="range"), solver=able)
        assert answer.cost == pytest.approx(cost[met].min(initial=np.inf), abs=1e-6), target
        assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_a_frozen_estimator_says_the_same(method) -> None:
    """scikit-learn's calibrator, taken out of it, gives the answers of the whole."""
    X, y = table()
    boosting = MODELS["boosting"]().fit(X[::2], y[::2])
    whole = CalibratedClassifierCV(FrozenEstimator(boosting), method=method, cv=2, ensemble=False).fit(X[1::2], y[1::2])
    apart = bf.calibrated(boosting, whole.calibrated_classifiers_[0].calibrators[0], of="score")
    assert np.allclose(whole.predict_proba(X), apart.predict_proba(X), rtol=0, atol=1e-15)
    check_importer(apart, X)
    rows, target = X.iloc[:5], bf.probability(1, at_least=0.6)
    one, two = (bf.Explainer(model, X).explain(rows, target=target) for model in (whole, apart))
    assert one.costs.tolist() == two.costs.tolist()


FOREST = RandomForestClassifier(3, max_depth=2, random_state=0)
REFUSED: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "turns around": (lambda p: (p - 0.5) ** 2, {}, bf.errors.InputError, "turns around"),
    "depends on all": (lambda p: 0 * p + p.mean(), {}, bf.errors.InputError, "not a function of single numbers"),
    "too large": (lambda p: 2 * p, {}, bf.errors.InputError, "from 0 to 2"),
    "not defined": (IsotonicRegression().fit([0.2, 0.7], [0, 1]), {}, bf.errors.InputError, "out_of_bounds='clip'"),
    "not fitted": (LogisticRegression(), {}, bf.errors.InputTypeError, "not fitted"),
    "of several columns": (
        LogisticRegression().fit(np.eye(2), [0, 1]),
        {},
        bf.errors.InputTypeError,
        "fitted on one column",
    ),
    "of other classes": (
        LogisticRegression().fit([[0.0], [1.0]], ["a", "b"]),
        {},
        bf.errors.InputError,
        "labels of the model",
    ),
    "no calibrator": (3, {}, bf.errors.InputTypeError, "int was given as the calibrator"),
    "another word": (np.sqrt, {"of": "scores"}, bf.errors.InputError, "Did you mean 'score'"),
    "no score": (np.tanh, {"of": "score"}, bf.errors.InputTypeError, "decision_function"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name) -> None:
    X, y = table()
    calibrator, named, kind, words = REFUSED[name]
    with pytest.raises(kind, match=re.escape(words)):
        bf.calibrated(FOREST.fit(X, y), calibrator, **named)


def test_several_classes_are_told_what_to_do() -> None:
    X, y = table()
    with pytest.raises(bf.errors.InputError, match="FrozenEstimator"):
        bf.calibrated(FOREST.fit(X, y + (X["c"] > 2)), np.sqrt)
