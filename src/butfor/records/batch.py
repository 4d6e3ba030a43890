"""Many answers to one question as JSON lines: what they share once, then a short line for each.

The schema is versioned and described in docs/reference/batches.md.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

import numpy as np

from butfor.errors import ButforError, InputError
from butfor.explanation.explanations import Explanations
from butfor.records import tables
from butfor.records.lines import AnswerLine, line_from, lines_of, together
from butfor.records.parts import (
    ContradictionError,
    contradicted,
    contradiction,
    origin_data,
    origin_from,
    parsed,
    question_data,
    question_from,
    space_data,
    space_from,
)
from butfor.records.schema import BATCH_HEADER, BATCH_LINE, hash_of, sealed
from butfor.records.whole_file import path_of, write_whole
from butfor.space.space import Space

BATCH_SCHEMA = "butfor.explanations/1"

SHARED_NAMES = (
    "rank", "status", "solver", "stopped", "checks", "conflict", "seconds", "seed", "fingerprint", "versions", "notes",
    "missing", "scored", "coin",
)  # fmt: skip
"""What most answers of a batch have in common. A line says it only if it differs from the header."""

ONCE_MORE = "Write the batch again with to_jsonl()."


def dump(answers: Explanations) -> str:
    """The batch as text."""
    return "".join(_written(answers))


def dump_to(answers: Explanations, path: str | PathLike[str]) -> None:
    """Write the batch into a file, completely or not at all."""
    write_whole(path, _written(answers))


def load(source: str | PathLike[str]) -> Explanations:
    """The answers of a batch, from the path of its file or from its text."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return read(io.StringIO(source))
    if isinstance(source, str) and ("\n" in source or not source.strip()):
        raise InputError(
            "the text is no batch of JSON lines.", "Give the path of a file that to_jsonl() wrote, or its text."
        )
    path = path_of(source)
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "The path of a file that to_jsonl() wrote is needed.")
    try:
        with path.open(encoding="utf-8-sig") as file:
            return read(file)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8.", "A file that to_jsonl() wrote is needed.") from None


