"""If one column ends somewhere, another one must, too: against enumeration, and in every view and record."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.problem.constraints.implications import Implication
from tests.shorter import first

LEVELS = ("low", "middle", "high")


def random_part(rng: np.random.Generator, name: str, kind: str, *, cause: bool) -> Any:
    """A change of a column, or an end of it. Ends may lie between two values."""
    if kind == "level":
        some = list(rng.choice(3, rng.integers(1, 3), replace=False))
        if rng.random() < 0.5:
            return bf.allowed(name, some)
        return bf.becomes(name, int(rng.integers(3)))
    end = rng.integers(0, 5) + rng.choice([0.0, 0.3, 0.7])
    ways = [
        bf.between(name, end),
        bf.between(name, high=end),
        bf.rises(name, by=float(rng.choice([1.0, 1.3, 1.7]))),
        bf.falls(name, by=float(rng.choice([1.0, 1.3, 1.7]))),
    ]
    return ways[rng.integers(4 if cause else 2)]


def cheapest(model: Any, row: pd.DataFrame, values: list[list[float]], rule: Implication, space: bf.Space) -> float:
    """The cost of the cheapest row of the other class that keeps the rule, by enumeration with the estimator."""
    rows = pd.DataFrame(list(itertools.product(*values)), columns=row.columns)
    other = model.predict(rows) != model.predict(row)[0]
    before, after = space.encode(pd.concat([row] * len(rows))), space.encode(rows)
    kept = rule.holds_between(space, before, after) & other
    if not kept.any():
        return np.inf
    unlike = (after != before) & ~(np.isnan(after) & np.isnan(before))
    far = np.abs(after - before) / np.array([feature.range for feature in space])
    ordinal = np.array([1.0 if f.levels is None else 1 / (len(f.levels) - 1) if f.ordered else 0.0 for f in space])
    cost = np.where(np.isnan(far), 1.0, np.where(ordinal > 0, far * np.where(ordinal > 0, ordinal, 1), 1.0)) * unlike
    return float(cost.sum(axis=1)[kept].min())


@pytest.mark.shorter(4)
@pytest.mark.parametrize("seed", first(12, range(60)))
def test_the_cheapest_answer_under_a_condition(seed) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.integers(0, 6, 80), "b": rng.integers(0, 6, 80), "c": rng.choice(3, 80)}).astype(float)
    X["c"] = X["c"].astype(int)
    y = X.a + X.b * rng.choice([-1, 1]) + 2 * (X.c == rng.integers(3)) + rng.normal(0, 1, 80) > 3.5
    if seed % 2:
        X.loc[rng.random(80) < 0.1, "b"] = np.nan
        model: Any = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=5, min_samples_leaf=5)
    else:
        model = DecisionTreeClassifier(max_depth=4, random_state=0)
    model.fit(X, y)
    explainer = bf.Explainer(model, X, space={"c": bf.Categorical([0, 1, 2])})
    kinds = {"a": "number", "b": "number", "c": "level"}
    one, other = rng.permutation(list(kinds))[:2]
    rule = bf.implies(random_part(rng, one, kinds[one], cause=True), random_part(rng, other, kinds[other], cause=False))
    row = X.iloc[[int(rng.integers(80))]]
    numbers = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    own = [np.nan] if np.isnan(row["b"].iloc[0]) else []
    expected = cheapest(model, row, [numbers, numbers + own, [0, 1, 2]], rule, explainer.space)
    answer = explainer.explain(row, constraints=rule, solver="milp")
    assert answer.cost if np.isfinite(expected) else True
    assert answer.only.cost == pytest.approx(expected) if np.isfinite(expected) else not answer.only.found
    assert answer.certificate.status.name.startswith("PROVEN")
    assert bf.check(answer.only, model).passed


def test_real_numbers_end_exactly_where_a_condition_says() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    model = LogisticRegression().fit(X, X.a + 0.1 * X.b > 0)
    explainer = bf.Explainer(model, X)
    row = X[X.a + 0.1 * X.b < -0.5].iloc[[0]]
    free = explainer.explain(row)
    assert float(free.point["b"].iloc[0]) < 0.5
    bound = explainer.explain(row, constraints=bf.implies(bf.between("a", -0.2), bf.between("b", 0.5)))
    end = float(bound.point["b"].iloc[0])
    assert 0.5 <= end < 0.5 + 1e-6 or float(bound.point["a"].iloc[0]) < -0.2
    assert bound.cost > free.cost
    assert bound.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_a_robust_answer_keeps_a_condition() -> None:
    X, y = loans.load(300)
    X = X[["income", "amount", "months"]]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, X)
    row = X[model.predict(X) == "rejected"].iloc[[0]]
    rule = bf.implies(bf.between("amount", high=6000), bf.between("months", high=24))
    for extra in ([], [bf.robust({"income": 100})]):
        answer = explainer.explain(row, target="approved", constraints=[rule, *extra])
        assert answer.only.found
        point = answer.point.iloc[0]
        assert point.amount > 6000 or point.months <= 24
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_a_condition_is_kept_in_a_record_and_told_in_words() -> None:
    X, y = loans.load(300)
    model = loans.pipeline().fit(X, y)
    explainer = bf.Explainer(model, X)
    row = X[model.predict(X) == "rejected"].iloc[[0]]
    rule = bf.implies(bf.allowed("job", ["permanent"]), bf.between("income", 20_000))
    answer = explainer.explain(row, constraints=rule)
    again = bf.Explanation.from_json(answer.to_json())
    assert again == answer.only
    assert bf.check(again, model).passed
    assert repr(rule) == "implies(allowed('job', ['permanent']), between('income', 20000))"
    assert eval(repr(rule), vars(bf) | {name: getattr(bf, name) for name in bf.__all__}) == rule


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda: bf.implies(bf.between("income", 1, 2), bf.rises("age", by=1)), "limits both ends of a number"),
        (lambda: bf.implies(bf.fixed("age"), bf.rises("age", by=1)), "It takes two events or ends"),
        (lambda: bf.implies(bf.allowed("job", ["zz"]), bf.rises("age", by=1)), "'zz'"),
    ],
)
def test_what_is_no_condition(rule, words) -> None:
    X, y = loans.load(300)
    explainer = bf.Explainer(loans.pipeline().fit(X, y), X)
    with pytest.raises(bf.ButforError, match=words):
        explainer.explain(X.iloc[[0]], constraints=rule())
