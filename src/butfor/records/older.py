"""Records and batches of earlier versions, in the layout of today. No other place knows of their layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from butfor.problem.spec import from_spec, to_spec
from butfor.problem.targets.score import Score
from butfor.records.header import space_from
from butfor.records.schema import SCHEMA, contradicted

UNCHANGED = (
    "butfor", "created", "model", "data_fingerprint", "meta", "row", "rank", "before", "after", "cost", "changes",
    "question", "space",
)  # fmt: skip
"""What stands in a record of today as it did in the first."""


_OF_WORST, _OPEN = " of the worst neighbour", "cost that the rounding of the model leaves open"
_NOTED = {
    "farthest": {"reached": "reached at most", "needed": "needed", "closest": "reached by the closest row"},
    "radius": {
        "possible": "share of the radius with an answer",
        "impossible": "share of the radius without one",
    },
    "around": {"predicted": "neighbours that the model predicted", "score": "score of the worst neighbour"},
}
"""What the notes of earlier versions were called that are evidence."""


def renewed(data: dict[str, Any]) -> dict[str, Any]:
    """A record or header in the layout of today."""
    change = _CHANGES.get(data["schema"])
    return data if change is None else change(data)


def _first_record(data: dict[str, Any]) -> dict[str, Any]:
    """It held the certificate apart, and rows with all their values: those must follow from the codes."""
    table, columns = data["table"], data["table"]["columns"]
    _check_values(data)
    rows = {place: data[place] for place in ("point", "closest") if place in data}
    return {
        "schema": SCHEMA,
        **{name: data[name] for name in UNCHANGED if name in data},
        "stopped": "DONE",
        **evidence_apart({"notes": {}, **_certificate(data["certificate"], data["cost"])}),
        "label": table["index"],
        "factual": data["factual"]["codes"],
        **{place: None if row is None else _by_name(data, row["codes"]) for place, row in rows.items()},
        "missing": [column["name"] for column in columns if column.get("missing") == "NaN"],
        **_score(data.get("score")),
        "table": {"kind": table["kind"], "columns": [_without(column, "missing") for column in columns]},
    }


def evidence_apart(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of an answer with its evidence in a place of its own. It was among the notes, under names in words."""
    if "evidence" in facts:
        return facts
    notes = dict(facts.get("notes", {}))
    parts = {
        part: {name: notes.pop(old) for name, old in names.items() if old in notes} for part, names in _NOTED.items()
    }
    worst = {name.removesuffix(_OF_WORST): notes.pop(name) for name in list(notes) if name.endswith(_OF_WORST)}
    if parts["around"]:
        parts["around"] |= {"predicted": int(parts["around"]["predicted"]), "worst": worst}
    absent: dict[str, dict[str, Any]] = {"farthest": {"closest": None}, "radius": {}, "around": {"score": None}}
    evidence: dict[str, Any] = {part: absent[part] | known for part, known in parts.items() if known}
    if _OPEN in notes:
        evidence["left_open"] = notes.pop(_OPEN)
    return {**facts, "notes": notes, "evidence": evidence}


def _certificate(known: dict[str, Any], cost: Any) -> dict[str, Any]:
    if known["cost"] != cost:
        raise contradicted(f"cost is {cost!r}, and certificate.cost is {known['cost']!r}")
    return known


def _check_values(data: dict[str, Any]) -> None:
    """Refuse rows whose values are not those of their codes."""
    space = space_from(data)
    for place in ("factual", "point", "closest"):
        row = data.get(place) or {"codes": []}
        for feature, code in zip(space, row["codes"], strict=bool(row["codes"])):
            due = to_spec(feature.value(float("nan") if code is None else code))
            if "values" in row and feature.name in row["values"] and row["values"][feature.name] != due:
                was = row["values"][feature.name]
                raise contradicted(f"{place}.values.{feature.name} is {was!r}, but {due!r} follows from the rest")


def _by_name(data: dict[str, Any], codes: list[Any]) -> dict[str, Any]:
    return {one["name"]: code for one, code in zip(data["space"], codes, strict=True)}


def _without(column: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in column.items() if key != name}


def _score(known: dict[str, Any] | None) -> dict[str, Any]:
    """The score. How far beyond the threshold it stands must follow from its numbers."""
    if known is None:
        return {}
    before, after, threshold = (from_spec(known[name]) for name in ("before", "after", "threshold"))
    due = to_spec(Score(known["of"], before, after, threshold, known["up"]).beyond)
    if known.get("beyond", due) != due:
        raise contradicted(f"score.beyond is {known['beyond']!r}, but {due!r} follows from the rest")
    return {
        "score": [known["before"], known["after"]],
        "scored": {"of": known["of"], "threshold": known["threshold"], "up": known["up"]},
    }


def _first_batch(header: dict[str, Any]) -> dict[str, Any]:
    """Only the name of its schema was another."""
    return {**header, "schema": SCHEMA}


_CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "butfor.explanation/1": _first_record,
    "butfor.explanations/1": _first_batch,
}

OLDER_SCHEMAS = tuple(_CHANGES)
