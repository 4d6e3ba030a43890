"""Why the model that was read and its estimator differ on some rows, and what to do about it.

Columns are compared between the rows on which they differ and those on which they agree. Then the values of single columns
are exchanged between them, and both are asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import ButforError
from butfor.estimator.source import Source
from butfor.space import frames
from butfor.space.space import Space
from butfor.space.writing import write

ROWS_TRIED, PARTNERS = 8, 3
"""In how many of the rows that differ a column is exchanged, and with how many of those that agree."""

MOSTLY = 0.5
"""The share of rows that must differ with the values of those that do, for the column to be blamed."""


@dataclass(frozen=True)
class Blamed:
    """What makes the difference, in words, and what helps; both are empty if nothing was found."""

    words: str = ""
    remedy: str = ""


def blamed(space: Space, data: Any, rows: IntArray, wrong: set[int], differ: Callable[[Any], set[int]]) -> Blamed:
    """What makes the difference on the rows of the data that are at `wrong` in `rows`.

    `differ(table)` are the rows of a table on which the model and the estimator differ.
    """
    bad = np.array([row for at, row in enumerate(rows.tolist()) if at in wrong], dtype=np.intp)
    good = np.array([row for at, row in enumerate(rows.tolist()) if at not in wrong], dtype=np.intp)
    for name in space.read:
        kinds = _two_kinds(data, name, bad)
        if kinds.words:
            return kinds
    if not len(good):
        return Blamed("They differ on all of these rows.")
    best, found = 0.0, Blamed()
    for name in space.read:
        told = _told_apart(data, name, bad, good)
        sure, helper = _exchanged(data, name, bad[:ROWS_TRIED], good, differ)
        if sure and sure + bool(told) > best:
            value, other = _held(data, name, np.array([bad[0], helper]))
            words = told or f"row {bad[0]} holds {value!r}; with {other!r}, as in row {helper}, they agree"
            best, found = sure + bool(told), Blamed(f"Column {name!r} makes the difference: {words}.")
    return found if found.words else Blamed("No single column makes the difference.")


def first_of_each_kind(space: Space, data: Any) -> list[int]:
    """The first row with None and the first with NaN, in each column of levels that holds both."""
    found: list[int] = []
    for feature in space.features:
        if feature.levels is not None and feature.missing:
            both = _kinds(data, feature.name)
            found += both.values() if len(both) > 1 else ()
    return found


def what_now(source: Source) -> str:
    """What a user can do if the model cannot be read as it is."""
    function = "model.predict"
    if source.classes and hasattr(source.estimator, "predict_proba"):
        function = "model.predict_proba, classes=list(model.classes_)"
    given = f"bf.black_box({function})" if not source.classes or "," in function else function
    return (
        "Is the data what the model was fitted on? Otherwise the model computes something that was not read right. "
        'Then let the swarm search: bf.Explainer(model, data, on_mismatch="search"), which is '
        f"bf.Explainer({given}, data)."
    )


def _two_kinds(data: Any, name: str, bad: IntArray) -> Blamed:
    """A column of the data that holds both None and NaN, if one of them is in all rows that differ."""
    if not all(frames.is_missing(value) for value in _held(data, name, bad)):
        return Blamed()
    both = _kinds(data, name)
    if len(both) < 2:
        return Blamed()
    (first, one), (second, other) = both.items()
    return Blamed(
        f"Column {name!r} holds {first} in row {one} and {second} in row {other}, and the model tells them apart.",
        f"Write every missing value like those that the model was fitted on: X[{name!r}] = X[{name!r}].fillna(np.nan) "
        "makes NaN of None, and SimpleImputer(missing_values=None) fills None.",
    )


def _kinds(data: Any, name: str) -> dict[str, int]:
    """The first row with each marker of a missing value."""
    found: dict[str, int] = {}
    for row, value in enumerate(frames.as_held(data, name, frames.names(data).index(name))):
        if frames.is_missing(value):
            found.setdefault("NaN" if isinstance(value, float) else str(value), row)
    return found


def _held(data: Any, name: str, rows: IntArray) -> list[Any]:
    return frames.as_held(frames.take(data, rows), name, frames.names(data).index(name))


def _told_apart(data: Any, name: str, bad: IntArray, good: IntArray) -> str:
    """How all rows that differ can be told from all that agree, by this column; empty if they cannot."""
    theirs, others = _held(data, name, bad), [v for v in _held(data, name, good) if not frames.is_missing(v)]
    shown = f"row {bad[0]} holds {theirs[0]!r}"
    if all(map(frames.is_missing, theirs)):
        return f"{shown}, and no row that agrees is missing there" if len(others) == len(good) else ""
    if not others or any(map(frames.is_missing, theirs)):
        return ""
    if all(isinstance(value, int | float | np.number) for value in (*theirs, *others)):
        low, high = min(others), max(others)
        return (
            f"{shown}, and the rows that agree hold {low!r} to {high!r}"
            if not any(low <= v <= high for v in theirs)
            else ""
        )
    return f"{shown}, and no row that agrees does" if not set(theirs) & set(others) else ""


def _exchanged(
    data: Any, name: str, bad: IntArray, good: IntArray, differ: Callable[[Any], set[int]]
) -> tuple[float, int]:
    """How surely it is this column, and a row that agrees, whose value makes the first of those that differ agree.

    Rows that differ must all agree with the values of any rows that agree, and many of those must differ with theirs.
    Some values help by chance, for example near a boundary.
    """
    hurt, helper = 0.0, -1
    for shift in range(PARTNERS):
        partners = good[(np.arange(len(bad)) + shift * len(bad)) % len(good)]
        if _differing(data, name, bad, partners, differ) != set():
            return 0.0, -1
        helper = int(partners[0])
        hurt = max(hurt, len(_differing(data, name, partners, bad, differ) or ()) / len(bad))
    return (hurt if hurt >= MOSTLY else 0.0), helper


def _differing(
    data: Any, name: str, rows: IntArray, others: IntArray, differ: Callable[[Any], set[int]]
) -> set[int] | None:
    """Which rows differ with the values of other rows in one column; None if these cannot be there together."""
    try:
        return differ(write(frames.take(data, rows), {name: _held(data, name, others)}))
    except (ButforError, TypeError, ValueError):
        return None
