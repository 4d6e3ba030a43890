"""Predicates, as the elements of a PMML file write them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from xml.etree.ElementTree import Element

import numpy as np

from butfor.errors import InputError
from butfor.estimator.pmml.elements import attribute, child, children, name_of, not_read, number_in, number_written
from butfor.estimator.pmml.predicates import AlwaysSo, Answered, Compound, Cut, IsMissing, OneOf, Predicate
from butfor.estimator.pmml.scope import Scope, array_in


def predicate_of(element: Element, scope: Scope) -> Predicate:
    """The predicate among the children of an element."""
    found = child(element, "True", "False", "SimplePredicate", "SimpleSetPredicate", "CompoundPredicate")
    if found is None:
        raise InputError(f"a {name_of(element)} has no predicate.", "It needs one.")
    return _read_predicate(found, scope)


def _read_predicate(one: Element, scope: Scope) -> Predicate:
    kind = name_of(one)
    if kind in ("True", "False"):
        return AlwaysSo(kind == "True")
    if kind == "CompoundPredicate":
        how = attribute(one, "booleanOperator")
        if how not in ("and", "or", "xor", "surrogate"):
            raise not_read(f"booleanOperator={how!r}", one)
        return Compound(cast(Any, how), tuple(_read_predicate(part, scope) for part in children(one)))
    read = scope.number(attribute(one, "field"))
    if kind == "SimpleSetPredicate":
        return _in_set(read, one, attribute(one, "booleanOperator") == "isIn", scope)
    sign = attribute(one, "operator")
    if sign in ("isMissing", "isNotMissing"):
        return IsMissing(read, sign == "isMissing")
    if scope.is_level(read):
        return _of_level(read, sign, attribute(one, "value"), scope, one)
    return _of_number(read, sign, number_in(one, "value"), scope, one)


def _in_set(read: int, one: Element, wanted: bool, scope: Scope) -> Predicate:
    texts = array_in(one)
    if not scope.is_level(read):
        parts = tuple(_equal(read, scope.compared(read, number_written(text, one))) for text in texts)
        return Compound("or", parts) if wanted else Compound("and", tuple(_not(part) for part in parts))
    levels = frozenset(k for k in (scope.position(read, text) for text in texts) if k is not None)
    return Answered(OneOf(read, levels, len(scope.reads[read].levels or ())), wanted)


def _of_level(read: int, sign: str, text: str, scope: Scope, one: Element) -> Predicate:
    position, count = scope.position(read, text), len(scope.reads[read].levels or ())
    if sign in ("equal", "notEqual"):
        own = frozenset[int]() if position is None else frozenset({position})
        return Answered(OneOf(read, own, count), sign == "equal")
    if position is None or sign not in ORDERED:
        raise not_read(f"operator={sign!r}", one)
    levels = frozenset(k for k in range(count) if ORDERED[sign](k, position))
    return Answered(OneOf(read, levels, count))


ORDERED = {
    "lessThan": lambda k, at: k < at,
    "lessOrEqual": lambda k, at: k <= at,
    "greaterThan": lambda k, at: k > at,
    "greaterOrEqual": lambda k, at: k >= at,
}


def _of_number(read: int, sign: str, x: float, scope: Scope, one: Element) -> Predicate:
    x = scope.compared(read, x)
    below = float(np.nextafter(x, -np.inf))
    if sign in ("equal", "notEqual"):
        return _equal(read, x) if sign == "equal" else _not(_equal(read, x))
    if sign not in ORDERED:
        raise not_read(f"operator={sign!r}", one)
    last = x if sign in ("lessOrEqual", "greaterThan") else below
    return Answered(Cut(read, last), sign.startswith("less"))


def _equal(read: int, x: float) -> Predicate:
    return Compound("and", (Answered(Cut(read, x)), Answered(Cut(read, float(np.nextafter(x, -np.inf))), wanted=False)))


def _not(equal: Predicate) -> Predicate:
    assert isinstance(equal, Compound)
    return Compound(
        "or", tuple(replace(part, wanted=not part.wanted) for part in equal.parts if isinstance(part, Answered))
    )
