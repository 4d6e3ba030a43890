"""The discretiser: what answers cross becomes a binary column; it stands wherever a transformer of scikit-learn does."""

from __future__ import annotations

import pickle
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import butfor as bf
from butfor.compress import ranks, recent
from butfor.compress import search as searching
from butfor.compress.columns import ColumnTest
from butfor.compress.discretizer import is_fitted
from butfor.datasets import loans
from butfor.estimator.state import state_of
from butfor.solvers.outcome import Stopped

Discretizer = bf.compress.CounterfactualDiscretizer


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    recent.forget()


def stumps(trees: int = 20) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(n_estimators=trees, max_depth=1, random_state=0)


def table(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Two columns that matter, one that does not."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"income": rng.integers(10, 90, rows) * 1000.0, "age": rng.integers(18, 80, rows), "noise": 0.0})
    X["noise"] = rng.normal(size=rows)
    return X, pd.Series(np.where((X["income"] > 41000) & (X["age"] > 30), "yes", "no"))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each call of `explain` was asked about."""
    calls: list[int] = []
    before = bf.Explainer.explain

    def explain(self: bf.Explainer, X: Any, **settings: Any) -> bf.Explanations:
        calls.append(len(X))
        return before(self, X, **settings)

    monkeypatch.setattr(searching.Explainer, "explain", explain)
    return calls


def test_a_threshold_is_the_cut_that_answers_cross() -> None:
    X, y = table()
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    made = Discretizer(tree, quantile=0.0).fit(X, y)
    cuts = {(X.columns[j], cut) for j, cut in zip(tree.tree_.feature, tree.tree_.threshold, strict=True) if j >= 0}
    assert {(one.column, float(np.float32(one.at))) for one in made.thresholds_} == cuts
    names = made.get_feature_names_out().tolist()
    assert names == [f"{one.column} > {round(one.at)}" for one in made.thresholds_]
    expected = np.column_stack([X[one.column] > round(one.at) for one in made.thresholds_])
    np.testing.assert_array_equal(made.transform(X), expected)


def test_counts_are_those_of_the_answers() -> None:
    X, y = table()
    model = stumps().fit(X, y)
    made = Discretizer(model, quantile=0.0).fit(X, y)
    right = X[model.predict(X) == y]
    answers = bf.Explainer(model, data=X).explain(right, cost=0.1 * bf.L0() + bf.L1())
    moves = sum(len(answer.changes) for answer in answers)
    assert sum(one.count for one in made.thresholds_) == moves
    for answer in list(answers)[:40]:
        before, after = made.transform(answer.factual), made.transform(answer.point)
        crossed = {made.thresholds_[k].column for k in np.flatnonzero(before[0] != after[0])}
        assert crossed == {change.name for change in answer.changes}


def test_a_quantile_keeps_the_frequent_thresholds() -> None:
    X, y = loans.load(400)
    made = Discretizer(loans.pipeline(), quantile=0.0).fit(X, y)
    every = made.thresholds_
    counts = np.array([one.count for one in every])
    for quantile in (0.0, 0.3, 0.5, 0.7, 0.9, 1.0):
        made.set_quantile(quantile)
        assert [one.count >= np.quantile(counts, quantile) - 1e-9 for one in every] == [
            one in made.thresholds_ for one in every
        ]
        assert made.transform(X).shape == (400, len(made.thresholds_))
        assert made.quantile == quantile


def test_another_quantile_asks_for_no_counterfactual(counted: list[int]) -> None:
    X, y = table()
    made = Discretizer(stumps(), quantile=0.0).fit(X, y)
    begin = time.perf_counter()
    made.set_quantile(0.9)
    assert time.perf_counter() - begin < 0.01
    assert len(counted) == 1


def test_a_grid_of_quantiles_asks_once_per_fold(counted: list[int]) -> None:
    X, y = table()
    pipeline = make_pipeline(Discretizer(stumps()), DecisionTreeClassifier(max_depth=2, random_state=0))
    grid = {"counterfactualdiscretizer__quantile": [0.0, 0.5, 0.9]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(counted) == 3 + 1
    assert search.best_score_ > 0.9
    recent.forget()
    assert cross_val_score(pipeline.set_params(**search.best_params_), X, y, cv=3).mean() == search.best_score_


def test_a_search_that_is_kept_knows_nothing_of_what_became_of_its_model(counted: list[int]) -> None:
    X, y = table()
    X, y, other = X.to_numpy() / [1000, 1, 1], y == "yes", X["noise"] > 0
    model, twin = (LogisticRegression().fit(X, y) for _ in range(2))
    Discretizer(model).fit(X, y)
    model.fit(X, other)
    made = Discretizer(twin).fit(X, y)
    assert made.model_ is twin
    assert made.report(X, y).accuracy == twin.score(X, y)
    untrained = LogisticRegression()
    fresh = Discretizer(untrained).fit(X, y)
    fresh.model_.fit(X, other)
    for _ in range(2):
        again = Discretizer(untrained).fit(X, y)
        np.testing.assert_array_equal(again.predicted(X), twin.predict(X))
        again.model_.fit(X, other)
    assert len(counted) == 2


def first(X: Any) -> Any:
    return np.asarray(X)[:, :1]


def test_a_function_that_is_defined_again_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(step: Any) -> str | None:
        monkeypatch.setattr(step, "__module__", "__main__")
        monkeypatch.setattr(step, "__qualname__", "step")
        monkeypatch.setattr(sys.modules["__main__"], "step", step, raising=False)
        return state_of(FunctionTransformer(step))

    def second(X: Any) -> Any:
        return np.asarray(X)[:, 1:]

    assert key(first) == key(first) is not None
    assert None is not key(second) != key(first)


def test_models_without_cuts_join_near_thresholds() -> None:
    X, y = table()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    made = Discretizer(model, quantile=0.0, lambda0=0.0).fit(X, y)
    fine = Discretizer(model, quantile=0.0, lambda0=0.0, merge=0.0).fit(X, y)
    assert made.crossings_.proven == made.crossings_.rows > 0
    assert 1 < len(made.thresholds_) < len(fine.thresholds_)
    assert sum(one.count for one in made.thresholds_) == sum(one.count for one in fine.thresholds_)
    width = X["income"].max() - X["income"].min()
    at = [one.at for one in made.thresholds_ if one.column == "income"]
    assert (
        np.subtract(at[2:], at[:-2]).min() > 0.01 * width
    )  # what is joined is no wider, so every other one is farther


def test_changes_both_ways_cross_the_same_threshold_of_a_smooth_model() -> None:
    rng = np.random.default_rng(0)
    late = rng.integers(0, 10, (400, 1))
    for X, cut in ((late, 4), (2.5 * late, 11.0)):
        y = X[:, 0] > cut
        made = Discretizer(LogisticRegression(C=1e3), quantile=0.0).fit(X, y)
        (one,) = made.thresholds_
        assert one.count > 0.7 * len(X)  # all but the two values beside the boundary, of ten
        np.testing.assert_array_equal(made.transform(X)[:, 0], y)


def test_a_model_with_a_cut_that_moves_along_the_column_too() -> None:
    """The answers end where the line decides, and none directly behind the stump's cut at 20."""
    X = np.random.default_rng(0).uniform(0, 100, (300, 1)).round(2)
    y = X[:, 0] > 75
    members = [("line", LogisticRegression(C=10)), ("stump", DecisionTreeClassifier(max_depth=1))]
    model = VotingClassifier(members, voting="soft", weights=[4, 1]).fit(X, y)
    line, stump = model.estimators_
    line.coef_, line.intercept_ = 0.2 * line.coef_, 0.2 * line.intercept_
    stump.fit(X, (X[:, 0] > 20).astype(int))
    made = Discretizer(model, quantile=0.0).fit(X, y)
    (one,) = made.thresholds_
    assert one.at > 70
    np.testing.assert_array_equal(made.transform(X)[:, 0], model.predict(X))
    jumpy = VotingClassifier(members, voting="soft", weights=[1, 4]).fit(X, y)  # here it is the stump that decides
    (one,) = Discretizer(jumpy, quantile=0.0).fit(X, y).thresholds_
    assert one.at == pytest.approx(jumpy.estimators_[1].tree_.threshold[0], rel=1e-6)


def test_cuts_stay_apart_however_large_another_value_is() -> None:
    X = np.random.default_rng(0).uniform(0, 100, (300, 1)).round(1)
    X[0] = 1e12
    y = ((X > 20) & (X < 50) | (X > 80))[:, 0]
    made = Discretizer(DecisionTreeClassifier(), quantile=0.0).fit(X, y)
    assert bf.compress.inconsistency_rate(made.transform(X), y) == 0


def test_a_support_vector_machine_has_no_probabilities_and_needs_none() -> None:
    X, y = table(120)
    model = make_pipeline(StandardScaler(), LinearSVC()).fit(X, y)
    made = Discretizer(model).fit(X, y)
    assert made.crossings_.rows == int((model.predict(X) == y).sum())


def test_categories_that_answers_move_between_become_indicators() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"job": rng.choice(["nurse", "clerk", "cook"], 300), "home": rng.choice(["own", "rent"], 300)})
    X["education"] = pd.Categorical(rng.choice(["low", "mid", "high"], 300), ["low", "mid", "high"], ordered=True)
    X["wage"] = rng.normal(size=300)
    good = (X["job"] == "nurse") | ((X["education"] == "high") & (X["home"] == "own"))
    y = np.where(good, "yes", "no")
    model = HistGradientBoostingClassifier(max_iter=20, max_depth=3, categorical_features="from_dtype", random_state=0)
    for name in ("job", "home"):
        X[name] = X[name].astype("category")
    made = Discretizer(model, quantile=0.0).fit(X, y)
    tests = {(one.column, one.test) for one in made.thresholds_}
    assert ("job", ColumnTest.LEVEL) in tests
    names = made.get_feature_names_out().tolist()
    assert "job = nurse" in names
    assert len([name for name in names if name.startswith("home")]) <= 1
    out = made.transform(X)
    np.testing.assert_array_equal(out[:, names.index("job = nurse")], (X["job"] == "nurse").to_numpy())
    (rank,) = [k for k, one in enumerate(made.thresholds_) if one.column == "education"][:1]
    assert made.thresholds_[rank].test is ColumnTest.ABOVE
    assert names[rank].startswith("education > ")


