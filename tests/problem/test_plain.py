"""Whoever computes weights, radii and names with numpy or pandas gets what others write by hand, and can keep it."""

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, X

text, number = np.str_, np.float64


@pytest.mark.shorter(4)
@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"constraints": bf.robust({text("income"): number(500)})}, {"constraints": bf.robust({"income": 500.0})}),
        ({"constraints": bf.robust(pd.Series({"income": 500.0}))}, {"constraints": bf.robust({"income": 500.0})}),
        ({"constraints": bf.robust(number(0.01), text("linf"))}, {"constraints": bf.robust(0.01)}),
        (
            {"constraints": bf.linear({text("amount"): np.int64(1), "income": number(-0.5)}, text("<="), number(0))},
            {"constraints": bf.linear({"amount": 1, "income": -0.5}, "<=", 0)},
        ),
        (
            {"constraints": bf.linear(pd.Series({"amount": 1, "income": -0.5}), "<=", 0)},
            {"constraints": bf.linear({"amount": 1, "income": -0.5}, "<=", 0)},
        ),
        (
            {"constraints": bf.moves("job", pd.Series({"unemployed": [text("temporary")]}))},
            {"constraints": bf.moves("job", {"unemployed": ["temporary"]})},
        ),
        ({"cost": bf.L1({text("income"): number(2)})}, {"cost": bf.L1({"income": 2.0})}),
        ({"cost": bf.L0(pd.Series({"income": 2.0}))}, {"cost": bf.L0({"income": 2.0})}),
        ({"cost": bf.L2(scale={text("income"): number(2000)})}, {"cost": bf.L2(scale={"income": 2000.0})}),
        ({"cost": bf.L1(scale=pd.Series({"income": 2000.0}))}, {"cost": bf.L1(scale={"income": 2000.0})}),
        ({"cost": bf.L1(scale=text("mad"))}, {"cost": bf.L1(scale="mad")}),
        (
            {"cost": bf.L1() + bf.Missing(found={text("savings"): number(2)})},
            {"cost": bf.L1() + bf.Missing(found={"savings": 2.0})},
        ),
        (
            {"cost": bf.L1() + bf.Table({text("job"): {(text("unemployed"), text("permanent")): number(2)}})},
            {"cost": bf.L1() + bf.Table({"job": {("unemployed", "permanent"): 2.0}})},
        ),
        (
            {"cost": bf.L1() + bf.Quadratic(1e-9 * np.eye(2), pd.Index(["income", "amount"]))},
            {"cost": bf.L1() + bf.Quadratic(1e-9 * np.eye(2), ("income", "amount"))},
        ),
    ],
    ids=repr,
)
def test_numpy_and_pandas_say_what_python_says(given, written):
    """The answer is the same, its record says the same, and a check of it agrees."""
    answer, other = (
        EXPLAINER.explain(ROW, "approved", progress=False, **{"constraints": POSSIBLE, **said})
        for said in (given, written)
    )
    assert answer[0].question == other[0].question
    assert answer[0].cost == other[0].cost
    checked = bf.check(answer, MODEL, progress=False)
    assert checked.passed, str(checked)


def test_columns_that_a_frame_calls_by_numbers():
    """`follows` and `Missing` take the frame's own names, as all others do."""
    numbers = X[["income", "savings", "age"]].fillna(0.0).set_axis([0, 1, 2], axis=1)
    explainer = bf.Explainer(bf.black_box(lambda rows: rows.to_numpy()[:, 1] > 4000, classes=[False, True]), numbers)
    row = numbers[numbers[1] < 3000].iloc[[0]]
    led = [bf.follows(1, by=0.1, of=0), bf.fixed(1, 2)]
    answer = explainer.explain(row, True, constraints=led, solver="swarm", progress=False)[0]
    assert [change.name for change in answer.consequences] == ["1"]
    gaps = X[["income", "savings"]].set_axis([0, 1], axis=1)
    model = EXPLAINER.model[-1].__class__(max_depth=3, random_state=0).fit(gaps, X["months"] > 30)
    price = bf.L1() + bf.Missing(found={1: 0.25})
    found = bf.Explainer(model, gaps).explain(gaps[gaps[1].isna()].iloc[:5], cost=price, progress=False)
    assert all(change.before is not None or one.cost >= 0.25 for one in found for change in one.changes)
