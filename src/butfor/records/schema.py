"""What every record must be: its names and types, the hash that seals it, and free of contradictions.

A record is a batch of one: the header of a batch merged with its line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from enum import Enum
from hashlib import sha256
from typing import Any

from butfor.errors import InputError
from butfor.solvers.outcome import Status, Stopped

SCHEMA = "butfor.explanation/2"

LARGEST = 2**53
"""Whole numbers in a record are at most this large. So every JSON reader can hold them."""

Rule = Callable[[Any, str], None]
"""Raises an error if a value of a record, at the place that is named, has a wrong type."""


TEXT_TYPES = (["str", "object"], ["object", "str"])
"""What one version of pandas wrote and another makes of it: text has had a type of its own since pandas 3."""


class ContradictionError(InputError):
    """An answer that contradicts itself: it was changed after it was written."""


def contradicted(what: str) -> ContradictionError:
    """The error that says what contradicts the rest of an answer."""
    return ContradictionError(f"the answer contradicts itself: {what}.", "It was changed after it was written.")


def check_agreement(written: Any, derived: Any) -> None:
    """Raise an error that names the first value that does not follow from the rest. Unknown names are skipped."""
    if written != derived and (wrong := _contradiction(written, derived)):
        raise contradicted(wrong)


def _contradiction(written: Any, derived: Any, place: str = "") -> str:
    """The first contradiction; empty if there is none."""
    if isinstance(written, dict) and isinstance(derived, dict):
        parts = ((written[key], derived[key], f"{place}.{key}".lstrip(".")) for key in written if key in derived)
    elif isinstance(written, list) and isinstance(derived, list) and len(written) == len(derived):
        parts = ((a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(written, derived, strict=True)))
    elif written == derived or (place.endswith(".type") and [written, derived] in TEXT_TYPES):
        return ""
    else:
        return f"{place} is {written!r}, but {derived!r} follows from the rest"
    return next((found for part in parts if (found := _contradiction(*part))), "")


def hash_of(record: dict[str, Any]) -> str:
    """The hash of a record without its `hash`: SHA-256 of its JSON with sorted names and without spaces."""
    rest = {name: value for name, value in record.items() if name != "hash"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sealed(record: dict[str, Any], **under: Any) -> dict[str, Any]:
    """The record with its hash, which also covers what it stands `under`.

    Whoever can rewrite a record can seal it again, so it only shows careless changes.
    """
    return {**record, "hash": hash_of({**record, **under})}


def _refuse(value: Any, place: str, needed: str) -> None:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    raise InputError(f"the answer has {shown} as {place or 'the record'}.", f"It must be {needed}.")


def _text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        _refuse(value, place, "a text")


def _flag(value: Any, place: str) -> None:
    if not isinstance(value, bool):
        _refuse(value, place, "true or false")


def _number(value: Any, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        _refuse(value, place, "a number")


def _scalar(value: Any, place: str) -> None:
    """A number, or an infinite or missing one as the schema writes it."""
    if value not in ({"number": "inf"}, {"number": "-inf"}, {"number": "nan"}):
        _number(value, place)


def _whole(least: int) -> Rule:
    def rule(value: Any, place: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
            _refuse(value, place, f"a whole number of at least {least}")

    return rule


def _integer(value: Any, place: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        _refuse(value, place, "a whole number")


def _one_of(kinds: Iterable[Enum]) -> Rule:
    """The name of a member."""
    names = [kind.name for kind in kinds]

    def rule(value: Any, place: str) -> None:
        if not isinstance(value, str) or value not in names:
            _refuse(value, place, f"one of {', '.join(names)}")

    return rule


def _any(value: Any, place: str) -> None: ...


def _label(value: Any, place: str) -> None:
    if value is not None and not isinstance(value, str | int):
        _refuse(value, place, "a whole number or a text")


def _maybe(inner: Rule) -> Rule:
    def rule(value: Any, place: str) -> None:
        if value is not None:
            inner(value, place)

    return rule


def _list(inner: Rule) -> Rule:
    def rule(value: Any, place: str) -> None:
        if not isinstance(value, list):
            _refuse(value, place, "a list")
        for i, item in enumerate(value):
            inner(item, f"{place}[{i}]")

    return rule


def _pair_of(inner: Rule) -> Rule:
    def rule(value: Any, place: str) -> None:
        _list(inner)(value, place)
        if len(value) != 2:
            _refuse(value, place, "two values")

    return rule


def _map(inner: Rule) -> Rule:
    """An object with any names."""

    def rule(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            _refuse(value, place, "an object")
        for name, item in value.items():
            inner(item, f"{place}.{name}")

    return rule


def _object(needed: dict[str, Rule], optional: dict[str, Rule] | None = None) -> Rule:
    """An object with these names. Other names are skipped."""

    def rule(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            _refuse(value, place, "an object")
        absent = next((name for name in needed if name not in value), None)
        if absent is not None:
            raise InputError(f"the answer has no {f'{place}.{absent}'.lstrip('.')}.", "The schema requires it.")
        for name, inner in {**needed, **(optional or {})}.items():
            if name in value:
                inner(value[name], f"{place}.{name}".lstrip("."))

    return rule


_CHECKS = _list(_object({"check": _text, "passed": _flag}))
_DUMMIES = _object(
    {
        "kind": _text,
        "code": _text,
        "columns": _list(_text),
        "at": _list(_whole(0)),
        "last": _list(_whole(-1)),
        "truth": _flag,
    }
)
_FEATURE = _object(
    {
        "name": _text, "low": _scalar, "high": _scalar, "step": _scalar, "anchor": _scalar,
        "levels": _maybe(_list(_any)), "ordered": _flag, "missing": _flag, "single": _flag, "typical": _scalar,
        "mad": _scalar, "std": _scalar, "why": _text,
    },
    {"kind": _text, "none": _flag, "dummies": _DUMMIES, "unread": _flag},
)  # fmt: skip
_COLUMNS = _list(_object({"name": _text, "type": _text}))
_QUESTION = _object({"target": _text, "cost": _text, "constraints": _list(_text), "spec": _map(_any)})
_SHARED: dict[str, Rule] = {
    "question": _QUESTION, "space": _list(_FEATURE), "table": _object({"kind": _text, "columns": _COLUMNS}),
    "model": _text, "created": _text,
}  # fmt: skip
_SHARED_IF_KNOWN: dict[str, Rule] = {
    "butfor": _maybe(_text), "data_fingerprint": _text, "meta": _map(_any)
}  # fmt: skip
_EVIDENCE = _object(
    {},
    {
        "farthest": _object({"reached": _number, "needed": _number, "closest": _maybe(_number)}),
        "radius": _object({"possible": _number, "impossible": _number}),
        "around": _object({"predicted": _whole(0), "score": _maybe(_number), "worst": _map(_any)}),
        "confidence": _number,
        "left_open": _number,
    },
)
_OWN: dict[str, Rule] = {
    "row": _whole(0), "label": _label, "rank": _whole(1), "before": _any, "after": _any, "cost": _maybe(_number),
    "bound": _maybe(_number), "why": _text, "factual": _list(_maybe(_number)), "point": _maybe(_map(_maybe(_number))),
    "status": _one_of(Status), "solver": _text, "stopped": _one_of(Stopped), "checks": _CHECKS,
    "conflict": _list(_text), "seconds": _number, "seed": _integer, "fingerprint": _text, "versions": _map(_text),
    "notes": _map(_number), "evidence": _EVIDENCE, "missing": _list(_text),
}  # fmt: skip
_OWN_IF_KNOWN: dict[str, Rule] = {
    "score": _pair_of(_maybe(_scalar)),
    "scored": _object({"of": _text, "threshold": _maybe(_scalar), "up": _flag}),
    "closest": _map(_maybe(_number)),
    "coin": _number,
    "unread": _map(_any),
}

HEADER_NAMES = (*_SHARED, *_SHARED_IF_KNOWN, "schema")
"""What the records of one call share. The other names of a record are of its answer."""

check_record = _object(
    {**_SHARED, **_OWN},
    {**_SHARED_IF_KNOWN, **_OWN_IF_KNOWN, "gap": _maybe(_number), "changes": _list(_map(_any)), "hash": _text},
)
"""Refuses a record of one answer with a wrong type or without a name: `check_record(record, "")`."""

check_header = _object(
    {**_SHARED, "answers": _whole(0), "shared": _object({}, {**_OWN, **_OWN_IF_KNOWN}), "hash": _text}, _SHARED_IF_KNOWN
)
"""The same for the header of a batch."""

check_line = _object({**_OWN, "hash": _text}, _OWN_IF_KNOWN)
"""The same for one answer of a batch: its line together with what the header shares."""
