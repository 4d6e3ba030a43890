"""An answer as JSON and back. The schema is versioned and described in docs/reference/json.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.errors import ButforError, InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.problem.spec import from_spec, to_spec
from butfor.records import batch, tables
from butfor.records.lines import line_of, together
from butfor.records.parts import (
    ORIGIN,
    ContradictionError,
    check_closest,
    codes_from,
    contradicted,
    contradiction,
    origin_data,
    origin_from,
    parsed,
    question_data,
    question_from,
    row_data,
    score_data,
    score_from,
    space_data,
    space_from,
)
from butfor.records.schema import check_types, hash_of, sealed
from butfor.verdict import certificate

SCHEMA = "butfor.explanation/1"


def dump(answer: Explanation, *, indent: int | None = 2) -> str:
    """The answer as JSON text. Its numbers are read back exactly."""
    return _text(sealed(to_data(answer)), indent)


def dump_many(answers: Iterable[Explanation], *, indent: int | None = 2) -> str:
    """A JSON list of answers.

    It is put together from their texts, because the data of thousands of answers would take a gigabyte.
    """
    texts = [dump(answer, indent=indent) for answer in answers]
    if indent is None or not texts:
        return f"[{', '.join(texts)}]"
    glue = "\n" + " " * indent
    return f"[{glue}{f',{glue}'.join(text.replace(chr(10), glue) for text in texts)}\n]"


def load(text: str) -> Explanation:
    """The answer that `dump` wrote."""
    if batch.is_batch(text) or isinstance(data := parsed(text), list):
        raise InputError(
            "a list or a batch of answers was given.", "A single answer is needed.", "Use bf.Explanations.from_json."
        )
    return from_data(data)


def load_many(text: str) -> Sequence[Explanation]:
    """The answers that `dump_many`, `dump` or `to_jsonl` wrote."""
    if batch.is_batch(text):
        return batch.load(text)
    data = parsed(text)
    return [from_data(one) for one in (data if isinstance(data, list) else [data])]


def load_together(text: str) -> Explanations:
    """The answers to one question, in columns, that `dump_many`, `dump` or `to_jsonl` wrote."""
    if batch.is_batch(text):
        return batch.load(text)
    answers = load_many(text)
    if not answers:
        raise InputError("the text contains no answer.", "At least one is needed.")
    first, shared = answers[0], _shared(answers[0])
    for number, answer in enumerate(answers, 1):
        differs = next((name for name, value in _shared(answer).items() if value != shared[name]), None)
        if differs:
            raise InputError(
                f"answer {number} has another {differs} than the first.",
                "Only the answers of one call belong together.",
                "Read such answers one by one, with Explanation.from_json.",
            )
    return together(
        [line_of(answer) for answer in answers],
        first.space,
        shared["table"],
        question=first.question,
        model=first.model,
        created=first.created,
        sealed=first.sealed,
        **origin_from(shared),
    )


def _shared(answer: Explanation) -> dict[str, Any]:
    """What the answers of one call have in common, as plain data."""
    return {
        "space": space_data(answer.space),
        "question": question_data(answer.question),
        "table": tables.kind_of(answer.factual, answer.space.names),
        "model": answer.model,
        "created": answer.created,
        "hash": answer.sealed,
        **{name: getattr(answer, name) for name in ORIGIN},
    }


def to_data(answer: Explanation) -> dict[str, Any]:
    """The answer as plain data that follows the schema. Words for columns are no part of it."""
    answer = replace(answer, words=None)
    return {
        "schema": SCHEMA,
        "butfor": answer.certificate.versions.get("butfor"),
        "created": answer.created,
        "model": answer.model,
        **origin_data(answer),
        "row": answer.row,
        "rank": answer.rank,
        "before": to_spec(answer.before),
        "after": to_spec(answer.after),
        "cost": answer.cost if answer.found else None,
        **score_data(answer.score),
        "changes": [
            {
                "column": c.name,
                "before": to_spec(c.before),
                "after": to_spec(c.after),
                "change": c.change,
                "text": list(c.text),
            }
            for c in answer.changes
        ],
        "certificate": answer.certificate.to_dict(),
        "question": question_data(answer.question),
        "factual": row_data(answer.space, answer.factual_codes),
        "point": None if answer.point_codes is None else row_data(answer.space, answer.point_codes),
        **({} if answer.closest_codes is None else {"closest": row_data(answer.space, answer.closest_codes)}),
        "space": space_data(answer.space),
        "table": tables.describe(answer.factual, answer.space.names),
    }


def from_data(data: Any) -> Explanation:
    """The answer that `to_data` wrote. Its hash must be right, and facts that the data holds twice must agree."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise InputError(f"data of the schema {schema!r} was given.", f"An answer of the schema {SCHEMA!r} is needed.")
    if "hash" in data and data["hash"] != hash_of(data):
        raise ContradictionError(
            "the record was changed since it was written: its hash is not that of what it holds.",
            "Give the file as to_json() or `butfor explain --json` wrote it.",
        )
    check_types(data)
    try:
        answer = _read(data)
        derived = to_data(answer)
    except ButforError:
        raise
    except Exception as error:  # whatever a wrong value leads to in the libraries that rebuild the row
        raise InputError("the answer does not follow its schema:", f"{type(error).__name__}: {error}.") from None
    wrong = contradiction(data, derived)
    if wrong:
        raise contradicted(wrong)
    return answer


def _read(data: dict[str, Any]) -> Explanation:
    table = data["table"]
    space = space_from(data["space"], table)
    start = codes_from(data["factual"]["codes"], space, "factual")
    end = None if data["point"] is None else codes_from(data["point"]["codes"], space, "point")
    closest = codes_from(data["closest"]["codes"], space, "closest") if "closest" in data else None
    proof = certificate.from_dict(data["certificate"])
    check_closest(proof, closest)
    blank = [column["name"] for column in table["columns"] if column.get("missing") == "NaN"]
    cells = [[feature.value(code)] for feature, code in zip(space, start, strict=True)]
    factual = tables.rebuild(table, cells, [table["index"]], [blank])
    return Explanation(
        space=space,
        factual_codes=start,
        point_codes=end,
        factual=factual,
        point=None if end is None else space.decode(end[None], factual, start[None]),
        before=from_spec(data["before"]),
        after=None if end is None else from_spec(data["after"]),
        cost=np.inf if data["cost"] is None else float(data["cost"]),
        certificate=proof,
        closest_codes=closest,
        question=question_from(data["question"]),
        row=data["row"],
        rank=data["rank"],
        model=data["model"],
        created=data["created"],
        sealed="hash" in data,
        score=score_from(data),
        **origin_from(data),
    )


def _text(data: Any, indent: int | None) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
