"""Calibrated classifiers: every method around every kind of model, and what is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.importers.read import read
from butfor.importers.registry import _models
from butfor.model.linked import Calibrated
from butfor.model.one_vs_rest import OneVsRest
from butfor.model.questions import evaluate
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import NUMBERS, SKLEARN, TEXT, answers, codes, labels, numbers, people
from tests.shorter import diagonal, first

METHODS = ["sigmoid", "isotonic", *(["temperature"] if SKLEARN >= (1, 8) else [])]
SMALL = {"n_estimators": 5, "max_depth": 3, "random_state": 0}


def boosted(library: str) -> Any:
    if library == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(**SMALL, n_jobs=1)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(**SMALL, n_jobs=1, verbose=-1, min_child_samples=3)


BASES: dict[str, Callable[[], Any]] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "margin": lambda: make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
    "network": lambda: make_pipeline(StandardScaler(), MLPClassifier((3,), max_iter=20, random_state=0)),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "forest": lambda: RandomForestClassifier(**SMALL),
    "boosting": lambda: GradientBoostingClassifier(**SMALL),
    "exponential boosting": lambda: GradientBoostingClassifier(**SMALL, loss="exponential"),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3, random_state=0),
    "ada": lambda: AdaBoostClassifier(n_estimators=4, random_state=0),
    "xgboost": lambda: boosted("xgboost"),
    "lightgbm": lambda: boosted("lightgbm"),
}

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def made(base: str) -> Any:
    if base in ("xgboost", "lightgbm") and not find_spec(base):
        pytest.skip(f"{base} is not installed")
    return BASES[base]()


def answered(base: str, rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Text, or codes for what takes no text."""
    return codes(rng, X, 2) if base == "xgboost" else labels(rng, X, 2)


def frozen(estimator: Any) -> Any:
    frozen = pytest.importorskip("sklearn.frozen")
    return frozen.FrozenEstimator(estimator)


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("base", "method"), diagonal(BASES, METHODS))
@pytest.mark.parametrize("seed", first(1, range(2)))
def test_one_estimator(base, method, seed) -> None:
    for single in (False, True):
        rng = np.random.default_rng(seed)
        X = numbers(rng, single=single)
        y = answered(base, rng, X)
        model = CalibratedClassifierCV(made(base), method=method, ensemble=False, cv=3).fit(X, y)
        assert isinstance(check_importer(model, X, rng).readout, Calibrated)


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("base", "method"), diagonal(["logistic", "forest", "boosting", "xgboost"], METHODS))
def test_a_fitted_estimator_with_one_or_several_calibrators(base, method) -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = answered(base, rng, X)
    inner = frozen(made(base).fit(X, y))
    for ensemble in (False, True):
        check_importer(CalibratedClassifierCV(inner, method=method, ensemble=ensemble, cv=3).fit(X, y), X, rng)


class TestCalibrated(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng)
        model = CalibratedClassifierCV(BASES["forest"](), method="isotonic", ensemble=False, cv=3)
        return model.fit(X, labels(rng, X, 2)), X


@pytest.mark.long
def test_pipelines_and_thresholds() -> None:
    X = people()
    y = answers(X)
    columns = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), TEXT))
    around = CalibratedClassifierCV(make_pipeline(columns, LogisticRegression()), ensemble=False, cv=3)
    inside = make_pipeline(columns, CalibratedClassifierCV(RandomForestClassifier(**SMALL), ensemble=False, cv=3))
    for model in (around, inside):
        check_importer(model.fit(X, y), X)
        label = model.classes_[-1]
        check_importer(FixedThresholdClassifier(model, threshold=0.3, pos_label=label).fit(X, y), X)


