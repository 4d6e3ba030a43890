"""Means of sigmoids of weighted sums: what a calibrator of several linear models says."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import butfor as bf
from butfor.proof.checker import checker
from butfor.proof.rivals_prover import RivalsProver
from tests.proof.attacks import broken_by
from tests.proof.by_hand import weighed
from tests.proof.cases import Case, read
from tests.proof.judge import number
from tests.proof.test_linear import another, prepared, rows_of, table
from tests.proof.test_means import CONSTRAINTS, calibrated, claims_of_classes, claims_of_probabilities
from tests.proof.test_read_files import encoded

MODELS = {
    "support vectors": lambda: calibrated(LinearSVC()),
    "knots": lambda: calibrated(LinearSVC(), 3, "isotonic"),
    "logistic": lambda: calibrated(make_pipeline(StandardScaler(), LogisticRegression()), cv=5),
    "votes": lambda: encoded(
        VotingClassifier([("few", LogisticRegression(C=0.01)), ("many", LogisticRegression())], voting="soft")
    ),
    "threshold": lambda: encoded(FixedThresholdClassifier(CalibratedClassifierCV(LinearSVC(), cv=2), threshold=0.62)),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", MODELS)
def test_every_row_is_tried(kind: str, name: str, tmp_path: Path) -> None:
    assert claims_of_classes(MODELS[kind](), name, tmp_path).verified == 4


@pytest.mark.long
@pytest.mark.parametrize("ends", [{"at_least": 0.8}, {"at_most": 0.3}])
@pytest.mark.parametrize("label", [0, 1])
def test_probabilities_are_those_of_the_estimator(label: int, ends: dict[str, float], tmp_path: Path) -> None:
    assert claims_of_probabilities(MODELS["support vectors"](), label, ends, tmp_path).verified == 4


def measurements() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    return X, (X["a"] - X["b"] + rng.normal(scale=0.5, size=200) > 0.3).astype(int).to_numpy()


@pytest.mark.long
@pytest.mark.parametrize("wanted", [1, bf.probability(1, at_least=0.9)])
def test_real_numbers_are_parted_until_lines_are_near_enough(wanted: Any, tmp_path: Path) -> None:
    """What is proven is what it costs, no cheaper row is met, and a bolder claim is refused."""
    X, y = measurements()
    model = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:2]
    answers = bf.Explainer(model, data=X).explain(rows, target=wanted)
    proofs = bf.prove(answers, model, tmp_path)
    spans, rng = (X.max() - X.min()).to_numpy(), np.random.default_rng(1)
    for (_, row), answer, one in zip(rows.iterrows(), answers, proofs, strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(answer.cost, abs=2e-7)
        shares = rng.dirichlet(np.full(4, 0.3), 20_000) * rng.choice([-1, 1], (20_000, 4)) * one.below
        cheaper = pd.DataFrame(row.to_numpy() + shares * spans, columns=X.columns)
        assert (model.predict_proba(cheaper)[:, 1] < (0.5 if wanted == 1 else 0.9)).all()
    found = read(next(tmp_path.glob("*.proof")))
    assert found.accepted()
    assert not found.bolder(1.001).accepted()


@pytest.mark.long
def test_lines_that_prove_all_but_the_last_digit_are_no_better_than_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other lines are tried as long as they prove more. With some versions of libraries, this had no end."""
    boxes: list[Any] = []

    def nearly(self: Any, box: Any, way: Any) -> Any:
        boxes.append(box)
        assert sum(box is each for each in boxes) < 5, "the same box, again and again"
        found = rates_of(self, box, way)
        return found and (
            [plane._replace(total=self.below * Fraction(2**52 - 1, 2**52)) for plane in found[0]],
            found[1],
        )

    rates_of = RivalsProver._best_planes
    monkeypatch.setattr(RivalsProver, "_best_planes", nearly)
    X, y = measurements()
    model = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:1])
    bf.prove(answers, model, tmp_path, time_limit=1.0)
    assert boxes


