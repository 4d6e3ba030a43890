"""Linear models of several classes: proven is the least cost of a row whose class is wanted, by enumeration and by HiGHS."""

from __future__ import annotations

import json
import random
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

import butfor as bf
from tests.proof.attacks import broken_by
from tests.proof.by_hand import weighed
from tests.proof.cases import Case, read
from tests.proof.judge import number
from tests.proof.test_linear import another, prepared, rows_of, table, with_holes

LEARNERS = (LogisticRegression(), LinearSVC(), RidgeClassifier(), LinearDiscriminantAnalysis())
TARGETS = (bf.classes(0), bf.classes(2), "other", bf.classes(1, 3))
QUESTIONS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (bf.L1(), ()),
    (bf.L2(), ()),
    (bf.L1() + 0.3 * bf.L0(), (bf.at_most_changes(2),)),
    (bf.L0(), (bf.fixed("b"),)),
)


def four_classes() -> tuple[pd.DataFrame, np.ndarray]:
    X, _ = table()
    worth = X["a"] + 2 * X["b"] - X["c"] + 4 * (X["job"] == "cook")
    return X, np.digitize(worth, [9, 15, 20])


def is_false(case: Case) -> bool:
    """Whether a row that costs less gets a class that is wanted, by exact sums."""
    model, below = json.loads(case.content), case.own["below"]
    wanted, parts = np.ravel(case.shared["wanted"]["of"][1]).tolist(), []
    base, weights = (np.array([list(map(number, np.ravel(x))) for x in model[key]]) for key in ("base", "weights"))
    for about in case.shared["columns"]:
        mine = weights[about["features"]]
        if "levels" in about:
            parts.append([np.array([number(x) for x in level[1:]]) @ mine for level in about["levels"]])
        else:
            slope, offset, _ = map(number, about["line"])
            none = sum(w * number(x) for w, x in zip(mine, about.get("missing") or (), strict=False))
            parts.append((mine.sum(axis=0) * slope, mine.sum(axis=0) * offset, none))
    for row, cost, changes in rows_of(case):
        if (below is not None and cost >= number(below)) or changes > (case.own["changes"] or len(row)):
            continue
        total = base[:, 0].copy()
        for part, x in zip(parts, row, strict=True):
            total += part[x] if isinstance(part, list) else part[2] if x is None else part[0] * x + part[1]
        if int(np.argmax(total)) in wanted:
            return True
    return False


