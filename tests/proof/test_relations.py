"""Proofs under linear relations: what is proven is the least cost of the rows that keep them, by trying all rows."""

from __future__ import annotations

import json
import random
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
import xgboost
from scipy.optimize import linprog
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import RefutedError, UnsupportedProblemError
from butfor.proof.checker import checker
from tests.proof import by_hand, judge, test_linear
from tests.proof.attacks import broken_by
from tests.proof.cases import Case, read

LEARNERS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(6, max_depth=3, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=4, min_samples_leaf=3),
    "xgboost": xgboost.XGBClassifier(n_estimators=8, max_depth=2, n_jobs=1),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0),
    "linear": LogisticRegression(),
    "three forest": RandomForestClassifier(5, max_depth=3, random_state=0),
    "three linear": LogisticRegression(),
}
"""The bagging is proven as it was read."""

QUESTIONS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (bf.L1(), ("a <= b",)),
    (bf.L2(), ("a + b + c <= 9",)),
    (bf.L1() + 0.3 * bf.L0(), ("a - 2 * b == 1", bf.at_most_changes(3))),
    (bf.L1(), ("3 * c + a >= 7", "a + b <= 12", bf.fixed("job"))),
    (bf.L0(), ("0.3 * a + 0.7 * b <= 4.2", bf.at_most_changes(2))),
    (bf.L1() + bf.L2(), ("a <= 3 * size",)),
    (bf.L1(), ("a + b + c <= -20",)),
)
"""Costs and constraints. The last relation is kept by no row."""


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Whole numbers and levels only, so that all rows can be tried. `size` has levels that are numbers."""
    X, y = test_linear.table()
    size = np.random.default_rng(3).choice([1.0, 2.5, 4.0], len(X))
    return X.assign(size=pd.Categorical(size)), y ^ (size > 2) & (X["c"] > 0).to_numpy()


def keeps(own: dict[str, Any], row: list[Any]) -> bool:
    """Whether a row keeps the relations, give or take what they say, and the rules: numbers, and positions of levels."""
    if any(all(judge.lies(row[j], where) for j, *where in rule) for rule in own.get("never", ())):
        return False
    for told in own.get("relations", ()):
        adds = [(its[row[j]] if isinstance(its, list) else its, row[j]) for j, its in told["adds"]]
        total = sum(
            Fraction(x) * (1 if isinstance(its, list) else value)
            for (x, value), (_, its) in zip(adds, told["adds"], strict=True)
        )
        off = judge.number(told["off"])
        least, most = (None if told[key] is None else Fraction(told[key]) for key in ("least", "most"))
        if (least is not None and total < least - off) or (most is not None and total > most + off):
            return False
    return True


def rows_below(case: Case) -> list[list[Any]]:
    """All rows that are admissible, keep the relations, and cost less than the claim."""
    below, most = case.own["below"], case.own["changes"]
    return [
        row
        for row, cost, changes in test_linear.rows_of(case)
        if (below is None or cost < judge.number(below)) and (most is None or changes <= most) and keeps(case.own, row)
    ]


def is_false(case: Case) -> bool:
    """Whether a row below the claim gets what is wanted."""
    rows = rows_below(case)
    if not rows:
        return False
    if case.kind == "linear":
        return bool(np.isin(classes(case, rows), case.shared["wanted"]["of"][1]).any())
    width = 1 + max(f for about in case.shared["columns"] for f in about["features"])
    features = np.zeros((len(rows), width))
    for j, about in enumerate(case.shared["columns"]):
        mine = [row[j] for row in rows]
        if "levels" in about:
            mine = [[float.fromhex(x) for x in about["levels"][k][1:]] for k in mine]
        features[:, about["features"]] = np.array(mine, dtype=float).reshape(len(rows), -1)[:, : len(about["features"])]
    return bool(judge.JudgedModel(case.kind, case.content).may_say(features, case.shared["wanted"]).any())


def classes(case: Case, rows: list[list[Any]]) -> np.ndarray:
    """The class of each row by a linear model."""
    model = json.loads(case.content)
    numbers = {key: np.array(read_numbers(model[key])) for key in ("base", "weights")}
    total = np.tile(np.ravel(numbers["base"]), (len(rows), 1))
    for j, about in enumerate(case.shared["columns"]):
        weights = numbers["weights"][about["features"]].reshape(len(about["features"]), -1)
        if "levels" in about:
            total += np.array([[float.fromhex(x) for x in about["levels"][row[j]][1:]] for row in rows]) @ weights
        elif about["features"]:
            slope, offset, _ = map(float.fromhex, about["line"])
            total += np.array([[slope * float(row[j]) + offset] for row in rows]) @ weights
    return np.argmax(total, axis=1) if total.shape[1] > 1 else (total[:, 0] > 0).astype(int)


def read_numbers(x: Any) -> Any:
    return [read_numbers(one) for one in x] if isinstance(x, list) else float.fromhex(x)


@cache
def cases(kind: str) -> tuple[Case, ...]:
    X, y = table()
    y = y + (X["b"].to_numpy() > 6) if "three" in kind else y
    numbers = StandardScaler() if "linear" in kind else "passthrough"
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["job", "size"]), (numbers, ["a", "b", "c"]))
    model, found = make_pipeline(encoder, LEARNERS[kind]).fit(X, y), []
    explainer = bf.Explainer(model, data=X)
    for k, (cost, constraints) in enumerate(QUESTIONS):
        wanted = 1 + (k % 2) * ("three" in kind)
        rows = X[model.predict(X) != wanted]
        rows = rows.iloc[[k % len(rows)]]
        answers = explainer.explain(rows, target=bf.classes(wanted), cost=cost, constraints=list(constraints))
        with TemporaryDirectory() as folder:
            proofs = bf.prove(answers, model, folder)
            assert proofs.verified == 1, proofs
            assert bf.check(answers, model, proof=folder).passed
            found += [read(one.file, f"{kind} {k}") for one in proofs if one.file is not None]
    return tuple(found)


@pytest.mark.long
@pytest.mark.parametrize("kind", LEARNERS)
def test_what_is_proven_is_the_least_cost(kind: str) -> None:
    for case in cases(kind):
        assert "The sum of " in case.check()
        assert not is_false(case)
        if case.own["below"] is not None:
            assert is_false(case.bolder(1 + 1e-6))
    assert cases(kind)[-1].own["below"] is None


def another(r: random.Random, case: Case) -> Case:
    """A case with something changed: the claim, a relation, a tax, an end of a cell, or what columns may do."""
    own, steps = json.loads(json.dumps(case.own)), list(case.steps)
    own["answer"] = None
    for _ in range(r.choice([1, 1, 2])):
        what, relation = r.randrange(6), r.choice(own["relations"])
        k = r.randrange(len(steps))
        if what == 0 and own["below"] is not None:
            own["below"] = (float.fromhex(own["below"]) * r.choice([1 + 1e-7, 1.01, 1.3, 3.0])).hex()
        elif what == 1:
            key = r.choice(["least", "most"])
            relation[key] = r.choice([None, "1/3", str(r.randrange(-9, 15))])
        elif what == 2:
            place = r.choice(relation["adds"])
            other = str(Fraction(r.randrange(-9, 10), 3))
            place[1] = other if isinstance(place[1], str) else [other, *place[1][1:]]
        elif what == 3:
            relation["off"] = r.choice([0.0, 1.0, 3.0, -1.0]).hex()
        elif what == 4 and case.kind != "linear":
            taxes = [k for k, step in enumerate(steps) if "tax" in step]
            some = [r.choice([0.0, -1.0, 1e9, r.random(), 3 * r.random()]).hex() for _ in own["relations"]]
            if taxes:
                steps[r.choice(taxes)] = json.dumps({"tax": some})
            else:
                steps.insert(k, json.dumps({"tax": some}))
        else:
            column = r.choice(own["columns"])
            if "ends" in column:
                column["ends"] = [x for x in column["ends"] if r.random() < 0.7] + [(r.randrange(-9, 20) / 2).hex()]
            steps[k] = json.dumps(r.choice([{"end": "dual"}, {"end": "score"}, {"drop": 1}]))
    return replace(case, own=own, steps=steps)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 40), pytest.param(1, 2500, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r, every = random.Random(seed), [case for kind in LEARNERS for case in cases(kind)]
    accepted = [case for case in (another(r, r.choice(every)) for _ in range(count)) if case.accepted()]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if is_false(case)]


def related(name: str, relation: dict[str, Any], below: float, *steps: Any, **own: Any) -> Case:
    """A claim about x and y, which cost 1 a unit from 0 on. What is wanted is x above 1, and they keep a relation.

    It is parted there, and the steps are about the part above.
    """
    columns = [by_hand.number(0.0, 1.0), {**by_hand.number(0.0, 1.0), **own}]
    tree, parted = by_hand.tree((0, 1.0, 1, 2), 0.0, 1.0), [{"split": [0, 1]}, {"end": "score"}]
    case = by_hand.case(name, [tree], columns, 1.0, below, *parted, *steps, {"end": "dual"})
    return replace(case, own={**case.own, "relations": [{"least": None, "most": None, "off": 0, **relation}]})


def leveled(case: Case) -> Case:
    """The same with levels in place of y: one that it has, and one for a tenth."""
    y = {"name": "y", "features": [1], "levels": [["p", 0], ["q", 0]]}
    own = {**case.own, "columns": [case.own["columns"][0], {"now": 0, "prices": [0, (0.1).hex()]}]}
    return replace(case, own=own, shared={**case.shared, "columns": [case.shared["columns"][0], y]})


def false_by_hand() -> list[Case]:
    """False claims, each for one fault that a checker could have."""
    tax, none = {"tax": [(1.0).hex()]}, {"tax": [0]}
    less, own = [[0, "1"], [1, "-1"]], [[1, "1"]]
    stays = related("y may stay", {"adds": own, "most": "1"}, 3.0, none, price=[3, 1, 0])
    ends = related("an end of a cell", {"adds": own, "most": "1"}, 3.0, least=5, ends=[(-0.5).hex()])
    above = by_hand.tree(
        (0, 1.0, 1, 2), 0.0, (1, -0.25, 3, 4), 0.0, 1.0
    )  # y may stay 0, which is above its cut and its end
    return [
        related("x is at most y and 0.6 more", {"adds": less, "most": "3/5"}, 1.5, tax),
        related("x is at most y, give or take 2", {"adds": less, "most": "0", "off": 2}, 1.5, tax),
        related("a negative tax", {"adds": less, "most": "9"}, 1.5, {"tax": [(-1.0).hex()]}),
        related("y is at least -5", {"adds": own, "least": "-5"}, 1.5, tax),
        related("x is at most twice y", {"adds": [[0, "1"], [1, "-2"]], "most": "0"}, 1.9, tax),
        replace(stays, steps=[json.dumps({"end": "cost"})]),
        replace(
            ends,
            steps=[json.dumps({"end": "score"})],
            content=json.dumps({**json.loads(ends.content), "trees": [above]}),
        ),
        leveled(related("a level that helps", {"adds": [[0, "1"], [1, ["0", "-2"]]], "most": "0"}, 1.5, tax)),
    ]


def true_by_hand() -> Case:
    """Rows with x above 1 and at most y cost 2, because y is as much."""
    return related("x is at most y", {"adds": [[0, "1"], [1, "-1"]], "most": "0"}, 1.999, {"tax": [(1.0).hex()]})


@pytest.mark.parametrize("case", false_by_hand(), ids=lambda case: case.name)
def test_a_false_claim_by_hand_is_refused(case: Case) -> None:
    with pytest.raises(checker().Wrong, match=r"prove|tax of at least 0|an end of|reach every"):
        case.check()
    assert true_by_hand().accepted()


SABOTAGE = {
    "pays nothing back": ("- self.toll * q.limit - back, columns", "- self.toll * q.limit, columns"),
    "takes negative taxes": ("len(self.limits) and min(tax, default=-1) >= 0", "len(self.limits)"),
    "forgets what is given": ("way * end + self.off)", "way * end)"),
    "turns no sign": ("(less, self.least, -1)", "(self.adds, self.least, 1)"),
    "takes the dearest level": ("sum((t * x[cell] for t, x in taxes if", "sum((max(t * y for y in x) for t, x in taxes if"),
    "looks at one end of a cell": ("[self.start, low, high] if slope", "[self.start, low] if slope"),
    "forgets that numbers may stay": ("[slope * (self.now or 0)] * own +", "[] +"),
    "puts the row in another cell": ("+ sum(x < value for x in self.more)", "+ 0"),
    "turns limits of weighted sums": ("Goal(sums + k, 0, -most, -most, False)", "Goal(sums + k, 0, most, most, False)"),
}  # fmt: skip


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    by, r = broken_by(*SABOTAGE[name]), random.Random(3)
    assert not any(case.accepted() for case in false_by_hand())
    if not any(case.accepted(by) for case in false_by_hand()):
        tried = (another(r, r.choice(cases("linear"))) for _ in range(2000))
        assert next((case for case in tried if case.accepted(by) and is_false(case)), None) is not None


@pytest.mark.long
def test_real_numbers_cost_what_linear_programs_say(tmp_path: Path) -> None:
    """HiGHS finds the least L1 cost in each leaf of a tree."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(80, 3)).round(2), columns=list("abc"))
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, X.sum(axis=1) + rng.normal(size=80) > 0.4)
    rows = X[model.predict(X) == 0].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(
        rows, target=bf.classes(1), constraints=["a + b == 2 * c", "b <= a + 0.5"]
    )
    low, high = X.min().to_numpy(), X.max().to_numpy()
    for one, x in zip(bf.prove(answers, model, tmp_path), rows.to_numpy(), strict=True):
        found = []
        for first, last in leaves(model.tree_, 0, low, high):
            ends = [*zip(first, last, strict=True), *[(0, None)] * 3]
            rising = np.array([[-1, 1, 0, 0, 0, 0]])
            moves = [np.hstack([sign * np.eye(3), -np.eye(3)]) for sign in (1, -1)]
            found.append(linprog(
                [0, 0, 0, *1 / (high - low)], A_ub=np.vstack([rising, *moves]), b_ub=[0.5, *x, *-x],
                A_eq=[[1, 1, -2, 0, 0, 0]], b_eq=[0], bounds=ends,
            ))  # fmt: skip
        assert one.below == pytest.approx(min(own.fun for own in found if own.status == 0), rel=1e-6)


