"""Oblique trees in proofs: each leaf that says what is wanted is a way, and what leads to it are its goals."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import UnsupportedModelError
from butfor.proof.checker import checker
from butfor.trees import TAOClassifier, TAORegressor
from tests.proof.attacks import broken_by
from tests.proof.by_hand import weighed
from tests.proof.cases import Case, read
from tests.proof.judge import number
from tests.proof.test_linear import another, prepared, rows_of, table
from tests.proof.test_linear_classes import four_classes
from tests.proof.test_means import CONSTRAINTS, claims_of_classes, claims_of_probabilities
from tests.proof.test_read_files import encoded


def learner(depth: int = 3, kind: Any = TAOClassifier) -> Any:
    return kind(max_depth=depth, init="random", alpha=0.01, random_state=0)


MODELS = {
    "one decision": lambda: learner(1),
    "TAO": lambda: learner(3),
    "projected": lambda: make_pipeline(
        StandardScaler(), PCA(3), DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0)
    ),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", MODELS)
def test_every_row_is_tried(kind: str, name: str, tmp_path: Path) -> None:
    """Also of an ordinary tree behind principal components, whose decisions are oblique in the columns."""
    assert claims_of_classes(encoded(MODELS[kind]()), name, tmp_path).verified == 4


@pytest.mark.shorter(1)
@pytest.mark.parametrize("ends", [{"at_least": 0.8}, {"at_most": 0.3}])
def test_probabilities_are_those_of_leaves(ends: dict[str, float], tmp_path: Path) -> None:
    assert claims_of_probabilities(encoded(learner()), 1, ends, tmp_path).verified == 4


def is_false(case: Case) -> bool:
    """Whether a row that costs less comes to a leaf that says what is wanted, by exact sums."""
    model, wanted, below = json.loads(case.content), case.shared["wanted"], case.own["below"]
    base = list(map(number, np.ravel(model["base"])))
    weights = [list(map(number, np.ravel(its))) for its in model["weights"]]
    for row, cost, changes in rows_of(case):
        if (below is not None and cost >= number(below)) or changes > (case.own["changes"] or len(row)):
            continue
        sums = list(base)
        for about, x in zip(case.shared["columns"], row, strict=True):
            levels = about.get("levels")
            reads = [number(value) for value in levels[x][1:]] if levels else [x] * len(about["features"])
            for f, value in zip(about["features"], reads, strict=True):
                sums = [total + weight * value for total, weight in zip(sums, weights[f], strict=True)]
        at, tree = 0, model["tree"]
        while tree["value"][at] is None:
            at = tree["right" if sums[tree["gate"][at]] >= 0 else "left"][at]
        value, (what, which) = list(map(number, tree["value"][at])), wanted["of"]
        if what == "class":
            if value.index(max(value)) in np.ravel(which):
                return True
        elif value[which or 0] >= number(wanted["at least"]):
            return True
    return False


QUESTIONS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (bf.L1(), ()),
    (bf.L2(), ()),
    (bf.L1() + 0.3 * bf.L0(), (bf.at_most_changes(2),)),
    (bf.L0(), (bf.fixed("b"),)),
)


@cache
def cases() -> tuple[Case, ...]:
    """Proofs about classes, of two and of four, about probabilities, and about values."""
    (X, two), (_, four), found = table(), four_classes(), list[Case]()
    value = (X["a"] * 1.0 - X["b"] + (X["job"] == "cook")).to_numpy()
    for k, (cost, limits) in enumerate(QUESTIONS):
        some = (
            (learner(2 + k % 2), two, bf.classes(1)),
            (learner(3), four, bf.classes(0, 3)),
            (learner(3), two, bf.probability(0, at_least=0.9)),
            (learner(2, TAORegressor), value, bf.value(at_least=3.5)),
        )
        for inner, y, target in some:
            model = prepared(inner).fit(X, y)
            if isinstance(inner, TAORegressor):
                met = model.predict(X) >= 3.5
            elif target == bf.probability(0, at_least=0.9):
                met = model.predict_proba(X)[:, 0] >= 0.9
            else:
                met = np.isin(model.predict(X), target.labels)
            answers = bf.Explainer(model, data=X).explain(
                X[~met].iloc[k : k + 1], target=target, cost=cost, constraints=list(limits)
            )
            with TemporaryDirectory() as folder:
                proofs = bf.prove(answers, model, folder)
                assert proofs.verified == 1, (cost, target, proofs)
                found += [read(one.file, f"{cost} {target}") for one in proofs if one.file is not None]
    return tuple(found)


@pytest.mark.long
def test_what_is_proven_is_the_least_cost() -> None:
    bounded = [case for case in cases() if case.own["below"] is not None]
    assert len(bounded) > 12
    for case in cases():
        assert "VERIFIED" in case.check()
        assert not is_false(case)
    for case in bounded:
        assert is_false(case.bolder(1 + 1e-6))


def mutated(r: random.Random, case: Case) -> Case:
    """A case with one thing changed, in its tree, too."""
    if r.random() < 0.7:
        return another(r, case)
    model = json.loads(case.content)
    tree = model["tree"]
    at = r.randrange(len(tree["gate"]))
    if tree["value"][at] is None:
        key = r.choice(["left", "right", "gate"])
        tree[key][at] = r.choice([r.randrange(len(tree["gate"])), tree["left"][at], -1])
    else:
        tree["value"][at] = r.choice(tree["value"])
    return replace(case, own={**case.own, "answer": None}, content=json.dumps(model))


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 80), pytest.param(1, 3000, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r = random.Random(seed)
    tried = [mutated(r, r.choice(cases())) for _ in range(count)]
    accepted = [case for case in tried if case.accepted()]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if is_false(case)]


SABOTAGE = {
    "one leaf of several": ("pairs = pairs or [[(0, 0)]]", "pairs = pairs[-1:] or [[(0, 0)]]"),
    "left for right": ("in (left, (0, own)), (right, (own, 0)):", "in (left, (own, 0)), (right, (0, own)):"),
    "the last of equals": ("value.index(max(value)) in classes", "value[::-1].index(max(value)) not in classes"),
    "no leaf if one says it": ("low = high = sign * F(not pairs)", "low = high = F(1)"),
    "ends as they are": ("sign * value[one] >= sign * at", "sign * value[one] > sign * at"),
}  # fmt: skip


def by_hand(values: list[list[float]], wanted: dict[str, Any], *steps: Any, second: float = 1.1) -> Case:
    """The false claim that no x within 1.2 of 0 comes to a leaf that is wanted. From 1 on it is the second, then the third."""
    tree = {"gate": [0, -1, 1, -1, -1], "left": [1, -1, 3, -1, -1], "right": [2, -1, 4, -1, -1]}
    says = [None, values[0], None, *values[1:]]
    tree["value"] = [None if its is None else [float(x).hex() for x in its] for its in says]
    told = {"sum": "leaves", "base": [(-1.0).hex(), (-second).hex()], "weights": [[1, 1]], "tree": tree}
    return weighed(told, wanted, 1.2, *steps, grid="1/20")


END, FIRST = {"end": "dual"}, {"of": ["class", 0]}
SECOND = {"of": ["class", 1]}
FALSE = {
    "one leaf of several": by_hand([[1, 0], [0, 1], [0, 1]], SECOND, {"rate": [0, 1, 0]}, END, second=2.0),
    "left for right": by_hand([[1, 0], [0, 1], [1, 0]], SECOND, {"rate": [13, 13, 0]}, END),
    "the last of equals": by_hand([[0, 1], [1, 1], [0, 1]], FIRST, {"rate": [2, 0]}, END),
    "no leaf if one says it": by_hand([[1, 0], [0, 1], [1, 0]], SECOND, {"rate": [1, 0, 0]}, END),
    "ends as they are": by_hand(
        [[1, 0], [0.5, 0.5], [1, 0]], {"of": ["probability", 1], "at least": (0.5).hex()}, {"rate": [2, 0]}, END
    ),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    assert is_false(FALSE[name])
    with pytest.raises(checker().Wrong):
        FALSE[name].check()
    assert FALSE[name].accepted(broken_by(*SABOTAGE[name]))


@pytest.mark.shorter(1)
@pytest.mark.parametrize("cost", [bf.L1(), bf.L2()])
def test_real_numbers_cost_what_each_leaf_costs(cost: Any, tmp_path: Path) -> None:
    """HiGHS finds the least L1 cost in each leaf. For L2, no row of many that are as near comes to it. A bolder claim fails."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    y = ((X["a"] + X["b"] > 0.3) ^ (X["c"] - X["a"] > 0.8)).astype(int)
    tree = learner(3).fit(X, y)
    rows = X[tree.predict(X) == 0].iloc[:4]
    explainer = bf.Explainer(tree, data=X)
    answers = explainer.explain(rows, target=1, cost=cost)
    proofs, low, high = bf.prove(answers, tree, tmp_path), X.min().to_numpy(), X.max().to_numpy()
    assert proofs.verified == 4
    case = read(next(tmp_path.glob("*.proof")))
    assert not case.bolder(1 + 1e-6).accepted()
    model = json.loads(case.content)
    base, weights = (np.vectorize(lambda x: float(number(x)))(model[key]) for key in ("base", "weights"))
    ways, found = {0: list[tuple[int, int]]()}, list[list[tuple[int, int]]]()
    for at, (gate, left, right, value) in enumerate(zip(*model["tree"].values(), strict=True)):
        way = ways.pop(at)
        if value is None:
            ways[left], ways[right] = [*way, (gate, -1)], [*way, (gate, 1)]
        elif float.fromhex(value[1]) > float.fromhex(value[0]):
            found.append(way)
    for one, x in zip(proofs, rows.to_numpy(), strict=True):
        if cost == bf.L2():
            moves = rng.normal(size=(20_000, 3)) * (high - low)
            moves *= np.sqrt(one.below * (1 - 1e-9) / (((moves / (high - low)) ** 2).sum(axis=1, keepdims=True)))
            near = np.clip(x + moves, low, high)
            assert not tree.predict(pd.DataFrame(near, columns=X.columns)).any()
            continue
        least = np.inf
        for way in found:
            sign = np.array([side for _, side in way])[:, None]
            w, b = sign * weights.T[[gate for gate, _ in way]], sign[:, 0] * base[[gate for gate, _ in way]]
            ends = [*zip(np.zeros(3), high - x, strict=True), *zip(np.zeros(3), x - low, strict=True)]
            price = np.concatenate([1 / (high - low)] * 2)
            least = min(least, linprog(price, A_ub=np.hstack([-w, w]), b_ub=w @ x + b, bounds=ends).fun or np.inf)
        assert one.below == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("kind", ["all is fixed", "no leaf says so much", "no leaf says so little"])