def test_missing_values_are_above_nothing() -> None:
    X, y = table()
    X.loc[::7, "income"] = np.nan
    model = HistGradientBoostingClassifier(max_iter=10, max_depth=2, random_state=0)
    made = Discretizer(model, quantile=0.0).fit(X, y)
    out = made.transform(X)
    above = [
        k for k, one in enumerate(made.thresholds_) if one.column == "income" and one.test is not ColumnTest.MISSING
    ]
    assert above
    assert not out[::7][:, above].any()


def test_arrays_with_missing_values_are_for_the_model_to_take_or_refuse() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 100, (200, 2)).round(1)
    y = X[:, 0] > 40
    X[::7, 1] = np.nan
    inner = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0)
    model = CalibratedClassifierCV(inner, cv=2).fit(X, y)
    made = Discretizer(model, quantile=0.0).fit(X, y)
    names = Discretizer(clone(model), quantile=0.0).fit(pd.DataFrame(X, columns=["x0", "x1"]), y).thresholds_.names
    assert made.thresholds_.names == names
    assert made.crossings_.proven == made.crossings_.rows
    assert made.transform(X).shape == (200, len(names))
    for refuses in (LogisticRegression(), LogisticRegression().fit(np.nan_to_num(X), y), None):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            Discretizer(refuses).fit(X, y)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(max_depth=3, random_state=0), LogisticRegression()], ids=str)
