"""Robust answers of networks: the network beside itself, once for each shift of all numbers."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import butfor as bf
from butfor.proof.checker import checker
from tests.proof.attacks import broken_by
from tests.proof.by_hand import weighed
from tests.proof.cases import Case, read
from tests.proof.judge import number
from tests.proof.test_linear import rows_of
from tests.proof.test_means import CONSTRAINTS
from tests.proof.test_networks import dishonest, last_sums, network, proofs_of, proving_by, targets
from tests.proof.test_networks import mutated as mutated_network
from tests.proof.test_robust import (
    RADII,
    cheaper_and_good,
    every_neighbour_is_tried,
    measured,
    one_of_three_is_kept,
)

HIDDEN = {"one layer": (6,), "two layers": (4, 3)}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("radius", RADII, ids=str)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", HIDDEN)
def test_every_row_and_every_neighbour_is_tried(kind: str, name: str, radius: dict[str, int], tmp_path: Path) -> None:
    every_neighbour_is_tried(network(*HIDDEN[kind]), name, radius, tmp_path)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", HIDDEN)
def test_three_classes_keep_one_of_them_everywhere(kind: str, tmp_path: Path) -> None:
    one_of_three_is_kept(network(*HIDDEN[kind]), tmp_path)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
def test_real_numbers_keep_it_or_fail(norm: Any, tmp_path: Path) -> None:
    """What is claimed is what the answer costs. Rows that cost less have a neighbour that fails; a bolder claim is refused."""
    X, y = measured()
    model = make_pipeline(MinMaxScaler(), network(10)).fit(X, y)
    rows, radius, rng = X[model.predict(X) == 0].iloc[:3], 0.03, np.random.default_rng(0)
    answers = bf.Explainer(model, data=X).explain(rows, constraints=[bf.robust(radius, norm=norm)])
    proofs = bf.prove(answers, model, tmp_path)
    spans = (X.max() - X.min()).to_numpy()
    corners = np.array(list(product([-1, 1], repeat=4))) if norm == "linf" else np.vstack([np.eye(4), -np.eye(4)])

    def logit(every: np.ndarray) -> np.ndarray:
        return np.diff(model.predict_log_proba(pd.DataFrame(every, columns=X.columns)))[:, 0]

    def is_kept(x: np.ndarray) -> bool:
        """Whether all corners keep it, and where it falls most steeply."""
        steep = np.array([np.diff(logit(x + step * np.array([[-1.0], [1.0]]))) for step in np.diag(1e-4 * spans)])[:, 0]
        near = np.vstack([corners, -steep / np.linalg.norm(steep)]) * radius * spans * (1 - 1e-9)
        return bool((logit(x + near) > 0).all())

    for (_, row), answer, one in zip(rows.iterrows(), answers, proofs, strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(answer.cost, rel=1e-5)
        good = cheaper_and_good(model, X, row, one.below, rng, 2000)
        assert len(good) > 0
        assert not [x for x in good if is_kept(x)]
    found = read(proofs[0].file)
    assert found.accepted()
    assert not found.bolder(1.001).accepted()


# ------------------------------------------------------------------------------------------------------------- attacks


@cache
def cases() -> tuple[Case, ...]:
    """Proofs about classes, of two and of four, and about values, each with all of its neighbours."""
    found = list[Case]()
    for k, radius in enumerate(({"a": 1}, {"a": 2, "c": 1}, {"b": 1, "c": 1})):
        for explainer, rows, target in targets(3.5):
            answers = explainer.explain(rows.iloc[k : k + 2], target=target, constraints=[bf.robust(radius)])
            found += proofs_of(answers, explainer.model, f"{radius} {target}")
    return tuple(found)


def is_false(case: Case) -> bool:
    """Whether a row that costs less gets what is wanted with all of its neighbours, and always the same class."""
    wanted, below, limit = case.shared["wanted"], case.own["below"], case.own["changes"]
    cheap = [
        row
        for row, cost, changes in rows_of(case)
        if (below is None or cost < number(below)) and changes <= (len(row) if limit is None else limit)
    ]
    if not cheap:
        return False
    what, which = wanted["of"]
    radius = [0 if x is None else int(number(x)) for x in case.own["ball"]["radius"]]
    kept = np.ones((len(cheap), 1 if what == "value" else len(np.atleast_1d(which))), dtype=bool)
    for shift in product(*(range(-most, most + 1) for most in radius)):
        near = [[x + by if by else x for x, by in zip(row, shift, strict=True)] for row in cheap]
        sums = last_sums(case, near)
        if what == "value":
            kept &= sums >= float(number(wanted["at least"]))
        else:
            classes = sums.argmax(axis=1) if sums.shape[1] > 1 else (sums[:, 0] > 0).astype(int)
            kept &= classes[:, None] == np.atleast_1d(which)
    return bool(kept.any())


@pytest.mark.long
def test_what_is_proven_is_the_least_cost() -> None:
    for case in cases():
        assert "VERIFIED" in case.check()
        assert not is_false(case)
        assert case.own["below"] is None or is_false(case.bolder(1 + 1e-6))
    assert sum(len(case.own.get("replies", ())) > 0 for case in cases()) > 15


def mutated(r: random.Random, case: Case) -> Case:
    """A case with one thing changed, in its ball and shifts, too."""
    if r.random() < 0.5:
        return mutated_network(r, case)
    own, what = json.loads(json.dumps(case.own)), r.randrange(4)
    replies = own.setdefault("replies", [])
    if what == 0:
        own["ball"]["radius"][r.randrange(3)] = r.choice([None, (1.0).hex(), (2.0).hex(), (1.5).hex()])
    elif what == 1:
        replies.append([[r.randrange(4), [r.choice([-2.0, -1.0, 1.0, 2.0, 0.5]).hex()]] for _ in range(r.randrange(3))])
    elif what == 2 and replies:
        replies.pop(r.randrange(len(replies)))
    elif what == 3 and replies and (reply := r.choice(replies)):
        r.choice(reply)[1] = [r.choice([-3.0, -2.0, -1.0, 1.0, 2.0]).hex()]
    bolder = replace(case, own=own).bolder(r.choice([0.7, 1.0, 1.0, 1.1, 1.3]))
    return bolder if bolder.own["below"] is None or r.random() < 0.8 else replace(bolder, own={**own, "below": None})


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 80), pytest.param(1, 3000, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r = random.Random(seed)
    accepted = [case for case in (mutated(r, r.choice(cases())) for _ in range(count)) if case.accepted()]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if is_false(case)]


def by_hand(name: str, norm: str, radius: float, below: float, *shifts: list[float], **more: Any) -> Case:
    """A claim about max(x, 0) + max(y, 0) >= 1, where x costs 1 a unit, y costs 9, and both are 0 and shifted by a radius."""
    layer = {"leak": [0, 0], "weight": [[1, 1]], "base": [0]}
    told = {"sum": "value", "base": [0, 0], "weights": [[1, 0], [0, 1]], "off": [0, 0], "layers": [layer]}
    found = weighed(told, {"of": ["value", None], "at least": 1}, below, name=name, grid=more.pop("grid", None))
    x, mine = found.shared["columns"][0], found.own["columns"][0]
    columns = [x, {**x, "name": "y", "features": [1]}]
    own = {
        **found.own,
        "columns": [mine, {**mine, "price": [0, 9, 0]}],
        "ball": {"norm": norm, "radius": [radius.hex()] * 2},
        "replies": [[[j, [x.hex()]] for j, x in enumerate(shift) if x] for shift in shifts],
        **more,
    }
    return replace(found, shared={**found.shared, "columns": columns}, own=own)


def test_claims_by_hand_are_proven_if_they_are_true() -> None:
    """x becomes 1 and what it is shifted by. A claim that the shifts do not prove is not."""
    for case in (
        by_hand("a box", "linf", 0.5, 1.499, [-0.5, -0.5]),
        by_hand("a sum of shares", "l1", 0.5, 1.499, [-0.5, 0.0]),
        by_hand("a circle", "l2", 0.625, 1.374, [-0.375, -0.5]),
        by_hand("two shifts", "linf", 0.5, 1.499, [0.5, 0.0], [-0.5, 0.0]),
        by_hand("none", "linf", 0.5, 0.999),
    ):
        told = dishonest(case, checker())
        assert told is not None, case.name
        assert told.accepted()
    for bold in (by_hand("none", "linf", 0.5, 1.1), by_hand("a box", "linf", 0.5, 1.501, [-0.5, -0.5])):
        assert dishonest(bold, checker()) is None


FALSE = {
    "a shift beyond a box": (by_hand("", "linf", 0.5, 1.7, [-0.8, 0.0]), ("most[self.norm] <= 1,", "True,")),
    "a shift beyond a sum": (by_hand("", "l1", 0.5, 1.55, [-0.6, 0.0]), ('"l1": sum(shares)', '"l1": 0')),
    "a shift beyond a circle": (by_hand("", "l2", 0.5, 1.55, [-0.6, 0.0]), ("sum(x * x for x in shares)", "0")),
    "a shift that is twice as far": (
        by_hand("", "linf", 0.5, 1.7, [-0.5, 0.0]),
        ("start + sum(slope[k] * x for", "start + sum(2 * slope[k] * x for"),
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_broken_checker_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case, fault = FALSE[name]
    by = broken_by(*fault)
    with proving_by(by, monkeypatch):
        told = dishonest(case, by)
    assert told is not None
    assert told.accepted(by)
    with pytest.raises(checker().Wrong):
        told.check()


@pytest.mark.parametrize(
    "case",
    [
        by_hand("no ball", "linf", 0.5, 1.4, [-0.5, 0.0], ball=None),
        by_hand("no radius", "linf", 0.5, 1.4, [-0.5, 0.0], ball={"norm": "linf", "radius": [None, (0.5).hex()]}),
        by_hand("two shifts of a column", "linf", 0.5, 1.4, replies=[[[0, [(-0.5).hex()]], [0, [(0.5).hex()]]]]),
        by_hand("two numbers", "linf", 0.5, 1.4, replies=[[[0, [(-0.5).hex()] * 2]]]),
        by_hand("no column", "linf", 0.5, 1.4, replies=[[[2, [(-0.5).hex()]]]]),
        by_hand("not a number", "linf", 0.5, 1.4, replies=[[[0, ["-0.5"]]]]),
    ],
    ids=lambda case: case.name,
)
def test_a_shift_that_makes_no_sense_is_refused(case: Case) -> None:
    with pytest.raises(checker().Wrong):
        case.check()
