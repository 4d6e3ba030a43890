"""Sums of functions of single columns: bent columns before linear models, splines, powers and naive Bayes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.model.additive import Additive
from butfor.model.linear import Linear
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import check_caught, why_unread
from tests.importers.samples import NUMBERS, QUANTILES, TEXT, answers, people
from tests.shorter import diagonal, first, one_in

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

STEPS: dict[str, Callable[[], Any]] = {
    "logarithm": lambda: FunctionTransformer(np.log),
    "scaled logarithm": lambda: make_pipeline(FunctionTransformer(np.log1p), StandardScaler()),
    "function that turns its curve": lambda: make_pipeline(StandardScaler(), FunctionTransformer(np.tanh)),
    "yeo johnson": PowerTransformer,
    "box cox": lambda: PowerTransformer(method="box-cox"),
    "quantiles": lambda: QuantileTransformer(n_quantiles=12),
    "normal quantiles": lambda: QuantileTransformer(n_quantiles=8, output_distribution="normal"),
    "splines": lambda: SplineTransformer(n_knots=4),
    "lines beyond": lambda: SplineTransformer(3, degree=2, extrapolation="linear", include_bias=False),
    "splines that go on": lambda: make_pipeline(StandardScaler(), SplineTransformer(3, extrapolation="continue")),
    "steep splines": lambda: SplineTransformer(3, degree=4, knots="quantile"),
    "clipped": lambda: MinMaxScaler(clip=True),
    "bent twice": lambda: make_pipeline(PowerTransformer(), FunctionTransformer(np.tanh)),
    "powers": lambda: make_pipeline(
        StandardScaler(),
        make_column_transformer(
            (PolynomialFeatures(3), [0]), (PolynomialFeatures(2, include_bias=False), [1]), remainder="passthrough"
        ),
    ),
}  # fmt: skip
MODELS: dict[str, Callable[[], Any]] = {
    "two classes": lambda: LogisticRegression(max_iter=500),
    "values": Ridge,
    "exponentials": lambda: PoissonRegressor(max_iter=50),
}


def positive(seed: int = 0) -> pd.DataFrame:
    """Numbers that are far enough from zero for every logarithm."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"a": np.round(rng.uniform(20, 90, 150), 2), "b": rng.integers(5, 30, 150), "c": rng.uniform(1, 2, 150)}
    )


def score(X: pd.DataFrame) -> np.ndarray:
    return np.asarray(2 * np.log(X["a"]) - ((X["b"] - 15) / 8) ** 2 + X["c"])


class TestSplines(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X = positive(int(rng.integers(99)))
        return make_pipeline(SplineTransformer(4), LogisticRegression(max_iter=500)).fit(X, score(X) > 8.5), X


@pytest.mark.shorter(4)
@pytest.mark.parametrize(("step", "model", "kind"), diagonal(STEPS, MODELS, [np.float64, np.float32]))
def test_linear_models_after_a_bent_column(step, model, kind) -> None:
    X = positive().astype(kind)
    y = (score(X) > np.median(score(X))).astype(int) if model == "two classes" else score(X)
    reading = check_importer(make_pipeline(STEPS[step](), MODELS[model]()).fit(X, y), X)
    assert type(reading.model) is Additive
    again = pickle.loads(pickle.dumps(reading.model))
    assert isinstance(again, Additive)


def test_beside_levels_bins_and_plain_columns() -> None:
    X = people()
    columns = make_column_transformer(
        (SplineTransformer(3), NUMBERS), (StandardScaler(), NUMBERS), (OneHotEncoder(), TEXT),
        (KBinsDiscretizer(3, strategy="quantile", **QUANTILES), ["income"]), remainder="passthrough",
    )  # fmt: skip
    reading = check_importer(make_pipeline(columns, LogisticRegression(max_iter=500)).fit(X, answers(X)), X)
    assert type(reading.model) is Additive


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "bent lines that go on": (
        lambda: make_pipeline(SplineTransformer(4, degree=1, extrapolation="linear"), LogisticRegression()), "several columns"
    ),
    "splines before trees": (lambda: make_pipeline(SplineTransformer(3), DecisionTreeClassifier()), "turns around: Spline"),
    "bins of splines": (
        lambda: make_pipeline(SplineTransformer(3), KBinsDiscretizer(2, strategy="uniform"), LogisticRegression()),
        "turns around: Spline",
    ),
    "periodic splines": (
        lambda: make_pipeline(SplineTransformer(4, extrapolation="periodic"), LogisticRegression()), "'periodic'"
    ),
    "splines of logarithms": (
        lambda: make_pipeline(FunctionTransformer(np.log), SplineTransformer(3), LogisticRegression()), "bent twice"
    ),
    "powers of splines": (
        lambda: make_pipeline(SplineTransformer(3), PowerTransformer(), LogisticRegression()), "turns around"
    ),
    "products": (lambda: make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=500)), "multiplies columns"),
    "squares of logarithms": (lambda: make_pipeline(FunctionTransformer(np.log), GaussianNB()), "bent already"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_says_so(name) -> None:
    make, why = REFUSED[name]
    X = positive()
    assert why in why_unread(make().fit(X, score(X) > 8.5), X)


# Naive Bayes


def counted(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.integers(0, 6, 120).astype(float) for name in "abc"})
    total = X["a"] - X["b"] + (X["c"] - 2) ** 2 / 2 + rng.normal(size=120)
    return X, np.digitize(total, np.quantile(total, [0.4, 0.7]))


