"""A largest price, or a quadratic form, beside prices that are added up."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.proof.checker import checker
from butfor.trees import TAOClassifier
from tests.proof import judge
from tests.proof.attacks import broken_by
from tests.proof.by_hand import case, number, tree, weighed
from tests.proof.cases import Case, read
from tests.proof.second import agree, both_verify, second
from tests.proof.test_means import CONSTRAINTS, admitted
from tests.proof.test_read_files import encoded, whole_numbers
from tests.proof.test_robust import boosted

__all__ = ["second"]

TREES = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(7, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, random_state=0),
    "xgboost": boosted,
}
WEIGHED = {"weights": LogisticRegression, "an oblique tree": lambda: TAOClassifier(max_depth=3, random_state=0)}
MODELS = {**TREES, **WEIGHED}
WEIGHTS = {"years": 2.0, "late": 1.0, "job": 0.7}
Q = np.array([[0.05, 0.03], [0.03, 0.02]])
COSTS: dict[str, Any] = {
    "little of a sum": bf.LInf(weights=WEIGHTS) + 0.01 * bf.L1(),
    "as much of a sum": bf.LInf(weights=WEIGHTS) + bf.L1(),
    "fees and squares": 2 * bf.LInf(weights=WEIGHTS) + 0.1 * bf.L0() + 0.5 * bf.L2(),
    "a form": bf.Quadratic(Q, columns=["late", "years"]) + bf.L1(weights={"late": 0, "years": 0}),
    "a form and a sum": bf.Quadratic(Q, columns=["late", "years"]) + 0.2 * bf.L1(),
    "a form of rank 1 and fees": bf.Quadratic(np.outer([0.1, 0.3], [0.1, 0.3]), columns=["late", "years"])
    + 0.1 * bf.L0(),
    "a form and a largest price": bf.Quadratic(Q, columns=["late", "years"]) + bf.LInf(weights=WEIGHTS) + 0.1 * bf.L1(),
}


def least(X: pd.DataFrame, row: pd.Series, cost: str, met: Callable[[pd.DataFrame], np.ndarray]) -> float:
    """What the cheapest row costs, of all rows there are: worked out anew, without butfor."""
    every = pd.DataFrame(list(product(range(6), range(7), ["clerk", "cook", "judge"])), columns=X.columns)
    moved = np.column_stack([every["late"] - row["late"], every["years"] - row["years"]]).astype(float)
    share, job = np.abs(moved) / [5, 6], (every["job"] != row["job"]).to_numpy(dtype=float)
    each = np.column_stack([share, job])
    largest = (each * [1.0, 2.0, 0.7]).max(axis=1)
    form = np.einsum("ij,jk,ik->i", moved, Q, moved)
    total = {
        "little of a sum": largest + 0.01 * each.sum(axis=1),
        "as much of a sum": largest + each.sum(axis=1),
        "fees and squares": 2 * largest + 0.1 * (each > 0).sum(axis=1) + 0.5 * (each**2).sum(axis=1),
        "a form": form + job,
        "a form and a sum": form + 0.2 * each.sum(axis=1),
        "a form of rank 1 and fees": (moved @ [0.1, 0.3]) ** 2 + 0.1 * (each > 0).sum(axis=1),
        "a form and a largest price": form + largest + 0.1 * each.sum(axis=1),
    }[cost]
    return float(total[met(every)].min(initial=np.inf))


ASKED = [(kind, cost) for kind in MODELS for cost in COSTS if kind in WEIGHED or "form" not in cost]


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize(("kind", "cost"), ASKED)
def test_every_row_is_tried(kind: str, cost: str, name: str, second: Path, tmp_path: Path) -> None:
    if kind in TREES and name == "a sum":
        pytest.skip("refused, which another test looks at")
    X, y = whole_numbers()
    model = encoded(MODELS[kind]()).fit(X, y)
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    answers = bf.Explainer(model, data=X).explain(rows, cost=COSTS[cost], constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one, was, certificate in zip(
        rows.iterrows(), proofs, (0, 0, 1, 1), answers.certificates, strict=True
    ):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            return (model.predict(every) != was) & admitted(name, every, row)

        truth = least(X, row, cost, met)
        if truth == 0:  # a change for which the form asks nothing
            assert not one.verified
            continue
        assert one.verified, (one.words, certificate)
        assert one.below == pytest.approx(truth, rel=2e-6 if "form" in cost else 1e-8)
    found = [read(one) for one in (tmp_path / "proofs").glob("*.proof")]
    assert both_verify(second, found, tmp_path)
    assert bf.check(answers, model, proof=tmp_path / "proofs").passed


def test_real_numbers_of_a_form_are_the_least_on_a_plane(second: Path, tmp_path: Path) -> None:
    """Of (x - x0)' Q (x - x0) on w x >= t, the least is (t - w x0)^2 / (w Q^-1 w), if no range ends before."""
    rng = np.random.default_rng(1)
    size = np.array([1, 10, 0.1, 1, 1, 100.0])
    X = pd.DataFrame(rng.normal(size=(300, 6)) * size, columns=list("abcdef"))
    model = LinearRegression().fit(X, X["a"] + X["b"] / 10 - X["c"] * 10 + 0.5 * X["d"] + X["f"] / 200)
    half = rng.normal(size=(6, 6)) / np.sqrt(size)
    form = half.T @ half + np.diag(1 / size**2)
    middle = np.argsort(np.abs(model.predict(X)) + np.abs(X / size).max(axis=1))[:5]
    rows = X.iloc[middle]
    end = float(model.predict(rows).max()) + 0.02
    cost = bf.Quadratic(form, columns=tuple(X.columns))
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.value(at_least=end), cost=cost)
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        missing = end - model.predict(row.to_frame().T)[0]
        assert one.verified, one.words
        assert one.below == pytest.approx(missing**2 / (model.coef_ @ np.linalg.solve(form, model.coef_)), rel=1e-5)
    assert "a quadratic form of the changes of a, b, c, d, e, f is added" in proofs[0].words
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_missing_numbers_reach_their_own_price(second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    X = X.assign(late=X["late"].where(X.index % 5 > 0))
    model = encoded(boosted()).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:6]
    cost = bf.LInf(weights=WEIGHTS) + 0.2 * bf.L1()
    answers = bf.Explainer(model, data=X).explain(rows, cost=cost, constraints=[bf.may_be_missing("late")])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    every = pd.DataFrame(list(product([*range(6), None], range(7), ["clerk", "cook", "judge"])), columns=X.columns)
    every["late"] = every["late"].astype(float)
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        late = (every["late"] - row["late"]).abs() / 5
        late = late.where(~(every["late"].isna() ^ pd.isna(row["late"])), 1.0).fillna(0.0)
        each = np.column_stack([late, (every["years"] - row["years"]).abs() / 6, every["job"] != row["job"]]).astype(
            float
        )
        total = (each * [1.0, 2.0, 0.7]).max(axis=1) + 0.2 * each.sum(axis=1)
        assert one.verified, one.words
        assert one.below == pytest.approx(total[model.predict(every) == 1].min(), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_what_is_not_proven_yet_is_refused_by_name(tmp_path: Path) -> None:
    from sklearn.neural_network import MLPClassifier

    X, y = whole_numbers()
    form = bf.Quadratic(Q, columns=["late", "years"])
    for learner, cost, rules, words in (
        (boosted(), form, [], "a quadratic form beside other prices, of trees"),
        (boosted(), bf.LInf() + bf.L1(), ["years + late <= 6"], "a largest price .* of trees under linear relations"),
        (MLPClassifier(4, max_iter=2000, random_state=0), bf.LInf() + bf.L1(), [], "of a network"),
    ):
        model = encoded(learner).fit(X, y)
        answers = bf.Explainer(model, data=X).explain(X.iloc[:1], cost=cost, constraints=rules, time_limit=2)
        with pytest.raises(bf.errors.UnsupportedProblemError, match=words):
            bf.prove(answers, model, tmp_path / "none")
    assert not (tmp_path / "none").exists()


# --------------------------------------------------------------------------------------------- claims by hand, attacks

BOTH = [tree((0, 0.0, 1, 2), 0.0, 1.0), tree((1, 0.0, 1, 2), 0.0, 1.0)]
"""2 where x and y are above 0. They are -1, so each must move by 1."""


def reaching(below: float, *steps: Any, reach: float = 1.0, **more: Any) -> Case:
    """The prices are 1 a unit, and so is what is reached: the least row costs 1 + 1 + 1."""
    found = case("", BOTH, [number(-1.0, 1.0), number(-1.0, 1.0)], 2.0, below, *steps or ({"end": "score"},))
    columns = [{**column, "reach": [0, reach.hex(), 0]} for column in found.own["columns"]]
    return replace(found, own={**found.own, "columns": columns, **more})


def half(*shares: float) -> list[Any]:
    return [{"rate": [15, 3]}, {"share": [x.hex() for x in shares]}, {"end": "dual"}]


FORM = {"columns": [0], "q": [[1]], "off": 0}


def formed(below: float, *steps: Any, form: Any = FORM, rate: int = 0, **mine: Any) -> Case:
    """x is 0, and must be at least 2: that costs 4 by the form."""
    weights = {"of": "", "sum": "value", "base": 0, "weights": [1]}
    found = weighed(weights, {"of": ["value", None], "at least": 2}, below, *steps, price=[0, rate, 0], **mine)
    return replace(found, own={**found.own, "form": form})


TANGENT = [{"tangent": [2]}, {"rate": [4, 0]}, {"end": "dual"}]


def test_claims_by_hand() -> None:
    assert formed(3.999, *TANGENT).accepted()
    assert not formed(4.001, *TANGENT).accepted()
    assert not formed(3.999, {"tangent": [1]}, {"rate": [4, 0]}, {"end": "dual"}).accepted()
    assert not formed(3.999, {"rate": [4, 0]}, {"end": "dual"}).accepted()
    assert not formed(3.999, {"tangent": [2, 2]}, *TANGENT[1:]).accepted()
    assert (
        formed(4.999, {"tangent": [2]}, {"rate": [9, 1]}, {"end": "dual"}, form={**FORM, "off": 0}, rate=0.5).accepted()
        is False
    )
    by = checker()
    for form, words in (
        ({**FORM, "q": [[-1]]}, "a form that may be negative"),
        ({**FORM, "q": [[1, 0]]}, "no symmetric form"),
        ({**FORM, "columns": [0, 0], "q": [[1, 0], [0, 1]]}, "twice in a form"),
        ({**FORM, "columns": [1]}, "a column of a form"),
        ({**FORM, "off": -1}, "off by less than nothing"),
    ):
        with pytest.raises(by.Wrong, match=words):
            formed(3.999, *TANGENT, form=form).check()
    assert not formed(3.999, *TANGENT, form={**FORM, "off": (0.5).hex()}).accepted()
    for found, words in (
        (reaching(1.0, *half(0.75, 0.5)), "shares that add up to more than 1"),
        (reaching(1.0, *half(-0.5, 0.5)), "shares that add up to more than 1"),
        (reaching(1.0, *half(0.5)), "not a share for each column"),
        (reaching(1.0, reach=-1.0), "below 0"),
        (reaching(1.0, cost="largest"), "the dearest change, and more"),
    ):
        with pytest.raises(by.Wrong, match=words):
            found.check()


def of_many(q: np.ndarray, off: float) -> Case:
    """Numbers that are 0 and must add up to 2, at 1 a unit and what the form adds: below 1.9 there is no row."""
    n = len(q)
    weights = {"of": "", "sum": "value", "base": 0, "weights": [1] * n}
    found = weighed(weights, {"of": ["value", None], "at least": 2}, 1.9, {"rate": [1, 0]}, {"end": "dual"})
    columns = [{**found.shared["columns"][0], "name": f"x{j}", "features": [j]} for j in range(n)]
    form = {"columns": [*range(n)], "q": [[x.hex() for x in row] for row in q.tolist()], "off": off.hex()}
    own = {**found.own, "columns": found.own["columns"] * n, "form": form}
    return replace(found, shared={**found.shared, "columns": columns}, own=own)


def determinants(q: np.ndarray, off: float) -> list[Fraction]:
    """Those of the upper left corners of a form. All are above 0 if it is positive definite."""
    rows = [[Fraction(x) + Fraction(off) * (i == k) for k, x in enumerate(row)] for i, row in enumerate(q.tolist())]

    def determinant(rows: list[list[Fraction]]) -> Fraction:
        if not rows:
            return Fraction(1)
        rest = [[row[:k] + row[k + 1 :] for row in rows[1:]] for k in range(len(rows))]
        return sum(((-1) ** k * x * determinant(rest[k]) for k, x in enumerate(rows[0])), Fraction(0))

    return [determinant([row[: n + 1] for row in rows[: n + 1]]) for n in range(len(rows))]


def test_forms_that_are_hardly_positive_and_hardly_not(second: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cases, positive = list[Case](), list[bool]()
    for n in (1, 2, 3, 5):
        for off, less in ((0.0, 0.0), (2.0**-60, 0.0), (0.0, 2.0**-40), (0.0, -(2.0**-40)), (2.0**-40, 2.0**-40)):
            half = rng.integers(-9, 10, (n, max(n - 1, 1))).astype(float)
            size = np.ldexp(1.0, rng.integers(-60, 60, n)) if off == 0 else np.ones(n)
            q = (half @ half.T - less * np.eye(n)) * np.outer(size, size)
            cases.append(of_many(q, off))
            positive.append(all(one > 0 for one in determinants(q, off)))
    assert 5 < sum(positive) < len(positive) - 5
    assert agree(second, cases, tmp_path) == positive


def test_forms_of_many_columns_take_no_time(second: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(150, 150))
    q = half @ half.T
    q, least = (q + q.T) / 2, float(np.linalg.eigvalsh(q).min())
    cases = [of_many(q - way * least * np.eye(150), 0.0) for way in (0.999, 1.001)]
    assert agree(second, cases, tmp_path) == [True, False]


SABOTAGE = {
    "shares of more than 1": ("need(min(shares) >= 0 and sum(shares) <= 1,", "need(min(shares) >= 0,"),
    "negative shares": ("need(min(shares) >= 0 and sum(shares) <= 1,", "need(sum(shares) <= 1,"),
    "any form": ('need(row[0] > 0, "a form', 'need(True, "a form'),
    "off by less than nothing": ("need(self.off >= 0,", "need(True,"),
    "half of what a tangent takes back": ("sum(map(mul, slope, y)) / 2 +", "sum(map(mul, slope, y)) / 4 +"),
    "nothing for what a form may be off by": ("off = self.off * sum(", "off = 0 * sum("),
    "a slope that is too steep": ("slope = [2 * sum(map(mul, row, y))", "slope = [3 * sum(map(mul, row, y))"),
    "a tangent from nowhere": ("+ sum(map(mul, slope, self.start)) + off", "+ off"),
}


def moved(*shares: int) -> Case:
    """y must move by 1, which costs 1 and reaches 5. x need not."""
    steps = [{"share": list(shares)}, {"split": [1, 1]}, {"end": "score"}, {"end": "dual"}]
    found = case("", BOTH[1:], [number(-1.0, 1.0), number(-1.0, 1.0)], 1.0, 6.5, *steps)
    columns = [{**column, "reach": [0, reach, 0]} for column, reach in zip(found.own["columns"], (1, 5), strict=True)]
    return replace(found, own={**found.own, "columns": columns})


def false_claims() -> dict[str, Case]:
    """Claims that are false, each accepted by a checker with one fault."""
    negative, still = {"columns": [0], "q": [[-1]], "off": 0}, [{"tangent": [0]}, {"rate": [1, 2]}, {"end": "dual"}]
    return {
        "shares of more than 1": moved(0, 2),
        "negative shares": moved(-1, 2),
        "any form": formed(0.49, *still, form=negative, rate=1),
        "off by less than nothing": formed(6.5, *TANGENT, form={**FORM, "off": (-0.5).hex()}),
        "half of what a tangent takes back": formed(4.5, *TANGENT),
        "nothing for what a form may be off by": formed(0.49, *still, form={**negative, "off": 2}, rate=1),
        "a slope that is too steep": formed(5.5, {"tangent": [2]}, {"rate": [6, 0]}, {"end": "dual"}),
        "a tangent from nowhere": formed(2.5, {"tangent": [1]}, {"rate": [2, 0]}, {"end": "dual"}, now=1),
    }


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    found = false_claims()[name]
    with pytest.raises(checker().Wrong):
        found.check()
    assert found.accepted(broken_by(*SABOTAGE[name]))


def worth(found: Case, values: list[Any]) -> Fraction:
    """What a row costs by the head of a proof: numbers, or positions of levels."""
    each, reaches = list[Fraction](), list[Fraction]()
    for mine, value in zip(found.own["columns"], values, strict=True):
        moved = value != (mine["now"] if "prices" in mine else judge.number(mine["now"]))
        reach = [judge.number(x) for x in mine.get("reach", [0, 0, 0])]
        if "prices" in mine:
            each.append(judge.number(mine["prices"][value]))
            reaches.append(reach[value] if moved else Fraction(0))
            continue
        move = abs(value - judge.number(mine["now"]))
        fee, rate, square = map(judge.number, mine["price"])
        each.append((fee + rate * move + square * move * move) * moved)
        reaches.append((reach[0] + reach[1] * move) * moved)
    form, total = found.own.get("form"), sum(each) + max(reaches)
    if form:
        d = [values[j] - judge.number(found.own["columns"][j]["now"]) for j in form["columns"]]
        rows = [[judge.number(x) for x in row] for row in form["q"]]
        total += sum(x * y * rows[i][k] for i, x in enumerate(d) for k, y in enumerate(d))
    return total


@cache
def cases(kind: str) -> tuple[Case, ...]:
    """Proofs about whole numbers, whose every row can be tried."""
    X, y = whole_numbers()
    model, found = encoded(MODELS[kind]()).fit(X, y), list[Case]()
    for cost in ("as much of a sum", "a form and a largest price")[: 1 + (kind == "weights")]:
        rows = pd.concat([X[model.predict(X) == k].iloc[:2] for k in (0, 1)])
        answers = bf.Explainer(model, data=X).explain(rows, cost=COSTS[cost])
        with TemporaryDirectory() as folder:
            found += [read(one.file, kind) for one in bf.prove(answers, model, folder) if one.file]
    return tuple(found)


@cache
def reaching_rows(kind: str, number_of: int) -> tuple[tuple[Any, ...], ...]:
    """The rows that get what a case wants, as values of its columns."""
    found = cases(kind)[number_of]
    model = encoded(MODELS[kind]()).fit(*whole_numbers())
    every = pd.DataFrame(
        list(product(range(6), range(7), ["clerk", "cook", "judge"])), columns=["late", "years", "job"]
    )
    names = [about["name"] for about in found.shared["columns"]]
    got = every[model.predict(every) == found.shared["wanted"]["of"][1]]
    levels = [
        [level[0] for level in about["levels"]] if "levels" in about else None for about in found.shared["columns"]
    ]
    coded = [
        [Fraction(int(x)) if own is None else own.index(x) for x in got[name]]
        for name, own in zip(names, levels, strict=True)
    ]
    return tuple(zip(*coded, strict=True))


def another(r: random.Random, found: Case) -> Case:
    """A case with something changed: the claim, a reach, the form, a share, a tangent or a step."""
    own, steps = copy.deepcopy(found.own), list(found.steps)
    k, what = r.randrange(len(steps)), r.randrange(6)
    step = json.loads(steps[k])
    if what == 0:
        own["below"] = (float.fromhex(own["below"]) * r.choice([1 + 1e-7, 1.01, 1.3])).hex()
    elif what == 1:
        mine = r.choice([column for column in own["columns"] if "reach" in column] or own["columns"])
        own_reach = mine.setdefault("reach", [0, 0, 0])
        own_reach[r.randrange(len(own_reach))] = (
            r.choice([0.0, 0.1, 0.5, 1.0]).hex() if r.random() < 0.9 else (-0.1).hex()
        )
    elif what == 2 and "form" in own:
        i, j = r.randrange(2), r.randrange(2)
        own["form"]["q"][i][j] = own["form"]["q"][j][i] = r.choice([0.0, 0.01, 0.1]).hex()
    elif what == 3 and isinstance(next(iter(step.values())), list) and "split" not in step:
        ((kind, its),) = step.items()
        at = r.randrange(len(its))
        its[at] = (
            r.choice([0, 1, -1, 2, (0.25).hex(), (0.75).hex()]) if kind in ("share", "tangent") else r.randrange(9)
        )
        steps[k] = json.dumps({kind: its})
    elif what == 4:
        steps.pop(k)
    else:
        steps[k] = json.dumps(
            r.choice([{"end": "dual"}, {"end": "score"}, {"end": "cost"}, {"drop": 1}, {"share": [1, 0, 0]}])
        )
    return replace(found, own={**own, "answer": None}, steps=steps)


@pytest.mark.parametrize(
    ("seed", "count"), [(0, 200), *[pytest.param(k, 3000, marks=pytest.mark.long) for k in (1, 2)]]
)
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int, second: Path, tmp_path: Path) -> None:
    r, tried, least_of = random.Random(seed), list[Case](), list[Fraction]()
    for _ in range(count):
        kind = r.choice(["tree", "boosting", "weights"])
        at = r.randrange(len(cases(kind)))
        tried.append(another(r, cases(kind)[at]))
        least_of.append(min(worth(tried[-1], list(row)) for row in reaching_rows(kind, at)))
    accepted = agree(second, tried, tmp_path)
    assert sum(accepted) > count / 20
    false = [found.own for found, yes, least in zip(tried, accepted, least_of, strict=True)
             if yes and judge.number(found.own["below"]) > least]  # fmt: skip
    assert not false
