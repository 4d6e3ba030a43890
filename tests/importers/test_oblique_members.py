"""Oblique trees inside of what holds several models, and single trees whose leaves hold what is made of their predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.importers.read import read
from butfor.model.black_box import BlackBox
from butfor.model.questions import ModelKind, kind_of
from butfor.testing.importer_contract import check_importer
from tests.importers.samples import FIRST_WINS, labels, numbers
from tests.shorter import first


def tao(depth: int = 2) -> Any:
    return bf.trees.TAOClassifier(max_depth=depth, init="random", alpha=0.3, warm_up=5, tol=0.1, random_state=0)


def tao_of_values(depth: int = 2) -> Any:
    return bf.trees.TAORegressor(max_depth=depth, init="random", alpha=0.3, warm_up=5, tol=0.1, random_state=0)


def cart(depth: int = 2) -> Any:
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def bagged() -> Any:
    return BaggingClassifier(tao(), 3, random_state=0)


def forest() -> Any:
    return RandomForestClassifier(3, max_depth=2, random_state=0)


def vote(*members: Any, voting: str = "soft", **given: Any) -> VotingClassifier:
    return VotingClassifier([(str(at), one) for at, one in enumerate(members)], voting=voting, **given)


def stack(*members: Any, end: Any = None, kind: type = StackingClassifier) -> Any:
    return kind([(str(at), one) for at, one in enumerate(members)], end, cv=2)


TWO: dict[str, Callable[[], Any]] = {
    "sigmoid, one tree": lambda: CalibratedClassifierCV(tao(), ensemble=False, cv=2),
    "isotonic, one tree": lambda: CalibratedClassifierCV(tao(), ensemble=False, cv=2, method="isotonic"),
    "sigmoid, several": lambda: CalibratedClassifierCV(tao(), cv=2),
    "isotonic, several": lambda: CalibratedClassifierCV(tao(), cv=3, method="isotonic"),
    "sigmoid, several of CART": lambda: CalibratedClassifierCV(cart(), cv=2),
    "a sigmoid for bags": lambda: CalibratedClassifierCV(bagged(), ensemble=False, cv=2),
    "sigmoids for bags": lambda: CalibratedClassifierCV(bagged(), cv=2),
    "soft": lambda: vote(tao(), tao(1), weights=[2, 1]),
    "soft with CART": lambda: vote(tao(), cart(3)),
    "soft with forests": lambda: vote(tao(), forest(), bagged()),
    "soft with a line": lambda: vote(tao(), LogisticRegression(max_iter=1000)),
    "soft with boosting": lambda: vote(tao(), GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0)),
    "soft with all": lambda: vote(tao(), cart(), LogisticRegression(max_iter=1000)),
    "hard": lambda: vote(tao(), tao(1), cart(), voting="hard"),
    "hard with a line": lambda: vote(tao(), LogisticRegression(max_iter=1000), cart(), voting="hard"),
    "one against the rest": lambda: OneVsRestClassifier(tao()),
    "boosting against the rest": lambda: OneVsRestClassifier(GradientBoostingClassifier(n_estimators=3, max_depth=2)),
    "stack": lambda: stack(tao(), tao(1), cart()),
    "stack with a tree": lambda: stack(tao(), tao(1), end=cart()),
    "scaled": lambda: make_pipeline(StandardScaler(), vote(tao(), cart(3), LogisticRegression(max_iter=1000))),
}
SEVERAL: dict[str, Callable[[], Any]] = {
    "sigmoid, one tree": lambda: CalibratedClassifierCV(tao(), ensemble=False, cv=2),
    "sigmoid, several": lambda: CalibratedClassifierCV(tao(), cv=2),
    "isotonic, several": lambda: CalibratedClassifierCV(tao(), cv=2, method="isotonic"),
    "isotonic, several of CART": lambda: CalibratedClassifierCV(cart(), cv=2, method="isotonic"),
    "soft": lambda: vote(tao(), tao(1), cart()),
    "soft, calibrated": lambda: vote(CalibratedClassifierCV(tao(), cv=2), cart()),
    "hard": lambda: vote(tao(), tao(1), cart(), voting="hard", weights=[2, 1, 2]),
    "stack": lambda: stack(tao(), cart()),
}
if FIRST_WINS:
    SEVERAL |= {
        "one against the rest": lambda: OneVsRestClassifier(tao()),
        "forests against the rest": lambda: OneVsRestClassifier(forest()),
        "boosting against the rest": lambda: OneVsRestClassifier(
            GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0)
        ),
    }
VALUES: dict[str, Callable[[], Any]] = {
    "boosted": lambda: AdaBoostRegressor(tao_of_values(), n_estimators=3, random_state=0),
    "mean": lambda: VotingRegressor([("a", tao_of_values()), ("b", tao_of_values(1))], weights=[2, 1]),
    "mean with CART": lambda: VotingRegressor([
        ("a", tao_of_values()), ("b", DecisionTreeRegressor(max_depth=3, random_state=0)),
        ("c", RandomForestRegressor(3, max_depth=2, random_state=0)),
    ]),
    "mean with a line": lambda: VotingRegressor([("a", tao_of_values()), ("b", LinearRegression())]),
    "stack": lambda: stack(
        tao_of_values(), DecisionTreeRegressor(max_depth=2), LinearRegression(), end=LinearRegression(),
        kind=StackingRegressor,
    ),
}  # fmt: skip
EVERY = [
    *(pytest.param(make, 2, id=f"two: {name}") for name, make in TWO.items()),
    *(pytest.param(make, 3, id=f"several: {name}") for name, make in SEVERAL.items()),
    *(pytest.param(make, 0, id=f"values: {name}") for name, make in VALUES.items()),
]


@pytest.mark.shorter(3)
@pytest.mark.parametrize(("make", "classes"), EVERY)
def test_agrees_with_the_estimator(make, classes) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng)
        check_importer(make().fit(X, labels(rng, X, classes) if classes else X[:, 0] * X[:, 1]), X, rng)


EVERY_ROW = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))


def small(seed: int, classes: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Few rows of small whole numbers, all of which can be tried. Cuts of trees lie on some of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 4, size=(60, 3)), columns=list("abc"))
    X.loc[X["c"] == 2, "c"] = 3
    value = (X["a"] + X["b"] - X["c"] + rng.normal(size=60)).to_numpy()
    return X, np.digitize(value, [0.5, 2.5][: classes - 1]) if classes else value


def targets(model: Any, classes: int, kind: ModelKind) -> list[tuple[Any, np.ndarray]]:
    """Targets, and which rows meet them by the estimator's word. Beside a linear model, no probability is that of a row."""
    said = model.predict(EVERY_ROW)
    if not classes:
        return [(bf.value(at_least=float(t)), said >= t) for t in np.quantile(said, [0.5, 0.9])]
    out = [(label, said == label) for label in range(classes)]
    if hasattr(model, "predict_proba"):
        given = model.predict_proba(EVERY_ROW)
        several = np.unique(given[(given[:, 1] > 0) & (given[:, 1] < 1), 1])
        if kind is ModelKind.OBLIQUE_MIXED:
            several = (several[1:] + several[:-1]) / 2
        for p in several[1::9]:
            out += [(bf.probability(1, at_least=p), given[:, 1] >= p), (bf.probability(1, at_most=p), given[:, 1] <= p)]
    return out