def test_a_threshold_is_the_number_in_its_name(model: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.choice([100000.0, 101000.0, 190000.0, 233000.0], (200, 2)) * 1.0001 + rng.normal(size=(200, 2)).round(3)
    y = X.sum(axis=1) > 340000
    made = Discretizer(model, quantile=0.0).fit(X, y)
    told = [float(one.ask.removeprefix("> ")) for one in made.thresholds_]
    assert [one.at for one in made.thresholds_] == told
    unseen = np.repeat([[at + beside * at * 1e-9] for at in told for beside in (-1, 0, 1)], 2, axis=1)
    expected = np.column_stack([unseen[:, one.feature] > at for one, at in zip(made.thresholds_, told, strict=True)])
    np.testing.assert_array_equal(made.transform(unseen), expected)
    wide = np.array([100010.123, 200020.123] * 50)[:, None]
    (one,) = Discretizer(DecisionTreeClassifier(max_depth=1), quantile=0.0).fit(wide, wide[:, 0] > 150000).thresholds_
    assert (one.name, one.at) == ("x0 > 150000", 150000.0)


def test_several_classes_change_to_any_other() -> None:
    X, y = load_iris(return_X_y=True)
    made = Discretizer(DecisionTreeClassifier(max_depth=3, random_state=0), quantile=0.0).fit(X, y)
    assert made.crossings_.proven == made.crossings_.rows
    assert made.get_feature_names_out()[0].startswith("x")
    assert made.classes_.tolist() == [0, 1, 2]


def test_a_fitted_model_is_used_and_another_is_fitted_inside() -> None:
    X, y = table()
    fitted = stumps().fit(X, y)
    assert Discretizer(fitted).fit(X, y).model_ is fitted
    fresh = stumps()
    made = Discretizer(fresh).fit(X, y)
    assert made.model_ is not fresh
    assert not hasattr(fresh, "estimators_")
    assert not hasattr(clone(Discretizer(fitted)).model, "estimators_")
    assert hasattr(clone(Discretizer(FrozenEstimator(fitted))).model, "predict_proba")
    kept = clone(Discretizer(FrozenEstimator(fitted))).fit(X[:100], y[:100])
    np.testing.assert_array_equal(kept.model_.predict(X), fitted.predict(X))


def test_a_scale_makes_columns_cheap_or_dear() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"gain": np.where(rng.random(300) < 0.02, 1e5, rng.normal(0, 1, 300)), "age": rng.normal(size=300)}
    )
    y = np.where(np.clip(X["gain"], -3, 3) + X["age"] > 0, "yes", "no")
    counts = {}
    for scale in ("range", "mad"):
        made = Discretizer(stumps(60), quantile=0.0, scale=scale).fit(X, y)
        counts[scale] = sum(one.count for one in made.thresholds_ if one.column == "age")
    assert counts["range"] < counts["mad"]


