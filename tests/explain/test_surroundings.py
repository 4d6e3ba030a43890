"""Regions and radii: what they promise holds by the estimator itself, at ties, on borders and in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.shorter import first


def two_columns(seed: int, rows: int = 80) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 2)), columns=list("ab"))
    return X, (X["a"] + 0.8 * rng.normal(size=rows) > 0).astype(int)


@pytest.mark.long
@pytest.mark.parametrize("some", [slice(2), slice(2, 4)], ids=str)
def test_a_leaf_that_is_tied_with_another_class_is_outside(some: slice) -> None:
    """A tree predicts the first class of a tie. Regions of the second class must not hold such leaves."""
    asked = 0
    for seed in range(30):
        X, y = two_columns(seed)
        tree = DecisionTreeClassifier(min_samples_leaf=4, max_depth=4, random_state=seed).fit(X, y)
        tied = tree.tree_.value[tree.tree_.children_left < 0][:, 0, 0] == 0.5
        if not tied.any():
            continue
        explainer, rng = bf.Explainer(tree, X), np.random.default_rng(seed)
        for _, row in X[tree.predict(X) == 1].iloc[some].iterrows():
            region = explainer.region(row.to_frame().T, target=1)
            inside = pd.DataFrame(region.low + rng.random((1000, 2)) * (region.high - region.low), columns=X.columns)
            assert (tree.predict(inside) == 1).all()
            radii = {
                norm: explainer.robustness(row.to_frame().T, target=1, norm=norm).radius for norm in ("linf", "l2")
            }
            assert radii["linf"] <= radii["l2"] + 1e-6
            shifts = rng.uniform(-1, 1, (1000, 2)) * radii["linf"] * (X.max() - X.min()).to_numpy()
            assert (tree.predict(pd.DataFrame(row.to_numpy() + shifts, columns=X.columns)) == 1).all()
            asked += 1
    assert asked > 20


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        RidgeClassifier(),
        LinearRegression(),
    ],
    ids=["logistic", "scaled", "ridge", "value"],
)
def test_an_answer_on_the_border_of_a_line_may_move_away_from_it(model) -> None:
    X, y = two_columns(0)
    model.fit(X, y)
    value = isinstance(model, LinearRegression)
    target = bf.value(at_least=0.6) if value else 1
    met = model.predict(X) >= 0.6 if value else model.predict(X) == 1
    explainer = bf.Explainer(model, X)
    for answer in explainer.explain(X[~met].iloc[:10], target=target):
        region = explainer.region(answer.point, target=target)
        assert region.widest
        assert (region.high == [feature.high for feature in explainer.space]).any() or (
            region.low == [feature.low for feature in explainer.space]
        ).any()
        assert bool(region.contains(answer.point)[0])


def test_of_several_classes_it_is_about_the_one_that_the_row_has() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    explainer = bf.Explainer(model, X)
    region = explainer.region(X.iloc[[120]], target=[1, 2])
    assert region.describe().startswith("2 for all")
    assert np.array_equal(region.low, explainer.region(X.iloc[[120]], target=2).low)
    radii = [explainer.robustness(X.iloc[[120]], target=wanted).radius for wanted in ([1, 2], 2)]
    assert radii[0] == radii[1]


@pytest.mark.long
@pytest.mark.parametrize("some", [slice(4), slice(4, 8)], ids=str)
def test_the_worst_row_of_a_network_misses_the_target(some: slice) -> None:
    X, y = two_columns(1, 200)
    model = MLPClassifier((8,), max_iter=600, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, X)
    for i in np.flatnonzero(model.predict(X) == 1)[some]:
        for norm in ("linf", "l2", "l1"):
            found = explainer.robustness(X.iloc[[i]], target=1, norm=norm)
            assert found.worst is None or model.predict(found.worst)[0] == 0


def test_the_ends_that_are_written_lie_in_the_region() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(32_000, 9_000, 300).round(2), "rate": rng.normal(0.05, 0.01, 300)})
    y = (X["income"] - X["rate"] * 3e5 > 17_000).astype(int)
    model = RandomForestClassifier(10, max_depth=5, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, X)
    for i in range(15):
        row = X.iloc[[i]]
        region = explainer.region(row, target=int(model.predict(row)[0]))
        for j, name in enumerate(X.columns):
            for end in map(float, region.ends(j).split(" to ")):
                assert region.low[j] <= end <= region.high[j]
                assert region.contains(row.assign(**{name: end}))[0]


def test_ends_are_told_apart_however_close_they_are() -> None:
    change = bf.Explainer(RidgeClassifier().fit(*two_columns(0)), two_columns(0)[0]).explain(two_columns(0)[0].iloc[:1])
    column = change.only.changes[0]
    assert column.show_within(4042.9651, 35461.068) == ("4042.97", "35461")
    assert column.show_within(1.0000001, 1.0000002) == ("1.0000001", "1.0000002")
    assert column.show_within(-np.inf, 1e300) == ("-inf", "1e+300")


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=5, random_state=0),
        RandomForestClassifier(8, max_depth=4, random_state=0),
        LogisticRegression(),
        MLPClassifier((6,), max_iter=3000, random_state=0),
    ],
    ids=["tree", "forest", "line", "network"],
)
@pytest.mark.parametrize("some", first(1, [slice(6), slice(6, 12)]), ids=str)
def test_the_region_of_a_robust_answer_contains_what_was_promised(model, some: slice) -> None:
    X, y = two_columns(3, 200)
    X = X.assign(n=np.random.default_rng(3).integers(0, 9, len(X)))
    model.fit(X, y)
    explainer, rng, asked = bf.Explainer(model, X), np.random.default_rng(0), 0
    whole = {} if isinstance(model, MLPClassifier) else {"n": 1.0}  # they count as real ones in regions of networks
    ball = bf.robust({"a": 0.2, "b": 0.3, **whole})
    for answer in explainer.explain(X[model.predict(X) == 0].iloc[some], target=1, constraints=[ball], time_limit=60):
        if not answer.found:
            continue
        wide, promised = explainer.region(answer, target=1), answer.region
        low, high = ([getattr(f, side) for f in explainer.space] for side in ("low", "high"))
        assert (wide.low <= np.maximum(promised.low, low)).all()
        assert (wide.high >= np.minimum(promised.high, high)).all()
        inside = pd.DataFrame(wide.low + rng.random((500, 3)) * (wide.high - wide.low), columns=X.columns)
        inside["n"] = rng.integers(int(wide.low[2]), int(wide.high[2]) + 1, 500)
        assert (model.predict(inside) == 1).all()
        asked += 1
    assert asked > 2


@pytest.mark.filterwarnings("ignore:.*outside")
def test_the_region_of_a_robust_answer_holds_it_where_its_row_lies_outside_of_the_data() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(0, 10, 300), "b": rng.uniform(0, 10, 300)})
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=1).fit(X, X.b > 5), X)
    row = pd.DataFrame({"a": [15.0], "b": [1.0]})
    answer = explainer.explain(row, True, constraints=[bf.robust({"b": 0.5})]).only
    assert answer.point["a"].item() == 15
    region = explainer.region(answer, True)
    assert region.contains(answer.point).all()
    assert region.contains(answer.point.assign(a=3.0)).all()
