"""The elements of a PMML file, and the errors about those that are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

import numpy as np

from butfor.errors import InputError, UnsupportedModelError

Label = str | int | float | bool

DECLARED = re.compile(rb"<!\s*(DOCTYPE|ENTITY)")
"""What a PMML file has no need of, and what can make a small file expand to gigabytes."""


def parsed(held: bytes) -> Element:
    """The root of a PMML file."""
    if DECLARED.search(held):
        raise InputError("the file declares a document type or entities.", "A PMML file has none.")
    try:
        root = fromstring(held)
    except ParseError as error:
        raise InputError(f"the file is no XML: {error}.", "A whole PMML file is needed.") from None
    if name_of(root) != "PMML":
        raise InputError(f"the file begins with {name_of(root)}.", "A PMML file begins with PMML.")
    return root


def name_of(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def children(element: Element, *names: str) -> Iterator[Element]:
    """The children with one of these names; all but extensions if none is given."""
    for child in element:
        name = name_of(child)
        if name in names or (not names and name != "Extension"):
            yield child


def child(element: Element, *names: str) -> Element | None:
    """The first child with one of these names."""
    return next(children(element, *names), None)


def attribute(element: Element, name: str) -> str:
    """An attribute that must be there."""
    found = element.get(name)
    if found is None:
        raise InputError(f"a {name_of(element)} has no {name}.", "It is needed.")
    return found


def number_in(element: Element, name: str, default: float | None = None) -> float:
    """An attribute that must be a number."""
    if default is not None and element.get(name) is None:
        return default
    text = attribute(element, name)
    try:
        return float(text)
    except ValueError:
        raise InputError(f"a {name_of(element)} has {name}={text!r}.", "A number is needed.") from None


def number_written(text: str, asking: Element) -> float:
    """A text that must be a number."""
    try:
        return float(text)
    except ValueError:
        raise not_read(f"the text {text!r} where a number is made or asked for", asking) from None


def ends_of(interval: Element) -> tuple[float, float]:
    """The first and the last number in an Interval."""
    closure = attribute(interval, "closure")
    if closure not in ("openOpen", "openClosed", "closedOpen", "closedClosed"):
        raise InputError(
            f"an Interval has closure={closure!r}.", "It may be openOpen, openClosed, closedOpen, closedClosed."
        )
    low, high = number_in(interval, "leftMargin", -np.inf), number_in(interval, "rightMargin", np.inf)
    first = low if closure.startswith("closed") else float(np.nextafter(low, np.inf))
    last = high if closure.endswith("Closed") else float(np.nextafter(high, -np.inf))
    return (first if np.isfinite(low) else low), (last if np.isfinite(high) else high)


def not_read(what: str, element: Element | None = None) -> UnsupportedModelError:
    """The error about something that is not read."""
    where = "" if element is None else f" in {name_of(element)}"
    return UnsupportedModelError(
        f"the file has {what}{where}, which is not read.",
        "Trees, sums, votes and chains of them, regressions and scorecards are read.",
        "Give the model itself, or its predictions as a function with bf.black_box.",
    )


def in_single(model: Element) -> bool:
    """Whether the file asks for float32."""
    return any(one.get("x-mathContext") == "float" for one in model.iter())


def segments_in(segmentation: Element) -> list[Element]:
    """The segments, all of which are used for each row."""
    segments = list(children(segmentation, "Segment"))
    for one in segments:
        if child(one, "True") is None:
            raise not_read("a Segment with a predicate of its own", segmentation)
    if not segments:
        raise InputError("a Segmentation has no Segment.", "One is needed.")
    return segments


def label_of(text: str, kind: str) -> Label:
    """A value as its type writes it."""
    if kind == "boolean":
        return text.lower() == "true"
    if kind == "integer":
        return int(float(text))
    return float(text) if kind in ("double", "float") else text


def position_of(levels: Sequence[Any], text: str) -> int | None:
    """The position of a level that is written in a file; None if it is no level."""
    return next((k for k, level in enumerate(levels) if _same(level, text)), None)


def _same(level: Label, text: str) -> bool:
    if isinstance(level, bool):
        return text.lower() == str(level).lower()
    if isinstance(level, int | float):
        try:
            return float(text) == level
        except ValueError:
            return False
    return level == text