@pytest.mark.long
def test_prices_that_bend_are_proven(tmp_path: Path) -> None:
    X, y = measurements()
    X = X[["a", "b"]]
    model = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:1], cost=bf.L2())
    (one,) = bf.prove(answers, model, tmp_path)
    assert one.verified, one.words
    assert one.below == pytest.approx(answers[0].certificate.bound, rel=1e-6)


@pytest.mark.long
def test_prices_that_bend_are_proven_or_told_not_to_be(tmp_path: Path) -> None:
    """Such proofs may take longer than their time."""
    X, y = measurements()
    model = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:2], cost=bf.L2())
    proofs = bf.prove(answers, model, tmp_path, time_limit=6)
    assert len(proofs) == 2
    assert all(one.verified or "not proven in" in one.words for one in proofs)


def test_that_nothing_helps_is_proven(tmp_path: Path) -> None:
    X, y = measurements()
    model = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:2]
    kept = [bf.fixed("a"), bf.between("b", low=0.0)]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.probability(1, at_least=0.999), constraints=kept)
    assert {*answers.statuses} == {bf.Status.PROVEN_INFEASIBLE}
    proofs = bf.prove(answers, model, tmp_path)
    assert proofs.verified == 2
    assert all("no admissible row gets" in one.words for one in proofs)


def is_false(case: Case) -> bool:
    """Whether a row that costs less surely gets what is wanted."""
    model, wanted, below = json.loads(case.content), case.shared["wanted"], case.own["below"]
    base, weights = (np.array([list(map(number, its)) for its in told]) for told in ([model["base"]], model["weights"]))
    adds = []
    for about in case.shared["columns"]:
        mine = weights[about["features"]]
        if "levels" in about:
            adds.append([np.array([number(x) for x in level[1:]]) @ mine for level in about["levels"]])
        else:
            slope, offset, _ = map(number, about["line"])
            adds.append((mine.sum(axis=0) * slope, mine.sum(axis=0) * offset))
    logits = [
        base[0]
        + sum(its[x] if isinstance(its, list) else its[0] * x + its[1] for its, x in zip(adds, row, strict=True))
        for row, cost, changes in rows_of(case)
        if (below is None or cost < number(below)) and changes <= (case.own["changes"] or len(row))
    ]
    chance = (1 / (1 + np.exp(-np.array(logits, dtype=float).reshape(-1, base.size)))).mean(axis=1)
    (what, label), end = wanted["of"], float(number(wanted.get("at least", wanted.get("at most", 0.5))))
    more = (label == 1) == ("at most" not in wanted)
    end = end if what == "class" or label == 1 else 1 - end
    return bool(np.any(chance > end + 1e-12 if more else chance < end - 1e-12))


@cache
def cases() -> tuple[Case, ...]:
    X, y = table()
    model, found = prepared(CalibratedClassifierCV(LinearSVC(), cv=2)).fit(X, y), []
    questions = (
        (bf.classes(0), bf.L1(), ()),
        (bf.classes(1), bf.L2(), ()),
        (bf.probability(1, at_least=0.8), bf.L1() + 0.3 * bf.L0(), (bf.at_most_changes(2),)),
        (bf.probability(0, at_most=0.3), bf.L1(), (bf.fixed("b"),)),
        (bf.probability(1, at_least=0.9), bf.L1(), (bf.fixed("b", "job", "c"),)),
    )
    for target, cost, limits in questions:
        some = X[model.predict(X) == (1 if target == bf.classes(0) else 0)].iloc[:1]
        answers = bf.Explainer(model, data=X).explain(some, target=target, cost=cost, constraints=list(limits))
        with TemporaryDirectory() as folder:
            proofs = bf.prove(answers, model, folder)
            assert proofs.verified == 1, proofs
            found += [read(one.file, f"{target} {cost}") for one in proofs if one.file is not None]
    return tuple(found)