def test_settled_rows_do_not_say_that_time_was_short() -> None:
    def answers(*pairs: Any) -> Any:
        return SimpleNamespace(certificates=[SimpleNamespace(status=status, stopped=why) for status, why in pairs])

    proven, open_ = (bf.Status.PROVEN_OPTIMAL, Stopped.TIME), (bf.Status.VALID, Stopped.TIME)
    assert searching._stopped(answers(proven)) is Stopped.DONE
    assert searching._stopped(answers(proven, open_)) is Stopped.TIME
    assert searching._stopped(answers(open_, (bf.Status.NOT_FOUND, Stopped.INTERRUPTED))) is Stopped.INTERRUPTED


def test_the_rows_asked_about_lie_between_the_probabilities() -> None:
    X, y = table()
    model = stumps().fit(X, y)
    sure = model.predict_proba(X).max(axis=1)
    right = model.predict(X) == y
    made = Discretizer(model, p0=0.6, p1=0.8).fit(X, y)
    assert made.crossings_.rows == int((right & (sure >= 0.6) & (sure <= 0.8)).sum()) > 0
    assert made.crossings_.rows < right.sum()


def test_of_several_classes_all_rows_that_the_model_is_right_about_are_asked_about() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 100, (200, 2)).round(1)
    y = np.minimum(X[:, 0] // 17, 5).astype(int)
    model = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X + rng.normal(0, 15, X.shape), y)
    right = model.predict(X) == y
    assert model.predict_proba(X).max() < 0.5
    assert Discretizer(model, quantile=0.0).fit(X, y).crossings_.rows == right.sum() > 50


