"""The fields that a part of a PMML file can name, and what each of them reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from butfor.errors import InputError, choice
from butfor.estimator.pmml.elements import attribute, child, children, name_of, not_read, number_in
from butfor.estimator.pmml.fields import BENDING_STEPS, Field, Read, Step
from butfor.estimator.pmml.predicates import Known

WHERE_INVALID = {"returnInvalid": "refused", "asMissing": "missing", "asIs": "kept"}

Label = str | int | float | bool


@dataclass
class Scope:
    """What names stand for here.

    - `fields`: the columns that the model takes; `reads`: all that is read of them so far;
    - `names`: the read of each name. A part of the file knows those of the parts around it, and has its own.
    """

    fields: tuple[Field, ...]
    reads: list[Read] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Element, model: Element) -> Scope:
        """The scope of the outermost model, with the columns that it takes."""
        dictionary = child(root, "DataDictionary")
        if dictionary is None:
            raise InputError("the file has no DataDictionary.", "It says what the columns hold.")
        known = {attribute(one, "name"): one for one in children(dictionary, "DataField")}
        schema, mentioned = child(model, "MiningSchema"), _mentioned(model)
        if schema is None:
            raise InputError(f"the {name_of(model)} has no MiningSchema.", "It says which columns the model takes.")
        fields = []
        for one in _active(schema):
            name = attribute(one, "name")
            if name not in known:
                raise InputError(f"the DataDictionary lacks {name!r}.", *choice("It has", name, known))
            fields.append(_field(known[name], one, mentioned[name]))
        scope = cls(tuple(fields))
        for j, (own, one) in enumerate(zip(fields, _active(schema), strict=True)):
            scope.names[own.name] = scope.read(Read(j, _outliers(own, one)))
        scope.derive(child(root, "TransformationDictionary"))
        return scope

    def inside(self, model: Element) -> Scope:
        """The scope of a part: with the columns that it derives itself."""
        own = Scope(self.fields, self.reads, dict(self.names))
        own.derive(child(model, "LocalTransformations"))
        return own

    def read(self, wanted: Read) -> int:
        """The number of what is read."""
        if wanted not in self.reads:
            self.reads.append(wanted)
        return self.reads.index(wanted)

    def number(self, name: str) -> int:
        """The number of what a name stands for."""
        if name not in self.names:
            raise InputError(f"the file names the field {name!r}.", *choice("It knows", name, self.names))
        return self.names[name]

    def field(self, read: int) -> Field:
        """The field behind a read."""
        return self.fields[self.reads[read].field]

    def is_level(self, read: int) -> bool:
        """Whether a read is the position of a level."""
        return self.field(read).levels is not None and not self.reads[read].steps

    def position(self, read: int, text: str) -> int | None:
        """The position of a level that is written in the file; None if no row has it."""
        levels = self.field(read).levels or ()
        return next((k for k, level in enumerate(levels) if _same(level, text)), None)

    @property
    def start(self) -> dict[int, Known]:
        """What is known of each read before anything is asked."""
        return {
            k: Known(lost=False if self.fields[read.field].instead is not None else None)
            for k, read in enumerate(self.reads)
        }

    def derive(self, transformations: Element | None) -> None:
        """Add the columns that a part derives."""
        for one in () if transformations is None else children(transformations, "DerivedField"):
            steps = (("float", None),) if one.get("dataType") == "float" else ()
            self.names[attribute(one, "name")] = self._read_of(next(children(one)), steps)
        for one in () if transformations is None else children(transformations, "DefineFunction"):
            raise not_read(f"a function {one.get('name')!r}", transformations)

    def _read_of(self, expression: Element, steps: tuple[tuple[str, Any], ...] = ()) -> int:
        base, own = self._expression(expression)
        if steps and self.fields[base.field].levels is not None and not (base.steps or own):
            steps = ()  # the type of a level changes nothing
        return self.read(Read(base.field, (*base.steps, *own, *steps)))

    def _expression(self, one: Element) -> tuple[Read, tuple[tuple[str, Any], ...]]:
        """A read, and what is done to it."""
        kind = name_of(one)
        if kind == "FieldRef" and one.get("mapMissingTo") is None:
            return self.reads[self.number(attribute(one, "field"))], ()
        if kind == "NormDiscrete":
            read = self.number(attribute(one, "field"))
            position = self.position(read, attribute(one, "value")) if self.is_level(read) else None
            if position is None:
                raise not_read("a NormDiscrete of a number, or of a level that is not listed", one)
            zero = one.get("mapMissingTo") is not None and number_in(one, "mapMissingTo") == 0
            if one.get("mapMissingTo") is not None and not zero:
                raise not_read("mapMissingTo", one)
            return self.reads[read], (("is known to be" if zero else "is", position),)
        if kind == "NormContinuous":
            return self._line(one)
        if kind == "Apply":
            return self._applied(one)
        raise not_read(f"a {kind}")

    def _line(self, one: Element) -> tuple[Read, tuple[tuple[str, Any], ...]]:
        """A line through two points."""
        points = [(number_in(point, "orig"), number_in(point, "norm")) for point in children(one, "LinearNorm")]
        read = self.number(attribute(one, "field"))
        if len(points) != 2 or one.get("outliers", "asIs") != "asIs" or one.get("mapMissingTo") is not None:
            raise not_read("a NormContinuous with ends, or of several pieces", one)
        (x0, y0), (x1, y1) = points
        if not (y1 - y0) / (x1 - x0) > 0:
            raise not_read("a falling NormContinuous", one)
        return self.reads[read], (("-", x0), ("*", (y1 - y0) / (x1 - x0)), ("+", y0))

    def _applied(self, one: Element) -> tuple[Read, tuple[tuple[str, Any], ...]]:
        """A number plus, minus, times or by a constant, the smaller or larger of both, or a function that never falls."""
        name, parts = attribute(one, "function"), list(children(one))
        if one.get("mapMissingTo") is not None or one.get("defaultValue") is not None:
            raise not_read("a value in place of a missing one", one)
        constants = [k for k, part in enumerate(parts) if name_of(part) == "Constant"]
        if name in BENDING_STEPS and len(parts) == 1 and not constants:
            read, steps = self._expression(parts[0])
            return read, (*steps, (name, None))
        if name not in ("+", "-", "*", "/", "min", "max") or len(parts) != 2 or len(constants) != 1:
            raise not_read(f"the function {name!r}", one)
        by = float(parts[constants[0]].text or "nan")
        if (constants == [0] and name in ("-", "/")) or (name in ("*", "/") and not by > 0) or not np.isfinite(by):
            raise not_read(f"the function {name!r} that falls, or is no line", one)
        read, steps = self._expression(parts[1 - constants[0]])
        return read, (*steps, (name, by))


def _active(schema: Element) -> list[Element]:
    """The columns that a schema has a model take."""
    return [one for one in children(schema, "MiningField") if one.get("usageType", "active") == "active"]


def _outliers(own: Field, mining: Element) -> tuple[Step, ...]:
    """What keeps a number between the ends beyond which the schema takes it for an outlier."""
    if mining.get("outliers", "asIs") == "asIs":
        return ()
    low, high = number_in(mining, "lowValue", -np.inf), number_in(mining, "highValue", np.inf)
    inside = own.instead is None or (own.levels is None and low <= own.instead <= high)
    if mining.get("outliers") != "asExtremeValues" or own.levels is not None or not inside:
        raise not_read(f"outliers={mining.get('outliers')!r} of {own.name!r}", mining)
    return ("max", low), ("min", high)


def _mentioned(model: Element) -> dict[str, list[str]]:
    """The values that predicates and regressions name, for each field. A dictionary may leave the levels out."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in model.iter():
        if name_of(one) in ("SimplePredicate", "CategoricalPredictor") and one.get("value") is not None:
            found[one.get("field") or one.get("name") or ""].append(one.get("value") or "")
        if name_of(one) == "SimpleSetPredicate":
            found[one.get("field") or ""] += array_in(one)
    return found


