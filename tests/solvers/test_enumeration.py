"""Few combinations are all asked about: what is found is proven, for any model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.solvers import enumeration
from butfor.solvers.enumeration import Enumeration
from tests.importers.samples import SKLEARN
from tests.shorter import first


def table(rng: np.random.Generator, rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 7, rows),
            "b": rng.integers(-2, 3, rows),
            "job": pd.Categorical(rng.choice(list("xyz"), rows)),
        }
    )
    noise = rng.normal(size=rows)
    return X, (X.a + 2 * X.b + 3 * (X.job == "x") + noise > 4).astype(int).to_numpy()


def numbers(X: pd.DataFrame) -> np.ndarray:
    return np.column_stack([X.a, X.b, X.job.cat.codes])


def combinations_of(X: pd.DataFrame) -> pd.DataFrame:
    ends = (range(X[name].min(), X[name].max() + 1) for name in ("a", "b"))
    return pd.DataFrame(list(product(*ends, X.job.cat.categories)), columns=X.columns).astype({"job": X.job.dtype})


def costs(predict, X: pd.DataFrame, row: pd.DataFrame, wanted: int) -> np.ndarray:
    """The costs of all combinations that are answers, by plain loops, the least first."""
    every = combinations_of(X)
    cost = abs(every.a - row.a.iloc[0]) / np.ptp(X.a) + abs(every.b - row.b.iloc[0]) / np.ptp(X.b)
    cost += every.job.astype(str) != str(row.job.iloc[0])
    return np.sort(np.where(predict(every) == wanted, cost, np.inf))


@pytest.mark.parametrize("seed", first(4, range(12)))
@pytest.mark.parametrize("kind", [SVC, KNeighborsClassifier])
def test_a_black_box_is_proven(seed, kind) -> None:
    X, y = table(np.random.default_rng(seed))
    model = kind().fit(numbers(X), y)
    row = X[y == 0].iloc[[0]]
    answer = bf.Explainer(lambda rows: model.predict(numbers(rows)), X).explain(row, target=1)[0]
    least = costs(lambda rows: model.predict(numbers(rows)), X, row, 1)[0]
    assert answer.certificate.solver.startswith("enumeration: ")
    if np.isinf(least):
        assert answer.certificate.status.name == "PROVEN_INFEASIBLE"
    else:
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert answer.cost == pytest.approx(least, abs=1e-9)


def test_a_price_that_is_a_function_is_proven_for_a_forest() -> None:
    X, y = table(np.random.default_rng(1))
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X[["a", "b"]], y)
    explainer = bf.Explainer(forest, X[["a", "b"]])
    row = X[["a", "b"]][forest.predict(X[["a", "b"]]) == 0].iloc[[0]]
    price = bf.Table({"a": lambda before, after: 0.1 * (after - before) ** 2})
    answer, judge = (explainer.explain(row, target=1, cost=price, solver=one)[0] for one in ("auto", "brute_force"))
    assert answer.certificate.status.name == "PROVEN_OPTIMAL"
    assert answer.cost == pytest.approx(judge.cost, abs=1e-9)


def test_a_model_with_a_threshold_of_its_own_is_asked_for_its_labels() -> None:
    """Two rows of data tell nothing of the threshold: in both the label is that of the largest probability."""
    X = pd.DataFrame({"a": [660.0, -990.0]})
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label="yes").fit(X, ["no", "yes"])
    price = bf.Table({"a": lambda before, after: np.maximum(after - before, 0)})
    explainer = bf.Explainer(model, X, space={"a": bf.Integer(-990, 660)})
    answer = explainer.explain(X.iloc[[0]], target="other", cost=price + bf.L1(), constraints=[bf.between("a", 0, 700)])
    assert answer[0].certificate.solver.startswith("enumeration: ")
    assert answer[0].point["a"].iloc[0] == 52
    assert model.predict(answer[0].point)[0] == "yes"


@pytest.mark.skipif(SKLEARN < (1, 8), reason="this scikit-learn scales both tables in float64")
def test_a_row_that_the_estimator_reads_in_another_precision_is_answered_by_asking() -> None:
    """The data are scaled in float32 and the row in float64, so the cut lies elsewhere. The next combination will do."""
    a = [1, 13, 9, 8, 13, 11, 10, 2, 5, 9, 14, 7, 2, 3, 4, 13, 13, 1, 8, 3, 13]
    b = [12, 10, 2, 12, 1, 6, 10, 5, 6, 4, 8, 1, 2, 9, 12, 9, 10, 9, 5, 12, 5]
    y = [0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1]
    X = pd.DataFrame({"a": np.int8(a), "b": np.float32(b)})
    model = make_pipeline(StandardScaler(), BaggingClassifier(n_estimators=1, random_state=0)).fit(X, y)
    explainer = bf.Explainer(model, X)
    row = X.iloc[[2]].astype({"a": "int16", "b": "uint8"})
    answer = explainer.explain(row, target=0)[0]
    assert model.predict(answer.point)[0] == 0
    assert answer.cost == pytest.approx(6 / 11)
    assert answer.certificate.bound == pytest.approx(5 / 11)  # of the cut in float32: a point that was refused
    assert not explainer.explain(row, target=0, solver="tree_exact")[0].found


@pytest.mark.long
@pytest.mark.parametrize("some", [slice(2), slice(2, 6)])
def test_a_ball_of_few_points_is_asked_about_point_by_point(some: slice) -> None:
    """Against plain loops: rounding decides about a neighbour, so that the scores alone prove nothing."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (60, 2)).astype(float)
    network = MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=2000, random_state=0).fit(
        X, X @ [1.0, -0.7] + X[:, 0] ** 2
    )
    explainer = bf.Explainer(network, X)
    grid = np.array(list(product(range(6), repeat=2)), dtype=float)
    near = grid[:, None] + np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    value = np.array([[float(network.predict(one[None])[0]) for one in some] for some in near])
    for row in X[some]:
        for least in np.unique(value.min(axis=1))[::5]:
            answer = explainer.explain(
                row[None], target=bf.value(at_least=least), constraints=[bf.robust({"x0": 1.0})]
            ).only
            fine = (value >= least).all(axis=1)
            truth = (np.abs(grid - row) / 5).sum(axis=1)[fine].min()
            if float(network.predict(row[None])[0]) < least or not fine[(grid == row).all(axis=1)][0]:
                assert answer.certificate.status.name == "PROVEN_OPTIMAL"
                assert answer.cost == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("seed", first(1, [9, 0, 10]))
