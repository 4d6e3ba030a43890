"""Rules as the text of a TOML file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from math import isfinite
from typing import Any

from butfor.errors import InputError
from butfor.explanation.column_words import ColumnWords, Words
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.costs import AbstractCost
from butfor.problem.targets.written import written_target
from butfor.problem.written.writing import written_constraint, written_cost
from butfor.space.feature import Override
from butfor.space.infer import Declaration

BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(
    target: Any,
    cost: AbstractCost | None,
    constraints: Sequence[AbstractConstraint | str],
    space: Mapping[str, Declaration],
    words: Words | None,
    safety: float | None = None,
) -> str:
    """Rules as the text of a file."""
    told, prices = ("", dict[str, float]()) if cost is None else _sayable(written_cost(cost), f"the cost {cost!r}")
    lines = [*_target(target), *([] if safety is None else [f"safety = {_value(safety)}"])]
    lines += [f"cost = {_value(told)}"] if told else []
    texts = [_sayable(written_constraint(one), repr(one)) for one in constraints]
    lines += ["constraints = [", *(f"    {_value(text)}," for text in texts), "]"] if texts else []
    named = {} if words is None else words.columns
    for name in dict.fromkeys([*space, *prices, *named]):
        table = {
            **({"price": prices[name]} if name in prices else {}),
            **(_declaration(name, space[name]) if name in space else {}),
            **(_words(named[name]) if name in named else {}),
        }
        lines += _table(f"columns.{_key(name)}", table)
    if words is not None and words.prediction is not None:
        lines += _table("prediction", _words(words.prediction))
    return "\n".join(lines).lstrip("\n") + "\n"


def _target(target: Any) -> Iterator[str]:
    if target is not None:
        found = target if target == "other" else _sayable(written_target(target), f"the target {target!r}")
        plain = isinstance(found, Mapping) and list(found) == ["class"]
        yield f"target = {_value(found['class'] if plain else found)}"


def _table(heading: str, table: Mapping[str, Any]) -> list[str]:
    return ["", f"[{heading}]", *(f"{key} = {_value(value)}" for key, value in table.items())]


def _declaration(name: str, given: Declaration) -> dict[str, Any]:
    if not isinstance(given, Override):
        raise _unsayable(f"the declaration of {name!r}")
    ends = {"low": given.low, "high": given.high, "step": given.step if given.kind == "step" else None}
    said = {"kind": given.kind, **ends, "values": None if given.levels is None else list(given.levels)}
    return {key: value for key, value in said.items() if value is not None}


def _words(given: ColumnWords) -> dict[str, Any]:
    blank = ColumnWords()
    own = {one.name: getattr(given, one.name) for one in fields(given)}
    return {name: value for name, value in own.items() if value != getattr(blank, name)}


def _sayable(written: Any, what: str) -> Any:
    if written is None:
        raise _unsayable(what)
    return written


def _unsayable(what: str) -> InputError:
    return InputError(
        f"{what} cannot be written into a file.", "", "Leave it out of the rules, and give it beside them in Python."
    )


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    """A value in TOML. Texts, numbers and lists are written as in JSON."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and not isfinite(value):
        return repr(value)  # inf and nan are words of TOML, too
    return json.dumps(value, ensure_ascii=False)
