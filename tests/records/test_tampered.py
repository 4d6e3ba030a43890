"""A file of an answer in which somebody changed one value: it is refused, and always in words."""

from __future__ import annotations

import contextlib
import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.neural_network import MLPClassifier

import butfor as bf
from butfor.audit.recheck import check
from butfor.datasets import loans
from butfor.records.schema import SCHEMA, sealed
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, STUCK, X, Y
from tests.shorter import first

FLOWERS, KINDS = load_iris(return_X_y=True)
NET = MLPClassifier((4,), activation="tanh", solver="lbfgs", max_iter=2000, random_state=0).fit(FLOWERS, KINDS)

BOOSTED = loans.pipeline()
BOOSTED.steps[-1] = ("boosting", GradientBoostingClassifier(n_estimators=20, random_state=0))
BOOSTED.fit(X, Y)
STUCK_SUM = [*STUCK, bf.fixed("savings")]

HASH_ONLY = re.compile(
    r"created|data_fingerprint"
    r"|row|label|stopped|seconds|notes(\..*)?|evidence(\.(?!farthest).*)?|seed|solver|missing|factual\[\d+\]|versions\.(?!butfor).*"
    r"|shared\.(solver|stopped|seconds|seed|notes.*|evidence|missing|versions\.(?!butfor).*)"
    r"|space\[\d+\]\.(low|high|step|anchor|ordered|missing|none|single|typical|mad|std|why|levels.*)"
    r"|table\.columns\[\d+\]\.(type|ordered|categories.*)"
)
"""The values that nothing but the hash covers: docs/how-to/certificates.md lists the same.

A row is said only once: changed, it is another row with a true answer.
"""


def answers() -> dict[str, tuple[Any, bf.Explanation]]:
    """Answers of each kind, with their models."""
    several = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE, k=3)
    net = bf.Explainer(NET, FLOWERS).explain(FLOWERS[:1], target=2, solver=bf.Swarm(particles=10, iterations=10))
    return {
        "optimal": (MODEL, EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE).only),
        "impossible": (MODEL, EXPLAINER.explain(ROW, target="approved", constraints=STUCK).only),
        "impossible for a sum": (
            BOOSTED,
            bf.Explainer(BOOSTED, X).explain(ROW, target="approved", constraints=STUCK_SUM).only,
        ),
        "already so": (MODEL, EXPLAINER.explain(ROW, target="rejected").only),
        "second": (MODEL, several[1]),
        "third": (MODEL, several[2]),
        "black box": (NET, net.only),
    }


ANSWERS = answers()


def leaves(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values that hold no other value."""
    if isinstance(data, dict | list) and data:
        keys = data if isinstance(data, dict) else range(len(data))
        for key in keys:
            yield from leaves(data[key], (*place, key))
    else:
        yield place


def named(place: tuple[Any, ...]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).lstrip(".")


def put(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    """A copy of the record with another value at this place."""
    changed = copy.deepcopy(data)
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


def at(data: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        data = data[key]
    return data


def other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + " or so"
    return {"list": ["x"], "dict": {"x": 1.0}, "NoneType": 1.0}[type(value).__name__]


def read(record: Any) -> bf.Explanation | None:
    """The answer; None if it is refused in words."""
    try:
        return bf.Explanation.from_json(json.dumps(record))
    except bf.ButforError:
        return None


def refused(record: Any, model: Any, seconds: float = 60.0) -> bool:
    """Whether reading or checking the record fails, in words."""
    answer = read(record)
    return answer is None or not check(answer, model, time_limit=seconds).passed


def some(places: Iterator[tuple[Any, ...]], one_in: int, start: int = 0) -> list[tuple[Any, ...]]:
    """One in so many places; others for another start."""
    return list(places)[start % one_in :: one_in]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("one_in", first(1, [36, 1]))
@pytest.mark.parametrize("kind", ANSWERS)
def test_every_changed_value_is_refused(kind, one_in) -> None:
    model, answer = ANSWERS[kind]
    record = json.loads(answer.to_json())
    assert not refused(record, model)
    passed = []
    for place in some(leaves(record), one_in, list(ANSWERS).index(kind)):
        changed = put(record, place, other(at(record, place)))
        assert refused(changed, model), f"{named(place)} was changed, and the hash was not"
        if place != ("hash",) and not refused(sealed(changed), model):
            passed.append(named(place))
    unproven = ["rank"] if answer.certificate.status is bf.Status.VALID else []
    assert [name for name in passed if name not in unproven and not HASH_ONLY.fullmatch(name)] == []


DELETED = object()
WRONG = (None, "text", [], ["text"], {}, {"kind": "L1"}, True, -1, 10**400, 1e308, DELETED)


def nodes(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values, those that hold others as well."""
    if place:
        yield place
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from nodes(data[key], (*place, key))


def spoilt(record: Any, place: tuple[Any, ...], value: Any) -> Any:
    changed = put(record, place, value)
    if value is DELETED:
        del at(changed, place[:-1])[place[-1]]
    return sealed(changed)


@pytest.mark.parametrize("one_in", first(1, [9, 1]))
@pytest.mark.parametrize("kind", ["impossible"])
def test_a_value_of_any_type_is_read_or_refused_in_words(kind, one_in) -> None:
    _, answer = ANSWERS[kind]
    record = json.loads(answer.to_json())
    for place in some(nodes(record), one_in):
        for value in WRONG:
            read(spoilt(record, place, value))


@pytest.mark.long
@pytest.mark.parametrize("one_in", [12, 1])
@pytest.mark.parametrize("kind", ["optimal"])
def test_a_question_of_any_type_is_checked_or_refused_in_words(kind, one_in) -> None:
    model, answer = ANSWERS[kind]
    record = json.loads(answer.to_json())
    for place in some(nodes(record["question"], ("question",)), one_in):
        for value in WRONG:
            refused(spoilt(record, place, value), model, seconds=1.0)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "1" * 10_000,
        f'{{"schema": "{SCHEMA}", "cost": 1e999}}',
        f'{{"schema": "{SCHEMA}"}}',
        '{"schema": "butfor.explanation/1", "cost": 1e999}',
        '{"schema": "butfor.explanation/1"}',
    ],
)
def test_a_text_that_no_reader_takes_is_refused(text) -> None:
    with pytest.raises(bf.errors.InputError):
        bf.Explanation.from_json(text)


