"""Networks in proofs: lines above and below what units pass on, and boxes parted by the side of a unit."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
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
from sklearn.neural_network import MLPClassifier, MLPRegressor

import butfor as bf
from butfor.errors import RefutedError
from butfor.proof import linear_prover, network_prover, unit_program
from butfor.proof.checker import checker
from butfor.proof.failing import CheaperError, UnprovenError
from butfor.proof.network_prover import NetworkProver
from butfor.solvers.solver import Budget
from tests.proof.attacks import broken_by
from tests.proof.by_hand import weighed
from tests.proof.cases import Case, read
from tests.proof.judge import JudgedModel, number
from tests.proof.test_linear import another, prepared, rows_of, table
from tests.proof.test_linear_classes import four_classes
from tests.proof.test_means import CONSTRAINTS, claims_of_classes, claims_of_probabilities
from tests.proof.test_read_files import encoded


def network(*hidden: int, kind: Any = MLPClassifier) -> Any:
    return kind(hidden_layer_sizes=hidden, solver="lbfgs", alpha=0.1, max_iter=3000, random_state=0)


MODELS = {"one layer": (6,), "two layers": (4, 3)}


def test_a_sum_of_more_terms_than_its_digits_tell_apart_is_refused() -> None:
    """Of 2^24 terms in float32, n u / (1 - n u) would be infinite, and of more it is below 0. Here u is larger."""
    layer = checker().Layer({"leak": [0] * 4, "base": [0], "weight": [[1] * 4]})
    size, off = [Fraction(0)] + [Fraction(1)] * 4, [Fraction(0)] * 5
    assert layer.passed_on(size, off, Fraction(1, 16))[1][1] == 4
    for step in (Fraction(1, 8), Fraction(1, 4)):
        with pytest.raises(checker().Wrong, match="more terms than its digits tell apart"):
            layer.passed_on(size, off, step)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", MODELS)
def test_every_row_is_tried(kind: str, name: str, tmp_path: Path) -> None:
    assert claims_of_classes(encoded(network(*MODELS[kind])), name, tmp_path).verified == 4


@pytest.mark.shorter(1)
@pytest.mark.parametrize("ends", [{"at_least": 0.8}, {"at_most": 0.3}])
def test_probabilities_are_those_of_the_estimator(ends: dict[str, float], tmp_path: Path) -> None:
    assert claims_of_probabilities(encoded(network(6)), 1, ends, tmp_path).verified == 4


def is_false(case: Case) -> bool:
    """Whether a row that costs less gets what is wanted."""
    wanted, below, limit = case.shared["wanted"], case.own["below"], case.own["changes"]
    rows = rows_of(case, max if case.own.get("cost") == "largest" else sum)
    cheap = [
        row
        for row, cost, changes in rows
        if (below is None or cost < number(below)) and changes <= (len(row) if limit is None else limit)
    ]
    if not cheap:
        return False
    sums, (what, which) = last_sums(case, cheap), wanted["of"]
    if what == "value":
        return bool((sums[:, 0] >= float(number(wanted["at least"]))).any())
    classes = sums.argmax(axis=1) if sums.shape[1] > 1 else (sums[:, 0] > 0).astype(int)
    return bool(np.isin(classes, which).any())


def last_sums(case: Case, rows: list[list[Any]]) -> np.ndarray:
    """What the network of a case makes of rows, added up in floating point."""
    model = json.loads(case.content)
    floats = JudgedModel.numbers
    sums = np.tile(floats(np.ravel(model["base"]).tolist()), (len(rows), 1))
    weights = floats(model["weights"]).reshape(-1, sums.shape[1])
    for j, about in enumerate(case.shared["columns"]):
        values = [row[j] for row in rows]
        if "levels" in about:
            reads = floats([level[1:] for level in about["levels"]])[values]
        else:
            slope, offset, _ = floats(about["line"])
            reads = np.array([[slope * float(x) + offset] * len(about["features"]) for x in values])
        sums = sums + reads.reshape(len(rows), -1) @ weights[about["features"]]
    for layer in model["layers"]:
        passed = np.maximum(sums, floats(layer["leak"]) * sums)
        sums = passed @ floats(layer["weight"]).T + floats(layer["base"])
    return sums


QUESTIONS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (bf.L1(), ()),
    (bf.L2(), ()),
    (bf.L1() + 0.3 * bf.L0(), (bf.at_most_changes(2),)),
    (bf.L0(), (bf.fixed("b"),)),
    (bf.LInf(), ()),
)


@cache
def targets(least: float) -> tuple[tuple[bf.Explainer, pd.DataFrame, Any], ...]:
    """Networks about classes, of two and of four, and about values: each with the rows that lack what is wanted, and that."""
    (X, two), (_, four), found = table(), four_classes(), []
    value = (X["a"] * 1.0 - X["b"] + 3 * (X["job"] == "cook")).to_numpy()
    for inner, y, target in (
        (network(5), two, bf.classes(1)),
        (network(3, 2), two, bf.classes(1)),
        (network(4), four, bf.classes(0, 3)),
        (network(5, kind=MLPRegressor), value, bf.value(at_least=least)),
    ):
        model = prepared(inner).fit(X, y)
        predicted = model.predict(X)
        met = predicted >= least if y is value else np.isin(predicted, target.labels)
        found.append((bf.Explainer(model, data=X), X[~met], target))
    return tuple(found)


def proofs_of(answers: Any, model: Any, name: str) -> list[Case]:
    """The proofs of some answers, which all have one."""
    with TemporaryDirectory() as folder:
        proofs = bf.prove(answers, model, folder)
        assert proofs.verified == len(answers), (name, proofs)
        return [read(one.file, name) for one in proofs]


@cache
def cases() -> tuple[Case, ...]:
    """Proofs about classes, of two and of four, and about values."""
    found = list[Case]()
    for k, (cost, limits) in enumerate(QUESTIONS):
        for explainer, rows, target in targets(4.5):
            answers = explainer.explain(rows.iloc[k : k + 1], target=target, cost=cost, constraints=list(limits))
            found += proofs_of(answers, explainer.model, f"{cost} {target}")
    return tuple(found)


@pytest.mark.long
def test_what_is_proven_is_the_least_cost() -> None:
    bounded = [case for case in cases() if case.own["below"] is not None]
    assert len(bounded) > 15
    for case in cases():
        assert "VERIFIED" in case.check()
        assert not is_false(case)
    for case in bounded:
        assert is_false(case.bolder(1 + 1e-6))


def mutated(r: random.Random, case: Case) -> Case:
    """A case with one thing changed, in its layers and lines, too."""
    what = r.random()
    if what < 0.5:
        return another(r, case)
    if what < 0.75:
        steps = list(case.steps)
        new: list[dict[str, Any]] = [
            {"lines": [[r.randrange(4), r.choice([-1, 0, 1 << 29, 1 << 30, 1 << 31]), r.randrange(1 << 30)]]},
            {"holds": [r.randrange(60), [r.randrange(4), r.choice([-5, 0, 1 << 40, 1 << 60, 1 << 210])]]},
            {"unit": r.choice([-1, 0, 1, 2, 3, 9])},
            {"end": "dual"},
        ]
        steps.insert(r.randrange(len(steps) + 1), json.dumps(r.choice(new)))
        return replace(case.bolder(r.choice([1.0, 1.1])), steps=[step for step in steps if r.random() < 0.9])
    model = json.loads(case.content)
    layer = r.choice(model["layers"])
    row = r.choice([layer["leak"], layer["base"], r.choice(layer["weight"])])
    at = r.randrange(len(row))
    row[at] = (float.fromhex(row[at]) * r.choice([-1, 0, 0.9, 1.1]) + r.choice([0, 0, 0.3])).hex()
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
    "above for below": ("max(way * worth[k], 0) for way in (1, -1)", "max(way * worth[k], 0) for way in (-1, 1)"),
    "a chord through 0": ("(leak - unit.steep) * unit.least * NEAR", "0 * unit.least * NEAR"),
    "lines over units that start at 0": ("total -= tilt[0] + sum(", "total -= sum("),
    "sums that start at 0": ("at = base + sum(term.gain_of", "at = 0 * base + sum(term.gain_of"),
    "up only": ("in (1, high - start), (-1, start - low):", "in ((1, high - start),):"),
    "a part of what is left": ("spare = self.q.below - sum(", "spare = self.q.below / 2 - sum("),
    "fees that are spread twice": ("rate += c.fee / far if", "rate += 3 * (c.fee / far + c.rate) if"),
    "no base between layers": ("* (layer is not self.layers[-1])", "* 0"),
    "weights the other way": ("[b if w > 0 else a for w, a, b in zip(row", "[a if w > 0 else b for w, a, b in zip(row"),
    "units that are off pass on": ("worth[k] = worth[k] * unit.steep + ", "worth[k] = worth[k] + "),
    "a chord that is flat": ("/ (most - least), GRAIN", "/ (2 * most - 2 * least), GRAIN"),
    "one layer": ("units.append([unit for unit, *_ in its])", "units.append([u._replace(least=0) for u, *_ in its])"),
}  # fmt: skip


@contextmanager
def proving_by(by: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A prover that believes a checker."""
    with monkeypatch.context() as patch:
        for module in (linear_prover, network_prover, unit_program):
            patch.setattr(module, "checker", lambda: by)
        patch.setattr(network_prover, "PROGRAM_OFF", np.inf)  # it asks the checker, whatever the program says
        yield


