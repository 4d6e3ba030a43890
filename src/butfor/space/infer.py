"""Infer a space from training data. `Feature.why` records every guess, and every guess can be overridden."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import ButforError, InputError, InputTypeError, UnknownColumnError, choice
from butfor.space import frames
from butfor.space.encodings import Encoding, found
from butfor.space.feature import Feature, Override, unread
from butfor.space.levels import check_levels
from butfor.space.space import Space, encode_column

Declaration = Override | Encoding | None
"""What a user says of a feature. None: these are no dummies, but columns by themselves."""


def infer(table: Any, declarations: Mapping[str, Declaration] | None = None, dropped: Collection[str] = ()) -> Space:
    """The space of `table`. The user's declarations replace what is inferred.

    Columns that are `dropped` by the model are unread, unless they are declared, or dummies beside others that are read.
    """
    table = frames.as_table(table)
    if frames.height(table) == 0:
        raise InputError("the data has no rows.", "At least one row is needed to know what values a column takes.")
    table = frames.opened(table)
    given = frames.positions(table)
    if not given:
        raise InputError("the data has no columns.", "At least one is needed.")
    said = declared(declarations)
    alone = [name for name in dropped if name in given and name not in said]
    columns = {name: _inferred(table, name, at, name in alone) for name, at in given.items()}
    features = _with_dummies(columns, table, said)
    for name, declaration in said.items():
        if name not in features and declaration is not None:
            raise UnknownColumnError(
                f"space declares a column {name!r} that the data does not have.", *choice("It has", name, features)
            )
        if isinstance(declaration, Override):
            features[name] = declaration.apply(features[name])
    for name, feature in features.items():
        if name not in said and set(feature.columns) <= set(alone):
            features[name] = unread(feature)
        elif feature.levels is not None:
            check_levels(name, feature.levels)
    in_order = sorted(features.values(), key=lambda feature: min(given[column] for column in feature.columns))
    return Space(tuple(one if one.unread else describe_data(one, table, given) for one in in_order))


def _inferred(table: Any, name: str, position: int, dropped: bool) -> Feature:
    """What the type and the values of one column tell about it. One that is dropped may hold anything."""
    try:
        return infer_column(table, name, position)
    except ButforError:
        if dropped:
            return unread(Feature(name))
        raise


def held(feature: Feature, data: Any) -> Feature:
    """What the data tells about a feature that nothing reads, once a question names it."""
    absent = [name for name in feature.columns if name not in frames.names(data)]
    if absent:
        raise InputError(
            f"the question names {feature.name!r}, which the data lacks.",
            "The model drops it, so it is not needed. But what it may become is not known.",
            "Give data with this column, or leave it out of the question.",
        )
    try:
        (found,) = infer(frames.select(data, feature.columns))
    except ButforError as error:
        raise error.at(f"the question names {feature.name!r}") from None
    if found.dummies is None or feature.dummies is None:
        return found
    return replace(found, name=feature.name, dummies=replace(found.dummies, at=feature.dummies.at))


def declared(space: Any) -> dict[str, Declaration]:
    """The user's declarations of features, by name."""
    if space is not None and not isinstance(space, Mapping):
        raise InputTypeError(
            f"space={space!r} was given.",
            "A dict from column to its declaration is needed.",
            'Write space={"age": bf.Integer()}, and leave out what is inferred well.',
        )
    for name, declaration in (space or {}).items():
        if not isinstance(declaration, Declaration):
            raise InputTypeError(
                f"space={{{name!r}: {declaration!r}}} was given.",
                "A declaration must be bf.Continuous, bf.Integer, bf.Step, bf.Categorical, bf.Ordinal, bf.one_hot or "
                "bf.thermometer.",
            )
    return {str(name): declaration for name, declaration in (space or {}).items()}


def _with_dummies(columns: Mapping[str, Feature], table: Any, said: Mapping[str, Declaration]) -> dict[str, Feature]:
    """The features of a table: its columns, but dummies as the one feature that they are."""
    given = frames.positions(table)
    encodings = {name: one for name, one in said.items() if isinstance(one, Encoding)}
    dummies = {name: one.feature(name, table, given) for name, one in encodings.items()}
    taken = _holders(dummies, given)
    left = {name: feature for name, feature in columns.items() if name not in taken and name not in said}
    seen = {name: one.feature(name, table, given) for name, one in found(table, left, {*given, *dummies})}
    for name, declaration in said.items():
        if declaration is None and name not in seen:
            raise UnknownColumnError(
                f"space={{{name!r}: None}} was given, but no dummies {name!r} were found.",
                *choice("Found were", name, seen or ["none"]),
            )
    dummies |= {name: feature for name, feature in seen.items() if name not in said or said[name] is not None}
    taken = _holders(dummies, given)
    return {name: feature for name, feature in columns.items() if name not in taken} | dummies