@pytest.mark.shorter(3)
@pytest.mark.parametrize("start", first(1, range(3)))
@pytest.mark.parametrize(("make", "classes"), EVERY)
def test_answers_are_the_cheapest_of_all(make, classes, start) -> None:
    """No real number may change, so every row is tried with the estimator."""
    X, y = small(start, classes)
    model = make().fit(X, y)
    explainer, row = bf.Explainer(model, X), X.iloc[[start]]
    refused = classes == 3 and isinstance(model, StackingClassifier | OneVsRestClassifier)
    cost = (np.abs(EVERY_ROW - row.to_numpy()) / 3).sum(axis=1).to_numpy()
    for target, met in targets(model, classes, kind_of(read(model, X).model)):
        try:
            able = [solver for solver, yes in explainer.solvers(target=target) if yes and solver.exact]
        except bf.errors.UnsupportedProblemError:
            assert refused, target
            continue
        best = cost[met].min(initial=np.inf)
        answer = explainer.explain(row, target=target, cost=bf.L1(scale="range"), solver=able[0])
        assert able[0].name in ("oblique_exact", "milp", "blend_branching", "ensemble_branch_bound"), able[0].name
        assert answer.cost == pytest.approx(best, abs=1e-6), target
        assert answer.certificate.bound <= best + 1e-6
        assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


def test_a_frozen_tree_has_one_tree_and_several_calibrators() -> None:
    X, y = small(0, 2)
    tree = tao().fit(X, y)
    model = CalibratedClassifierCV(FrozenEstimator(tree), cv=2, method="isotonic").fit(X, y)
    assert len(check_importer(model, X).model.paths) == len(check_importer(tree, X).model.paths)


@pytest.mark.parametrize(
    "model",
    [
        vote(tao(), LogisticRegression(max_iter=1000)),
        vote(bagged(), tao(), voting="hard"),
        CalibratedClassifierCV(bagged(), cv=2),
        stack(tao(), cart(), end=RandomForestClassifier(3)),
    ],
    ids=["shares and a softmax", "votes of sums", "sums, calibrated", "a forest as the end"],
)
def test_what_is_no_sum_of_trees_is_searched(model) -> None:
    X, y = small(0, 3)
    assert isinstance(read(model.fit(X, y), X).model, BlackBox)
