"""Steps that calculate columns from several others, before trees: answers against all values, tried one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import FidelityError

STEPS = {"debt": bf.Step(100), "income": bf.Step(100)}


def bank(rows: int = 250) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": 100.0 * rng.integers(5, 60, rows), "income": 100.0 * rng.integers(80, 300, rows)})
    X["age"] = rng.integers(20, 70, rows).astype(float)
    good = X["debt"] / X["income"] + rng.normal(0, 0.03, rows) + 0.001 * (45 - X["age"]) < 0.2
    return X, np.where(good, "yes", "no")


def ratio(X: Any) -> Any:
    X = np.asarray(X)
    return np.c_[X, X[:, [0]] / X[:, [1]]]


def shares(X: pd.DataFrame) -> pd.DataFrame:
    return X.assign(share=X["debt"] / (X["debt"] + X["income"]), left=X["income"] - 2 * X["debt"])


class Ratio(TransformerMixin, BaseEstimator):
    """A step of one's own."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return ratio(X)


bf.teach.register_step(Ratio, lambda step, columns: bf.teach.calculated(columns, lambda a, b, c: [a, b, c, a / b]))

TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
FOREST = RandomForestClassifier(6, max_depth=4, random_state=0)
BOOSTING = GradientBoostingClassifier(n_estimators=10, random_state=0)
PIPELINES = {
    "a function before a tree": make_pipeline(FunctionTransformer(ratio), TREE),
    "a function before a forest": make_pipeline(FunctionTransformer(ratio), FOREST),
    "a function before boosting, scaled": make_pipeline(FunctionTransformer(shares), StandardScaler(), BOOSTING),
    "a function after an imputer": make_pipeline(SimpleImputer(), FunctionTransformer(ratio), BOOSTING),
    "a function of scaled columns": make_pipeline(
        StandardScaler(with_mean=False),
        FunctionTransformer(lambda X: np.c_[X, (X[:, 0] + 1) / (X[:, 1] + 2)]),
        BOOSTING,
    ),
    "a function of some columns": make_pipeline(
        make_column_transformer((FunctionTransformer(shares), ["debt", "income"]), remainder="passthrough"), FOREST
    ),
    "a union": make_pipeline(make_union("passthrough", FunctionTransformer(ratio)), BOOSTING),
    "multiples of single columns": make_pipeline(FunctionTransformer(lambda X: 3 * X - 1), FOREST),
    "columns that are turned around": make_pipeline(FunctionTransformer(np.negative), BOOSTING),
    "a step of one's own": make_pipeline(Ratio(), FOREST),
}


