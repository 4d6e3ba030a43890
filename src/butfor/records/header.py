"""What the answers of one call share, as plain data and back: where they come from, the question, columns, table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from butfor.explanation.explanations import Explanations
from butfor.explanation.question_record import QuestionRecord
from butfor.problem.spec import from_spec, to_spec
from butfor.records import tables
from butfor.records.schema import SCHEMA, contradicted
from butfor.records.unread import recorded
from butfor.space.dummies import RULES
from butfor.space.feature import Feature
from butfor.space.space import Space

ORIGIN = ("data_fingerprint", "meta")
"""The data behind the answers, and what was noted with them. What is not known is left out."""

SELDOM = ("dummies", "unread")
"""What is said only of the few features of which it is so."""


def header_of(answers: Explanations) -> dict[str, Any]:
    """What the answers share. The version is that of their certificates; None without answers."""
    origin = {name: getattr(answers, name) for name in ORIGIN}
    question = answers.question
    return {
        "schema": SCHEMA,
        "butfor": answers.certificates[0].versions.get("butfor") if len(answers) else None,
        "created": answers.created,
        "model": answers.model,
        **{name: value for name, value in origin.items() if value},
        "question": {
            "target": question.target,
            "cost": question.cost,
            "constraints": list(question.constraints),
            "spec": question.spec,
        },
        "space": [
            {
                "kind": one.kind,
                **{f.name: to_spec(getattr(one, f.name)) for f in fields(Feature) if f.name not in SELDOM},
                **{name: to_spec(value) for name in SELDOM if (value := getattr(one, name))},
            }
            for one in answers.space
        ],
        "table": tables.kind_of(answers.table, recorded(answers)),
    }


def shared_from(header: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `Explanations` that `header_of` wrote, beside the space and the table."""
    asked = header["question"]
    return {
        "question": QuestionRecord(asked["target"], asked["cost"], tuple(asked["constraints"]), asked["spec"]),
        "model": header["model"],
        "created": header["created"],
        **{name: header[name] for name in ORIGIN if name in header},
    }


def space_from(header: Mapping[str, Any]) -> Space:
    """The space that `header_of` wrote. The table must have its columns, and their ranges must be ranges."""
    known = [f.name for f in fields(Feature)]
    space = Space(
        tuple(Feature(**{name: from_spec(one[name]) for name in known if name in one}) for one in header["space"])
    )
    _check_dummies(space)
    names = [column["name"] for column in header["table"]["columns"]]
    if names != [name for name in space.columns if name in names or name not in space.unread]:
        raise contradicted(f"table has the columns {names}, and space has {list(space.columns)}")
    for feature in space:
        if not (feature.low <= feature.high and feature.step >= 0):
            raise contradicted(
                f"the range of {feature.name!r} is {feature.low:g} to {feature.high:g} in steps of {feature.step:g}"
            )
    return space


def _check_dummies(space: Space) -> None:
    """Dummies must hold each level in a way of its own, and each column of the table one feature."""
    dummies = [(one, one.dummies) for one in space if one.dummies is not None]
    for one, its in dummies:
        places = range(-1, len(its.columns))
        distinct = len(set(its.last)) == len(its.last) == len(one.levels or ()) and set(its.last) <= set(places)
        if its.code not in RULES or len(its.at) != len(its.columns) or not distinct:
            raise contradicted(f"the dummies of {one.name!r} do not hold its levels")
    at = [place for _, its in dummies for place in its.at]
    if len(set(at)) < len(at) or not set(at) <= set(range(len(space) - len(dummies) + len(at))):
        raise contradicted("dummies of two features are the same column of the table")