@pytest.mark.parametrize("target", [bf.classes(1, 2), bf.class_costs({1: 0.0, 2: 0.3})], ids=["classes", "costs"])
def test_one_class_holds_in_the_whole_ball(target, seed: int) -> None:
    """Neighbours of two wanted classes are no promise: enumeration, real rows and the exact search agree on that."""
    compared = mixed = 0
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 6, (120, 3)), columns=list("abc"))
    model = RandomForestClassifier(5, max_depth=3, random_state=seed).fit(
        X, np.digitize(X.a + X.b - X.c + rng.normal(size=120), [2, 5])
    )
    every = pd.DataFrame(list(product(range(6), repeat=3)), columns=list("abc"))
    around = [model.predict(every.assign(a=every.a + shift)) for shift in (-1, 0, 1)]
    single = np.ptp(around, axis=0) == 0
    cost_of_class = np.array([np.inf, 0.0, 0.0 if target == bf.classes(1, 2) else 0.3])
    explainer, ball = bf.Explainer(model, data=X), bf.robust({"a": 1})
    ranges = (X.max() - X.min()).to_numpy()
    for i in np.flatnonzero(model.predict(X) == 0)[:3]:
        away = (np.abs(every - X.iloc[i]) / ranges).sum(axis=1).to_numpy() + cost_of_class[around[1]]
        least = away[single].min()
        mixed += bool((away[(np.array(around) > 0).all(axis=0)]).min() < least)
        ways = [{"solver": "enumeration"}, {}, {"constraints": [ball, bf.candidates(every)]}]
        for way in ways:
            answer = explainer.explain(X.iloc[[i]], target, **{"constraints": [ball], **way}).only
            assert answer.cost == pytest.approx(least)
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
            compared += 1
    assert compared == 9
    assert mixed >= 1