def mutated(r: random.Random, case: Case) -> Case:
    """A case with one thing changed, or with a step more and some less."""
    if r.random() < 0.6:
        return another(r, case)
    some, count = [step for step in case.steps if r.random() < 0.8], len(json.loads(case.content)["base"])
    rates = [r.choice([0, 1, -5, 1 << 210, r.randrange(1 << 20), r.randrange(1 << 60)]) for _ in range(count + 1)]
    step = r.choice(
        [{"rate": [*rates, r.randrange(60)]}, {"reach": [*rates[1:], r.randrange(60)]}, {"reach": rates[:2]}]
    )
    some.insert(r.randrange(len(some) + 1), json.dumps(step))
    own = {**case.own, "answer": None}
    return replace(case.bolder(r.choice([1.0, 1.01, 1.3])) if own["below"] else replace(case, own=own), steps=some)


@pytest.mark.long
def test_what_is_proven_is_the_least_cost() -> None:
    for case in cases():
        assert case.accepted()
        assert not is_false(case)
        if case.own["below"] is not None:
            assert is_false(case.bolder(1 + 1e-6))


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 30), pytest.param(1, 2000, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r = random.Random(seed)
    accepted = [case for case in (mutated(r, r.choice(cases())) for _ in range(count)) if case.accepted()]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if is_false(case)]


def claim(name: str, below: float, steps: list[dict[str, Any]], **mine: Any) -> Case:
    """A claim that no x gets a mean of 0.75 of two sigmoids of x, if the change by x costs less than so much."""
    model = {"sum": "mean", "base": [0, 0], "weights": [[1, 1]]}
    return weighed(model, {"of": ["probability", 1], "at least": (0.75).hex()}, below, *steps, name=name, **mine)


def rated(logit: int, mean: int) -> list[dict[str, Any]]:
    return [{"rate": [logit, logit, mean, 0]}, {"end": "dual"}]


REACH = {"reach": [1, 1, 0]}
SABOTAGE = {
    "no curve": ("            total -= sum(curve.above(", "            sum(curve.above("),
    "one end for two": ("for sign in (-1, 1):\n                worth", "for sign in (-1, -1):\n                worth"),
    "costs nothing to reach": ("most = self.q.below * (reach > 0) - sum(", "most = -sum("),
    "nobody where ends meet": ("if any(high < low for", "if any(high <= low for"),
    "the mean twice": ("total += rates[-1] * self.mean[0]\n", "total += 2 * rates[-1] * self.mean[0]\n"),
}  # fmt: skip
PARTS: list[dict[str, Any]] = [{"split": [0, "stay"]}, {"end": "dual"}, {"end": "dual"}]
FALSE = {
    "no curve": claim("no curve", 1.5, rated(0, 2)),
    "one end for two": claim("one end for two", 1.5, rated(0, 2)),
    "costs nothing to reach": claim("costs nothing to reach", 1.5, [REACH, *rated(0, 4)]),
    "nobody where ends meet": claim("nobody where ends meet", 3.0, PARTS, least=2, most=2),
    "the mean twice": claim("the mean twice", 1.5, rated(0, 2)),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    x = 2.0 if name == "nobody where ends meet" else 1.2
    assert 1 / (1 + math.exp(-x)) > 0.75
    assert x < float.fromhex(FALSE[name].own["below"])
    with pytest.raises(checker().Wrong):
        FALSE[name].check()
    assert FALSE[name].accepted(broken_by(*SABOTAGE[name]))


def test_ends_hold_for_all_rows_below_the_claim() -> None:
    """Whatever a unit of a logit is taken to cost."""
    whole = claim("", 1.5, [])
    by = checker()
    model = by.Model("linear", whole.content.encode())
    question = by.Question(by.Shared(by.parsed(json.dumps(whole.shared)), model), by.parsed(json.dumps(whole.own)))
    walk = by.LinearWalk(question)
    for reach in (Fraction(0), Fraction(1, 9), Fraction(1), Fraction(5)):
        walk.reach = [reach] * 2
        for low, high in walk.ends(*walk.open[-1]):
            assert low * by.GRAIN < -1.5 + 1e-9
            assert high * by.GRAIN >= 1.5
