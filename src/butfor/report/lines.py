"""The tables of `bf.groups` line by line, and how their numbers are written."""

from __future__ import annotations

from typing import Any

from butfor.explanation.changes import word
from butfor.space import frames
from butfor.views.languages import say_count, say_number

Line = dict[str, Any]


def lines_of(table: Any) -> list[Line]:
    """The lines of a table that `bf.groups` made. Missing values are None."""
    columns = frames.listed(table)
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def lines_by_group(table: Any) -> dict[Any, list[Line]]:
    """The lines of each group."""
    found: dict[Any, list[Line]] = {}
    for line in lines_of(table):
        found.setdefault(line["group"], []).append(line)
    return found


def counts(lines: list[Line], name: str) -> list[str]:
    """A column of counts. What is not counted is empty."""
    return ["" if line[name] is None else say_count(int(line[name])) for line in lines]


def percent(share: float | None) -> str:
    """A share with three digits; empty if it is not known."""
    return "" if share is None else f"{say_number(f'{100 * share:.3g}')}\N{NO-BREAK SPACE}%"


def rounded(number: float | None) -> str:
    """A number with three digits; empty if it is not known."""
    return "" if number is None else say_number(word(float(f"{number:.3g}")))