@cache
def cases(holes: bool = False) -> tuple[Case, ...]:
    """Proofs of rows, or of rows in which a number is missing."""
    X, y = four_classes()
    X, found = with_holes(X) if holes else X, []
    for k, ((cost, limits), target) in enumerate(product(QUESTIONS, TARGETS)):
        model = prepared(LEARNERS[(k + k // 4) % 4]).fit(X, y)
        others = ~np.isin(model.predict(X), getattr(target, "labels", ()))
        rows = X[others & ((not holes) | X["a"].isna())].iloc[:1]
        answers = bf.Explainer(model, data=X).explain(rows, target=target, cost=cost, constraints=list(limits))
        with TemporaryDirectory() as folder:
            proofs = bf.prove(answers, model, folder)
            assert proofs.verified == 1, (k, proofs)
            found += [read(one.file, f"{k} {cost}") for one in proofs if one.file is not None]
    return tuple(found)


@pytest.mark.long
def test_what_is_proven_is_the_least_cost() -> None:
    for case in cases() + cases(holes=True):
        assert "VERIFIED" in case.check()
        assert not is_false(case)
        if case.own["below"] is not None:
            assert is_false(case.bolder(1 + 1e-6))


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 100), pytest.param(1, 3000, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r = random.Random(seed)
    tried = [another(r, r.choice(cases())) for _ in range(count)]
    accepted = [case for case in tried if case.accepted()]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if is_false(case)]


SABOTAGE = {
    "one class for all": ("worth[goal.plus], worth[goal.less] = worth[goal.plus] + rate, worth[goal.less] - rate",
                          "worth[goal.plus], worth[goal.less] = rate, worth[goal.less] - rate"),
    "one way of several": ("for way in reversed(question.ways)]", "for way in question.wanted.ways[:1]]"),
    "the goals of one rival": ("sum(map(mul, rates, [goal.least for goal in way]))",
                               "sum(map(mul, rates, [max(goal.least for goal in way)] * len(way)))"),
}  # fmt: skip


def by_hand(base: list[float], weights: list[float], wanted: Any, *steps: Any) -> Case:
    """The false claim that no x within 1.2 of 0 gets a class of three that are wanted. The first that does is 1."""
    told = {"sum": "largest", "base": [x.hex() for x in base], "weights": [[x.hex() for x in weights]]}
    return weighed(told, {"of": ["class", wanted]}, 1.2, *steps, grid="1/2")


FALSE = {
    "one class for all": by_hand([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0, {"rate": [5, 5, 3]}, {"end": "dual"}),
    "one way of several": by_hand([0.0, -100.0, -0.9], [0.0, 0.0, 1.0], [1, 2], {"rate": [1, 0]}, {"end": "dual"}),
    "the goals of one rival": by_hand([-1.0, 0.0, -50.0], [1.0, 0.0, 1.0], 0, {"rate": [0, 5, 2]}, {"end": "dual"}),
}
"""A false claim for each, whose proof only a checker with this fault accepts."""


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    assert is_false(FALSE[name])
    assert not FALSE[name].accepted()
    assert FALSE[name].accepted(broken_by(*SABOTAGE[name]))


@pytest.mark.parametrize("wanted", [(0,), (2,), (0, 1)])
def test_any_numbers_cost_what_linear_programs_say(wanted: tuple[int, ...], tmp_path: Path) -> None:
    """Real numbers: of each class that is wanted, HiGHS finds the least L1 cost of beating all that are not."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(90, 4)), columns=list("abcd"))
    y = np.argmax(X.to_numpy()[:, :3] + 0.4 * X[["d"]].to_numpy() * [1, 0, -1], axis=1)
    model = LogisticRegression().fit(X, y)
    rows = X[~np.isin(model.predict(X), wanted)].iloc[:5]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.classes(*wanted))
    low, high = X.min().to_numpy(), X.max().to_numpy()
    price = np.concatenate([1 / (high - low)] * 2)
    for one, x in zip(bf.prove(answers, model, tmp_path), rows.to_numpy(), strict=True):
        ends, least = [*zip(np.zeros(4), high - x, strict=True), *zip(np.zeros(4), x - low, strict=True)], np.inf
        for k in wanted:
            rivals = [j for j in range(3) if j not in wanted]
            w = model.coef_[k] - model.coef_[rivals]
            b = w @ x + model.intercept_[k] - model.intercept_[rivals]
            least = min(least, linprog(price, A_ub=np.hstack([-w, w]), b_ub=b, bounds=ends).fun or np.inf)
        assert one.verified
        assert one.below == pytest.approx(least, rel=1e-6)


def test_a_probability_among_several_classes(tmp_path: Path) -> None:
    X, y = four_classes()
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), LogisticRegression(max_iter=500)
    ).fit(X, y)
    answers = bf.Explainer(model, X).explain(X[y != 2][:2], bf.probability(2, 0.6), seed=0)
    proofs = bf.prove(answers, model, tmp_path / "proofs", progress=False)
    assert [one.below for one in proofs] == pytest.approx([one.certificate.cost for one in answers], rel=1e-5)


def test_an_answer_that_overshoots_is_proven_to_the_bound_of_its_certificate(tmp_path: Path) -> None:
    """Its whole cost is too bold a claim. No row shows that, so the search for a proof would take all of the time."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    model = LogisticRegression().fit(X, np.digitize(X["a"] + 0.5 * X["b"], [-0.5, 0.5]))
    answers = bf.Explainer(model, data=X).explain(X.iloc[:2], target=bf.probability(2, at_least=0.6))
    proofs = bf.prove(answers, model, tmp_path, time_limit=20)
    bounds, costs = ([getattr(its, key) for its in answers.certificates] for key in ("bound", "cost"))
    whole = [one.below > bound for one, bound in zip(proofs, bounds, strict=True)]
    assert whole == [True, False]
    assert [one.below for one in proofs] == pytest.approx([costs[0], bounds[1]], rel=2e-9)