@pytest.mark.parametrize("model", [stumps(), RandomForestClassifier(8, max_depth=3, random_state=0)], ids=str)
def test_workers_change_nothing(model: Any) -> None:
    X, y = table(150)
    one = Discretizer(model.fit(X, y)).fit(X, y)
    recent.forget()
    assert Discretizer(model, n_jobs=2).fit(X, y).crossings_.columns == one.crossings_.columns


@pytest.mark.long
def test_a_model_that_cannot_be_read_is_answered_by_the_swarm() -> None:
    X, y = table(30)
    made = Discretizer(make_pipeline(StandardScaler(), SVC(gamma=0.5)), quantile=0.0).fit(X, y)
    assert made.crossings_.answered > 0
    assert made.crossings_.proven == 0
    assert "0 proven optimal" in str(made.crossings_)


def test_it_pickles_and_clones() -> None:
    X, y = table()
    made = Discretizer(stumps(), quantile=0.4).fit(X, y)
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.transform(X), made.transform(X))
    assert again.thresholds_ == made.thresholds_
    assert clone(made).get_params()["quantile"] == 0.4
    assert not hasattr(clone(made), "thresholds_")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output(kind: str) -> None:
    X, y = table()
    made = Discretizer(stumps(), quantile=0.5).fit(X, y).set_output(transform=kind)
    out = made.transform(X)
    assert isinstance(out, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind])
    assert list(out.columns) == made.get_feature_names_out().tolist()
    np.testing.assert_array_equal(out.to_numpy(), made.answers(X))


def test_every_kind_of_table_gives_the_same() -> None:
    X, y = table()
    made = Discretizer(stumps(), quantile=0.2).fit(X, y)
    other = Discretizer(stumps(), quantile=0.2).fit(pl.from_pandas(X), y)
    np.testing.assert_array_equal(made.transform(X), other.transform(pl.from_pandas(X)))
    plain = Discretizer(stumps(), quantile=0.2).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(made.transform(X), plain.transform(X.to_numpy()))
    assert plain.get_feature_names_out(["a", "b", "c"])[0].startswith("a > ")


def test_a_model_that_reads_some_of_the_columns_in_another_order() -> None:
    X, y = table()
    model = stumps().fit(X[["age", "income"]], y)
    with pytest.warns(UserWarning, match="does not read these columns of the data: noise"):
        made = Discretizer(model, quantile=0.0).fit(X, y)
    assert set(made.thresholds_.features) == {"age", "income"}
    for k, one in enumerate(made.thresholds_):
        np.testing.assert_array_equal(made.transform(X)[:, k], X[one.column] > one.at)
    assert set(made.get_feature_names_out(list(X))) == set(made.thresholds_.names)
    assert bf.compress.surrogate(made, X, y).fidelity(X) > 0.9


@pytest.mark.long
def test_a_function_is_a_model() -> None:
    X, y = table(60)

    def chances(rows: pd.DataFrame) -> Any:
        above = (rows["income"] > 41000).to_numpy(dtype=float)
        return np.column_stack([1 - above, above])

    made = Discretizer(bf.black_box(chances, classes=["no", "yes"]), quantile=0.0).fit(X[["income", "age"]], y)
    assert made.thresholds_.features == ("income",)
    accuracy = np.mean(np.where(X["income"] > 41000, "yes", "no") == y)
    assert made.report(X[["income", "age"]], y).accuracy == accuracy


