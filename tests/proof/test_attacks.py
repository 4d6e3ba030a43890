"""Nothing false is verified, whoever writes the proof; and a checker with one fault is found out."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import butfor as bf
from butfor.proof.checker import checker
from tests.proof import by_hand as hand
from tests.proof.attacks import SABOTAGE, attacks, broken
from tests.proof.by_hand import by_hand, unclear
from tests.proof.cases import KINDS, Case, cases, estimator, table
from tests.proof.judge import TooManyError
from tests.shorter import first

SOME = "tree", "votes", "xgboost", "three boosted", "lost xgboost", "steps", "means"
"""What the short run attacks."""


def every(kinds: Sequence[str] = KINDS) -> tuple[Case, ...]:
    return tuple(case for kind in kinds for case in cases(kind))


def by_hand_and_drawn() -> Iterator[Case]:
    yield from by_hand()
    yield from attacks(random.Random(5), every(), 3000)


def is_false(case: Case) -> bool:
    try:
        return case.false()
    except TooManyError:
        return False


@pytest.mark.parametrize(
    ("kinds", "seed", "count"),
    [(SOME, 0, 50), *[pytest.param(KINDS, 1 + k, 1000, marks=pytest.mark.long) for k in range(10)]],
)
def test_no_attack_makes_a_false_claim_verify(kinds: tuple[str, ...], seed: int, count: int) -> None:
    accepted = [case for case in attacks(random.Random(seed), every(kinds), count) if case.accepted()]
    assert len(accepted) > count / 20, "many change nothing that matters, or make the claim weaker"
    assert not [case for case in accepted if is_false(case)]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", first(5, [name for name in SABOTAGE if name != "does not read the footer"]))
def test_a_broken_checker_is_found_out(name: str) -> None:
    by = broken(name)
    assert next((case for case in by_hand_and_drawn() if case.accepted(by) and is_false(case)), None) is not None


@pytest.mark.parametrize("case", by_hand(), ids=lambda case: case.name)
def test_a_false_claim_by_hand_is_refused(case: Case) -> None:
    assert case.false()
    with pytest.raises(checker().Wrong):
        case.check()


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seed", range(4))
def test_prices_that_are_not_worked_out_are_too_high(seed: int) -> None:
    """Cells beyond one that costs too much are not looked at: with all prices worked out, each of them costs too much."""
    r, by, skipped = random.Random(seed), checker(), 0
    for _ in range(300):
        single, reads = r.random() < 0.3, r.choice(["float32", "float64"])
        cuts = sorted({r.choice([round(r.uniform(-3, 3), 1), r.randrange(-3, 4), 1 + 2.0**-24]) for _ in range(8)})
        stumps = [hand.tree((0, float(cut), 1, 2), 0.0, 1.0) for cut in cuts]
        grid = r.choice([None, ["1", "0"], ["1/2", "1/4"], ["1/10", "0"]])
        said = hand.case("prices", stumps, [hand.number(0.0, 1.0)], 1.0, 1.0, reads=reads, grid=grid, single=single)
        model = by.Model("arrays", said.content.encode())
        now = float(np.float32(r.uniform(-3, 3))) if single else r.choice([r.uniform(-3, 3), *map(float, cuts)])
        low, high = sorted([r.uniform(-4, 4), r.uniform(-4, 4)])
        price = [r.choice([0.0, 0.2]), r.choice([0.0, 0.3, 1.0]), r.choice([0.0, 0.4])]
        mine = {**hand.number(now, 0.0, low, high), "stay": r.random() < 0.5, "price": [x.hex() for x in price]}
        about, own, enough = said.shared["columns"][0], by.parsed(json.dumps(mine)), by.F(r.uniform(0.1, 2.0))
        whole, some = (by.Column(about, model, [*model.splits[0]]).of(own, end).price for end in (by.INF, enough))
        for all_of_it, told in zip(whole, some, strict=True):
            if told == 2 * enough:
                skipped += 1
                assert all_of_it is None or all_of_it >= enough
            else:
                assert told == all_of_it
    assert skipped > 100, "some are not worked out"


@pytest.mark.parametrize("case", unclear())
def test_what_is_not_said_of_missing_values_is_refused(case: Case) -> None:
    with pytest.raises(Exception, match=r"missing|price|number|nowhere|feature"):
        case.check()


def test_proofs_that_were_cut_or_joined_are_refused() -> None:
    """Whatever stands in the lines, the footer says how many there are, and what they are."""
    case = max(every(SOME), key=lambda one: len(one.steps))
    head, *steps, footer = case.lines()
    assert verified(case, [head, *steps, footer])
    for some in (steps[:-1], steps[1:], steps + steps, steps[::-1], [*steps, head, *steps], []):
        assert not verified(case, [head, *some, footer])
    assert not verified(case, [head, *steps])
    assert verified(case, [head, *steps, '{"steps": 0, "sha256": ""}'], broken("does not read the footer"))


def verified(case: Case, lines: list[str], by: Any = None) -> bool:
    by = by or checker()
    try:
        model = by.Model(case.kind, case.content.encode())
        by.verify(lines, by.either(by.parsed(json.dumps(case.shared)), model))
    except Exception:
        return False
    return True


def test_a_walk_may_be_as_deep_as_it_likes() -> None:
    """A split must leave cells on both sides, so a walk is no deeper than there are cells, and nothing recurs."""
    case = next(one for one in every(SOME) if one.kind == "xgboost" and one.own["below"])
    endless = replace(case, steps=[json.dumps({"split": [1, 0]})] * 100_000)
    assert not endless.accepted()
    nested = "[" * 100_000
    assert not replace(case, steps=[nested]).accepted()
    assert not replace(case, steps=['{"toll": ' + "9" * 10**6 + "}"]).accepted()
    assert not replace(case, steps=['{"rate": [1e999999999, 0]}']).accepted()


def test_a_row_that_may_become_nothing_is_proven_to_have_no_answer() -> None:
    """No cell is affordable, so no tree has a leaf."""
    case = by_hand()[1]
    stuck = {**case.own["columns"][0], "stay": False, "least": (5.0).hex(), "most": (4.0).hex()}
    assert replace(case, own={**case.own, "columns": [stuck]}, steps=['{"end":"cost"}']).accepted()


def test_another_model_or_question_is_refused(tmp_path: Path) -> None:
    X, y = table()
    model = estimator("xgboost").fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:1])
    (proof,) = bf.prove(answers, model, tmp_path)
    assert proof.file is not None
    check = partial(
        subprocess.run, [sys.executable, str(tmp_path / "butfor_check.py"), str(proof.file)], capture_output=True
    )
    assert check().returncode == 0
    for name in sorted(path.name for path in tmp_path.glob("*.json")):
        file = tmp_path / name
        kept = file.read_bytes()
        file.write_bytes(kept + b" ")
        done = check(text=True)
        assert done.returncode == 1
        assert f"{name} is another one, or was changed" in done.stdout
        file.unlink()
        assert "a file is not there" in check(text=True).stdout
        file.write_bytes(kept)
    assert check().returncode == 0
