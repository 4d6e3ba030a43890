"""What section 3.4 of Carreira-Perpinan and Hada (AAAI 2021) says of the leaves of one tree, and where it goes too far."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.model.trees import Interval

SIDE = np.arange(-4, 5)
GRID = pd.DataFrame(np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2), columns=["a", "b"])
FAR = GRID.a >= 3
BOTH = (GRID.a <= -2) & (GRID.b >= 2)
ORIGIN = pd.DataFrame({"a": [0], "b": [0]})


def asked(cost: bf.Cost, **question: object) -> bf.Explanation:
    tree = DecisionTreeClassifier(random_state=0).fit(GRID, FAR | BOTH)
    assert tree.get_n_leaves() == 4
    return bf.Explainer(tree, data=GRID).explain(ORIGIN, target=True, cost=cost, **question)


def test_the_best_leaf_depends_on_the_cost_against_corollary_3_4() -> None:
    """One column by 3 is 3 or 9; two columns by 2 are 4 or 8. So L1 and L2 disagree, and so do their mixtures."""
    wanted = {1.0: [[3, 0]], 0.0: [[-2, 2]], 0.6: [[3, 0]], 0.4: [[-2, 2]]}
    for share, point in wanted.items():
        cost = share * bf.L1(scale="none") + (1 - share) * bf.L2(scale="none")
        answer = asked(cost)
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert answer.point.to_numpy().tolist() == point
        every = share * np.abs(GRID).sum(axis=1) + (1 - share) * (GRID**2).sum(axis=1)
        assert answer.cost == pytest.approx(every[FAR | BOTH].min())


@pytest.mark.parametrize("cost", [bf.L1(), bf.L2(), 0.3 * bf.L1() + bf.L2(), bf.L2(weights={"b": 7.0}), bf.L0()])
def test_within_a_leaf_every_such_cost_has_the_same_answer(cost: bf.Cost) -> None:
    """Theorem 3.3: the row is clipped into the leaf, column by column. That holds with weights, too."""
    assert {tuple(answer.point.to_numpy()[0]) for answer in asked(cost, k=2)} == {(3, 0), (-2, 2)}


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_leaves_by_the_formula_of_theorem_3_3(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, (X.a * X.b + X.c > 0.3))
    explainer = bf.Explainer(tree, data=X)
    model = explainer.reading.model
    for row in X[~tree.predict(X)].to_numpy()[:10]:
        for cost, power in ((bf.L1(scale="none"), 1), (bf.L2(scale="none"), 2)):
            best = np.inf
            for leaf in model.leaves:
                if model.value[leaf.node].argmax() != 1:
                    continue
                point = row.copy()
                for j, region in leaf.path.items():
                    assert isinstance(region, Interval)
                    edges = np.concatenate([[-np.inf], model.cells[j].edges, [np.inf]])
                    point[j] = np.median([row[j], edges[region.first], edges[region.last + 1]])
                best = min(best, (np.abs(point - row) ** power).sum())
            answer = explainer.explain(pd.DataFrame([row], columns=list("abc")), target=True, cost=cost)
            assert answer.cost == pytest.approx(best, abs=1e-6)


def test_a_level_that_must_change_goes_where_that_is_cheapest_also_in_leaves_that_do_not_ask_for_it() -> None:
    """The price table has no order: the next level is dearer than the one after it."""
    X = pd.DataFrame({"a": [0, 1] * 12, "c": list("xyz") * 8})
    columns = ColumnTransformer([("c", OneHotEncoder(), ["c"])], remainder="passthrough")
    tree = make_pipeline(columns, DecisionTreeClassifier(max_depth=1, random_state=0)).fit(X, X.a == 1)
    prices = {("x", "y"): 16.0, ("x", "z"): 8.0}
    answer = (
        bf.Explainer(tree, data=X)
        .explain(
            X.iloc[[0]], target=True, cost=bf.Table({"c": prices}) + bf.L1(), constraints=[bf.allowed("c", ["y", "z"])]
        )
        .only
    )
    assert answer.certificate.solver.startswith("tree_exact")
    assert answer.point["c"].iloc[0] == "z"


def test_what_becomes_missing_may_trade_a_low_price_for_a_far_reach() -> None:
    """The largest move is that of b in any case, so a number that moves is cheaper than one that gets lost."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 1, (2000, 2)), columns=["a", "b"])
    X.loc[rng.random(len(X)) < 0.2, "a"] = np.nan
    X.iloc[0], X.iloc[1] = 0.0, 1.0
    model = DecisionTreeClassifier(random_state=0).fit(X, ((X.a > 0.2) | X.a.isna()) & (X.b > 0.5))
    explainer, cost = bf.Explainer(model, data=X), bf.L1() + bf.LInf() + bf.Missing(lost={"a": 0.3})
    few = explainer.explain(X.iloc[[0]], target=True, cost=cost).only
    more = explainer.explain(X.iloc[[0]], target=True, cost=cost, constraints=[bf.may_be_missing("a")]).only
    assert more.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert more.cost == pytest.approx(few.cost, rel=1e-6)
    plain = explainer.explain(X.iloc[[0]], target=True, cost=bf.L1() + bf.LInf(), constraints=[bf.may_be_missing("a")])
    assert plain.only.certificate.solver.startswith("tree_exact")  # what costs more also reaches farther