def leaves(tree: Any, node: int, low: np.ndarray, high: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Between which numbers the leaves of class 1 lie."""
    if tree.children_left[node] < 0:
        return [(low, high)] if np.argmax(tree.value[node, 0]) == 1 and (low <= high).all() else []
    cut, j = tree.threshold[node], tree.feature[node]
    left, right = high.copy(), low.copy()
    left[j], right[j] = min(high[j], cut), max(low[j], cut)
    return leaves(tree, tree.children_left[node], low, left) + leaves(tree, tree.children_right[node], right, high)


def test_a_false_claim_ends_in_a_row_that_keeps_the_relation(tmp_path: Path) -> None:
    X, y = table()
    for kind in ("forest", "linear"):
        encoder = make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["job", "size"]), remainder="passthrough"
        )
        model = make_pipeline(encoder, LEARNERS[kind]).fit(X, y)
        answers = bf.Explainer(model, data=X).explain(
            X[model.predict(X) == 0].iloc[:1], target=bf.classes(1), constraints=["a + b <= 12"]
        )
        (one,) = answers.certificates
        false = replace(answers, certificates=[replace(one, bound=2 * one.cost, cost=2 * one.cost)])
        with pytest.raises(RefutedError, match="1 of 1 claims are false"):
            bf.prove(false, model, tmp_path)


def test_the_words_are_those_of_the_relation() -> None:
    words = cases("tree")[5].check() + cases("forest")[2].check()
    assert "The sum of 1 times a, of size (1.0: -3, 2.5: -15/2, 4.0: -12) is 0 at most, give or take " in words
    assert "The sum of 1 times a, -2 times b is 1 at least and 1 at most, give or take " in words


def test_what_is_no_sum_is_refused(tmp_path: Path) -> None:
    X, y = table()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[["a", "b"]], y)
    answers = bf.Explainer(model, data=X[["a", "b"]]).explain(
        X[["a", "b"]].iloc[:1], constraints=[bf.candidates(X[["a", "b"]].iloc[:20])]
    )
    with pytest.raises(UnsupportedProblemError, match="do not hold candidates"):
        bf.prove(answers, model, tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.shorter(1)
@pytest.mark.parametrize("learner", [LogisticRegression(), DecisionTreeClassifier(max_depth=4, random_state=0)])
def test_a_number_of_a_relation_must_become_known(learner: Any, tmp_path: Path) -> None:
    """A sum of which a number is missing is no sum. Both numbers are missing in these rows, and each costs 1."""
    model, X, _ = test_linear.fitted(learner, holes=True)
    rows = X[(model.predict(X) == 0) & X["a"].isna()].iloc[:3]
    answers = bf.Explainer(model, data=X).explain(rows, target=1, constraints=["a + b <= 6"])
    every = pd.DataFrame(
        list(product(range(7), range(7), range(-3, 4), ["clerk", "cook", "judge"])), columns=list(X.columns)
    )
    every = every[every["a"] + every["b"] <= 6].astype({"a": float, "b": float})
    met = every[model.predict(every) == 1]
    for (_, row), one in zip(rows.iterrows(), bf.prove(answers, model, tmp_path), strict=True):
        cost = 2 + (met["c"] - row["c"]).abs() / 6 + (met["job"] != row["job"])
        assert one.below == pytest.approx(cost.min(), rel=1e-8)