def dishonest(case: Case, by: Any) -> Case | None:
    """A proof that a checker accepts; None if there is none."""
    shared = by.Shared(by.parsed(json.dumps(case.shared)), by.Model(case.kind, case.content.encode()))
    try:
        steps = NetworkProver(by.Question(shared, by.parsed(json.dumps(case.own))), Budget(5.0)).prove()
    except (CheaperError, UnprovenError, by.Wrong):
        return None
    return replace(case, steps=steps)


@pytest.mark.long
@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault lets the prover prove what is false, and the checker refuses that."""
    by = broken_by(*SABOTAGE[name])
    for case in cases():
        bold = case.bolder(1.2)
        if case.own["below"] is None or not is_false(bold):
            continue
        with proving_by(by, monkeypatch):
            told = dishonest(bold, by)
        if told is not None and told.accepted(by):
            assert not told.accepted()
            return
    pytest.fail("no false claim is proven")


def by_hand(start: int, weight: int, leak: float, least: float, below: float, *steps: Any) -> Case:
    """A false claim about what one unit passes on of start + weight x. x is 0, and costs 1 a unit."""
    layer = {"leak": [leak.hex()], "weight": [[1]], "base": [0]}
    told = {"sum": "value", "base": [start], "weights": [[weight]], "off": [0], "layers": [layer]}
    return weighed(told, {"of": ["value", None], "at least": least.hex()}, below, *steps, grid="1/8")


END = {"end": "dual"}
BY_HAND = {
    "one side of a unit": (
        ("for side in (-1, 1)]\n", "for side in (1,)]\n"),
        by_hand(-2, 1, 0.5, -0.75, 1.0, {"unit": 0}, {"holds": [0, [0, 1]]}, END),
    ),
    "sides that are changed": (
        ("max(least, 0) if side == 1", "max(least, 0) if side == -1"),
        by_hand(-2, 1, 0.5, -0.75, 1.0, {"unit": 0}, {"holds": [0, [0, 1]]}, END, {"rate": [1, 0]}, END),
    ),
    "negative holds": (
        ('F(whole(*its, 0, BIG, "a worth")', 'F(whole(*its, -BIG, BIG, "a worth")'),
        by_hand(0, 1, 0.0, 1.0, 1.4, {"unit": 0}, {"rate": [3, 1]}, {"holds": [1, [0, -1]]}, END, END),
    ),
}
"""Faults of which a prover has no use by itself, with claims that only they prove."""


@pytest.mark.parametrize("name", BY_HAND)
def test_a_false_claim_by_hand_is_refused(name: str) -> None:
    fault, case = BY_HAND[name]
    assert is_false(case)
    with pytest.raises(checker().Wrong):
        case.check()
    assert case.accepted(broken_by(*fault))


@pytest.mark.shorter(1)
@pytest.mark.parametrize("cost", [bf.L1(), bf.L2()])
def test_real_numbers_cost_what_a_program_says(cost: Any, tmp_path: Path) -> None:
    """Two layers, whose answers HiGHS proves in another way."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.random((120, 3)), columns=list("abc"))
    model = network(6, 4).fit(X, X["a"] * X["b"] + X["c"] ** 2 > 0.6)
    rows = X[~model.predict(X)].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, cost=cost)
    for one, certificate in zip(bf.prove(answers, model, tmp_path), answers.certificates, strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(certificate.cost, rel=3e-6)


@pytest.mark.long
def test_float32_is_proven_within_its_doubt(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    X, y = table()
    rows = torch.tensor(X[["a", "b", "c"]].to_numpy(), dtype=torch.float32)
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.LeakyReLU(0.125), torch.nn.Linear(6, 2))
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(rows), torch.tensor(y)).backward()
        optimizer.step()
    model = bf.torch_model(module.eval(), classes=[0, 1], columns=["a", "b", "c"])
    numbers = X[["a", "b", "c"]]
    asked = numbers[model.predict(numbers) == 0].iloc[:3]
    answers = bf.Explainer(model, data=numbers).explain(asked, target=1)
    proofs = bf.prove(answers, model, tmp_path)
    assert proofs.verified == 3
    every = np.array(np.meshgrid(*[np.arange(X[c].min(), X[c].max() + 1) for c in "abc"])).reshape(3, -1).T
    reached = every[model.predict(pd.DataFrame(every, columns=list("abc"))) == 1]
    width = np.ptp(numbers.to_numpy(), axis=0)
    for one, x in zip(proofs, asked.to_numpy(), strict=True):
        assert one.below == pytest.approx((np.abs(reached - x) / width).sum(axis=1).min(), rel=1e-6)


def test_a_false_claim_ends_in_a_row(tmp_path: Path) -> None:
    X, y = table()
    model = prepared(network(5)).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:2], target=bf.classes(1))
    first, second = answers.certificates
    false = replace(answers, certificates=[replace(first, bound=2 * first.cost, cost=2 * first.cost), second])
    with pytest.raises(RefutedError, match="1 of 2 claims are false"):
        bf.prove(false, model, tmp_path)


def test_a_sigmoid_behind_a_network_is_taken_at_the_word_of_butfor(tmp_path: Path) -> None:
    X, y = table()
    sigmoid = CalibratedClassifierCV(prepared(network(5)), method="sigmoid", ensemble=False, cv=2).fit(X, y)
    answers = bf.Explainer(sigmoid, data=X).explain(X[sigmoid.predict(X) == 0].iloc[:1])
    (proof,) = bf.prove(answers, sigmoid, tmp_path)
    assert proof.below == pytest.approx(answers[0].certificate.cost, rel=1e-5)
    assert "that this is the same is butfor's word" in proof.words
