"""Contributions: what each change adds to score and cost, compared with the definition, in one call of the model."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

import butfor as bf
from butfor.explanation.shapley import MOST_EXACT, coalitions, every_subset, some_orders
from butfor.problem.costs import price
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, STUCK, X

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 5))
LABELS = (ROWS @ [1.0, -1.0, 0.5, 0.0, 2.0] + ROWS[:, 0] * ROWS[:, 4] > 0.5).astype(int)
BOOSTED = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(ROWS, LABELS)


def by_definition(value, changes: int) -> list[float]:
    """The mean of what each change adds, order by order."""
    added = np.zeros(changes)
    orders = list(permutations(range(changes)))
    for order in orders:
        made: frozenset[int] = frozenset()
        for i in order:
            added[i] += value(made | {i}) - value(made)
            made |= {i}
    return list(added / len(orders))


@pytest.mark.parametrize("changes", range(6))
def test_every_subset_gives_what_the_definition_gives(changes) -> None:
    values = np.random.default_rng(changes).normal(size=2**changes)
    sets = every_subset(changes)
    index = {frozenset(np.flatnonzero(made).tolist()): i for i, made in enumerate(sets.members)}
    expected = by_definition(lambda made: values[index[frozenset(made)]], changes)
    assert sets.weights @ values == pytest.approx(expected)


@pytest.mark.parametrize("changes", [2, 5, 13, 40])
def test_random_orders_add_up_and_are_exact_for_sums(changes) -> None:
    sets = some_orders(changes, seed=3)
    assert len(sets.members) <= 2**MOST_EXACT + 2
    assert not sets.members[0].any()
    assert sets.members[-1].all()
    alone = np.random.default_rng(changes).normal(size=changes)
    assert sets.weights @ (sets.members @ alone) == pytest.approx(alone)
    bent = np.sin(sets.members @ alone)
    assert (sets.weights @ bent).sum() == pytest.approx(bent[-1] - bent[0])
    assert "random orders" in sets.rule
    assert "seed 3" in sets.rule
    again = some_orders(changes, seed=3)
    assert np.array_equal(sets.members, again.members)


def test_random_orders_come_close() -> None:
    changes = 6
    sets, exact = some_orders(changes, seed=0), every_subset(changes)
    weights = np.random.default_rng(1).normal(size=changes)

    def value(members):
        total = members @ weights
        return total + 0.5 * total**2

    assert sets.weights @ value(sets.members) == pytest.approx(exact.weights @ value(exact.members), abs=0.1)


def test_a_waterfall_of_five_changes_asks_about_32_points_in_one_call() -> None:
    calls = []

    def chances(rows):
        calls.append(len(rows))
        return BOOSTED.predict_proba(rows)

    explainer = bf.Explainer(bf.black_box(chances, classes=[0, 1]), ROWS)
    start, end = ROWS[:1], ROWS[1:2]
    answer = explainer.explain(start, target=int(BOOSTED.predict(end)[0]), constraints=[bf.candidates(end)]).only
    assert len(answer.changes) == 5
    calls.clear()
    parts = explainer.contributions(answer)
    assert calls == [32]
    assert parts.points == 32
    label = list(BOOSTED.classes_).index(answer.after)

    def value(made):
        point = start.copy()
        point[0, list(made)] = end[0, list(made)]
        return BOOSTED.predict_proba(point)[0, label]

    assert parts.score == pytest.approx(by_definition(value, 5))


def test_the_parts_add_up_to_score_and_cost() -> None:
    answer = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE)
    parts = EXPLAINER.contributions(answer)
    assert parts.score.sum() == pytest.approx(answer.score.after - answer.score.before)
    assert parts.cost.sum() == pytest.approx(answer.cost)
    frame = parts.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["column", "before", "after", "score", "cost"]
    assert frame["column"].tolist() == [change.name for change in answer.changes]
    shown = repr(parts)
    assert shown.startswith(str(answer.score))
    assert shown.endswith(f"Shapley value over all {parts.points} subsets of the changes")


@pytest.mark.parametrize("cost", [bf.LInf(), bf.L2() + 0.5 * bf.LInf(), bf.L0(), bf.Gower()])
def test_a_cost_that_does_not_add_up_is_divided_by_the_definition(cost) -> None:
    explainer = bf.Explainer(BOOSTED, ROWS)
    rows = ROWS[BOOSTED.predict(ROWS) == 0][:6]
    for answer in explainer.explain(rows, target=1, cost=cost):
        parts = explainer.contributions(answer)
        assert parts.cost.sum() == pytest.approx(answer.cost)
        total = price(cost, explainer.space).total
        moved = [explainer.space.index(change.name) for change in answer.changes]

        def value(made, answer=answer, moved=moved, total=total):
            point = answer.factual_codes.copy()
            chosen = [moved[i] for i in made]
            point[chosen] = answer.point_codes[chosen]
            return float(total(answer.factual_codes[None], point[None])[0])

        assert parts.cost == pytest.approx(by_definition(value, len(moved)))


def test_many_changes_are_sampled_and_say_so() -> None:
    rows, labels = load_breast_cancer(return_X_y=True)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, labels)
    explainer = bf.Explainer(model, rows)
    answer = explainer.explain(rows[:1], target=1, cost=bf.L2(scale="std")).only
    assert len(answer.changes) > MOST_EXACT
    parts = explainer.contributions(answer, seed=5)
    assert "seed 5" in parts.rule
    assert parts.score.sum() == pytest.approx(answer.score.after - answer.score.before)
    assert parts.points <= 2**MOST_EXACT + 2
    assert np.array_equal(parts.score, explainer.contributions(answer, seed=5).score)


def test_values_and_other_tables() -> None:
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(ROWS, ROWS.sum(axis=1))
    table = pl.DataFrame({f"c{j}": ROWS[:, j] for j in range(5)})
    explainer = bf.Explainer(model, table)
    answer = explainer.explain(table[:1], target=bf.relative_change(0.5))
    parts = explainer.contributions(answer)
    assert isinstance(parts.to_frame(), pl.DataFrame)
    assert parts.score.sum() == pytest.approx(answer.after - answer.before)


def test_what_cannot_be_divided() -> None:
    with pytest.raises(bf.errors.InputError, match="without a point"):
        EXPLAINER.contributions(EXPLAINER.explain(ROW, target="approved", constraints=STUCK))
    with pytest.raises(bf.errors.InputError, match="these are 2 answers"):
        EXPLAINER.contributions(EXPLAINER.explain(X.iloc[204:206], target="approved"))
    with pytest.raises(bf.errors.InputError, match="other columns"):
        bf.Explainer(BOOSTED, ROWS).contributions(EXPLAINER.explain(ROW, target="approved"))
    same = EXPLAINER.explain(ROW, target=MODEL.predict(ROW)[0])
    assert EXPLAINER.contributions(same).score.tolist() == []
    priced = EXPLAINER.explain(ROW, target="approved", cost=bf.Table({"income": lambda a, b: abs(b - a) / 1e4}))
    assert EXPLAINER.contributions(priced).cost is None


def test_no_more_subsets_than_needed() -> None:
    assert len(coalitions(0).members) == 1
    assert len(coalitions(MOST_EXACT).members) == 2**MOST_EXACT
    assert len(coalitions(MOST_EXACT + 1).members) <= 2**MOST_EXACT
