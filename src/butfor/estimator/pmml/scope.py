"""The fields that a part of a PMML file can name, and what each of them reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from butfor.errors import InputError, choice
from butfor.estimator.pmml.elements import attribute, child, children, name_of, not_read, position_of
from butfor.estimator.pmml.expressions import Expression
from butfor.estimator.pmml.fields import Field, Read, compared, is_single
from butfor.estimator.pmml.predicates import Known
from butfor.estimator.pmml.schema import active, check_parts, field_of, first_steps


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
        schema, mentioned = child(model, "MiningSchema"), _mentioned(root)
        if schema is None:
            raise InputError(f"the {name_of(model)} has no MiningSchema.", "It says which columns the model takes.")
        taken = {attribute(one, "name"): one for one in active(schema)}
        for name in taken:
            if name not in known:
                raise InputError(f"the DataDictionary lacks {name!r}.", *choice("It has", name, known))
        check_parts(model, known, taken)
        scope = cls(tuple(field_of(known[name], one, mentioned[name]) for name, one in taken.items()))
        for j, (own, one) in enumerate(zip(scope.fields, taken.values(), strict=True)):
            scope.names[own.name] = scope.read(Read(j, first_steps(own, known[own.name], one), own.levels))
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
        return self.reads[read].levels is not None

    def compared(self, read: int, x: float) -> float:
        """A number of the file as it is compared with what is read."""
        return compared(x, self.reads[read], self.fields)

    def may_be_missing(self, read: int) -> bool:
        """Whether a read is missing in some rows."""
        own, column = self.reads[read], self.field(read)
        return own.gaps or not (own.takes_missing or column.instead is not None or column.required)

    def position(self, read: int, text: str) -> int | None:
        """The position of a level that is written in the file; None if no row has it."""
        return position_of(self.reads[read].levels or (), text)

    @property
    def start(self) -> dict[int, Known]:
        """What is known of each read before anything is asked."""
        return {k: Known(lost=None if self.may_be_missing(k) else False) for k in range(len(self.reads))}

    def derive(self, transformations: Element | None) -> None:
        """Add the columns that a part derives."""
        for one in () if transformations is None else children(transformations, "DerivedField"):
            made = Expression(self.fields, lambda name: self.reads[self.number(name)], _kind_of_levels(one)).read(
                next(children(one))
            )
            single = is_single(made, self.fields)
            if made.levels is None and (one.get("dataType") == "float") != single:
                made = made.then("double" if single else "float")
            self.names[attribute(one, "name")] = self.read(made)
        for one in () if transformations is None else children(transformations, "DefineFunction"):
            raise not_read(f"a function {one.get('name')!r}", transformations)


def _kind_of_levels(derived: Element) -> str | None:
    """The type of the levels of a derived field; None if it is a number."""
    return derived.get("dataType", "string") if derived.get("optype") in ("categorical", "ordinal") else None


def fields_of(reads: Iterable[int], scope: Scope) -> tuple[int, ...]:
    """The fields that must not be missing if some reads must not, and those of which the file says so itself."""
    needed = [scope.reads[read] for read in reads]
    for one in needed:
        if one.gaps:
            raise not_read(
                f"a field made of {scope.fields[one.field].name!r} that is missing for some numbers or levels where the model "
                "needs it (defaultValue or mapMissingTo would say what it is then)"
            )
    required = (j for j, column in enumerate(scope.fields) if column.required)
    return tuple(sorted({one.field for one in needed} | {*required}))


def _mentioned(root: Element) -> dict[str, list[str]]:
    """The values that a file names elsewhere, for each field. A dictionary may leave the levels out."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in root.iter():
        if name_of(one) in ("SimplePredicate", "CategoricalPredictor", "NormDiscrete") and one.get("value") is not None:
            found[one.get("field") or one.get("name") or ""].append(one.get("value") or "")
        if name_of(one) == "SimpleSetPredicate":
            found[one.get("field") or ""] += array_in(one)
        if name_of(one) == "MapValues":
            for pair in children(one, "FieldColumnPair"):
                cells = [cell for row in one.iter() for cell in children(row, attribute(pair, "column"))]
                found[attribute(pair, "field")] += [(cell.text or "").strip() for cell in cells]
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