def array_in(one: Element) -> list[str]:
    """The values of an Array. A text with blanks stands in quotes."""
    array = child(one, "Array")
    text = "" if array is None else array.text or ""
    return list(_words(text))


def _words(text: str) -> Iterator[str]:
    word, quoted, any_yet = "", False, False
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\" and text[at + 1 : at + 2] == '"':
            word, at = word + '"', at + 1
        elif sign == '"':
            quoted, any_yet = not quoted, True
        elif sign.isspace() and not quoted:
            if word or any_yet:
                yield word
            word, any_yet = "", False
        else:
            word += sign
        at += 1
    if word or any_yet:
        yield word


def _field(data: Element, mining: Element, mentioned: list[str]) -> Field:
    """A column, as the dictionary and the schema describe it."""
    name, kind, optype = attribute(data, "name"), data.get("dataType", "double"), data.get("optype", "continuous")
    unknown = WHERE_INVALID.get(mining.get("invalidValueTreatment", "returnInvalid"))
    if unknown is None:
        raise not_read(f"invalidValueTreatment={mining.get('invalidValueTreatment')!r} of {name!r}", mining)
    listed = list(children(data, "Value"))
    for one in listed:
        lost = one.get("value", "").lower() in ("nan", "", "n/a", "na", "null", "none")
        if one.get("property", "valid") == "missing" and not lost:
            raise not_read(f"the value {one.get('value')!r} of {name!r} that stands for a missing one", data)
    valid = [attribute(one, "value") for one in listed if one.get("property", "valid") == "valid"]
    instead = mining.get("missingValueReplacement")
    if optype == "continuous":
        low, high = _ends(data) if unknown == "refused" else (-np.inf, np.inf)
        return Field(name, None, None if instead is None else float(instead), unknown, kind == "float", low, high)
    names = list(dict.fromkeys(valid or mentioned))
    if not valid:
        unknown = "kept"  # the dictionary lists none, so each is valid
    levels = tuple(label_of(text, kind) for text in names)
    if instead is not None and instead not in names:
        raise InputError(f"{name!r} has the missingValueReplacement {instead!r}.", f"Its values are {names}.")
    return Field(name, levels, None if instead is None else label_of(instead, kind), unknown)


def _ends(data: Element) -> tuple[float, float]:
    """The ends of the valid numbers."""
    intervals = list(children(data, "Interval"))
    if len(intervals) > 1 or any("closed" not in (one.get("closure") or "").lower() for one in intervals):
        raise not_read("several Intervals, or open ones", data)
    ends = [(number_in(one, "leftMargin", -np.inf), number_in(one, "rightMargin", np.inf)) for one in intervals]
    return ends[0] if ends else (-np.inf, np.inf)


def label_of(text: str, kind: str) -> Label:
    """A value as its type writes it."""
    if kind == "boolean":
        return text.lower() == "true"
    if kind == "integer":
        return int(float(text))
    return float(text) if kind in ("double", "float") else text


def _same(level: Label, text: str) -> bool:
    if isinstance(level, bool):
        return text.lower() == str(level).lower()
    if isinstance(level, int | float):
        try:
            return float(text) == level
        except ValueError:
            return False
    return level == text