def test_a_model_that_is_none_of_scikit_learn_s_is_taken_to_be_fitted() -> None:
    class Plain:
        classes_ = np.array([0, 1])

        def fit(self, X: Any, y: Any) -> None:
            raise AssertionError("it was fitted")

        def predict(self, X: Any) -> Any:
            return (np.asarray(X)[:, 0] > 5).astype(int)

    assert is_fitted(Plain())


def test_text_in_a_grid_of_quantiles(counted: list[int]) -> None:
    X, y = loans.load(200)
    pipeline = make_pipeline(Discretizer(loans.pipeline()), DecisionTreeClassifier(max_depth=2, random_state=0))
    GridSearchCV(pipeline, {"counterfactualdiscretizer__quantile": [0.2, 0.7]}, cv=2, refit=False).fit(X, y)
    assert len(counted) == 2


@pytest.mark.slow
@parametrize_with_checks([Discretizer(DecisionTreeClassifier(max_depth=3, random_state=0))])
def test_scikit_learn_s_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.long
@parametrize_with_checks([Discretizer()])
def test_scikit_learn_s_own_checks_of_a_model_of_its_own(estimator: Any, check: Any) -> None:
    check(estimator)


def test_ctrl_c_keeps_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound

    solve, solved = EnsembleBranchBound.solve_below, []

    def stopping(*asked: Any) -> Any:
        if len(solved) == 40:
            raise KeyboardInterrupt
        solved.append(1)
        return solve(*asked)

    monkeypatch.setattr(EnsembleBranchBound, "solve_below", stopping)
    with pytest.warns(ConvergenceWarning, match=r"cut short: .* \(stopped by Ctrl-C\)"):
        made = Discretizer(model, quantile=0.0).fit(X, y)
    found = made.crossings_
    assert 0 < found.answered < found.rows
    assert found.stopped is Stopped.INTERRUPTED
    assert len(made.thresholds_) > 0


# constraints


@pytest.mark.long
def test_constraints_are_passed_on(counted: list[int]) -> None:
    """Thresholds that only rise are crossed by rows below them; a fixed column has none, written or not."""
    X, y = table()
    model = stumps().fit(X, y)
    free = Discretizer(model, quantile=0.0).fit(X, y)
    assert {"income", "age"} <= set(free.thresholds_.features)
    for rule in (bf.fixed("age"), "fixed age", [bf.fixed("age")]):
        made = Discretizer(model, quantile=0.0, constraints=rule).fit(X, y)
        assert "age" not in made.thresholds_.features
    upwards = Discretizer(model, quantile=0.0, constraints=[bf.only_up("income"), bf.only_up("age")]).fit(X, y)
    poor = int(((model.predict(X) == y) & (y == "no")).sum())
    assert upwards.crossings_.answered == poor < upwards.crossings_.rows == free.crossings_.rows
    assert len(counted) == 5


def test_other_constraints_are_another_search(counted: list[int]) -> None:
    X, y = table()
    grid = {"counterfactualdiscretizer__constraints": [(), [bf.fixed("age")]]}
    pipeline = make_pipeline(Discretizer(stumps(), quantile=0.0), DecisionTreeClassifier(max_depth=2, random_state=0))
    search = GridSearchCV(pipeline, grid, cv=2, refit=False).fit(X, y)
    assert len(counted) == 4
    free, fixed = search.cv_results_["mean_test_score"]
    assert free > fixed
    assert clone(Discretizer(constraints=[bf.fixed("age")])).constraints == [bf.fixed("age")]