BAYES: dict[str, tuple[type, Callable[[], Any]]] = {
    "normal": (Additive, GaussianNB),
    "normal and scaled": (Additive, lambda: make_pipeline(StandardScaler(), GaussianNB())),
    "normal of bins": (
        Linear, lambda: make_pipeline(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), GaussianNB())
    ),
    "above a number": (Linear, lambda: BernoulliNB(binarize=2.0)),
    "flags": (
        Linear,
        lambda: make_pipeline(
            KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), BernoulliNB(binarize=None)
        ),
    ),
    "counts": (Linear, lambda: make_pipeline(MinMaxScaler(clip=True), MultinomialNB())),
    "counts against the rest": (Linear, lambda: make_pipeline(MinMaxScaler(clip=True), ComplementNB())),
    "levels": (Linear, lambda: make_pipeline(OrdinalEncoder(), CategoricalNB())),
}  # fmt: skip


@pytest.mark.parametrize(("name", "classes"), diagonal(BAYES, [2, 3]))
def test_naive_bayes(name, classes) -> None:
    of, make = BAYES[name]
    X, y = counted(classes)
    X = X.astype(np.float32) if name == "normal" else X
    reading = check_importer(make().fit(X, y if classes == 3 else (y == 1).astype(int)), X)
    assert type(reading.model) is (Additive if name.startswith("counts") else of)


def test_levels_as_numbers() -> None:
    """CategoricalNB drops the digits of a number."""
    X, y = counted(0)
    assert type(check_importer(CategoricalNB(min_categories=8).fit(X, y), X.astype(int)).model) is Linear


def test_a_wrong_importer_is_caught(monkeypatch) -> None:
    from butfor.importers.libraries.sklearn_bayes import read_normal

    class Doubled:
        def __init__(self, bayes: GaussianNB) -> None:
            self.classes_, self.theta_, self.class_prior_, self.var_ = (
                bayes.classes_, bayes.theta_, bayes.class_prior_, 2 * bayes.var_
            )  # fmt: skip

    X, y = counted(1)
    check_caught(lambda bayes, columns: read_normal(Doubled(bayes), columns), GaussianNB().fit(X, y), X, monkeypatch)


# Answers


ANSWERED = {
    **{name: lambda make=make: make_pipeline(make(), LogisticRegression(max_iter=500)) for name, make in STEPS.items()},
    **{name: make for name, (_, make) in BAYES.items() if name != "levels"},
    "levels that are numbers": lambda: CategoricalNB(min_categories=8),
    "counts": MultinomialNB,
    "counts against the rest": ComplementNB,  # scaled counts that are all 0 are a tie
}