def by_hand(model: Any, row: pd.Series, X: pd.DataFrame) -> float:
    """The least L1 cost of all debts and incomes."""
    debt, income = (100.0 * np.arange(X[name].min() // 100, X[name].max() // 100 + 1) for name in ("debt", "income"))
    grid = pd.DataFrame({"debt": np.repeat(debt, len(income)), "income": np.tile(income, len(debt))})
    grid["age"] = row["age"]
    cost = sum((grid[name] - row[name]).abs() / (X[name].max() - X[name].min()) for name in ("debt", "income"))
    return float(cost[model.predict(grid[X.columns]) == "yes"].min())


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", PIPELINES)
def test_answers_are_the_cheapest(name) -> None:
    X, y = bank()
    model = PIPELINES[name].fit(X, y)
    rows = X[model.predict(X) == "no"].iloc[:3]
    answers = bf.Explainer(model, data=X, space=STEPS).explain(rows, target="yes", constraints="fixed age")
    for (_, row), answer in zip(rows.iterrows(), answers, strict=True):
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert answer.certificate.solver.startswith("computed_columns, by ") != ("multiples" in name)
        assert answer.cost == pytest.approx(by_hand(model, row, X))
        assert bf.check(answer, model).passed


@pytest.mark.parametrize("single", [False, True])
def test_real_numbers_and_short_floats(single) -> None:
    """No row among many random ones is cheaper, and the estimator itself agrees with every answer."""
    X, y = bank()
    X = (X + np.random.default_rng(1).uniform(0, 1, X.shape)).astype(np.float32 if single else np.float64)
    model = make_pipeline(FunctionTransformer(ratio), FOREST).fit(X, y)
    row = X[model.predict(X) == "no"].iloc[[0]]
    answer = bf.Explainer(model, data=X).explain(row, target="yes", constraints="fixed age")
    assert answer.certificate.status.name == "PROVEN_OPTIMAL"
    assert model.predict(answer.point)[0] == "yes"
    rng, width = np.random.default_rng(2), X.max() - X.min()
    many = pd.concat([row] * 20_000, ignore_index=True)
    for name in ("debt", "income"):
        many[name] = rng.uniform(X[name].min(), X[name].max(), len(many)).astype(X[name].dtype)
    cost = ((many - row.iloc[0]).abs() / width).sum(axis=1)
    assert cost[model.predict(many) == "yes"].min() >= answer.cost - 1e-6


def test_sums_before_a_linear_model_are_linear_and_quotients_are_searched() -> None:
    X, y = bank()
    scaled = X / 1000
    left = make_pipeline(FunctionTransformer(lambda X: np.c_[X, X[:, 1] - 2 * X[:, 0]]), LogisticRegression())
    answer = bf.Explainer(left.fit(scaled.to_numpy(), y), data=scaled.to_numpy()).explain(
        scaled.to_numpy()[y == "no"][:1], target="yes"
    )
    assert answer.certificate.solver.startswith("linear_exact")
    share = make_pipeline(FunctionTransformer(ratio), LogisticRegression(max_iter=1_000)).fit(scaled, y)
    answer = bf.Explainer(share, data=scaled).explain(
        scaled[share.predict(scaled) == "no"].iloc[[0]], target="yes", seed=0
    )
    assert answer.certificate.solver.startswith("swarm")
    assert "a linear model or a network reads a quotient of columns" in answer.certificate.solver


def test_feature_engine_creates_features() -> None:
    creation = pytest.importorskip("feature_engine.creation")
    X, y = bank()
    steps = [
        creation.RelativeFeatures(variables=["debt"], reference=["income"], func=["div", "sub"]),
        creation.MathFeatures(variables=["debt", "income"], func=["sum", "mean"]),
    ]
    for step in steps:
        model = make_pipeline(step, BOOSTING).fit(X, y)
        rows = X[model.predict(X) == "no"].iloc[:2]
        answers = bf.Explainer(model, data=X, space=STEPS).explain(rows, target="yes", constraints="fixed age")
        for (_, row), answer in zip(rows.iterrows(), answers, strict=True):
            assert answer.certificate.status.name == "PROVEN_OPTIMAL"
            assert answer.cost == pytest.approx(by_hand(model, row, X))


@pytest.mark.parametrize("whole", [False, True])
def test_a_ratio_whose_divisor_may_be_0(whole) -> None:
    """Values on grids are tried, so it is proven; real numbers are searched, and the reason is told."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.uniform(500, 6000, 200), "net": rng.uniform(-7000, 15000, 200)})
    steps = None
    if whole:
        X, steps = X.round(-2) + 50, {"debt": bf.Step(100), "net": bf.Step(100)}
    y = np.where(X["debt"] / X["net"] + rng.normal(0, 0.1, 200) > 0.4, "no", "yes")
    model = make_pipeline(FunctionTransformer(ratio), TREE).fit(X, y)
    row = X[model.predict(X) == "no"].iloc[[0]]
    explainer = bf.Explainer(model, data=X, space=steps)
    answer = explainer.explain(row, target="yes", seed=0)
    assert answer.certificate.status.name == ("PROVEN_OPTIMAL" if whole else "VALID")
    assert ("what is divided by may be 0" in " ".join(str(explainer.solvers(row, "yes")).split())) != whole
    debt, net = (np.append(100.0 * np.arange(-70, 150), row[name]) for name in X)
    grid = pd.DataFrame({"debt": np.repeat(debt, len(net)), "net": np.tile(net, len(debt))})
    grid = grid[
        grid["debt"].between(X["debt"].min(), X["debt"].max()) & grid["net"].between(X["net"].min(), X["net"].max())
    ]
    grid = grid[grid["net"] != 0]
    cost = ((grid - row.iloc[0]).abs() / (X.max() - X.min())).sum(axis=1)[model.predict(grid) == "yes"].min()
    assert answer.cost == pytest.approx(cost) if whole else answer.cost <= cost


def test_what_a_function_does_not_only_calculate_is_searched() -> None:
    X, y = bank()
    for function in (lambda X: np.c_[X, np.minimum(X[:, 0], X[:, 1])], lambda X: np.abs(X), lambda X: X > 10):
        model = make_pipeline(FunctionTransformer(function), TREE).fit(X.to_numpy(), y)
        explainer = bf.Explainer(model, data=X.to_numpy())
        answer = explainer.explain(X.to_numpy()[y == "no"][:1], target="yes", seed=0)
        assert answer.certificate.solver.startswith(("swarm", "none"))


def test_products_and_what_is_calculated_from_a_ratio_are_searched() -> None:
    X, y = bank()
    table = X.to_numpy()
    again = FunctionTransformer(lambda X: np.c_[X, X[:, 3] + X[:, 0]])
    for steps in ([FunctionTransformer(lambda X: np.c_[X, X[:, 0] * X[:, 1]])], [FunctionTransformer(ratio), again]):
        model = make_pipeline(*steps, TREE).fit(table, y)
        answer = bf.Explainer(model, data=table).explain(table[model.predict(table) == "no"][:1], target="yes", seed=0)
        assert answer.found
        assert "swarm: only predictions are needed" in answer.certificate.solver


def test_a_step_that_was_taught_wrongly_is_told() -> None:
    class Wrong(Ratio):
        pass

    bf.teach.register_step(Wrong, lambda step, columns: bf.teach.calculated(columns, lambda a, b, c: [a, b, c, b / a]))
    X, y = bank()
    with pytest.raises(FidelityError):
        bf.Explainer(make_pipeline(Wrong(), TREE).fit(X, y), data=X)
