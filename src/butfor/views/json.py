"""An answer as JSON and back. The schema is versioned and described in docs/reference/json.md."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import ButforError, InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.question_record import QuestionRecord
from butfor.problem.spec import from_spec, to_spec
from butfor.space.feature import Feature
from butfor.space.space import Space
from butfor.verdict import certificate
from butfor.views import tables

SCHEMA = "butfor.explanation/1"


class ContradictionError(InputError):
    """An answer that contradicts itself: it was changed after it was written."""


def dump(answer: Explanation, *, indent: int | None = 2) -> str:
    """The answer as JSON text. Its numbers are read back exactly."""
    return _text(to_data(answer), indent)


def dump_many(answers: Iterable[Explanation], *, indent: int | None = 2) -> str:
    """A JSON list of answers."""
    return _text([to_data(answer) for answer in answers], indent)


def load(text: str) -> Explanation:
    """The answer that `dump` wrote."""
    return from_data(_parsed(text))


def load_many(text: str) -> list[Explanation]:
    """The answers that `dump_many` (or `dump`) wrote."""
    data = _parsed(text)
    return [from_data(one) for one in (data if isinstance(data, list) else [data])]


def to_data(answer: Explanation) -> dict[str, Any]:
    """The answer as plain data that follows the schema."""
    return {
        "schema": SCHEMA,
        "butfor": answer.certificate.versions.get("butfor"),
        "created": answer.created,
        "model": answer.model,
        "row": answer.row,
        "rank": answer.rank,
        "before": to_spec(answer.before),
        "after": to_spec(answer.after),
        "cost": answer.cost if answer.found else None,
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
        "question": {
            "target": answer.question.target,
            "cost": answer.question.cost,
            "constraints": list(answer.question.constraints),
            "spec": answer.question.spec,
        },
        "factual": _row(answer.space, answer.factual_codes),
        "point": None if answer.point_codes is None else _row(answer.space, answer.point_codes),
        "space": [_feature(feature) for feature in answer.space],
        "table": tables.describe(answer.factual, answer.space.names),
    }


def from_data(data: Any) -> Explanation:
    """The answer that `to_data` wrote. Facts that the data holds twice must agree."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise InputError(f"data of the schema {schema!r} was given.", f"An answer of the schema {SCHEMA!r} is needed.")
    try:
        answer = _read(data)
    except ButforError:
        raise
    except KeyError as absent:
        raise InputError(f"the answer has no {absent}.", f"The schema {SCHEMA!r} requires it.") from None
    except (TypeError, ValueError, AttributeError, IndexError, LookupError) as error:
        raise InputError("the answer does not follow its schema:", f"{error}.") from None
    place = _contradiction(data, to_data(answer))
    if place:
        raise ContradictionError(f"the answer contradicts itself: {place}.", "It was changed after it was written.")
    return answer


def _read(data: dict[str, Any]) -> Explanation:
    space = Space(tuple(Feature(**{f.name: from_spec(one[f.name]) for f in fields(Feature)}) for one in data["space"]))
    start = _codes(data["factual"])
    end = None if data["point"] is None else _codes(data["point"])
    factual = tables.rebuild(data["table"], [f.value(code) for f, code in zip(space, start, strict=True)])
    question = data["question"]
    return Explanation(
        space=space,
        factual_codes=start,
        point_codes=end,
        factual=factual,
        point=None if end is None else space.decode(end[None], factual, start[None]),
        before=from_spec(data["before"]),
        after=from_spec(data["after"]),
        cost=np.inf if data["cost"] is None else float(data["cost"]),
        certificate=certificate.from_dict(data["certificate"]),
        question=QuestionRecord(question["target"], question["cost"], tuple(question["constraints"]), question["spec"]),
        row=data["row"],
        rank=data["rank"],
        model=data["model"],
        created=data["created"],
    )


def _feature(feature: Feature) -> dict[str, Any]:
    return {"kind": feature.kind, **{f.name: to_spec(getattr(feature, f.name)) for f in fields(Feature)}}


def _row(space: Space, codes: FloatArray) -> dict[str, Any]:
    return {
        "values": {f.name: to_spec(f.value(float(code))) for f, code in zip(space, codes, strict=True)},
        "codes": [None if code != code else float(code) for code in codes],
    }


def _codes(row: dict[str, Any]) -> FloatArray:
    return np.array([np.nan if code is None else code for code in row["codes"]], dtype=np.float64)


TEXT_TYPES = (["str", "object"], ["object", "str"])
"""What one version of pandas wrote and another makes of it: text has had a type of its own since pandas 3."""


def _contradiction(written: Any, derived: Any, place: str = "") -> str:
    """The first contradiction in the data read; empty if there is none.

    Unknown names are skipped.
    """
    if isinstance(written, dict) and isinstance(derived, dict):
        parts = ((written[key], derived[key], f"{place}.{key}".lstrip(".")) for key in written if key in derived)
    elif isinstance(written, list) and isinstance(derived, list) and len(written) == len(derived):
        parts = ((a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(written, derived, strict=True)))
    elif written == derived or (place.endswith(".type") and [written, derived] in TEXT_TYPES):
        return ""
    else:
        return f"{place} is {written!r}, but {derived!r} follows from the rest"
    return next((found for part in parts if (found := _contradiction(*part))), "")


def _text(data: Any, indent: int | None) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)


def _parsed(text: str) -> Any:
    def refuse(token: str) -> Any:
        raise InputError(f"the text contains {token}.", "JSON has no such number.")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(
            "the text is not JSON:", f"{error}.", "Give what to_json() or `butfor explain --json` wrote."
        ) from None