def _holders(dummies: Mapping[str, Feature], given: Collection[str]) -> dict[str, str]:
    """Which feature holds each column of dummies. A column has one feature, and each feature a name of its own."""
    holder: dict[str, str] = {}
    for name, feature in dummies.items():
        for column in feature.columns:
            if holder.setdefault(column, name) != name:
                raise InputError(
                    f"space declares {column!r} to be in {holder[column]!r} and in {name!r}.",
                    "A column belongs to one feature.",
                )
    for name, feature in dummies.items():
        if name in given and name not in feature.columns:
            raise InputError(
                f"space declares dummies {name!r}, and there is a column of that name.",
                "Each feature needs its own name.",
            )
    return holder


def infer_column(table: Any, name: str, position: int) -> Feature:
    """What the type and the values of one column tell about it."""
    kind = frames.dtype(table, name)
    if kind in ("int", "float", "float32"):
        return _number(name, frames.numbers(table, name, position), kind)
    if kind == "bool":
        return Feature(name, levels=(False, True), ordered=True, why="true or false")
    if kind in ("ordered", "category"):
        levels = frames.categories(table, name)
        ordered = kind == "ordered"
        return Feature(
            name, levels=levels, ordered=ordered, why="the column's own categories" + (" and order" if ordered else "")
        )
    if kind in ("text", "object"):
        seen = [value for value in frames.values(table, name, position) if value is not None]
        if seen and all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in seen):
            return _number(name, frames.numbers(table, name, position), "float")
        wrong = [value for value in seen if not isinstance(value, str | bool | int | float)]
        if wrong:
            raise InputTypeError(
                f"column {name!r} holds values of type {type(wrong[0]).__name__}.",
                "Columns must hold numbers, text, booleans or categories.",
                "Turn dates and other objects into numbers first (days since ...).",
            )
        try:
            levels = tuple(sorted(set(seen)))
        except TypeError:
            levels = tuple(sorted(set(seen), key=str))
        if not levels:
            raise InputError(f"column {name!r} holds no value.", "At least one row must have one.")
        if all(isinstance(level, bool) for level in levels):
            return Feature(name, levels=(False, True), ordered=True, why="true or false")
        return Feature(name, levels=levels, why="text: the values in the data")
    raise InputTypeError(
        f"column {name!r} is of type {kind}.",
        "Columns must hold numbers, text, booleans or categories.",
        f"Write it out: X[{name!r}] = X[{name!r}].sparse.to_dense()."
        if kind.startswith("Sparse")
        else "Turn dates and durations into numbers first (days since ...).",
    )


def _number(name: str, column: FloatArray, kind: str) -> Feature:
    seen = column[~np.isnan(column)]
    if not seen.size:
        raise InputError(f"column {name!r} holds no value.", "At least one row must have one.")
    if np.isinf(seen).any():
        raise InputError(f"column {name!r} holds an infinite value.", "Numbers must be finite.")
    low, high = float(seen.min()), float(seen.max())
    single = kind == "float32"
    coarse = max(-low, high) > (LAST_WHOLE_SINGLE if single else LAST_WHOLE_DOUBLE)
    whole = not coarse and bool(np.all(seen == np.round(seen)))
    if whole and (low, high) == (0.0, 1.0):
        levels: tuple[int, ...] = (0, 1)
        return Feature(name, levels=levels, ordered=True, single=single, why="the values are 0 and 1")
    why = "whole-number type" if kind == "int" else "whole numbers in all rows" if whole else "numbers"
    return Feature(name, low=low, high=high, step=1.0 if whole else 0.0, single=single, why=f"{why}; range of the data")


LAST_WHOLE_SINGLE, LAST_WHOLE_DOUBLE = 2.0**24, 2.0**53
"""Beyond these, not every whole number is a float, and every float is whole: it says nothing."""

WIDEST = 1e100
"""The widest range of a column, and the inverse of the narrowest."""


def describe_data(feature: Feature, table: Any, given: Mapping[str, int]) -> Feature:
    """`feature`, with what its column shows: typical value, spreads, missing values."""
    column = encode_column(replace(feature, missing=True), table, given)
    seen = column[~np.isnan(column)]
    missing = bool(seen.size < column.size)
    if not seen.size:
        return replace(feature, missing=missing)
    if feature.levels is not None:
        counts = np.bincount(seen.astype(np.intp), minlength=len(feature.levels))
        none = missing and frames.marker(table, feature.name, given[feature.name]) is None
        return replace(feature, missing=missing, none=none, typical=float(np.argmax(counts)))
    if not 1 / WIDEST < feature.range < WIDEST or not np.abs(seen).max() < WIDEST:
        raise InputError(
            f"the numbers of column {feature.name!r} lie between {feature.low:.3g} and {feature.high:.3g}.",
            f"Their range must be between {1 / WIDEST:g} and {WIDEST:g}, because costs take its square.",
            "Measure the column in another unit.",
        )
    middle = float(np.median(seen))
    nearest = seen[np.argmin(np.abs(seen - middle))]
    return replace(
        feature,
        missing=missing,
        typical=float(nearest),
        mad=float(np.median(np.abs(seen - middle))),
        std=float(seen.std()) if seen.min() < seen.max() else 0.0,  # that of equal values is not exactly 0
    )
