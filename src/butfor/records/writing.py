"""Answers as JSON: a record for each, or a batch of lines. Both are described in docs/reference/json.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np

from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.one_answer import as_batch
from butfor.records.facts import Facts, facts_of, readable
from butfor.records.header import header_of
from butfor.records.schema import sealed
from butfor.records.whole_file import write_whole

SHARED_NAMES = (
    "rank", "status", "solver", "stopped", "checks", "conflict", "seconds", "seed", "fingerprint", "versions", "notes",
    "evidence", "missing", "scored", "coin",
)  # fmt: skip
"""What most answers of a batch have in common. A line says it only if it differs from the header."""

LAST_NAMES = ("question", "space", "table")
"""What stands behind the answer in its record, because it is long."""


def record_of(answer: Explanation, *, indent: int | None = 2) -> str:
    """The answer as a JSON object. Its numbers are read back exactly."""
    return next(_records(as_batch(answer), indent))


def list_of(answers: Explanations, *, indent: int | None = 2) -> str:
    """The answers as a JSON list of their records.

    It is put together from their texts, because the data of thousands of answers would take a gigabyte.
    """
    texts = list(_records(answers, indent))
    if indent is None or not texts:
        return f"[{', '.join(texts)}]"
    glue = "\n" + " " * indent
    return f"[{glue}{f',{glue}'.join(text.replace(chr(10), glue) for text in texts)}\n]"


def batch_of(answers: Explanations) -> str:
    """The answers as JSON lines: what they share once, then a short line for each."""
    return "".join(lines_of(answers))


def write_batch(answers: Explanations, path: str | PathLike[str]) -> None:
    """Write the batch into a file, completely or not at all."""
    write_whole(path, lines_of(answers))


def _records(answers: Explanations, indent: int | None) -> Iterator[str]:
    header = header_of(answers)
    for i, facts in enumerate(facts_of(answers)):
        record = {**header, **facts, **readable(answers, i)}
        record |= {name: record.pop(name) for name in LAST_NAMES}
        yield json.dumps(sealed(record), ensure_ascii=False, allow_nan=False, indent=indent)


def lines_of(answers: Explanations) -> Iterator[str]:
    """The lines of the batch: the header, then one for each answer."""
    header = sealed({**header_of(answers), "answers": len(answers), "shared": _typical(answers)})
    yield _compact(header)
    shared = header["shared"]
    for number, facts in enumerate(facts_of(answers), 2):
        own = {name: value for name, value in facts.items() if name not in shared or value != shared[name]}
        yield _compact(sealed(own, header=header["hash"], line=number))


def _typical(answers: Explanations) -> Facts:
    """What most of the answers are likely to have in common: the facts of the first that changes something."""
    changing = np.flatnonzero(answers.found & (answers.costs > 0))
    first = int(changing[0]) if len(changing) else 0
    facts = next(facts_of(answers[first : first + 1]), {})
    return {name: facts[name] for name in SHARED_NAMES if name in facts}


def _compact(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