def is_batch(text: str) -> bool:
    """Whether a text begins with the header of a batch."""
    try:
        header = json.loads(text.lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and str(header.get("schema")).startswith(BATCH_SCHEMA.rstrip("0123456789"))


def read(texts: Iterable[str]) -> Explanations:
    """The answers in the lines of a batch. Every line is checked, and an error names the number of the line."""
    numbered = ((number, text) for number, text in enumerate(texts, 1) if text.strip())
    number, text = next(numbered, (0, ""))
    if not number:
        raise InputError("the batch is empty.", "Its first line must hold what its answers share.", ONCE_MORE)
    with _told(number):
        header = _parsed_line(text)
        _check_header(header)
        space = space_from(header["space"], header["table"])
        wrong = contradiction(header, _same_again(header, space))
        if wrong:
            raise contradicted(wrong)
    numbers, lines = [], []
    for number, text in numbered:
        with _told(number):
            lines.append(_line(_parsed_line(text), header, number, space))
            numbers.append(number)
    if len(lines) != header["answers"]:
        raise ContradictionError(
            f"the batch has {len(lines)} answers, and line 1 says that there are {header['answers']}.",
            "It was cut off, or lines were removed or added.",
            ONCE_MORE,
        )
    return _together(header, space, lines, numbers)


def _written(answers: Explanations) -> Iterator[str]:
    """The lines of the batch."""
    header = sealed(_header(answers))
    yield _compact(header)
    shared = header["shared"]
    for number, line in enumerate(lines_of(answers), 2):
        facts = line.facts(answers.space)
        own = {name: value for name, value in facts.items() if name not in shared or value != shared[name]}
        yield _compact({**own, "hash": _hash_of_line(own, header, number)})


def _header(answers: Explanations) -> dict[str, Any]:
    changing = np.flatnonzero(answers.found & (answers.costs > 0))
    first = int(changing[0]) if len(changing) else 0
    typical = next(lines_of(answers[first : first + 1]), None)
    facts = {} if typical is None else typical.facts(answers.space)
    return {
        "schema": BATCH_SCHEMA,
        "butfor": facts.get("versions", {}).get("butfor"),
        "created": answers.created,
        "model": answers.model,
        **origin_data(answers),
        "answers": len(answers),
        "question": question_data(answers.question),
        "space": space_data(answers.space),
        "table": tables.kind_of(answers.table, answers.space.names),
        "shared": {name: facts[name] for name in SHARED_NAMES if name in facts},
    }


def _hash_of_line(line: dict[str, Any], header: dict[str, Any], number: int) -> str:
    """The hash of a line, which holds only under this header and in this place."""
    return hash_of({**line, "header": header["hash"], "line": number})


def _check_header(header: dict[str, Any]) -> None:
    schema = header.get("schema")
    if schema != BATCH_SCHEMA:
        raise InputError(
            f"data of the schema {schema!r} was given.",
            f"A batch of the schema {BATCH_SCHEMA!r} is needed.",
            "Read a single answer with Explanation.from_json, and a batch of a newer butfor with that version.",
        )
    BATCH_HEADER(header, "")
    if header["hash"] != hash_of(header):
        raise ContradictionError(
            "the header was changed since it was written: its hash is not that of what it holds.", ONCE_MORE
        )


def _same_again(header: dict[str, Any], space: Space) -> dict[str, Any]:
    """What follows from other values of the header."""
    known = header["shared"].get("versions")
    again = {"butfor": known.get("butfor")} if known else {}
    return {**again, "space": space_data(space)}


def _line(own: dict[str, Any], header: dict[str, Any], number: int, space: Space) -> AnswerLine:
    """The answer of one line."""
    if "schema" in own:
        raise InputError("it is the header of another batch, or a record.", "A file must hold one batch.")
    facts = {**header["shared"], **own}
    BATCH_LINE(facts, "")
    if facts.pop("hash") != _hash_of_line(own, header, number):
        raise ContradictionError(
            "it was changed since it was written, or it is of another batch or place: its hash is not that of what it "
            "holds under this header.",
            ONCE_MORE,
        )
    return line_from(facts, space)


def _together(header: dict[str, Any], space: Space, lines: list[AnswerLine], numbers: list[int]) -> Explanations:
    """The answers in columns. Their table must be as the batch says."""
    with _told(1):
        answers = together(
            lines,
            space,
            header["table"],
            question=question_from(header["question"]),
            model=header["model"],
            created=header["created"],
            sealed=True,
            **origin_from(header),
        )
        wrong = contradiction(header["table"], tables.kind_of(answers.table, space.names), "table")
        if wrong:
            raise contradicted(wrong)
    for number, line, again in zip(numbers, lines, lines_of(answers), strict=True):
        if (line.label, line.missing) != (again.label, again.missing):
            with _told(number):
                raise contradicted(
                    f"a row of its table has no label {line.label!r}, or no columns {line.missing} that are missing as NaN"
                )
    return answers


def _compact(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _parsed_line(text: str) -> dict[str, Any]:
    """The object in a line. Only the last line of a file can be one that does not end."""
    try:
        data = parsed(text)
    except InputError as error:
        if text.endswith("\n"):
            raise InputError(error.given, error.needed, "Give what to_jsonl() wrote.") from None
        raise ContradictionError("it is cut off: the batch was not written to its end.", ONCE_MORE) from None
    if not isinstance(data, dict):
        raise InputError(f"it holds {text.strip()[:60]}.", "An object is needed.", "Give what to_jsonl() wrote.")
    return data


@contextmanager
def _told(number: int) -> Iterator[None]:
    """Errors that say in which line of the batch they arose."""
    try:
        yield
    except ButforError as error:
        raise type(error)(f"line {number}: {error.given}", error.needed, error.remedy) from None
    except Exception as error:  # whatever a wrong value leads to in the libraries that rebuild the rows
        raise InputError(f"line {number} does not follow its schema:", f"{type(error).__name__}: {error}.") from None