def counts_from_one(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = counted(seed)
    return (X + 1).astype(int), (y == 1).astype(int)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", ANSWERED)
@pytest.mark.parametrize("seed", first(1, range(8)))
def test_answers_are_the_cheapest_of_all_combinations(name, seed) -> None:
    X, y = counts_from_one(seed)
    estimator = ANSWERED[name]().fit(X, y)
    explainer = bf.Explainer(estimator, X)
    every = pd.DataFrame(list(product(*(range(X[c].min(), X[c].max() + 1) for c in X))), columns=list(X))
    taken, ranges = estimator.predict(every) == 1, np.array([explainer.space[c].range for c in X])
    rows = X[estimator.predict(X) == 0].iloc[:4]
    for cost, power in (("L1", 1), (bf.L2(), 2)):
        for answer, row in zip(explainer.explain(rows, target=1, cost=cost), rows.to_numpy(), strict=True):
            least = ((np.abs(every.to_numpy() - row) / ranges) ** power).sum(axis=1)[taken].min(initial=np.inf)
            some = bf.Status.PROVEN_OPTIMAL if np.isfinite(least) else bf.Status.PROVEN_INFEASIBLE
            assert answer.certificate.status is some
            assert not answer.found or answer.cost == pytest.approx(least, abs=1e-6)


FINE = [(name, np.float64, 1e-9) for name in STEPS] + [
    (name, np.float32, 3e-5) for name in STEPS if name not in ("normal quantiles", "bent twice")
]
"""Of the others, rounding leaves more open in single numbers. So a swarm searches them."""


@pytest.mark.shorter(4)
@pytest.mark.parametrize(("name", "kind", "spare"), one_in(2, FINE))
def test_no_row_of_a_fine_grid_is_cheaper(name, kind, spare) -> None:
    """Real numbers: the estimator takes the answer, and no row of a grid that costs less.

    What the rounding of single numbers leaves in doubt is left open, and not counted number by number.
    """
    X = positive()[["a", "c"]].astype(kind)
    y = 2 * np.log(X["a"]) - 3 * (X["c"] - 1.5) ** 2 > 7.6
    estimator = make_pipeline(STEPS[name](), LogisticRegression(C=10.0, max_iter=500)).fit(X, y)
    explainer = bf.Explainer(estimator, X)
    ends = [np.linspace(X[c].min(), X[c].max(), 250) for c in X]
    every = pd.DataFrame(np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, 2), columns=list(X))
    every = every.astype(kind)
    taken, ranges = estimator.predict(every), np.array([explainer.space[c].range for c in X])
    rows = X[~estimator.predict(X)].iloc[:3]
    for answer, row in zip(explainer.explain(rows, target=True), rows.to_numpy(), strict=True):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert estimator.predict(answer.point)[0]
        least = (np.abs(every.to_numpy(np.float64) - row) / ranges).sum(axis=1)[taken].min()
        assert answer.certificate.bound <= least
        assert answer.cost <= min(least, answer.certificate.bound + 1e-6) + spare


@pytest.mark.parametrize("target", [bf.value(at_least=9.5), bf.value(at_most=6.0), bf.relative_change(0.1)])
def test_targets_of_values(target) -> None:
    X = positive()
    estimator = make_pipeline(SplineTransformer(4), Ridge()).fit(X, score(X))
    for answer in bf.Explainer(estimator, X).explain(X.iloc[:3], target=target, constraints=[bf.at_most_changes(2)]):
        assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)
        assert answer.certificate.solver.startswith("additive_knapsack") or not answer.cost


def test_of_several_classes_another_one_and_a_given_one_are_proven() -> None:
    X, y = counted(0)
    explainer = bf.Explainer(GaussianNB().fit(X, y), X)
    assert explainer.explain(X.iloc[[0]]).certificate.status is bf.Status.PROVEN_OPTIMAL
    solvers = {solver.name: support for solver, support in explainer.solvers(X.iloc[[0]], target=2)}
    assert "more than one inequality" in solvers["additive_knapsack"].why
    for answer in explainer.explain(X.iloc[:4], target=2):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.certificate.solver.startswith("piece_programs") or not answer.cost
