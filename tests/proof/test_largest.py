"""L-infinity: no row whose dearest change costs less gets what is wanted."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.proof.checker import checker
from tests.proof.attacks import broken_by, with_changes
from tests.proof.by_hand import case, number, tree, weighed
from tests.proof.cases import Case, read
from tests.proof.test_means import CONSTRAINTS, admitted
from tests.proof.test_read_files import encoded, whole_numbers
from tests.proof.test_robust import boosted, is_false

MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(7, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, random_state=0),
    "xgboost": boosted,
    "weights": LogisticRegression,
}
WEIGHTS = {"years": 2.0, "late": 1.0, "job": 0.7}


def least(X: pd.DataFrame, row: pd.Series, met: Any) -> float:
    """What the cheapest row costs, of all rows there are."""
    every = pd.DataFrame(list(product(range(6), range(7), ["clerk", "cook", "judge"])), columns=X.columns)
    each = [
        (every["late"] - row["late"]).abs() / 5,
        2 * (every["years"] - row["years"]).abs() / 6,
        0.7 * (every["job"] != row["job"]),
    ]
    return float(np.max(each, axis=0)[met(every)].min(initial=np.inf))


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", MODELS)
def test_every_row_is_tried(kind: str, name: str, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(MODELS[kind]()).fit(X, y)
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    answers = bf.Explainer(model, data=X).explain(rows, cost=bf.LInf(weights=WEIGHTS), constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path)
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 1, 1), strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            return (model.predict(every) != was) & admitted(name, every, row)

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
        assert "its dearest change, not the sum" in one.words
    assert bf.check(answers, model, proof=tmp_path).passed


def test_real_numbers_of_weights(tmp_path: Path) -> None:
    """All columns move by the same share of their range, until the first reaches its end."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(200, 4)), columns=list("abcd"))
    model = LogisticRegression().fit(X, X["a"] - X["b"] + 0.5 * X["c"] > 0.2)
    rows = X[model.predict(X) == 0].iloc[:6]
    answers = bf.Explainer(model, data=X).explain(rows, cost=bf.LInf(scale="none"))
    slope, low, high = model.coef_[0], X.min().to_numpy(), X.max().to_numpy()
    for (_, row), one in zip(rows.iterrows(), bf.prove(answers, model, tmp_path), strict=True):
        near, far = 0.0, 1.0
        for _ in range(60):
            middle = (near + far) / 2
            best = np.clip(row + middle * np.sign(slope), low, high)
            near, far = (near, middle) if model.intercept_[0] + best @ slope > 0 else (middle, far)
        assert one.verified, one.words
        assert one.below == pytest.approx(far, rel=1e-7)


# --------------------------------------------------------------------------------------------- claims by hand, attacks

BOTH = [tree((0, 0.0, 1, 2), 0.0, 1.0), tree((1, 0.0, 1, 2), 0.0, 1.0)]
"""2 where x and y are above 0. They are -1, so each must move by 1: the dearest change costs 1, and both 2."""


def largest(below: float, *steps: Any, **more: Any) -> Case:
    found = case("", BOTH, [number(-1.0, 1.0), number(-1.0, 1.0)], 2.0, below, *steps or ({"end": "score"},))
    return replace(found, own={**found.own, "cost": "largest", **more})


def test_claims_by_hand() -> None:
    assert largest(0.999).accepted()
    assert not largest(1.001).accepted()
    assert not largest(1.001, {"end": "cost"}).accepted()
    assert not largest(0.999, cost="smallest").accepted()
    weights = {"of": "", "sum": "score", "base": -1, "weights": [1]}
    rated = weighed(weights, {"of": ["class", 1]}, 0.9, {"rate": [16, 0]}, {"end": "dual"})
    own = {**rated.own, "cost": "largest"}
    assert replace(rated, own=own).accepted()
    assert not replace(rated, own={**own, "below": (1.001).hex()}).accepted()


SABOTAGE = {
    "a sum for the largest": ('self.largest = own.get("cost") == "largest"', "self.largest = False"),
    "half of the prices": ("p if p is None or p < claim else None", "p if p is None or p < claim / 2 else None"),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    steps = {
        "half of the prices": [{"end": "score"}],
        "a sum for the largest": [{"split": [0, 1]}, {"end": "score"}, {"end": "score"}],
    }[name]
    false = largest(1.5, *steps)
    with pytest.raises(checker().Wrong):
        false.check()
    assert false.accepted(broken_by(*SABOTAGE[name]))


@cache
def cases(kind: str) -> tuple[Case, ...]:
    X, y = whole_numbers()
    model, found = encoded(MODELS[kind]()).fit(X, y), list[Case]()
    explainer = bf.Explainer(model, data=X)
    for name in CONSTRAINTS:
        rows = pd.concat([X[model.predict(X) == k].iloc[:1] for k in (0, 1)])
        answers = explainer.explain(rows, cost=bf.LInf(weights=WEIGHTS), constraints=CONSTRAINTS[name])
        with TemporaryDirectory() as folder:
            found += [read(one.file, kind) for one in bf.prove(answers, model, folder) if one.file]
    return tuple(one for one in found if not one.own.get("never"))


def another(r: random.Random, found: Case) -> Case:
    """A case with something changed: the claim, the cost, a price, or a step."""

    def change(own: dict[str, Any], steps: list[str], k: int) -> None:
        what = r.randrange(3)
        if what == 0:
            own["cost"] = r.choice(["largest", "sum", "sum", "other"])
        elif what == 1:
            mine = r.choice(own["columns"])
            prices = mine["prices"] if "prices" in mine else mine["price"]
            prices[r.randrange(len(prices))] = r.choice([0.0, 0.1, 0.5]).hex()
        else:
            steps[k] = json.dumps(r.choice([{"end": "dual"}, {"end": "score"}, {"end": "cost"}, {"drop": 1}]))

    return with_changes(r, found, change)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 40), pytest.param(1, 2500, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r = random.Random(seed)
    every = [found for kind in ("tree", "xgboost") for found in cases(kind)]
    accepted = [found for found in (another(r, r.choice(every)) for _ in range(count)) if found.accepted()]
    assert len(accepted) > count / 20
    assert not [found for found in accepted if is_false(found)]
