"""Margins: the same closed balls as those of `bf.robust`, of trees against the intervals of their leaves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.trees import TAOClassifier

COLUMNS, BOTTOM = 3, -16.0
"""Values are negative: sklearn reads float32, and there the upper end of a leaf is rounded up by no more than the lower end."""


def leaves(model: DecisionTreeClassifier) -> list[tuple[np.ndarray, np.ndarray]]:
    """The intervals `low < x <= high` of the leaves of class 1."""
    tree, found = model.tree_, []
    pending = [(0, np.full(COLUMNS, -np.inf), np.full(COLUMNS, np.inf))]
    while pending:
        node, low, high = pending.pop()
        if tree.children_left[node] < 0:
            if np.argmax(tree.value[node][0]) == 1:
                found.append((low, high))
            continue
        j, cut = tree.feature[node], tree.threshold[node]
        left, right = high.copy(), low.copy()
        left[j], right[j] = min(high[j], cut), max(low[j], cut)
        pending += [(tree.children_left[node], low, left), (tree.children_right[node], right, high)]
    return found


def cheapest(model: DecisionTreeClassifier, row: np.ndarray, width: float, just: bool) -> float:
    """The least L1 change, in ranges, into a leaf with `width` to spare. `just`: a leaf of twice the width has room."""
    best = np.inf
    for low, high in leaves(model):
        first, last = np.maximum(low + width, BOTTOM), np.minimum(high - width, 0)
        above = low + width <= last if just else low + width < last
        if above.all() and (first <= last).all():
            best = min(best, np.abs(np.clip(row, first, last) - row).sum() / -BOTTOM)
    return float(best)


def grown(seed: int) -> tuple[DecisionTreeClassifier, np.ndarray, bf.Explainer]:
    """A tree over whole values, so that cuts lie at halves, and margins of 1/16 just fit between some of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(int(BOTTOM), 1, (60, COLUMNS)).astype(float)
    y = (X.sum(axis=1) + rng.normal(0, 6, 60) > -24).astype(int)
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)
    space = {f"x{j}": bf.Continuous(BOTTOM, 0) for j in range(COLUMNS)}
    return model, X[model.predict(X) == 0][:6], bf.Explainer(model, X, space=space)


def test_a_leaf_just_two_margins_wide_has_no_room_with_margin_or_robust() -> None:
    """Cuts at -3/4 and -1/4, and -1/2 in the middle: off by just 1/4 downwards it stands at a cut, and is refused."""
    X = np.array([[-1.0], [-0.5], [0.0]])
    model = DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 0])
    explainer = bf.Explainer(model, X, space={"x0": bf.Continuous(-1, 0)})
    assert model.predict([[-0.5 - 0.25], [-0.5 + 0.25]]).tolist() == [0, 1]
    for rule in (bf.margin(0.25), bf.robust(0.25)):
        found = explainer.explain([[-1.0]], target=1, constraints=[rule]).only
        assert found.certificate.status.name == "PROVEN_INFEASIBLE"
    for rule in (bf.margin(0.2499), bf.robust(0.2499)):
        found = explainer.explain([[-1.0]], target=1, constraints=[rule]).only
        assert found.cost == pytest.approx(0.4999, abs=1e-7)


@pytest.mark.long
def test_the_cheapest_margin_in_a_tree_and_that_it_holds_in_a_closed_box() -> None:
    answered = refused = wider = 0
    for seed in range(12):
        model, rows, explainer = grown(seed)
        for eps in (1 / 32, 1 / 16):
            width = -eps * BOTTOM
            found = explainer.explain(rows, target=1, constraints=[bf.margin(eps)])
            firm = explainer.explain(rows, target=1, constraints=[bf.robust(eps)])
            for row, answer, robust in zip(rows, found, firm, strict=True):
                truth = cheapest(model, row, width, just=False)
                wider += cheapest(model, row, width, just=True) < truth
                assert answer.cost == pytest.approx(truth, abs=1e-6), (seed, eps)
                if not np.isfinite(truth):
                    assert answer.certificate.status.name == "PROVEN_INFEASIBLE"
                    refused += 1
                    continue
                corners = answer.point + width * np.array(list(product((-1, 0, 1), repeat=COLUMNS)))
                assert len(set(model.apply(corners))) == 1, (seed, eps)
                assert robust.cost <= answer.cost + 1e-9, (seed, eps)
                answered += 1
    assert answered > 80
    assert wider > 10, "leaves that are just two margins wide decide somewhere"


def test_a_margin_of_a_linear_model_is_a_round_ball() -> None:
    X, y = load_iris(return_X_y=True)
    explainer = bf.Explainer(LogisticRegression(max_iter=1000).fit(X, y), X)
    rows = X[::25]
    for target, eps in product((0, 1, [0, 2]), (0.02, 0.1)):
        near = explainer.explain(rows, target=target, constraints=[bf.margin(eps)])
        firm = explainer.explain(rows, target=target, constraints=[bf.robust(eps, norm="l2")])
        for one, other in zip(near, firm, strict=True):
            assert one.cost == pytest.approx(other.cost, abs=1e-7)
            assert one.certificate.bound == pytest.approx(other.certificate.bound, abs=1e-7)


def test_a_margin_of_an_oblique_tree_is_a_round_ball_in_one_leaf() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (200, 2))
    model = TAOClassifier(max_depth=2, random_state=0).fit(X, (X[:, 0] + X[:, 1] ** 2 > 0.9).astype(int))
    explainer = bf.Explainer(model, X, space={"x0": bf.Continuous(0, 1), "x1": bf.Continuous(0, 1)})
    rows, eps = X[model.predict(X) == 0][:8], 0.05
    shifts = rng.normal(size=(2000, 2))
    shifts *= eps / np.linalg.norm(shifts, axis=1, keepdims=True)
    for answer in explainer.explain(rows, target=1, constraints=[bf.margin(eps)]):
        assert answer.found
        assert (model.predict(answer.point + shifts) == 1).all()


@pytest.mark.parametrize("solver", ["exact", "swarm"])
def test_a_curved_boundary_has_no_known_distance(solver: str) -> None:
    """It was taken for one that is infinitely far away, and so a margin meant nothing."""
    X, y = load_iris(return_X_y=True)
    explainer = bf.Explainer(LogisticRegression(max_iter=1000).fit(X, y), X)
    asked = bf.probability(1, at_least=0.6)
    assert explainer.explain(X[:1], target=asked).only.found
    with pytest.raises(bf.errors.UnsupportedProblemError, match="boundary of the target is curved"):
        explainer.explain(X[:1], target=asked, constraints=[bf.margin(0.1)], solver=solver)
