"""The expressions of derived fields: what is read of one field after some steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast, get_args
from xml.etree.ElementTree import Element

import numpy as np

from butfor.errors import InputError
from butfor.estimator.pmml.elements import (
    Label,
    attribute,
    child,
    children,
    ends_of,
    label_of,
    name_of,
    not_read,
    number_in,
    number_written,
    position_of,
)
from butfor.estimator.pmml.fields import BENDING_STEPS, Field, Read, compared
from butfor.estimator.pmml.pieces import Bin, Discretized, KnottedLines, LevelTable, Outliers

IN_APPLY = "mapMissingTo", "defaultValue"
"""Both attributes of a function say what stands for its result where its argument is missing."""


def as_number(read: Read, asking: Element) -> Read:
    """What is read, as a number. Levels must be numbers."""
    if read.levels is None:
        return read
    if any(isinstance(level, str) for level in read.levels):
        raise not_read("a number that is made of text", asking)
    return read.then("table", LevelTable(tuple(map(float, read.levels))))


@dataclass(frozen=True)
class Expression:
    """Reads an expression.

    - `fields`: the columns that the model takes; `named`: what a name stands for;
    - `kind`: the type of the levels that the expression makes, if it makes some, not numbers.
    """

    fields: tuple[Field, ...]
    named: Callable[[str], Read]
    kind: str | None

    def read(self, one: Element) -> Read:
        """What an expression reads."""
        name = name_of(one)
        if name == "FieldRef":
            return self._reference(one)
        if name == "NormDiscrete":
            return self._is_level(one)
        if name == "NormContinuous":
            return self._lines(one)
        if name == "Discretize":
            return self._bins(one)
        if name == "MapValues":
            return self._table(one)
        if name == "Apply":
            return self._applied(one)
        raise not_read(f"a {name}")

    def _field(self, one: Element) -> Read:
        return self.named(attribute(one, "field"))

    def _reference(self, one: Element) -> Read:
        """Another field, and what stands for a missing value of it."""
        found = self._field(one)
        if one.get("mapMissingTo") is None:
            return found
        if found.levels is None:
            return found.then("instead", number_in(one, "mapMissingTo"))
        position = position_of(found.levels, attribute(one, "mapMissingTo"))
        if position is None:
            raise not_read(f"mapMissingTo={one.get('mapMissingTo')!r}, which is no level of the field", one)
        return found.then("instead", float(position), found.levels)

    def _is_level(self, one: Element) -> Read:
        """1 for a level, and 0 for others."""
        found = self._field(one)
        position = None if found.levels is None else position_of(found.levels, attribute(one, "value"))
        if position is None:
            raise not_read("a NormDiscrete of a number, or of a level that is not listed", one)
        return _unless_missing(found.then("is", position), one, "mapMissingTo")

    def _lines(self, one: Element) -> Read:
        """Lines through points."""
        points = [(number_in(point, "orig"), number_in(point, "norm")) for point in children(one, "LinearNorm")]
        found, how = as_number(self._field(one), one), one.get("outliers", "asIs")
        if how not in get_args(Outliers):
            raise not_read(f"outliers={how!r}", one)
        orig, norm = tuple(x for x, _ in points), tuple(y for _, y in points)
        if len(points) < 2 or not (np.diff(orig) > 0).all():
            raise InputError(
                f"a NormContinuous has the points {list(orig)}.", "It needs two or more, in ascending order."
            )
        if len(points) == 2 and norm[1] > norm[0] and how == "asIs":
            made = found.then("-", orig[0]).then("*", (norm[1] - norm[0]) / (orig[1] - orig[0])).then("+", norm[0])
        else:
            made = found.then("lines", KnottedLines(orig, norm, cast(Outliers, how)))
        return _unless_missing(made, one, "mapMissingTo")

    def _bins(self, one: Element) -> Read:
        """Bins of a number."""
        found = as_number(self._field(one), one)
        bins = [(_ends(part), attribute(part, "binValue")) for part in children(one, "DiscretizeBin")]
        known = _Values(self.kind, one, [text for _, text in bins])
        made = Discretized(
            tuple(Bin(*ends, known.of(text)) for ends, text in bins),
            known.otherwise("defaultValue"),
            known.otherwise("mapMissingTo"),
        )
        return found.then("bins", made, known.levels)

    def _table(self, one: Element) -> Read:
        """A table of the values of one field."""
        pairs, rows = list(children(one, "FieldColumnPair")), child(one, "InlineTable")
        if len(pairs) != 1:
            raise not_read(f"a MapValues of {len(pairs)} fields", one)
        if rows is None:
            raise not_read("a MapValues without an InlineTable", one)
        given, wanted = attribute(pairs[0], "column"), attribute(one, "outputColumn")
        entries = [(_cell(row, given), _cell(row, wanted)) for row in children(rows, "row")]
        found = self._field(pairs[0])
        known = _Values(self.kind, one, [text for _, text in entries])
        other, missing = known.otherwise("defaultValue"), known.otherwise("mapMissingTo")
        if found.levels is None:
            points = [(compared(number_written(text, one), found, self.fields), known.of(to)) for text, to in entries]
            return found.then(
                "bins", Discretized(tuple(Bin(x, x, to) for x, to in points), other, missing), known.levels
            )
        values = [other] * (len(found.levels) + (self.fields[found.field].unknown == "kept" and not found.steps))
        for text, to in reversed(entries):
            position = position_of(found.levels, text)
            if position is not None:
                values[position] = known.of(to)
        return found.then("table", LevelTable(tuple(values), missing), known.levels)

    def _applied(self, one: Element) -> Read:
        """A number plus, minus, times or by a constant, the smaller or larger of both, or a function that never falls."""
        name, parts = attribute(one, "function"), list(children(one))
        constants = [k for k, part in enumerate(parts) if name_of(part) == "Constant"]
        inner = replace(self, kind=None)
        if name in BENDING_STEPS and len(parts) == 1 and not constants:
            return _unless_missing(as_number(inner.read(parts[0]), one).then(name), one, *IN_APPLY)
        if name not in ("+", "-", "*", "/", "min", "max") or len(parts) != 2 or len(constants) != 1:
            raise not_read(f"the function {name!r}", one)
        by = float(parts[constants[0]].text or "nan")
        if (constants == [0] and name in ("-", "/")) or (name in ("*", "/") and not by > 0) or not np.isfinite(by):
            raise not_read(f"the function {name!r} that falls, or is no line", one)
        return _unless_missing(as_number(inner.read(parts[1 - constants[0]]), one).then(name, by), one, *IN_APPLY)


def _unless_missing(made: Read, one: Element, *names: str) -> Read:
    """What is made of a number, and what stands for it where that is missing: the first of some attributes that is there."""
    for name in names:
        if one.get(name) is not None:
            return made.then("instead", number_in(one, name))
    return made


class _Values:
    """The values that a table or bins lead to, as numbers: their own, or the positions of levels."""

    def __init__(self, kind: str | None, one: Element, texts: list[str]) -> None:
        self.one = one
        others = [text for name in ("defaultValue", "mapMissingTo") for text in [one.get(name)] if text is not None]
        named: list[Label] = [] if kind is None else [label_of(text, kind) for text in (*texts, *others)]
        self.levels = None if kind is None else tuple(dict.fromkeys(named))

    def of(self, text: str) -> float:
        """One of them."""
        if self.levels is None:
            return number_written(text, self.one)
        position = position_of(self.levels, text)
        assert position is not None
        return float(position)

    def otherwise(self, name: str) -> float:
        """The one in an attribute; NaN if it is not there."""
        text = self.one.get(name)
        return np.nan if text is None else self.of(text)


def _ends(part: Element) -> tuple[float, float]:
    """The first and the last number in a bin."""
    interval = child(part, "Interval")
    if interval is None:
        raise InputError("a DiscretizeBin has no Interval.", "It says which numbers it holds.")
    return ends_of(interval)


def _cell(row: Element, column: str) -> str:
    """A cell of an InlineTable."""
    found = child(row, column)
    if found is None:
        raise not_read(f"a row without {column!r}", row)
    return (found.text or "").strip()
