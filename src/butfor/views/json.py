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
from butfor.views.schema import check_types, hash_of

SCHEMA = "butfor.explanation/1"


class ContradictionError(InputError):
    """An answer that contradicts itself: it was changed after it was written."""


def dump(answer: Explanation, *, indent: int | None = 2) -> str:
    """The answer as JSON text. Its numbers are read back exactly."""
    return _text(sealed(to_data(answer)), indent)


def dump_many(answers: Iterable[Explanation], *, indent: int | None = 2) -> str:
    """A JSON list of answers."""
    return _text([sealed(to_data(answer)) for answer in answers], indent)


def load(text: str) -> Explanation:
    """The answer that `dump` wrote."""
    return from_data(_parsed(text))


def load_many(text: str) -> list[Explanation]:
    """The answers that `dump_many` (or `dump`) wrote."""
    data = _parsed(text)
    return [from_data(one) for one in (data if isinstance(data, list) else [data])]


def sealed(record: dict[str, Any]) -> dict[str, Any]:
    """The record with its hash. Whoever can rewrite a record can seal it again, so it only shows careless changes."""
    return {**record, "hash": hash_of(record)}


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
    place = _contradiction(data, derived)
    if place:
        raise ContradictionError(f"the answer contradicts itself: {place}.", "It was changed after it was written.")
    return answer


def _read(data: dict[str, Any]) -> Explanation:
    space = Space(tuple(Feature(**{f.name: from_spec(one[f.name]) for f in fields(Feature)}) for one in data["space"]))
    start = _codes(data["factual"], space, "factual")
    end = None if data["point"] is None else _codes(data["point"], space, "point")
    _check_columns(data["table"], space)
    table = data["table"]
    blank = [column["name"] for column in table["columns"] if column.get("missing") == "NaN"]
    cells = [[feature.value(code)] for feature, code in zip(space, start, strict=True)]
    factual = tables.rebuild(table, cells, [table["index"]], [blank])
    question = data["question"]
    return Explanation(
        space=space,
        factual_codes=start,
        point_codes=end,
        factual=factual,
        point=None if end is None else space.decode(end[None], factual, start[None]),
        before=from_spec(data["before"]),
        after=None if end is None else from_spec(data["after"]),
        cost=np.inf if data["cost"] is None else float(data["cost"]),
        certificate=certificate.from_dict(data["certificate"]),
        question=QuestionRecord(question["target"], question["cost"], tuple(question["constraints"]), question["spec"]),
        row=data["row"],
        rank=data["rank"],
        model=data["model"],
        created=data["created"],
        sealed="hash" in data,
    )


def _check_columns(table: dict[str, Any], space: Space) -> None:
    """Check that the table has the columns of the space, and that their ranges are ranges."""
    names = [column["name"] for column in table["columns"]]
    if names != list(space.names):
        raise ContradictionError(
            f"the answer contradicts itself: table has the columns {names}, and space has {list(space.names)}.",
            "It was changed after it was written.",
        )
    for feature in space:
        if not (feature.low <= feature.high and feature.step >= 0):
            raise ContradictionError(
                f"the answer contradicts itself: the range of {feature.name!r} is {feature.low:g} to "
                f"{feature.high:g} in steps of {feature.step:g}.",
                "It was changed after it was written.",
            )


def _feature(feature: Feature) -> dict[str, Any]:
    return {"kind": feature.kind, **{f.name: to_spec(getattr(feature, f.name)) for f in fields(Feature)}}


def _row(space: Space, codes: FloatArray) -> dict[str, Any]:
    return {
        "values": {f.name: to_spec(f.value(float(code))) for f, code in zip(space, codes, strict=True)},
        "codes": [None if code != code else float(code) for code in codes],
    }


def _codes(row: dict[str, Any], space: Space, place: str) -> FloatArray:
    """The codes of a row. Each must be one that its column can have."""
    codes = row["codes"]
    if len(codes) != len(space):
        raise InputError(f"the answer has {len(codes)} codes in {place}.", f"Its space has {len(space)} columns.")
    for feature, code in zip(space, codes, strict=True):
        known = feature.missing if code is None else feature.levels is None or code in range(len(feature.levels))
        if not known:
            raise ContradictionError(
                f"the answer contradicts itself: {place} has the code {code} in {feature.name!r}, which has no such "
                "value.",
                "It was changed after it was written.",
            )
    return np.array([np.nan if code is None else code for code in codes], dtype=np.float64)


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
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(
            "the text is not JSON:", f"{error}.", "Give what to_json() or `butfor explain --json` wrote."
        ) from None
