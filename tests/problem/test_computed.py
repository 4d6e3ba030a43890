"""`bf.computed` with a function: its formula is known only if the function computes what that says, everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.model.formula import Formula
from butfor.problem.constraints.computed import ComputedColumn


def guarded(debt: Any, income: Any) -> Any:
    return 0.0 if income == 0 else debt / income


def known(debt: Any, income: Any) -> Any:
    return debt if income is None else debt / income


def looked_up(debt: Any, income: Any) -> Any:
    return debt + {3.0: 20.0}.get(income, 0.0)


def filled(debt: Any, income: Any) -> Any:
    return 7.0 if pd.isna(debt) else debt - income


OTHERWISE = {"guarded": guarded, "known": known, "looked up": looked_up, "filled": filled}
PLAIN = {
    "ratio": (lambda debt, income: debt / income, "debt / income"),
    "rounded": (lambda debt, income: round(debt / income, 2), "python_round(debt / income, 2)"),
    "sum": (lambda debt, income: debt + 12 * income - 3, "debt + 12 * income - 3"),
    "turned around": (lambda income, debt: -income / (debt + 1), "-1 * income / (debt + 1)"),
}


def test_whether_a_formula_equals_something_is_not_known() -> None:
    debt = Formula.column("debt")
    for asked in (lambda: debt == 0, lambda: debt != 0, lambda: debt == debt, lambda: np.array([1.0]) == debt):
        with pytest.raises(TypeError, match="depends on the row"):
            asked()
    assert {debt: 1}[debt] == 1


def test_a_function_rounds_as_python_does_and_a_text_as_tables_do() -> None:
    """0.05 is a little more than a twentieth: Python rounds it to 0.1. numpy makes it half of one first, and rounds that to 0."""
    X = pd.DataFrame({"a": [1, 2, 3, 6, 9], "r": 0.0})
    assert (round(2 / 40, 1), float(np.round(2 / 40, 1))) == (0.1, 0.0)
    for how, made in (
        (lambda a: round(a / 40, 1), [round(a / 40, 1) for a in X.a.tolist()]),
        ("round(a / 40, 1)", (X.a / 40).round(1)),
    ):
        table = X.assign(r=made)
        model = DecisionTreeClassifier().fit(table[["r"]].assign(a=0)[["a", "r"]], table.r > 0.05)
        explainer = bf.Explainer(model, table, space={"a": bf.Integer(1, 9)})
        answer = explainer.explain(table.iloc[[0]], target=True, constraints=[bf.computed("r", how)]).only
        assert answer.point["a"].iloc[0] == (3 if how == "round(a / 40, 1)" else 2)
        assert answer.point["r"].iloc[0] == 0.1
        again = bf.computed("r", how)
        assert ComputedColumn("r", again.text).formula.at({"a": X.a.to_numpy(dtype=float)}).tolist() == list(made)


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_function_that_treats_some_values_otherwise_has_no_formula(name) -> None:
    assert ComputedColumn.of_function("ratio", OTHERWISE[name], ["debt", "income"]).formula is None


@pytest.mark.parametrize("name", PLAIN)
def test_a_function_that_only_calculates_has_one(name) -> None:
    function, text = PLAIN[name]
    assert bf.computed("ratio", function) == ComputedColumn("ratio", text)


def test_a_function_that_looks_levels_up_is_asked_and_not_taken_for_a_number() -> None:
    price = ComputedColumn.of_function("price", lambda kind: {"old": 1.0, "new": 2.0}.get(kind, 0.0), ["kind"])
    assert price.formula is None
    assert price.inputs == ("kind",)


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_the_function_itself_says_is_kept(name) -> None:
    """Rows of the data show nothing of it, and rows that are asked about do."""
    function = OTHERWISE[name]
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": 1.0 * rng.integers(5, 60, 200), "income": 1.0 * rng.integers(4, 30, 200)})
    X["ratio"] = [function(*row) for row in X.to_numpy().tolist()]
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, X["debt"] / X["income"] > 2)
    space = {"income": bf.Integer(low=0, high=30), "ratio": bf.Continuous(low=-100, high=100)}
    explainer = bf.Explainer(model, data=X, space=space)
    debt, income = {"guarded": (9.0, 0.0), "known": (9.0, None), "looked up": (9.0, 3.0), "filled": (None, 9.0)}[name]
    row = X.iloc[[0]].assign(debt=debt, income=income, ratio=function(debt, income)).astype(float)
    rule = bf.computed("ratio", function, of=["debt", "income"])
    answer = explainer.explain(row, target=not model.predict(row)[0], constraints=[rule], seed=0).only
    point = answer.point.iloc[0]
    given = (None if np.isnan(point[name]) else point[name] for name in ("debt", "income"))
    assert answer.found
    assert point["ratio"] == pytest.approx(function(*given))