def test_the_margin_of_a_support_vector_machine_is_the_paper_s() -> None:
    """Program (16)-(18): w'x + b >= 1 is a distance of 1 / ||w|| from the plane, with columns from 0 to 1."""
    rng = np.random.default_rng(1)
    X = rng.random((100, 2))
    X[:2] = [[0.0, 0.0], [1.0, 1.0]]
    y = (X @ [3.0, 1.0] > 2.0).astype(int)
    model = LinearSVC(C=10.0, random_state=0).fit(X, y)
    w, score, right = model.coef_[0], model.decision_function(X), model.predict(X) == y
    assert w[0] > w[1] > 0
    rule = bf.margin(1 / np.linalg.norm(w))
    made = Discretizer(model, quantile=0.0, lambda0=0.0, merge=0.0, constraints=rule).fit(X, y)
    ends = X[:, 0] - (score + np.sign(score)) / w[0]  # the steepest column goes all the way, if there is room
    expected = ends[right & (ends > 0) & (ends < 1)]
    found = np.array([one.at for one in made.crossings_.columns if one.feature == 0])
    assert len(expected) > 20
    assert np.abs(found[:, None] - expected).min(axis=0).max() <= 0.5e-4  # four digits or more


# bad input


def test_constraints_that_leave_no_answer() -> None:
    X, y = table()
    with pytest.raises(bf.errors.InputError, match="constraints may leave no answer"):
        Discretizer(stumps(), constraints=[bf.fixed(name) for name in X]).fit(X, y)
    with pytest.raises(bf.errors.UnknownColumnError, match="Did you mean 'income'"):
        Discretizer(stumps(), constraints="fixed incme").fit(X, y)


def test_probabilities_are_asked_of_a_model_that_has_none() -> None:
    X, y = table(100)
    with pytest.raises(bf.errors.UnsupportedModelError, match=r"no predict_proba, but p0=0 and p1=0\.9 were given"):
        Discretizer(LinearSVC(), p1=0.9).fit(X, y)
    assert Discretizer(CalibratedClassifierCV(LinearSVC(), cv=2), p1=0.9).p1 == 0.9


def test_all_rows_misclassified() -> None:
    X, y = table()
    wrong = stumps().fit(X, np.where(y == "yes", "no", "yes"))
    with pytest.raises(bf.errors.InputError, match="right about none of the rows"):
        Discretizer(wrong).fit(X, y)


def test_no_threshold_at_all() -> None:
    X, y = table()
    constant = DecisionTreeClassifier(max_leaf_nodes=2, min_impurity_decrease=0.9).fit(X, y)
    with pytest.raises(bf.errors.InputError, match="no counterfactual crosses a threshold"):
        Discretizer(constant).fit(X, y)


def test_the_highest_quantile_keeps_the_most_frequent_threshold() -> None:
    X, y = table()
    made = Discretizer(stumps(), quantile=1.0).fit(X, y)
    most = max(one.count for one in made.crossings_.columns)
    assert [one.count for one in made.thresholds_] == [most] * len(made.thresholds_)
    assert len(made.thresholds_) >= 1


def test_one_class_only() -> None:
    X, _ = table(50)
    with pytest.raises(ValueError, match="the labels have 1 class"):
        Discretizer(stumps()).fit(X, ["yes"] * 50)


def test_unseen_columns_and_categories() -> None:
    X, y = loans.load(300)
    made = Discretizer(loans.pipeline(), quantile=0.0).fit(X, y)
    with pytest.raises(ValueError, match="income"):
        made.transform(X.drop(columns="income"))
    asked = next(one.column for one in made.thresholds_ if one.test is not ColumnTest.MISSING)
    if made.space_[asked].levels is None:
        with pytest.raises(bf.errors.InputError, match="numbers"):
            made.transform(X.assign(**{asked: "many"}))
    with pytest.raises(ValueError, match="features"):
        Discretizer(stumps()).fit(table()[0].to_numpy(), table()[1]).transform(np.zeros((2, 5)))


def test_an_unseen_category_is_named() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"job": pd.Categorical(rng.choice(["nurse", "clerk", "cook"], 200))})
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", random_state=0)
    made = Discretizer(model, quantile=0.0).fit(X, np.where(X["job"] == "nurse", 1, 0))
    with pytest.raises(bf.errors.InputError, match="'pilot', which was not seen before"):
        made.transform(pd.DataFrame({"job": ["pilot"]}))


