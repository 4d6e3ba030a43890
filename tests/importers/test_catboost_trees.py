"""CatBoost: oblivious and other trees, missing values, categories and their combinations, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import butfor as bf
from butfor.importers import registry
from butfor.importers.fold import joint_questions
from butfor.importers.fold.column import raw_columns
from butfor.importers.fold.joint_questions import JointQuestion
from butfor.importers.libraries import catboost_categories, catboost_trees
from butfor.importers.read import read
from butfor.model.trees import Trees
from butfor.space.infer import infer
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import BoostingContract, check_caught, why_unread
from tests.importers.samples import NUMBERS, REST, TEXT, amounts, answers, labels, numbers, parities, people
from tests.shorter import first

cb = pytest.importorskip("catboost")
SMALL = {"iterations": 6, "depth": 3, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}


def classifier(**given: Any) -> Any:
    return cb.CatBoostClassifier(**{**SMALL, **given})


def regressor(**given: Any) -> Any:
    return cb.CatBoostRegressor(**{**SMALL, **given})


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "plain": classifier,
    "by leaf": lambda: classifier(grow_policy="Lossguide", max_leaves=6),
    "by depth": lambda: classifier(grow_policy="Depthwise"),
    "missing is largest": lambda: classifier(nan_mode="Max"),
    "one tree": lambda: classifier(iterations=1),
    "weights": lambda: classifier(auto_class_weights="Balanced"),
}


def test_one_against_rest() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    check_importer(classifier(loss_function="MultiClassOneVsAll").fit(X, labels(rng, X, 3)), X)


@pytest.mark.parametrize("loss", ["RMSE", "MAE", "Quantile:alpha=0.3", "Huber:delta=1.0"])
def test_regressors(loss) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=bool(seed))
        check_importer(regressor(loss_function=loss).fit(X, amounts(rng, X)), X, rng)


def test_stopped_early() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    y = labels(rng, X, 2)
    model = classifier(iterations=80, learning_rate=0.9)
    model.fit(X[:80], y[:80], eval_set=(X[80:], y[80:]), early_stopping_rounds=4)
    assert len(check_importer(model, X).model.roots) == model.tree_count_ < 80


def test_pipelines() -> None:
    X = people(lost=("income",))
    columns = make_column_transformer(("passthrough", NUMBERS), (OneHotEncoder(), TEXT), ("passthrough", REST))
    columns.set_params(sparse_threshold=0)
    check_importer(make_pipeline(columns, classifier()).fit(X, answers(X)), X)


def test_explained() -> None:
    X = people()[NUMBERS]
    model = classifier().fit(X, answers(people()))
    answer = bf.Explainer(model, X).explain(X.iloc[[0]])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_what_cannot_be_read_is_refused_by_name() -> None:
    X = people()
    y = answers(X)
    threshold = classifier().fit(X[NUMBERS], y)
    threshold.set_probability_threshold(0.3)
    refused = {
        "'Poisson'": (regressor(loss_function="Poisson").fit(X[NUMBERS], X["rooms"]), X[NUMBERS]),
        "probability 0.3": (threshold, X[NUMBERS]),
    }
    for reason, (model, data) in refused.items():
        assert reason in why_unread(model, data)


CATEGORIES = ["a", "b", "c", "e"]
TOGETHER = {"one_hot_max_size": 1, "max_ctr_complexity": 4, "iterations": 30, "learning_rate": 0.3, "depth": 5}
STATISTICS = {
    "usual": {},
    "buckets": {"simple_ctr": "Buckets", "combinations_ctr": "Buckets"},
    "one by one": {"one_hot_max_size": 9},
    "by leaf": {"grow_policy": "Lossguide"},
    "by depth": {"grow_policy": "Depthwise"},
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("seed", first(1, range(3)))
@pytest.mark.parametrize("how", STATISTICS)
def test_categories(how, seed) -> None:
    X, y = parities(seed)
    given = {**TOGETHER, **STATISTICS[how], "cat_features": CATEGORIES}
    check_importer(regressor(**given).fit(X, y), X, seed)
    check_importer(classifier(**given).fit(X, y > 1), X, seed)
    check_importer(classifier(**given).fit(X, np.digitize(y, [0, 1])), X, seed)


def test_statistics_about_several_borders_of_the_target() -> None:
    X, y = parities(0)
    several = ["Borders:TargetBorderCount=3", "Buckets:TargetBorderCount=2", "Counter"]
    check_importer(regressor(**TOGETHER, cat_features=CATEGORIES, simple_ctr=several).fit(X, y), X)


def test_statistics_that_are_not_saved_in_full_are_refused_by_name() -> None:
    X, y = parities(0)
    refused = {
        "'Borders' twice": ["Borders:TargetBorderCount=2", "Borders:TargetBorderCount=3"],
        "'BinarizedTargetMeanValue'.": ["BinarizedTargetMeanValue"],
    }
    for reason, statistics in refused.items():
        model = regressor(**TOGETHER, cat_features=CATEGORIES, simple_ctr=statistics).fit(X, y)
        assert reason in why_unread(model, X)


def test_combinations_of_categories_become_questions_about_one_column() -> None:
    X, y = parities(3)
    model = regressor(**TOGETHER, cat_features=CATEGORIES).fit(X, y)
    saved = catboost_trees._saved(model)
    together = [question for question in questions_of(saved, X) if isinstance(question, JointQuestion)]
    assert {len(question.axes) for question in together} == {2, 3}
    assert any(axis.ordered for question in together for axis in question.axes), "none asks for a number, too"
    assert isinstance(read(model, X).model, Trees)


def questions_of(saved: dict[str, Any], X: pd.DataFrame) -> list[Any]:
    columns = raw_columns(infer(X, {"c": bf.Categorical([0, 1, 2, 3])}).features)
    inputs = catboost_categories.read_inputs(saved, columns)
    return catboost_categories.read_questions(saved, inputs, catboost_categories.as_catboost_answers(saved))


@pytest.mark.parametrize("seed", first(1, range(4)))
def test_answers_over_categories_are_the_cheapest_of_all(seed) -> None:
    """Every row is tried with the estimator."""
    X, y = parities(seed, 60 + 60 * seed)
    X = X[["a", "b", "c", "d"]]
    model = classifier(**TOGETHER, cat_features=["a", "b", "c"]).fit(X, (y > 1).astype(int))
    every = pd.DataFrame(list(product("pqrs", "xyz", range(4), np.arange(-2, 4) / 2)), columns=list("abcd"))
    explainer = bf.Explainer(model, X, space={"d": bf.Step(0.5, -1, 1.5)})
    label = model.predict(every)
    for start in range(5):
        row = X.iloc[[start]]
        changed = every != row.iloc[0]
        cost = changed[["a", "b", "c"]].sum(axis=1) + (every["d"] - row["d"].iloc[0]).abs() / 2.5
        answer = explainer.explain(row, cost=bf.L1(scale="range"))
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(cost[label != model.predict(row)[0]].min(), abs=1e-6)


def test_unused_and_missing_categories() -> None:
    X = people(lost=("job",))
    y = answers(X)
    filled = make_column_transformer(
        (SimpleImputer(strategy="constant", fill_value="none"), TEXT), remainder="passthrough"
    )
    reading = check_importer(make_pipeline(filled, classifier(cat_features=[0, 1])).fit(X, y), X)
    assert reading.space["job"].missing
    X = people().assign(job=lambda X: pd.Categorical(X["job"], ["clerk", "nurse", "pilot", "smith", "unused"]))
    assert not check_importer(classifier(cat_features=TEXT).fit(X, y), X).space["job"].missing


def test_too_many_combinations_are_refused_by_name(monkeypatch) -> None:
    X, y = parities(3)
    model = regressor(**TOGETHER, cat_features=CATEGORIES).fit(X, y)
    monkeypatch.setattr(catboost_categories, "MOST_ASKED_AT_ONCE", 10)
    assert "max_ctr_complexity=1" in why_unread(model, X)
    monkeypatch.undo()
    monkeypatch.setattr(joint_questions, "NODES_OF_A_TREE", 5)
    assert "max_ctr_complexity=1" in why_unread(model, X)


def usual(estimator, columns):
    return registry._models["catboost.CatBoostClassifier"](estimator, columns)


def below_instead_of_at_most(estimator, columns):
    ours, readout = usual(estimator, columns)
    cut = np.where(ours.feature >= 0, np.nextafter(ours.cut, -np.inf), 0.0)
    cells = tuple(replace(cell, edges=np.unique(cut[ours.feature == j])) for j, cell in enumerate(ours.cells))
    return replace(ours, cut=cut, cells=cells), readout


def splits_reversed(estimator, columns):
    ours, readout = usual(estimator, columns)
    return replace(ours, left=ours.right, right=ours.left), readout


@pytest.mark.parametrize("importer", [below_instead_of_at_most, splits_reversed])
def test_a_wrong_importer_is_caught(importer, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = classifier().fit(X, X @ [1.0, 0.5, -0.5] + rng.normal(size=200) > 0.4)
    check_caught(importer, model, X, monkeypatch)


class TestCatboost(BoostingContract):
    classifiers = CLASSIFIERS


def in_a_search(X: pd.DataFrame, y: Any) -> Any:
    return GridSearchCV(classifier(), {"depth": [2]}, cv=2).fit(X, y)


WAYS = {
    "by itself": lambda X, y: classifier().fit(X, y),
    "in a search": in_a_search,
    "in a pipeline": lambda X, y: make_pipeline("passthrough", classifier()).fit(X, y),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_saved_model_reads_the_columns_by_their_names(way) -> None:
    """A saved CatBoost model has forgotten how many columns there were, and no model tells their names as others do."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(numbers(rng)).add_prefix("c")
    model = WAYS[way](X, labels(rng, X.to_numpy(), 2))
    turned = X[X.columns[::-1]]
    cost = bf.Explainer(model, X).explain(X.iloc[[0]], target="other").only.cost
    for one in (model, pickle.loads(pickle.dumps(model))):
        for table in (X, turned):
            answer = bf.Explainer(one, table).explain(table.iloc[[0]], target="other").only
            assert answer.cost == pytest.approx(cost)
            assert model.predict(answer.point[X.columns]) != model.predict(X.iloc[[0]])
        with pytest.raises(bf.errors.InputError, match="lacks the columns"):
            bf.Explainer(one, X.iloc[:, 1:])


def test_a_model_of_an_array_that_is_loaded_from_its_file_reads_tables_by_position(tmp_path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(numbers(rng)).add_prefix("c")
    classifier().fit(X.to_numpy(), labels(rng, X.to_numpy(), 2)).save_model(tmp_path / "model.cbm")
    model = classifier().load_model(tmp_path / "model.cbm")
    costs = [bf.Explainer(model, table).explain(table[:1], target="other").only.cost for table in (X, X.to_numpy())]
    assert costs[0] == pytest.approx(costs[1])
    with pytest.raises(bf.errors.InputError, match=f"fitted on {X.shape[1]}"):
        bf.Explainer(model, X.iloc[:, 1:])