def graded(rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Grades of which 99 is the lowest, by their declaration."""
    X = pd.DataFrame({"grade": rng.choice(GRADES, 120), "a": rng.integers(0, 7, 120)})
    rank = X.grade.map(GRADES.index)
    return X, (2 * rank + X.a + rng.normal(size=120) > 6).astype(int).to_numpy()


GRADES = [99, 1, 2, 3]
TWO_OR_MORE = bf.between("grade", 2)
BETWEEN_GRADES = {
    "an end": (TWO_OR_MORE, lambda a, b: b.grade >= 2),
    "a text": ("grade >= 2", lambda a, b: b.grade >= 2),
    "at most": (bf.between("grade", high=2), lambda a, b: b.grade <= 2),
    "two ends": (bf.between("grade", 2, 50), lambda a, b: (b.grade >= 2) & (b.grade <= 50)),
    "a consequence": (bf.implies(bf.rises("a"), TWO_OR_MORE), lambda a, b: (b.a <= a.a) | (b.grade >= 2)),
    "a cause": (bf.implies(TWO_OR_MORE, bf.rises("a", 2)), lambda a, b: (b.grade < 2) | (b.a >= a.a + 2)),
}


@pytest.mark.parametrize("seed", first(1, range(3)))
@pytest.mark.parametrize(
    "kind",
    [DecisionTreeClassifier(random_state=0), LogisticRegression(), RandomForestClassifier(5, random_state=0)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("rule", BETWEEN_GRADES)
def test_levels_between_numbers_in_an_order_of_their_own(rule, kind, seed) -> None:
    X, y = graded(np.random.default_rng(seed))
    model = kind.fit(X, y)
    every = pd.DataFrame(list(product(GRADES, range(7))), columns=X.columns)
    rank = every.grade.map(GRADES.index)
    explainer, (given, keeps) = bf.Explainer(model, X, space={"grade": bf.Ordinal(GRADES)}), BETWEEN_GRADES[rule]
    for i in np.flatnonzero(model.predict(X) == 0)[:4]:
        row = X.iloc[i]
        cost = abs(rank - GRADES.index(row.grade)) / 3 + abs(every.a - row.a) / 6
        least = np.where((model.predict(every) == 1) & keeps(row, every), cost, np.inf).min()
        for way in ({}, {"solver": "enumeration"}, {"solver": "milp"}):
            answer = explainer.explain(X.iloc[[i]], 1, constraints=[given], **way).only
            assert answer.cost == pytest.approx(least)
            assert answer.certificate.status.name == ("PROVEN_OPTIMAL" if np.isfinite(least) else "PROVEN_INFEASIBLE")


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_rows_given_twice_take_no_place_of_others(seed) -> None:
    X, y = table(np.random.default_rng(seed))
    model = RandomForestClassifier(5, random_state=seed).fit(numbers(X), y)
    explainer = bf.Explainer(lambda rows: model.predict(numbers(rows)), X)
    row = X[model.predict(numbers(X)) == 0].iloc[[0]]
    repeated = pd.concat([combinations_of(X).sample(frac=1, random_state=seed)] * 3)
    given = explainer.explain(row, 1, constraints=[bf.candidates(repeated)], k=5)
    assert all(one.certificate.solver.startswith("row_search") for one in given)
    least = costs(lambda rows: model.predict(numbers(rows)), X, row, 1)
    assert [one.cost for one in given] == pytest.approx(least[:5])
    assert given[0].cost == pytest.approx(explainer.explain(row, 1, solver="enumeration").cost)


def test_when_time_ends_all_that_was_not_asked_about_bounds_the_cost(monkeypatch) -> None:
    monkeypatch.setattr(enumeration, "ASKED_AT_ONCE", 5)
    X, _ = table(np.random.default_rng(2))

    def never(rows: pd.DataFrame) -> np.ndarray:
        return np.zeros(len(rows), dtype=int)

    answer = bf.Explainer(never, X).explain(
        X.iloc[[0]], target=bf.value(at_least=1), solver="enumeration", time_limit=1e-9
    )[0]
    assert answer.certificate.status.name == "NOT_FOUND"
    assert 0 < answer.certificate.bound < np.inf
    proven = bf.Explainer(never, X).explain(X.iloc[[0]], target=bf.value(at_least=1))[0]
    assert proven.certificate.status.name == "PROVEN_INFEASIBLE"


def test_what_it_does_not_take() -> None:
    X, y = table(np.random.default_rng(3))
    free = X[["a", "b"]].astype(float) + 0.25
    model = SVC().fit(free, y)
    explainer = bf.Explainer(model, free)
    (support,) = (support for solver, support in explainer.solvers(target=1) if solver.name == Enumeration.name)
    assert not support
    assert "interval" in support.why
    many = pd.DataFrame({name: np.arange(60) for name in "abcd"})
    wide = bf.Explainer(SVC().fit(many, y), many)
    (support,) = (support for solver, support in wide.solvers(target=1) if solver.name == Enumeration.name)
    assert not support
    assert "combinations" in support.why
    few = wide.explain(
        many.iloc[[0]], target=1 - int(wide.model.predict(many.iloc[[0]])[0]), constraints=[bf.fixed("a", "b")]
    )[0]
    assert few.certificate.status.name.startswith("PROVEN")
