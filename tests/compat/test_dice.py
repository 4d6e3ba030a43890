"""DiCE's calls, answered by butfor: each parameter means what it says there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.compat import dice as dice_ml
from butfor.datasets import loans

X, Y = loans.load()
MODEL = loans.pipeline().fit(X, Y)
ROWS = X[MODEL.predict(X) == "rejected"].iloc[:4]
NUMBERS = ["age", "income", "savings", "amount", "months", "late_payments"]
DATA = dice_ml.Data(dataframe=X.assign(outcome=Y), continuous_features=NUMBERS, outcome_name="outcome")
DICE = dice_ml.Dice(DATA, dice_ml.Model(model=MODEL, backend="sklearn"), method="genetic")


def test_the_answers_are_those_of_explain() -> None:
    found = DICE.generate_counterfactuals(ROWS, total_CFs=2)
    assert found == bf.Explainer(MODEL, X).explain(ROWS, k=2)
    assert isinstance(found, bf.Explanations)


def test_the_wanted_class_may_be_named_or_counted() -> None:
    named = DICE.generate_counterfactuals(ROWS, 1, desired_class="approved")
    first = DICE.generate_counterfactuals(ROWS, 1, desired_class=0)
    assert MODEL.classes_[0] == "approved"
    assert named == first
    flowers, kinds = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(flowers, kinds)
    data = dice_ml.Data(flowers.assign(kind=kinds), list(flowers), "kind")
    wanted = dice_ml.Dice(data, dice_ml.Model(tree)).generate_counterfactuals(flowers[:2], 1, desired_class=2)
    assert list(tree.predict(wanted.points)) == [2, 2]


def test_only_the_named_features_vary() -> None:
    found = DICE.generate_counterfactuals(ROWS, total_CFs=3, features_to_vary=["income", "late_payments"])
    assert found.found.any()
    assert {change.name for one in found for change in one.changes} <= {"income", "late_payments"}
    none = DICE.generate_counterfactuals(ROWS, total_CFs=1, features_to_vary=[])
    assert {status.name for status in none.statuses} == {"PROVEN_INFEASIBLE"}


def test_ranges_are_kept() -> None:
    ranges = {"income": [0, 30_000], "job": ["permanent", "temporary"]}
    found = DICE.generate_counterfactuals(ROWS, total_CFs=2, permitted_range=ranges)
    assert found.found.any()
    assert found.points["income"].between(0, 30_000).all()
    assert found.points["job"].isin(ranges["job"]).all()


def test_a_probability_is_reached() -> None:
    found = DICE.generate_counterfactuals(ROWS, 1, desired_class="approved", stopping_threshold=0.9)
    assert (MODEL.predict_proba(found.points)[:, 0] >= 0.9).all()
    with pytest.raises(bf.errors.InputError, match="Name the class: 'approved', 'rejected'"):
        DICE.generate_counterfactuals(ROWS, 1, stopping_threshold=0.9)


def test_a_regressor_has_a_range() -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(table, table["a"] + table["b"])
    dice = dice_ml.Dice(dice_ml.Data(table.assign(y=0.0), ["a", "b"], "y"), dice_ml.Model(model))
    found = dice.generate_counterfactuals(table[:3], total_CFs=1, desired_range=[0.5, 1.5])
    assert ((model.predict(found.points) >= 0.5) & (model.predict(found.points) <= 1.5)).all()


def test_numbers_that_are_not_continuous_are_categories() -> None:
    table = pd.DataFrame({"code": [10, 20, 30, 40] * 20, "x": np.linspace(0.0, 1.0, 80)})
    y = (table["code"] > 15) & (table["x"] > 0.3)
    for frame in (table, pl.from_pandas(table)):
        whole = frame.assign(y=y) if isinstance(frame, pd.DataFrame) else frame.with_columns(y=pl.Series(y.to_numpy()))
        model = DecisionTreeClassifier(random_state=0).fit(frame, y)
        dice = dice_ml.Dice(dice_ml.Data(whole, ["x"], "y"), dice_ml.Model(model))
        assert dice.explainer.space["code"].levels == (10, 20, 30, 40)
        found = dice.generate_counterfactuals(frame[:2], total_CFs=1, features_to_vary=["code", "x"])
        assert set(found.points["code"]) <= {10, 20, 30, 40}


def test_our_own_arguments_are_taken_too() -> None:
    found = DICE.generate_counterfactuals(ROWS, 1, cost=bf.L0(), constraints="fixed age", seed=3)
    assert found == bf.Explainer(MODEL, X).explain(ROWS, cost=bf.L0(), constraints=bf.fixed("age"), seed=3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: DICE.generate_counterfactuals(ROWS, 0), ValueError, "k=0 was given"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, desired_class="gold"), ValueError, "the target 'gold'"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, desired_class=7), ValueError, "the target 7"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, features_to_vary="age"), TypeError, "features_to_vary='age'"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, features_to_vary=["wage"]), KeyError, "no column 'wage'"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, permitted_range={"wage": [0, 1]}), KeyError, "no column 'wage'"),
        (lambda: DICE.generate_counterfactuals(ROWS, 1, proximity_weight=0.5), TypeError, "proximity_weight"),
        (lambda: dice_ml.Dice(dice_ml.Data(X, NUMBERS, "outcome"), dice_ml.Model(MODEL)), ValueError, "column 'outcome'"),
        (lambda: dice_ml.Dice(dice_ml.Data(X, ["wage"], "age"), dice_ml.Model(MODEL)), ValueError, "column 'wage'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, error, words) -> None:
    with pytest.raises(error, match=words):
        call()


def test_an_explainer_is_called_and_answers_are_sliced() -> None:
    explainer = bf.Explainer(MODEL, X)
    answers = explainer(ROWS, target="approved")
    assert answers == explainer.explain(ROWS, target="approved")
    assert answers[1, "income"] == answers[1]["income"] == answers[1].columns()[X.columns.get_loc("income")]
    assert answers[:, "income"] == [one["income"] for one in answers]
    assert answers[np.array([True, False, True, False]), "age"] == [answers[0, "age"], answers[2, "age"]]
    assert answers[-1, "job"].name == "job"
    for wrong in (lambda: answers[0, "wage"], lambda: answers[:, "wage"], lambda: answers[0]["wage"]):
        with pytest.raises(bf.errors.UnknownColumnError, match="no column 'wage'"):
            wrong()
    with pytest.raises(IndexError):
        answers[99, "income"]


def test_a_model_of_arrays_has_numbered_columns() -> None:
    table = np.random.default_rng(0).normal(size=(60, 2))
    answers = bf.Explainer(LogisticRegression().fit(table, table[:, 0] > 0), table)(table[:2])
    assert answers[0, "x0"].changed
