"""Files that earlier versions wrote are read, tell what they told then, and hold when they are checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import butfor as bf
from butfor.records.schema import ContradictionError, sealed
from tests.records.past import QUESTIONS, told

SAVED = Path(__file__).parent / "saved"
FILES = sorted(path.relative_to(SAVED).as_posix() for path in SAVED.glob("*/*.json*"))
"""The folders are named after the commits that wrote them."""

SURVIVAL = "survival"


def read(name: str) -> bf.Explanations:
    found = bf.load(SAVED / name)
    return found if isinstance(found, bf.Explanations) else bf.Explanations.from_json(found.to_json())


def record_of(folder: str) -> Any:
    """The record of a saved answer. The first version wrote a list even of one."""
    data = json.loads((SAVED / folder / "categories.json").read_text(encoding="utf-8"))
    return data[0] if isinstance(data, list) else data


@pytest.mark.parametrize("name", FILES)
def test_a_saved_file_tells_what_it_told(name) -> None:
    facts = (SAVED / name).with_suffix(".txt").read_text(encoding="utf-8")
    found = bf.load(SAVED / name)
    assert told(found) == facts
    assert told(bf.Explanations.from_json(found.to_json())) == facts
    if isinstance(found, bf.Explanations):
        assert told(bf.Explanations.from_jsonl(str(found.to_jsonl()))) == facts


@pytest.mark.shorter(9)
@pytest.mark.parametrize("name", FILES)
def test_a_saved_file_holds_when_it_is_checked(name) -> None:
    kind = Path(name).stem
    if kind == SURVIVAL:
        pytest.importorskip("sksurv")
    model, _ = QUESTIONS[kind]
    found = bf.check(bf.load(SAVED / name), model())
    fingerprint = "the model is the one that was explained"  # on another processor the last digits of leaves may differ
    results = getattr(found, "results", [found])
    assert [one.name for result in results for one in result.checks if one.passed is False] in ([], [fingerprint])
    bounds = [one for result in results for one in result.checks if "bound" in one.name]
    assert all(one.passed for one in bounds)


def test_files_with_and_without_hashes_are_there() -> None:
    kept = {name: "hash" in (SAVED / name).read_text(encoding="utf-8") for name in FILES}
    assert {name.partition("/")[0] for name, has in kept.items() if not has} == {"0523fe6"}
    assert {name.partition("/")[0] for name in kept} == {"0523fe6", "dea9226", "5fdc18b"}
    assert not read("0523fe6/several.json").sealed
    assert read("dea9226/several.json").sealed


CHANGES = {
    "a value": (("point", "values", "debt"), 11, "point.values.debt is 11, but 12 follows from the rest"),
    "a code": (("point", "codes", 1), 11.0, "point.values.debt is 12, but 11 follows from the rest"),
    "a level": (("factual", "values", "job"), "clerk", "factual.values.job is 'clerk', but 'pilot' follows"),
    "a gap": (("certificate", "gap"), 0.5, "gap is 0.5, but 0.0 follows from the rest"),
    "a cost": (("certificate", "cost"), 0.1, "cost is 0.1923"),
    "a change": (("changes", 0, "after"), 11, r"changes\[0\].after is 11, but 12 follows"),
    "a short row": (("factual", "codes"), [12.0], "does not follow its schema: ValueError"),
    "no codes": (("factual",), {}, "does not follow its schema: KeyError: 'codes'"),
    "no certificate": (("certificate",), None, "does not follow its schema: TypeError"),
    "a status": (("certificate", "status"), "SURE", "the answer has 'SURE' as status. It must be one of"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_saved_record_that_was_changed_is_refused_in_words(change) -> None:
    place, value, words = CHANGES[change]
    for folder in ("0523fe6", "dea9226"):
        part = record = record_of(folder)
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        if folder == "dea9226":
            with pytest.raises(ContradictionError, match="the record was changed since it was written"):
                bf.Explanation.from_json(json.dumps(record))
            record = sealed(record)
        with pytest.raises(bf.errors.InputError, match=words):
            bf.Explanation.from_json(json.dumps(record))


def test_a_score_beyond_its_threshold_must_follow_from_its_numbers() -> None:
    record = record_of("dea9226")
    record["score"]["beyond"] += 0.1
    with pytest.raises(ContradictionError, match=r"score\.beyond is 0\.6, but 0\.5 follows"):
        bf.Explanation.from_json(json.dumps(sealed(record)))


@pytest.mark.parametrize("folder", ["dea9226", "5fdc18b"])
def test_a_saved_batch_that_was_changed_is_refused_with_its_line(folder) -> None:
    text = (SAVED / folder / "several.jsonl").read_text(encoding="utf-8")
    for was, now, words in (
        ('"debt":12.0', '"debt":11.0', "line 4: it was changed"),
        ('"model":"Pipeline"', '"model":"Tree"', "line 1: the header was changed"),
        ('"answers":6', '"answers":5', "line 1: the header was changed"),
    ):
        assert was in text
        with pytest.raises(ContradictionError, match=words):
            bf.Explanations.from_jsonl(text.replace(was, now))