def test_that_nothing_helps_is_proven(kind: str, tmp_path: Path) -> None:
    X, y = table()
    model = prepared(learner(2, TAORegressor)).fit(X, y)
    low = model.predict(X).argmin()
    asked: dict[str, Any] = {"target": bf.value(at_least=float(model.predict(X).max()))}
    if kind == "no leaf says so much":
        asked = {"target": bf.value(at_least=1e3)}
    elif kind == "no leaf says so little":
        asked = {"target": bf.value(at_most=-1e3)}
    else:
        asked["constraints"] = [bf.fixed("a", "b", "c", "job")]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(X.iloc[[low]], **asked), model, tmp_path)
    assert proofs.verified == 1
    assert "no admissible row gets" in proofs[0].words


@pytest.mark.parametrize(
    ("key", "at", "told"),
    [("left", 0, 0), ("right", 0, 1), ("gate", 0, 7), ("value", 1, None), ("value", 1, [(1.0).hex()]), ("right", 0, 9)],
)
def test_a_tree_that_is_none_is_refused(key: str, at: int, told: Any) -> None:
    case = by_hand([[1, 0], [0, 1], [0, 1]], SECOND, END)
    model = json.loads(case.content)
    checker().Model("linear", json.dumps(model).encode())
    model["tree"][key][at] = told
    with pytest.raises((checker().Wrong, KeyError)):
        checker().Model("linear", json.dumps(model).encode())


def test_recorded_rows_come_to_their_leaves(tmp_path: Path) -> None:
    X, y = table()
    model = prepared(learner(2)).fit(X, y)
    bf.prove(bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:2], target=1), model, tmp_path)
    case, by = read(next(tmp_path.glob("*.proof"))), checker()
    rows, told = by.parsed(json.dumps(case.shared["recorded"])), json.loads(case.content)
    assert by.recorded(rows, by.Model("linear", case.content.encode())) == 4
    told["base"][0] = (-number(told["base"][0]).__float__()).hex()
    with pytest.raises(by.Wrong, match="another leaf"):
        by.recorded(rows, by.Model("linear", json.dumps(told).encode()))


def test_several_trees_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    X, y = table()
    model = BaggingClassifier(learner(2), n_estimators=2, random_state=0).fit(X[["a", "b"]], y)
    answers = bf.Explainer(model, data=X[["a", "b"]]).explain(X[["a", "b"]][:1], target=1)
    with pytest.raises(UnsupportedModelError, match="no proof is made"):
        bf.prove(answers, model, tmp_path / "proofs")
    assert not (tmp_path / "proofs").exists()
