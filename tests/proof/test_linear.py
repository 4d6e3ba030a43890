"""Proofs about linear models: what is proven is the least cost of all rows, and no attack makes a false claim verify."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import butfor as bf
from butfor.errors import RefutedError, UnsupportedModelError
from tests.proof.attacks import broken_by
from tests.proof.cases import Case, read
from tests.proof.judge import number

COSTS = (bf.L1(), bf.L2(), bf.L1() + 0.3 * bf.L0(), bf.L0())
LEARNERS = (LogisticRegression(), LinearSVC(), RidgeClassifier(), LinearDiscriminantAnalysis())


def table(rows: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    """Whole numbers and levels only, so that all rows can be tried."""
    rng = np.random.default_rng(0)
    numbers = {"a": rng.integers(0, 12, rows), "b": rng.integers(0, 9, rows), "c": rng.integers(-3, 4, rows)}
    X = pd.DataFrame({**numbers, "job": rng.choice(["clerk", "cook", "judge"], rows)})
    y = X["a"] + 2 * X["b"] - X["c"] + 4 * (X["job"] == "cook") + rng.normal(size=rows) > 14
    return X, y.astype(int).to_numpy()


def with_holes(X: pd.DataFrame) -> pd.DataFrame:
    """A table in which some numbers are missing."""
    return X.assign(a=X["a"].where(X.index % 4 > 0), b=X["b"].where(X.index % 4 > 1))


def prepared(learner: Any) -> Any:
    """What is missing counts as a number that is far from the mean."""
    numbers = make_pipeline(SimpleImputer(strategy="constant", fill_value=2), StandardScaler())
    steps = make_column_transformer((numbers, ["a", "b", "c"]), (OneHotEncoder(sparse_output=False), ["job"]))
    return make_pipeline(steps, learner)


def fitted(learner: Any, holes: bool = False) -> tuple[Any, pd.DataFrame, np.ndarray]:
    X, y = table()
    X = with_holes(X) if holes else X
    return prepared(learner).fit(X, y), X, y


def rows_of(case: Case, total: Any = sum) -> list[tuple[list[Any], Fraction, int]]:
    """All admissible rows, with what they cost (the `total` of all prices), and how many columns change."""
    options = []
    for about, mine in zip(case.shared["columns"], case.own["columns"], strict=True):
        if "levels" in about:
            priced = [(k, number(p)) for k, p in enumerate(mine["prices"]) if p is not None]
            options.append([(k, price, k != mine["now"]) for k, price in priced])
            continue
        now = None if mine["now"] is None else number(mine["now"])
        least, most = (number(mine[key]) for key in ("least", "most"))
        fee, rate, square = map(number, mine["price"])
        step, anchor = map(Fraction, about["grid"])
        first, last = -((anchor - least) // step), (most - anchor) // step
        some = [anchor + k * step for k in range(int(first), int(last) + 1)]
        far = [(x, 0 if now is None else abs(x - now)) for x in some if x != now]
        moved = [(x, fee + rate * move + square * move**2, True) for x, move in far]
        options.append([(now, Fraction(0), False)] * mine["stay"] + moved)
    for chosen in product(*options):
        yield [x for x, _, _ in chosen], total([p for _, p, _ in chosen]), sum(moved for _, _, moved in chosen)


def is_false(case: Case) -> bool:
    """Whether a row that costs less gets what is wanted, by exact sums."""
    model, wanted, below = json.loads(case.content), case.shared["wanted"], case.own["below"]
    weights, base, parts = list(map(number, model["weights"])), number(model["base"]), []
    for about in case.shared["columns"]:
        mine = [weights[f] for f in about["features"]]
        if "levels" in about:
            parts.append(
                [sum(w * number(x) for w, x in zip(mine, level[1:], strict=True)) for level in about["levels"]]
            )
        else:
            slope, offset, _ = map(number, about["line"])
            none = sum(w * number(x) for w, x in zip(mine, about.get("missing") or (), strict=False))
            parts.append((sum(mine) * slope, sum(mine) * offset, none))
    for row, cost, changes in rows_of(case):
        if (below is not None and cost >= number(below)) or changes > (case.own["changes"] or len(row)):
            continue
        adds = zip(parts, row, strict=True)
        total = base + sum(p[x] if isinstance(p, list) else p[2] if x is None else p[0] * x + p[1] for p, x in adds)
        if total >= 1 if wanted["of"][0] == "value" else (total > 0) == (wanted["of"][1] == 1):
            return True
    return False


@cache
def cases(holes: bool = False) -> tuple[Case, ...]:
    """Proofs of rows, or of rows in which a number is missing."""
    found = []
    limits = (), (bf.at_most_changes(2),), (bf.fixed("b", "job", "c"),)
    for k, (cost, limit) in enumerate(product(COSTS, limits[:2] if holes else limits)):
        model, X, _ = fitted(LEARNERS[k % 4], holes)
        wanted = k % 2
        rows = X[(model.predict(X) != wanted) & ((not holes) | X["a"].isna())].iloc[:1]
        answers = bf.Explainer(model, data=X).explain(
            rows, target=bf.classes(wanted), cost=cost, constraints=list(limit)
        )
        with TemporaryDirectory() as folder:
            proofs = bf.prove(answers, model, folder)
            assert proofs.verified == 1
            found += [read(one.file, f"{cost} {limit}") for one in proofs if one.file is not None]
    return tuple(found)


def test_what_is_proven_is_the_least_cost() -> None:
    for case in cases() + cases(holes=True):
        assert "VERIFIED" in case.check()
        assert not is_false(case)
        if case.own["below"] is not None:
            assert is_false(case.bolder(1 + 1e-6))


def another(r: random.Random, case: Case) -> Case:
    """A case with one thing changed: the bound, the steps, a price, a weight, or the columns that may change."""
    own, what = json.loads(json.dumps(case.own)), r.randrange(6)
    own["answer"] = None
    column = r.choice(own["columns"])
    if what == 0:
        return case.bolder(r.choice([1 + 1e-8, 1.01, 1.3, 3.0]))
    if what == 1:
        steps, told = [step for step in case.steps if r.random() < 0.7], np.ravel(case.shared["wanted"]["of"][1])
        goals = max(1, np.size(json.loads(case.content)["base"]) - len(told))
        steps.insert(r.randrange(len(steps) + 1), json.dumps(r.choice([
            {"rate": [*[r.choice([0, 1, -5, 1 << 199, 1 << 210, r.randrange(1 << 60)]) for _ in range(goals)], r.randrange(60)]},
            {"end": "dual"},
            {"split": [r.randrange(4), r.choice(["stay", "0x1.8p+1", "0x3", "-0x1", 5])]}, {"end": "score"},
        ])))  # fmt: skip
        return replace(case.bolder(r.choice([1.0, 1.2])), steps=steps)
    if what == 2:
        own["changes"] = r.choice([None, 1, 2, 3])
    elif what == 3 and "price" in column:
        column["price"][r.randrange(3)] = r.choice([0.0, 0.01, 0.5]).hex()
    elif what == 4 and "price" in column:
        column[r.choice(["least", "most", "now"])] = float(r.randrange(-4, 14)).hex()
        column["stay"] = r.random() < 0.8
    else:
        model = json.loads(case.content)
        k = r.randrange(len(model["weights"]))
        mine = np.array([float.fromhex(x) for x in np.ravel(model["weights"][k])])
        mine[r.randrange(len(mine))] *= r.choice([-1, 0.5, 1.1, 2])
        told = [float(x).hex() for x in mine]
        model["weights"][k] = told if isinstance(model["weights"][k], list) else told[0]
        return replace(case, own=own, content=json.dumps(model))
    return replace(case, own=own)


@pytest.mark.parametrize(("seed", "count"), [(0, 60), pytest.param(1, 2000, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r = random.Random(seed)
    accepted = [
        case for case in (another(r, r.choice(cases() + cases(holes=True))) for _ in range(count)) if case.accepted()
    ]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if is_false(case)]


SABOTAGE = {
    "looks at one part": (".parts(box[j], what[1])[::-1]:", ".parts(box[j], what[1])[:1]:"),
    "believes rates": ("need(found is None or found[0] >= self.q.below", "need(True"),
    "saves with too few": ("[: max(room, 0)]", "[: max(room - 1, 0)]"),
    "forgets that numbers may stay": ("if may_stay else None", "if False else None"),
    "takes what is missing for 0": ("column.inputs[-1] if column.lost else ()", "()"),
    "asks for twice the goal": ("total, values = sum(map(mul, rates", "total, values = 2 * sum(map(mul, rates"),
    "forgets half of a grid": ("in ((x - self.anchor) // self.step, up(", "in (up(x - self.anchor, self.step), up("),
}  # fmt: skip


def between_points() -> Case:
    """A false claim about x that must be 1, and costs x squared. At this rate 1.4 would be best, and 1 is better than 2."""
    model = {"format": "butfor.linear/1", "sum": "value", "base": (0.0).hex(), "weights": [(1.0).hex()]}
    about = {
        "name": "x",
        "features": [0],
        "grid": ["1", "0"],
        "single": False,
        "edges": None,
        "line": [1, 0, 0],
        "missing": None,
    }
    mine = {"now": 0, "least": -5, "most": 5, "stay": True, "price": [0, 0, 1]}
    shared = {
        "format": "butfor.question/1",
        "wanted": {"of": ["value", None], "at least": 1},
        "columns": [about],
        "recorded": [],
    }
    own = {
        "format": "butfor.proof/1",
        "row": "1",
        "columns": [mine],
        "changes": None,
        "below": (1.1).hex(),
        "answer": None,
    }
    return Case(shared, own, ['{"rate":[14,2]}', '{"rate":[45,4]}', '{"end":"dual"}'], "linear", json.dumps(model))


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    by, r = broken_by(*SABOTAGE[name]), random.Random(3)
    some = cases(holes="missing" in name)
    tried = chain([between_points()], (another(r, r.choice(some)) for _ in range(3000)))
    assert not between_points().accepted()
    assert next((case for case in tried if case.accepted(by) and is_false(case)), None) is not None


def test_any_numbers_cost_what_a_linear_program_says(tmp_path: Path) -> None:
    """Real numbers, whose least L1 cost HiGHS finds, too."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0.2)
    rows = X[model.predict(X) == 0].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.probability(1, at_least=0.7))
    low, high = X.min().to_numpy(), X.max().to_numpy()
    w, goal = model.coef_[0], np.log(0.7 / 0.3) - model.intercept_[0]
    for one, x in zip(bf.prove(answers, model, tmp_path), rows.to_numpy(), strict=True):
        price = np.concatenate([1 / (high - low)] * 2)
        ends = [*zip(np.zeros(4), high - x, strict=True), *zip(np.zeros(4), x - low, strict=True)]
        least = linprog(price, A_ub=[np.concatenate([-w, w])], b_ub=[w @ x - goal], bounds=ends).fun
        assert one.verified
        assert one.below == pytest.approx(least, rel=1e-6)


