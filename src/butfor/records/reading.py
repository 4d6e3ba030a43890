"""Answers from JSON, whichever way they were written. A file is read as a whole or not at all."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from butfor.errors import InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.records.facts import Facts, Own, answers_from, facts_of, own_from, readable
from butfor.records.header import header_of, space_from
from butfor.records.older import OLDER_SCHEMAS, evidence_apart, renewed
from butfor.records.places import at_place, parsed
from butfor.records.schema import (
    HEADER_NAMES,
    SCHEMA,
    ContradictionError,
    check_agreement,
    check_header,
    check_line,
    check_record,
    hash_of,
)
from butfor.records.whole_file import path_of

ONCE_MORE = "Write the batch again with to_jsonl()."

TOGETHER = 1000
"""So many records in a row are read together, at most."""


@dataclass(frozen=True)
class _Written:
    """A header with its lines, each of the right hash and types. A record is a header with one line.

    `home`, `places`: where in the file the header and the lines stand, for errors.
    """

    header: dict[str, Any]
    home: str
    lines: list[Facts]
    places: list[str]
    sealed: bool = True


def load(path: str | os.PathLike[str]) -> Explanation | Explanations:
    """The answer or the answers in a file that `to_json` or `to_jsonl` wrote."""
    text = _text_of(path)
    return together(text) if _is_batch(text) or text.lstrip().startswith("[") else single(text)


def single(text: str) -> Explanation:
    """The answer of a record."""
    if _is_batch(text) or isinstance(data := parsed(text), list):
        raise InputError(
            "a list or a batch of answers was given.", "A single answer is needed.", "Use bf.Explanations.from_json."
        )
    return _answers(_of_record(data)).only


def together(text: str) -> Explanations:
    """The answers to one question: a record, a list of records, or a batch."""
    if _is_batch(text):
        return _answers(_of_batch(text))
    records = _of_records(text)
    if not records:
        raise InputError("the text contains no answer.", "At least one is needed.")
    if differs := _difference(records):
        raise InputError(
            differs, "Only the answers of one call belong together.",
            "Read such answers one by one, with Explanation.from_json.",
        )  # fmt: skip
    return _joined(records)


def each(path: str | os.PathLike[str]) -> Sequence[Explanation]:
    """The answers in a file, also those of several calls. Those of one call are read together."""
    text = _text_of(path)
    if _is_batch(text) or os.fspath(path).lower().endswith(".jsonl"):
        return _answers(_of_batch(text))
    records = _of_records(text)
    if not records or _difference(records):
        return [_answers(one).only for one in records]
    return _joined(records)


def _difference(records: Sequence[_Written]) -> str:
    """How records of several calls differ, in words; empty if they belong together."""
    first = records[0]
    for number, one in enumerate(records, 1):
        names = [name for name in HEADER_NAMES if first.header.get(name) != one.header.get(name)]
        names += ["hash"] * (one.sealed != first.sealed)
        if names:
            return f"answer {number} has another {names[0]} than the first."
    return ""


def runs(records: Iterable[dict[str, Any]]) -> Iterator[Explanations]:
    """The answers in records that come one after the other. Neighbours of one call come together, up to a thousand."""
    run = list[_Written]()
    for one in map(_of_record, records):
        if run and (len(run) == TOGETHER or _difference([run[0], one])):
            yield _joined(run)
            run = []
        run.append(one)
    if run:
        yield _joined(run)


def _joined(records: Sequence[_Written]) -> Explanations:
    """The answers of records with one header."""
    lines, places = [line for one in records for line in one.lines], [place for one in records for place in one.places]
    return _answers(replace(records[0], lines=lines, places=places))


def batch(source: str | os.PathLike[str]) -> Explanations:
    """The answers of a batch, from the path of its file or from its text."""
    if not isinstance(source, str) or not (source.lstrip().startswith("{") or "\n" in source or not source.strip()):
        return _answers(_of_batch(_text_of(source)))
    if not source.lstrip().startswith("{"):
        raise InputError(
            "the text is no batch of JSON lines.", "Give the path of a file that to_jsonl() wrote, or its text."
        )
    return _answers(_of_batch(source))


def _text_of(path: str | os.PathLike[str]) -> str:
    found, needed = path_of(path), "file that to_json() or to_jsonl() wrote is needed."
    if found.is_dir():
        raise InputError(f"{found} is a folder.", f"The path of a {needed}")
    try:
        return found.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{found} is not text in UTF-8.", f"A {needed}") from None


def _is_batch(text: str) -> bool:
    """Whether a text begins with the header of a batch."""
    try:
        header = json.loads(text.lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "answers" in header


def _answers(written: _Written) -> Explanations:
    """The answers, if nothing in them contradicts the rest."""
    header, lines = written.header, written.lines
    with at_place(written.home):
        space = space_from(header)
    read = list[Own]()
    for place, facts in zip(written.places, lines, strict=True):
        with at_place(place):
            read.append(own_from(facts, space))
    with at_place(written.home):
        answers = answers_from(header, space, lines, read, written.sealed)
        check_agreement(header, header_of(answers))
    for i, (place, facts, again) in enumerate(zip(written.places, lines, facts_of(answers), strict=True)):
        with at_place(place):
            check_agreement(facts, {**again, **readable(answers, i)} if "changes" in facts else again)
    return answers


def _of_records(text: str) -> list[_Written]:
    data = parsed(text)
    if not isinstance(data, list):
        return [_of_record(data)]
    return [_of_record(one, f"answer {number}" if len(data) > 1 else "") for number, one in enumerate(data, 1)]


def _of_record(data: Any, place: str = "") -> _Written:
    with at_place(place):
        record = _opened(data, f"An answer of the schema {SCHEMA!r} is needed.")
        check_record(record, "")
    header = {name: record.pop(name) for name in HEADER_NAMES if name in record}
    facts = {name: value for name, value in record.items() if name != "hash"}
    return _Written(header, place, [facts], [place], "hash" in data)


def _of_batch(text: str) -> _Written:
    numbered = [(n, line) for n, line in enumerate(io.StringIO(text), 1) if line.strip()]
    if not numbered:
        raise InputError("the batch is empty.", "Its first line must hold what its answers share.", ONCE_MORE)
    (number, line), *rest = numbered
    home = f"line {number}"
    with at_place(home):
        header = _opened(_object_in(line), f"A batch of the schema {SCHEMA!r} is needed.")
        check_header(header, "")
    places = [f"line {number}" for number, _ in rest]
    lines = [_line(line, header, number) for number, line in rest]
    if len(lines) != header["answers"]:
        raise ContradictionError(
            f"the batch has {len(lines)} answers, and {home} says that there are {header['answers']}.",
            "It was cut off, or lines were removed or added.",
            ONCE_MORE,
        )
    return _Written(header, home, lines, places)


def _line(text: str, header: dict[str, Any], number: int) -> Facts:
    """The facts in a line, with what it shares with the others."""
    with at_place(f"line {number}"):
        own = _object_in(text)
        if "schema" in own:
            raise InputError("it is the header of another batch, or a record.", "A file must hold one batch.")
        facts = evidence_apart({**header["shared"], **own})
        check_line(facts, "")
        if facts.pop("hash") != hash_of({**own, "header": header["hash"], "line": number}):
            raise ContradictionError(
                "it was changed since it was written, or it is of another batch or place: its hash is not that of what "
                "it holds under this header.",
                ONCE_MORE,
            )
        return facts


def _opened(data: Any, needed: str) -> dict[str, Any]:
    """A record or a header in the layout of today. Its hash must be right, if it has one."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA and schema not in OLDER_SCHEMAS:
        raise InputError(
            f"data of the schema {schema!r} was given.", needed, "Read answers of a newer butfor with that version."
        )
    if "hash" in data and data["hash"] != hash_of(data):
        raise ContradictionError(
            f"the {'header' if 'answers' in data else 'record'} was changed since it was written: its hash is not that of "
            "what it holds.",
            "Give the file as to_json(), to_jsonl() or `butfor explain` wrote it.",
        )
    return renewed(data)


def _object_in(line: str) -> dict[str, Any]:
    """The object in a line. Only the last line of a file can be one that does not end."""
    try:
        data = parsed(line)
    except InputError as error:
        if line.endswith("\n"):
            raise InputError(error.given, error.needed, "Give what to_jsonl() wrote.") from None
        raise ContradictionError("it is cut off: the batch was not written to its end.", ONCE_MORE) from None
    if not isinstance(data, dict):
        raise InputError(f"it holds {line.strip()[:60]}.", "An object is needed.", "Give what to_jsonl() wrote.")
    return data