def test_missing_values_that_the_model_does_not_take() -> None:
    X, y = table()
    made = Discretizer(stumps()).fit(X, y)
    hole = X.copy()
    hole.loc[3, made.thresholds_[0].column] = np.nan
    with pytest.raises(bf.errors.InputError, match="missing in row 3"):
        made.transform(hole)
    with pytest.raises(ValueError, match="NaN"):
        Discretizer(stumps()).fit(hole.to_numpy(dtype=float), y)


@pytest.mark.parametrize("quantile", [-0.1, 1.5, float("nan")])
def test_a_quantile_outside_its_range(quantile: float) -> None:
    X, y = table()
    with pytest.raises(bf.errors.InputError, match=r"quantile=.* was given"):
        Discretizer(stumps(), quantile=quantile).fit(X, y)
    made = Discretizer(stumps()).fit(X, y)
    before = made.thresholds_
    with pytest.raises(bf.errors.InputError, match="from 0 to 1"):
        made.set_quantile(quantile)
    assert made.thresholds_ == before
    with pytest.raises(bf.errors.InputError, match="from 0 to 1"):
        made.report(X, y, [0.5, quantile])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"lambda0": 0.0, "lambda1": 0.0}, "must cost something"),
        ({"lambda1": -1.0}, "lambda1=-1.0"),
        ({"p0": 0.9, "p1": 0.6}, "p0 must not exceed p1"),
        ({"quantile": "most"}, "quantile='most'"),
        ({"merge": 2.0}, "merge=2.0"),
        ({"scale": "miles"}, "'range', 'std', 'mad', 'none'"),
        ({"rank": "age"}, "'counts', 'classes'"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], words: str) -> None:
    X, y = table(60)
    with pytest.raises(bf.ButforError, match=words):
        Discretizer(stumps(), **settings).fit(X, y)


def test_a_regressor_changes_no_class() -> None:
    X, _ = table(60)
    with pytest.raises(bf.errors.UnsupportedModelError, match="does not predict classes"):
        Discretizer(DecisionTreeRegressor()).fit(X, np.arange(60) % 2)


@pytest.mark.parametrize("seed", range(5))
def test_columns_are_ranked_by_what_leaves_the_classes_least_mixed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, codes, counts = rng.integers(0, 2, (30, 7), np.uint8), rng.integers(0, 3, 30), rng.permutation(7)

    def mixed(columns: list[int]) -> float:
        """Gini's impurity by its definition."""
        shares = pd.crosstab(np.array([str(row) for row in answers[:, columns].tolist()]), codes)
        return float((shares.sum(axis=1) - (shares**2).sum(axis=1) / shares.sum(axis=1)).sum())

    order, taken = ranks._order(answers, codes, counts), list[int]()
    assert sorted(order) == list(range(7))
    for k in order:
        left = {j: mixed([*taken, j]) for j in range(7) if j not in taken}
        if min(left.values()) < mixed(taken) - 1e-9:
            assert left[k] == pytest.approx(min(left.values()))
        else:
            assert counts[k] == max(counts[j] for j in left)
        taken.append(k)


def test_ranks_ask_for_no_counterfactual_again(counted: list[int]) -> None:
    X, y = table()
    model = stumps().fit(X, y)
    by_counts = Discretizer(model, quantile=0.5).fit(X, y)
    ranked = Discretizer(model, quantile=0.5, rank="classes").fit(X, y)
    assert len(counted) == 1
    assert set(ranked.crossings_.columns.names) == set(by_counts.crossings_.columns.names)
    for quantile in (0.3, 0.5, 0.9, 1.0):
        assert len(ranked.crossings_.columns.kept(quantile)) == len(by_counts.crossings_.columns.kept(quantile))
    apart = [bf.compress.inconsistency_rate(one.transform(X), y) for one in (ranked, by_counts)]
    assert apart[0] <= apart[1]