def test_values_of_regressors_and_impossible_ones(tmp_path: Path) -> None:
    X, _ = table()
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X[["a", "b"]], X["a"] + 3 * X["b"])
    answers = bf.Explainer(model, data=X[["a", "b"]]).explain(X[["a", "b"]].iloc[:3], target=bf.value(at_least=32))
    assert bf.prove(answers, model, tmp_path).verified == 3
    none = bf.Explainer(model, data=X[["a", "b"]]).explain(X[["a", "b"]].iloc[:3], target=bf.value(at_least=90))
    assert all("no admissible row gets" in one.words for one in bf.prove(none, model, tmp_path))


@pytest.mark.parametrize("holes", [False, True])
def test_a_false_claim_ends_in_a_row(holes: bool, tmp_path: Path) -> None:
    model, X, _ = fitted(LogisticRegression(), holes)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:2], target=bf.classes(1))
    first, second = answers.certificates
    false = replace(answers, certificates=[replace(first, bound=2 * first.cost, cost=2 * first.cost), second])
    with pytest.raises(RefutedError, match="1 of 2 claims are false"):
        bf.prove(false, model, tmp_path)


def test_numbers_that_may_become_missing_are_refused(tmp_path: Path) -> None:
    model, X, _ = fitted(LogisticRegression(), holes=True)
    known = X[(model.predict(X) == 0) & X["a"].notna()].iloc[:2]
    answers = bf.Explainer(model, data=X).explain(known, constraints=[bf.may_be_missing("a")])
    with pytest.raises(UnsupportedModelError, match="a number of 'a' that may become missing before a linear model"):
        bf.prove(answers, model, tmp_path)


def test_what_bends_a_number_is_refused(tmp_path: Path) -> None:
    X, y = table()
    X = X[["a", "b"]] + 1.0
    model = make_pipeline(FunctionTransformer(np.log), LogisticRegression()).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="a pipeline that bends 'a' before a linear model"):
        bf.prove(bf.Explainer(model, data=X).explain(X.iloc[:2]), model, tmp_path)


def test_the_last_step_of_a_pipeline_may_be_a_pipeline(tmp_path: Path) -> None:
    X, y = table()
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough")
    inner = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression()))
    model = make_pipeline(make_pipeline(steps, inner))
    rows = X[model.fit(X, y).predict(X) == 0].iloc[:3]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows), model, tmp_path)
    assert proofs.verified == 3
    assert "LogisticRegression" in json.loads(next(tmp_path.glob("question-*")).read_text())["model"]["of"]