def small(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Few rows of small whole numbers, all of which can be tried."""
    X = pd.DataFrame(rng.integers(0, 4, size=(60, 3)), columns=list("abc"))
    return X, (X["a"] + X["b"] - X["c"] + rng.normal(size=60) > 1.5).astype(int).to_numpy()


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("base", "method"), diagonal(["logistic", "tree", "forest", "boosting"], METHODS))
def test_answers_are_the_cheapest_of_all(base, method) -> None:
    """Every row is tried with the estimator, for the other class and for each probability that some row has."""
    rng = np.random.default_rng(0)
    X, y = small(rng)
    model = CalibratedClassifierCV(made(base), method=method, ensemble=False, cv=3).fit(X, y)
    every = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))
    given = model.predict_proba(every)
    assert (model.predict(every) == (given[:, 1] > given[:, 0])).all()
    explainer = bf.Explainer(model, X)
    prices = np.array([explainer.space[name].range for name in "abc"])
    start = X.iloc[[0]]
    cost = (np.abs(every - start.to_numpy()) / prices).sum(axis=1).to_numpy()
    for label, p in product((0, 1), np.unique(given[given > 0][::9])):
        answer = explainer.explain(start, target=bf.probability(label, p), cost=bf.L1(scale="range"))
        best = cost[given[:, label] >= p].min(initial=np.inf)
        assert answer.cost == pytest.approx(best, abs=1e-6), (label, p)
        assert answer.certificate.bound <= best + 1e-6


SEVERAL = ["logistic", "margin", "tree", "forest", "boosting", "histogram", "ada"]


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("base", "method"), diagonal(SEVERAL, ["sigmoid", "isotonic"]))
def test_several_classes(base, method) -> None:
    """The shares of three classes: read, and every row is tried for each class, and for shares that some row has."""
    rng = np.random.default_rng(1)
    X, y = small(rng)
    y = y + (X["a"] + X["c"] + rng.normal(size=60) > 4).to_numpy()
    model = CalibratedClassifierCV(made(base), method=method, ensemble=False, cv=3).fit(X, np.array(list("pqr"))[y])
    assert isinstance(check_importer(model, X, rng).readout, OneVsRest)
    every = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))
    given, said = model.predict_proba(every), model.predict(every)
    explainer = bf.Explainer(model, X)
    prices = np.array([explainer.space[name].range for name in "abc"])
    start = X.iloc[[0]]
    cost = (np.abs(every - start.to_numpy()) / prices).sum(axis=1).to_numpy()
    wanted = [(bf.other(), said != model.predict(start)[0]), *((label, said == label) for label in "pqr")]
    for (k, label), p in product(enumerate("pqr"), np.unique(given[given > 0])[:: len(given)]):
        wanted += [(bf.probability(label, p), given[:, k] >= p)]
    for target, met in wanted:
        answer = explainer.explain(start, target=target, cost=bf.L1(scale="range"))
        best = cost[met].min(initial=np.inf)
        assert answer.cost == pytest.approx(best, abs=1e-6), target
        assert answer.certificate.bound <= best + 1e-6
        assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


def test_where_no_calibrator_gives_anything_all_classes_are_equal() -> None:
    X, y = small(np.random.default_rng(1))
    y = y + (X["a"] + X["c"] > 4).to_numpy()
    model = CalibratedClassifierCV(BASES["forest"](), method="isotonic", ensemble=False, cv=3).fit(X, y)
    for calibrator in model.calibrated_classifiers_[0].calibrators:
        calibrator.X_thresholds_, calibrator.y_thresholds_ = (
            np.array([0.0, 0.57, 0.7, 1.0]),
            np.array([0.0, 0.0, 0.5, 1.0]),
        )
        calibrator.X_min_, calibrator.X_max_ = 0.0, 1.0
        calibrator._build_f(calibrator.X_thresholds_, calibrator.y_thresholds_)
    assert (model.predict_proba(X) == 1 / 3).all(axis=1).any()
    check_importer(model, X)
    readout = read(model, X).readout
    scores = evaluate(read(model, X).model, X.to_numpy(np.float64))
    for label, p, below, strict in product(range(3), (0.0, 0.2, 1 / 3, 0.4, 1.0), (False, True), (False, True)):
        given = model.predict_proba(X)[:, label]
        met = (given < p if strict else given <= p) if below else (given > p if strict else given >= p)
        sets = readout.probability_sets(label, p, below=below, strict=strict)
        found = np.any([part.holds(scores) for part in sets], axis=0)
        assert (found == met).all(), (label, p, below, strict, given[found != met])


def test_an_isotonic_plateau_at_one_half_belongs_to_the_first_class() -> None:
    X, y = small(np.random.default_rng(1))
    model = CalibratedClassifierCV(BASES["forest"](), method="isotonic", ensemble=False, cv=3).fit(X, y)
    (calibrator,) = model.calibrated_classifiers_[0].calibrators
    calibrator.X_thresholds_, calibrator.y_thresholds_ = np.array([0.0, 0.3, 0.6, 1.0]), np.array([0.1, 0.5, 0.5, 0.8])
    calibrator.X_min_, calibrator.X_max_ = 0.0, 1.0
    calibrator._build_f(calibrator.X_thresholds_, calibrator.y_thresholds_)
    check_importer(model, X)
    at = int(np.argmin(model.predict_proba(X)[:, 1]))
    answer = bf.Explainer(model, X).explain(X.iloc[[at]], target=1)
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert model.predict_proba(answer.point)[0, 1] > 0.5


def test_a_falling_sigmoid_is_read() -> None:
    X, y = small(np.random.default_rng(0))
    model = CalibratedClassifierCV(frozen(BASES["boosting"]().fit(X, 1 - y)), method="sigmoid").fit(X, y)
    assert model.calibrated_classifiers_[0].calibrators[0].a_ > 0
    check_importer(model, X)


def test_what_is_refused_by_name() -> None:
    X, y = small(np.random.default_rng(0))
    several = CalibratedClassifierCV(BASES["forest"](), cv=3).fit(X, X["a"])
    assert "over 4 classes" in why_unread(several, X)
    neighbours = CalibratedClassifierCV(KNeighborsClassifier(), cv=3, ensemble=False).fit(X, y)
    assert "no importer reads KNeighborsClassifier" in why_unread(neighbours, X)
    broken = CalibratedClassifierCV(BASES["forest"](), method="isotonic", cv=3, ensemble=False).fit(X, y)
    (calibrator,) = broken.calibrated_classifiers_[0].calibrators
    calibrator.y_thresholds_ = calibrator.y_thresholds_[::-1].copy()
    assert "isotonic calibrator is not monotone" in why_unread(broken, X)
    turned = CalibratedClassifierCV(BASES["forest"](), cv=3, ensemble=False).fit(X, y)
    turned.calibrated_classifiers_[0].estimator.classes_ = np.array([1, 0])
    assert "in the same order" in why_unread(turned, X)


@pytest.mark.long
def test_a_refused_one_is_searched() -> None:
    X, _ = small(np.random.default_rng(0))
    several = CalibratedClassifierCV(BASES["forest"](), cv=3).fit(X, X["a"])
    explainer = bf.Explainer(several, X)
    answer = explainer.explain(X.iloc[[0]], solver="swarm")
    assert answer.certificate.status is bf.Status.VALID
    assert "over 4 classes" in answer.certificate.solver
    few = explainer.explain(X.iloc[[0]])  # it has few combinations, which are all asked about
    assert few.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert few.cost <= answer.cost
    assert "over 4 classes" in few.certificate.solver


def test_an_importer_that_takes_the_plain_model_is_caught(monkeypatch) -> None:
    X, y = small(np.random.default_rng(0))
    model = CalibratedClassifierCV(BASES["forest"](), method="isotonic", ensemble=False, cv=3).fit(X, y)
    forest = _models["RandomForestClassifier"]
    monkeypatch.setitem(
        _models,
        CalibratedClassifierCV,
        lambda model, columns: forest(model.calibrated_classifiers_[0].estimator, columns),
    )
    with pytest.raises(bf.errors.FidelityError, match=r"disagree|differ"):
        check_importer(model, X)
