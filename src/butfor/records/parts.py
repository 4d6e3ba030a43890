"""What a record of one answer and a batch of many hold alike, as plain data and back: space, question, codes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.question_record import QuestionRecord
from butfor.problem.spec import from_spec, to_spec
from butfor.problem.targets.score import Score
from butfor.space.feature import Feature
from butfor.space.space import Space
from butfor.verdict.certificate import CLOSEST_ROW, Certificate


class ContradictionError(InputError):
    """An answer that contradicts itself: it was changed after it was written."""


ORIGIN = ("data_fingerprint", "meta")
"""What answers of one call have in common beside their model and their time."""

TEXT_TYPES = (["str", "object"], ["object", "str"])
"""What one version of pandas wrote and another makes of it: text has had a type of its own since pandas 3."""


def contradicted(what: str) -> ContradictionError:
    """The error that says what contradicts the rest of an answer."""
    return ContradictionError(f"the answer contradicts itself: {what}.", "It was changed after it was written.")


def contradiction(written: Any, derived: Any, place: str = "") -> str:
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
    return next((found for part in parts if (found := contradiction(*part))), "")


def space_data(space: Space) -> list[dict[str, Any]]:
    """The columns of a space."""
    return [{"kind": one.kind, **{f.name: to_spec(getattr(one, f.name)) for f in fields(Feature)}} for one in space]


def space_from(data: list[Mapping[str, Any]], table: Mapping[str, Any]) -> Space:
    """The space that `space_data` wrote. The table must have its columns, and their ranges must be ranges."""
    known = [f.name for f in fields(Feature)]
    space = Space(tuple(Feature(**{name: from_spec(one[name]) for name in known if name in one}) for one in data))
    names = [column["name"] for column in table["columns"]]
    if names != list(space.names):
        raise contradicted(f"table has the columns {names}, and space has {list(space.names)}")
    for feature in space:
        if not (feature.low <= feature.high and feature.step >= 0):
            raise contradicted(
                f"the range of {feature.name!r} is {feature.low:g} to {feature.high:g} in steps of {feature.step:g}"
            )
    return space


def question_data(question: QuestionRecord) -> dict[str, Any]:
    """A question in words and as data."""
    return {
        "target": question.target,
        "cost": question.cost,
        "constraints": list(question.constraints),
        "spec": question.spec,
    }


def question_from(data: Mapping[str, Any]) -> QuestionRecord:
    """The question that `question_data` wrote."""
    return QuestionRecord(data["target"], data["cost"], tuple(data["constraints"]), data["spec"])


def origin_data(answer: Explanation | Explanations) -> dict[str, Any]:
    """The data behind an answer, and what was noted with it; nothing of what is not known, as in earlier versions."""
    known = {name: getattr(answer, name) for name in ORIGIN}
    return {name: value for name, value in known.items() if value}


def origin_from(data: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an answer that `origin_data` wrote."""
    return {name: data[name] for name in ORIGIN if name in data}


def score_data(score: Score | None) -> dict[str, Any]:
    """The score of an answer; nothing if it has none."""
    if score is None:
        return {}
    known = {f.name: to_spec(getattr(score, f.name)) for f in fields(Score)}
    return {"score": {**known, "beyond": to_spec(score.beyond)}}


def score_from(data: Mapping[str, Any]) -> Score | None:
    """The score that `score_data` wrote; None if there is none, as in records of earlier versions."""
    known = data.get("score")
    return None if known is None else Score(**{f.name: from_spec(known[f.name]) for f in fields(Score)})


def row_data(space: Space, codes: FloatArray) -> dict[str, Any]:
    """A row, as the user's values and as codes."""
    return {
        "values": {f.name: to_spec(f.value(float(code))) for f, code in zip(space, codes, strict=True)},
        "codes": codes_data(codes),
    }


def check_closest(certificate: Certificate, closest: FloatArray | None) -> None:
    """Raise an error unless the certificate tells of the closest row, and of none if there is none."""
    if (CLOSEST_ROW in certificate.notes) != (closest is not None):
        raise contradicted("only one of the closest row and its note in the certificate is there")


def codes_data(codes: FloatArray) -> list[float | None]:
    """The codes of a row. A missing value is None."""
    return [None if code != code else code for code in codes.tolist()]


def codes_from(codes: list[float | None], space: Space, place: str) -> FloatArray:
    """The codes of a row. Each must be one that its column can have."""
    if len(codes) != len(space):
        raise InputError(f"the answer has {len(codes)} codes in {place}.", f"Its space has {len(space)} columns.")
    for feature, code in zip(space, codes, strict=True):
        known = feature.missing if code is None else feature.levels is None or code in range(len(feature.levels))
        if not known:
            raise contradicted(f"{place} has the code {code} in {feature.name!r}, which has no such value")
    return np.array([np.nan if code is None else code for code in codes], dtype=np.float64)


def parsed(text: str) -> Any:
    """The data of a JSON text. An error says what is wrong with it."""

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