@pytest.mark.long
@pytest.mark.parametrize("kind", ANSWERS)
def test_any_value_of_any_type_is_checked_or_refused_in_words(kind) -> None:
    model, answer = ANSWERS[kind]
    record = json.loads(answer.to_json())
    kinds = list(ANSWERS).index(kind)
    for number, place in enumerate(nodes(record)):
        for value in WRONG[
            (number + kinds) % 3 :: 3
        ]:  # each value at every third place, and elsewhere in the next kind
            refused(spoilt(record, place, value), model, seconds=0.5)


def lines_of(constraints: list[Any]) -> list[Any]:
    """The data in the lines of a batch: a rejected applicant, and an approved one."""
    answers = EXPLAINER.explain(X.iloc[[206, 12]], target="approved", constraints=constraints)
    return [json.loads(line) for line in str(answers.to_jsonl()).splitlines()]


BATCHES = {"possible": lines_of(POSSIBLE), "impossible": lines_of(STUCK)}
BATCH_LINES = BATCHES["possible"]


def batch_refused(lines: list[Any]) -> bool:
    """Whether reading or checking the batch fails, in words."""
    try:
        answers = bf.Explanations.from_jsonl("\n".join(map(json.dumps, lines)))
    except bf.ButforError:
        return True
    return not check(answers, MODEL).passed


def batch_sealed(lines: list[Any]) -> list[Any]:
    """The lines with right hashes, as somebody writes them who knows of hashes."""
    header = sealed(lines[0])
    made = [header]
    for number, line in enumerate(lines[1:], 2):
        made.append(sealed(line, header=header["hash"], line=number))
    return made


def test_a_batch_that_was_not_changed_is_taken() -> None:
    assert not batch_refused(BATCH_LINES)
    assert batch_sealed(BATCH_LINES) == BATCH_LINES


@pytest.mark.shorter(1)
@pytest.mark.parametrize("one_in", first(1, [36, 1]))
@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.filterwarnings("ignore:.*lie outside the ranges")
def test_every_changed_value_of_a_batch_is_refused(kind, one_in) -> None:
    lines, passed = BATCHES[kind], []
    for place in some(leaves(lines), one_in, 3 * list(BATCHES).index(kind)):
        changed = put(lines, place, other(at(lines, place)))
        assert batch_refused(changed), f"{named(place)} was changed, and the hash was not"
        if place[-1] != "hash" and not batch_refused(batch_sealed(changed)):
            passed.append(named(place[1:]))
    assert [name for name in passed if not HASH_ONLY.fullmatch(name)] == []


@pytest.mark.parametrize("one_in", first(1, [3, 1]))
def test_every_value_that_is_left_out_of_a_batch_is_noticed(one_in) -> None:
    for place in some(nodes(BATCH_LINES), one_in):
        if len(place) > 1 and not isinstance(place[-1], int):
            changed = copy.deepcopy(BATCH_LINES)
            del at(changed, place[:-1])[place[-1]]
            assert batch_refused(changed), f"{named(place)} was left out"


@pytest.mark.parametrize("one_in", first(1, [10, 1]))
def test_a_value_of_any_type_in_a_batch_is_read_or_refused_in_words(one_in) -> None:
    for place in some(nodes(BATCH_LINES), one_in):
        for value in WRONG if len(place) > 1 else ():
            changed = put(BATCH_LINES, place, value)
            if value is DELETED:
                del at(changed, place[:-1])[place[-1]]
            with contextlib.suppress(bf.ButforError):
                bf.Explanations.from_jsonl("\n".join(map(json.dumps, batch_sealed(changed))))
