"""Steps that calculate columns from several others, before trees: answers against all values, tried one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import FidelityError
from butfor.model.black_box import BlackBox
from tests.importers.checks import check_never_told_wrongly, why_unread

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


def marked(rows: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers among which nothing is missing, and none is 0, whole, negative, or stands for something else."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.integers(1, 60, rows) + 0.25, "b": rng.integers(1, 30, rows) + 0.25})
    return X, (X["a"] / X["b"] + rng.normal(0, 0.1, rows) > 2).to_numpy()


def strange() -> pd.DataFrame:
    """Rows of all that a function may treat otherwise."""
    values = [0.0, -999.0, np.nan, 2.5, 0.1, 3.0, 1e6, 7.25]
    return pd.DataFrame({"a": np.repeat(values, len(values)), "b": np.tile(values, len(values))})


OTHERWISE = {
    "filled": lambda X: X.fillna(0.0),
    "filled by numpy": lambda X: pd.DataFrame(np.nan_to_num(X), columns=X.columns),
    "filled where it is missing": lambda X: X.where(X.notna(), -5.0),
    "filled before it is added": lambda X: X.assign(c=X["a"].fillna(3.0) + X["b"]),
    "filled from the left": lambda X: X.ffill(axis=1),
    "sums without what is missing": lambda X: X.assign(c=X.sum(axis=1)),
    "a number that stands for missing": lambda X: X.replace(-999.0, 0.0),
    "rounded": lambda X: X.round(),
    "rounded by numpy": lambda X: np.round(X, 1),
    "a guarded ratio": lambda X: X.assign(c=np.where(X["b"] == 0, 0.0, X["a"] / X["b"])),
    "a ratio that is mended": lambda X: X.assign(c=(X["a"] / X["b"]).mask(~np.isfinite(X["a"] / X["b"]), 0.0)),
    "whole numbers that are listed": lambda X: X.mask(X.isin([0.0, 3.0]), 5.5),
    "numbers that are looked up": lambda X: X.assign(c=X["a"] + X["b"].map({3.0: 20.0}).fillna(0.0)),
    "rows in another order": lambda X: X.sort_values("a"),
    "sums of rows": lambda X: X.cumsum(),
}


@pytest.mark.parametrize(
    "last", [HistGradientBoostingClassifier(max_iter=5), GradientBoostingClassifier(n_estimators=5)]
)
@pytest.mark.parametrize("name", OTHERWISE)
def test_what_a_function_does_with_few_numbers_is_never_left_out(name, last) -> None:
    """None of the rows on which the model is compared shows it."""
    X, y = marked()
    model = make_pipeline(FunctionTransformer(OTHERWISE[name]), last).fit(X, y)
    rows = strange()
    if isinstance(last, GradientBoostingClassifier):
        rows = rows[
            np.isfinite(model[:-1].transform(rows)).to_numpy().all(axis=1) & rows.notna().all(axis=1).to_numpy()
        ]
    check_never_told_wrongly(model, X, rows[rows["b"] != 0] if "ratio" in name else rows)
    told = ("fill" in name or "without" in name) or "does more than calculate" in why_unread(model, X)
    assert told or "cannot be folded" in why_unread(model, X)


def test_missing_values_that_a_function_fills_are_searched_if_there_are_any() -> None:
    X, y = marked()
    for gaps in (False, True):
        table = X.assign(b=X["b"].mask(X["a"] > 50)) if gaps else X
        model = make_pipeline(FunctionTransformer(lambda X: X.assign(c=X["a"] + X["b"].fillna(0.0))), FOREST).fit(
            table, y
        )
        reading = check_never_told_wrongly(model, table, strange())
        assert isinstance(reading.model, BlackBox) == gaps
        answer = (
            bf.Explainer(model, data=table).explain(table[~model.predict(table)].iloc[[0]], target=True, seed=0).only
        )
        assert answer.certificate.status.name == ("VALID" if gaps else "PROVEN_OPTIMAL")
        assert model.predict(answer.point)[0]


def test_what_members_of_a_vote_fill_is_not_missing() -> None:
    X, y = marked()
    filled = make_pipeline(FunctionTransformer(lambda X: X.fillna(7.0)), TREE)
    vote = VotingClassifier([("filled", filled), ("plain", make_pipeline(FunctionTransformer(), TREE))], voting="soft")
    reading = check_never_told_wrongly(vote.fit(X, y), X, strange())
    assert not any(feature.missing for feature in reading.space)


def test_levels_that_a_function_changes_are_not_left_out() -> None:
    X, y = marked()
    table = X.assign(kind=pd.Series(np.where(X["a"] > 30, "old", "new"), dtype=object), c=1.0)
    for change in ({"old": "new"}, {}):
        step = FunctionTransformer(lambda X, change=change: X.assign(kind=X["kind"].replace(change), c=X["a"] - X["b"]))
        encoded = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
        model = make_pipeline(step, encoded, TREE).fit(table, y)
        reading = check_never_told_wrongly(model, table, table)
        assert isinstance(reading.model, BlackBox) == bool(change)


def test_a_sum_of_so_many_columns_that_python_gives_up_is_searched() -> None:
    table = np.random.default_rng(0).normal(size=(60, 700))
    model = make_pipeline(FunctionTransformer(lambda X: X.sum(axis=1, keepdims=True)), TREE)
    assert "cannot be folded" in why_unread(model.fit(table, table[:, 0] > 0), table)


class Guarded(Ratio):
    """A step whose ratio is 0 where a number is missing."""

    def transform(self, X):
        made = ratio(X)
        return np.c_[made[:, :3], np.nan_to_num(made[:, 3])]


def guarded(a: Any, b: Any, c: Any) -> list[Any]:
    return [a, b, c, 0 * c if pd.isna(a) or pd.isna(b) else a / b]


bf.teach.register_step(Guarded, lambda step, columns: bf.teach.calculated(columns, guarded))


def test_a_function_that_is_taught_is_asked_about_numbers_too() -> None:
    X, y = bank()
    model = make_pipeline(Guarded(), TREE).fit(X, y)
    reading = check_never_told_wrongly(model, X, X.mask(X.gt(X.mean())))
    assert [feature.missing for feature in reading.space] == [False, False, True]
