"""Stacking: ends that are linear, or one tree, over members that are read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.model.stacked import Stacked
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import labels, numbers
from tests.shorter import first

SMALL = {"n_estimators": 4, "max_depth": 2, "random_state": 0}
MEMBERS: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomForestClassifier(**SMALL),
    "boosting": lambda: GradientBoostingClassifier(**SMALL),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=4, max_depth=2, min_samples_leaf=3),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "line": lambda: LogisticRegression(),
    "margin": lambda: LinearSVC(random_state=0),
    "calibrated": lambda: CalibratedClassifierCV(
        GradientBoostingClassifier(**SMALL), method="isotonic", ensemble=False, cv=2
    ),
}


def stack(*names: str, end: Any = None, **given: Any) -> StackingClassifier:
    return StackingClassifier([(name, MEMBERS[name]()) for name in names], end, cv=2, **given)


MODELS: dict[str, Callable[[], Any]] = {
    "forest and boosting": lambda: stack("forest", "boosting"),
    "three kinds": lambda: stack("forest", "histogram", "tree"),
    "with a calibrated one": lambda: stack("calibrated", "forest", "boosting"),
    "a scaled end": lambda: stack("forest", "boosting", end=make_pipeline(StandardScaler(), LogisticRegression(C=100))),
    "a falling member": lambda: stack("forest", "boosting", "tree", end=RidgeClassifier(alpha=1e-6)),
    "decisions": lambda: stack("boosting", "histogram", stack_method="decision_function"),
    "lines": lambda: stack("line", "margin"),
    "forest and line": lambda: stack("forest", "line"),
    "a tree": lambda: stack("forest", "boosting", end=DecisionTreeClassifier(max_depth=3, random_state=0)),
    "a tree of one": lambda: stack("calibrated", end=DecisionTreeClassifier(max_depth=2, random_state=0)),
    "a tree over a line": lambda: stack("forest", "line", end=DecisionTreeClassifier(max_depth=2, random_state=0)),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seed", first(1, range(2)))
@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_the_estimator(name, seed) -> None:
    rng = np.random.default_rng(seed)
    X = StandardScaler().fit_transform(numbers(rng))
    assert isinstance(check_importer(MODELS[name]().fit(X, labels(rng, X, 2)), X, rng).readout, Stacked)


class TestStacks(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X = numbers(rng)
        return MODELS["forest and boosting"]().fit(X, labels(rng, X, 2)), X


class TestStacksWithATree(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X = numbers(rng)
        return MODELS["a tree"]().fit(X, labels(rng, X, 2)), X


def small(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Few rows of small whole numbers, all of which can be tried."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 4, size=(60, 3)), columns=list("abc"))
    return X, (X["a"] + X["b"] - X["c"] + rng.normal(size=60) > 1.5).astype(int).to_numpy()


EVERY = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))


@pytest.mark.shorter(4)
@pytest.mark.parametrize("starts", first(1, [range(1), range(1, 3)]), ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_answers_are_the_cheapest_of_all(name, starts) -> None:
    """Every row is tried with the estimator: for the other class, and for probabilities that some row has."""
    X, y = small(1)
    model = MODELS[name]().fit(X, np.array(["no", "yes"])[y])
    explainer = bf.Explainer(model, X)
    said = model.predict(EVERY)
    for start in starts:
        row = X.iloc[[start]]
        cost = (np.abs(EVERY - row.to_numpy()) / 3).sum(axis=1).to_numpy()
        wanted = [(bf.other(), said != model.predict(row)[0])]
        if hasattr(model, "predict_proba"):
            given = model.predict_proba(EVERY)
            some = np.unique(given[given > 0])[:: max(1, len(given) // 4)]
            wanted += [
                (bf.probability(label, p), given[:, k] >= p)
                for (k, label), p in product(enumerate(("no", "yes")), some)
            ]
        for target, met in wanted:
            answer = explainer.explain(row, target=target, cost=bf.L1(scale="range"))
            best = cost[met].min(initial=np.inf)
            assert answer.cost == pytest.approx(best, abs=1e-6), (start, target)
            assert answer.certificate.bound <= best + 1e-6
            assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", ["forest and boosting", "a falling member", "with a calibrated one"])
@pytest.mark.parametrize("most", [1, 2])
def test_counted_changes_are_proven_by_lines_that_follow_the_search(name, most) -> None:
    X, y = small(6)
    model = MODELS[name]().fit(X, y)
    explainer, said = bf.Explainer(model, X), model.predict(EVERY)
    for start in range(4):
        row = X.iloc[[start]]
        moved = np.abs(EVERY - row.to_numpy()).to_numpy()
        allowed = (said != model.predict(row)[0]) & ((moved > 0).sum(axis=1) <= most)
        best = (moved / 3).sum(axis=1)[allowed].min(initial=np.inf)
        answer = explainer.explain(
            row, cost=bf.L1(scale="range"), constraints=[bf.at_most_changes(most)], solver="blend_branching"
        )
        assert answer.cost == pytest.approx(best, abs=1e-6)
        assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)
        assert "lines above the functions follow the search of ensemble_branch_bound" in answer.certificate.solver


REGRESSORS: dict[str, Callable[[], Any]] = {
    "forest and line": lambda: [("a", RandomForestRegressor(**SMALL)), ("b", Ridge())],
    "trees": lambda: [("a", RandomForestRegressor(**SMALL)), ("b", GradientBoostingRegressor(**SMALL))],
    "lines": lambda: [("a", Ridge()), ("b", Ridge(100.0))],
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("end", [None, LinearRegression(), make_pipeline(StandardScaler(), Ridge())])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, end) -> None:
    X, y = small(4)
    model = StackingRegressor(REGRESSORS[name](), end, cv=2).fit(X, X["a"] + X["b"] * X["c"] + y)
    rng = np.random.default_rng(0)
    check_importer(model, X, rng)
    explainer, given = bf.Explainer(model, X), model.predict(EVERY)
    for start, aim in product(range(2), np.quantile(given, (0.1, 0.6, 0.9), method="nearest")):
        row = X.iloc[[start]]
        cost = (np.abs(EVERY - row.to_numpy()) / 3).sum(axis=1).to_numpy()
        for target, met in ((bf.value(at_least=aim), given >= aim), (bf.value(at_most=aim), given <= aim)):
            answer = explainer.explain(row, target=target, cost=bf.L1(scale="range"))
            assert answer.cost == pytest.approx(cost[met].min(initial=np.inf), abs=1e-6)
            assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


def test_shares_of_several_classes() -> None:
    """Forests hand on the shares of three classes, and a linear end compares three sums of them."""
    rng = np.random.default_rng(0)
    X, _ = small(2)
    y = np.clip(X["a"] + X["b"] - X["c"] + rng.normal(size=60).round(), 0, 2).astype(int)
    model = stack("forest", "tree").fit(X, y)
    explainer, said = bf.Explainer(model, X), model.predict(EVERY)
    for start, label in product(range(3), (0, 1, 2)):
        row = X.iloc[[start]]
        cost = (np.abs(EVERY - row.to_numpy()) / 3).sum(axis=1).to_numpy()
        best = cost[said == label].min(initial=np.inf)
        answer = explainer.explain(row, target=label, cost=bf.L1(scale="range"))
        assert answer.cost == pytest.approx(best, abs=1e-6)
        assert answer.certificate.status in (
            bf.Status.PROVEN_OPTIMAL,
            bf.Status.PROVEN_INFEASIBLE,
        )


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (stack("forest", "line", passthrough=True), "hands on the columns, too"),
        (stack("forest", "line", end=RandomForestClassifier(3, random_state=0)), "a sum of 3 trees"),
        (
            stack("forest", "line", end=MLPClassifier(8, solver="lbfgs", max_iter=200, random_state=0)),
            "its end is a network",
        ),
        (stack("forest", "line", stack_method="predict"), "its predict"),
        (StackingRegressor([("a", Ridge())], DecisionTreeRegressor()), "its end is a DecisionTreeRegressor"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_be_read_is_named_and_searched(model, words) -> None:
    X, y = small(3)
    model.fit(X, y)
    assert words in why_unread(model, X)
    row = X.iloc[[int(np.argmin(model.predict(X)))]]
    target = "other" if hasattr(model, "classes_") else bf.value(at_least=float(model.predict(X).max()))
    answer = bf.Explainer(model, X).explain(row, target=target, solver="swarm")
    assert answer.certificate.status is bf.Status.VALID
    assert words in answer.certificate.solver


@pytest.mark.shorter(1)
@pytest.mark.parametrize("threshold", [False, True])
def test_a_ball_over_the_leaves_of_the_end_is_refused(threshold) -> None:
    """No set of scores holds a whole ball if its neighbours lie in several leaves, so a proof would be wrong."""
    X, y = small(1)
    X = X + 0.25
    model = MODELS["a tree"]()
    model = (FixedThresholdClassifier(model, threshold=0.3) if threshold else model).fit(X, y)
    explainer, row = bf.Explainer(model, X), X.iloc[[0]]
    with pytest.raises(bf.errors.UnsupportedProblemError, match="ends in a tree"):
        explainer.explain(row, constraints=[bf.robust({"a": 1.0})])
    with pytest.raises(bf.errors.UnsupportedProblemError, match="ends in a tree"):
        explainer.robustness(row, target=int(model.predict(row)[0]))


def test_a_row_at_the_end_of_its_box_is_an_answer() -> None:
    """Where a sum reaches the mean wherever it is, it needs no threshold: the fuzzer found a bound above this answer."""
    X = pd.DataFrame(
        {
            "a": list(map(float, "172223314672711122361721516117451215266546247263")),
            "b": list("abcdeccedadddbcdbacccaceddceeacebdbeeadedeadbadb"),
            "c": list("abcdebddaacdbbcbcdbdecbdbbdabcbdeadcceeaeccddeea"),
        }
    )
    y = list("nnyyynyynnnynnnynynnynnynnyyynnyynyyyyynynnynyyn")
    steps = ColumnTransformer(
        [("levels", OneHotEncoder(sparse_output=False), ["b", "c"]), ("others", StandardScaler(), ["a"])]
    )
    members = [("forest", RandomForestClassifier(1, max_depth=2, random_state=0)), ("line", LogisticRegression())]
    model = make_pipeline(steps, StackingClassifier(members, LogisticRegression(), cv=2)).fit(X, y)
    asked = {"target": bf.classes("n", "y"), "constraints": ["2 * a >= 8"]}
    answers = bf.Explainer(model, data=X).explain(X.iloc[[34]], **asked)
    assert answers.certificates.bound == pytest.approx((4 - 1) / 6, rel=1e-5)
