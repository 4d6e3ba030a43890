"""The space of rows: its features, and the conversion of tables to numbers and back."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import NAMES_LISTED, InputError, UnknownColumnError, choice, did_you_mean, suggested
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.writing import write


class NamesUnread(Exception):  # noqa: N818 - a request to the caller, not an error
    """A question names a column that nothing reads.

    The column must be held to the rules of all others, and the question be read again.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


@dataclass(frozen=True)
class Space:
    """The features that a model was fitted on, in order: raw columns, and dummies as the one feature that they are.

    A row is encoded as float64: a number as itself, a level as its position, a missing value as NaN. Columns that nothing
    reads are 0. Print the space to see what was inferred and why.
    """

    features: tuple[Feature, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the user's table that the model was fitted on, in order."""
        return tuple(self.features[j].columns[place] for j, place in places(self.features))

    @cached_property
    def unread(self) -> tuple[str, ...]:
        """The columns of the user's table that nothing reads, in order."""
        return tuple(self.features[j].columns[place] for j, place in places(self.features) if self.features[j].unread)

    @cached_property
    def read(self) -> tuple[str, ...]:
        """The columns of the user's table that the model reads, in order."""
        return tuple(name for name in self.columns if name not in self.unread) if self.unread else self.columns

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.index(name)]

    def index(self, name: str) -> int:
        """The position of a column, by its name or the frame's own label. An error suggests similar names.

        A rule that looks a column up in this way is about what the column holds. Where that does not matter, use `position`.
        """
        return self.position(name)

    def position(self, name: str) -> int:
        """The position of a column, as `index` gives it, whether or not anything reads the column."""
        try:
            return self.names.index(str(name))
        except ValueError:
            self._refuse_dummy(str(name))
            raise UnknownColumnError(
                f"there is no column {name!r}.", *choice("The columns are", name, self.names)
            ) from None

    def _refuse_dummy(self, name: str) -> None:
        """Refuse the name of a dummy, or a pattern of dummies, in place of that of their feature."""
        for feature in self.features:
            if feature.dummies is not None and fnmatch.filter(feature.columns, name):
                raise UnknownColumnError(
                    f"there is no feature {name!r}.",
                    f"Dummies are one feature: {feature.name!r} is {feature.describe()}.",
                    f"Write {feature.name!r}.",
                )

    def encode(self, table: Any) -> FloatArray:
        """Rows as numbers, checked.

        All columns that are read must be present, all categories known, and a value may be missing only if its column
        allows it.
        """
        table = frames.as_table(table)
        table = table if frames.is_pandas(table) else frames.opened(table)
        self.check_columns(table)
        given = frames.positions(table)
        out = np.zeros((frames.height(table), len(self)))
        numbers = [j for j, feature in enumerate(self.features) if feature.levels is None and not feature.unread]
        block = frames.plain_numbers(table, [self.names[j] for j in numbers])
        if block is not None:
            out[:, numbers] = block
        fine = block is not None and bool(np.isfinite(block).all())
        for j, feature in enumerate(self.features):
            if feature.unread:
                continue
            if block is None or feature.levels is not None:
                out[:, j] = encode_column(feature, table, given)
            elif not fine:
                check_codes(feature, out[:, j])
        return out

    def decode(self, points: FloatArray, table: Any, was: FloatArray | None = None) -> Any:
        """`table`, with each row replaced by its point. Columns in which nothing changed, or that nothing reads, stay."""
        was = self.encode(table) if was is None else was
        changed = ~same(points, was)
        columns = {
            name: values
            for j, feature in enumerate(self.features)
            if not feature.unread and changed[:, j].any()
            for name, values in decode_columns(feature, points[:, j], changed[:, j])
        }
        levels = {feature.name: feature.levels for feature in self.features if feature.levels is not None}
        return write(table, columns, levels)

    def cells(self, codes: FloatArray) -> list[list[Any]]:
        """The values of encoded rows, column by column of the user's table. A missing value is None.

        What nothing reads is None, too: `Space.values` knows what a table holds there.
        """
        held = [[feature.value(code) for code in codes[:, j].tolist()] for j, feature in enumerate(self.features)]
        return [
            held[j]
            if (its := self.features[j]).dummies is None or its.unread
            else its.dummies.cells(place, codes[:, j])
            for j, place in places(self.features)
        ]

    def values(self, codes: FloatArray, table: Any) -> dict[str, list[Any]]:
        """The values of encoded rows, by the names of their columns.

        In the columns that nothing reads, they are what the rows of `table` hold, if it has them.
        """
        known = dict(zip(self.columns, self.cells(codes), strict=True))
        known |= (held := self.held_unread(table))
        return {name: cells for name, cells in known.items() if name in held or name not in self.unread}

    def held_unread(self, table: Any) -> dict[str, list[Any]]:
        """What a table holds in the columns that nothing reads, if it has them. A missing value is None."""
        if not self.unread:
            return {}
        table = frames.opened(table)
        given = frames.positions(table)
        return {name: frames.values(table, name, given[name]) for name in self.unread if name in given}

    def select(self, table: Any) -> Any:
        """The columns of a table that the model was fitted on, in order. Of those that nothing reads, some may be absent."""
        if not self.unread:
            return frames.select(table, self.columns)
        given = set(frames.names(table))
        return frames.select(table, [name for name in self.columns if name in given or name not in self.unread])

    def takes(self, point: FloatArray) -> bool:
        """Whether the model takes an encoded row, as far as missing values go."""
        return not any(np.isnan(value) and not feature.missing for value, feature in zip(point, self, strict=True))

    def read_again(self, table: Any, points: FloatArray, was: FloatArray) -> FloatArray:
        """What a table holds in which `points` were written over `was`.

        A column in which nothing changed was not written, and float64 holds every number.
        """
        if frames.holds_floats(table, self.read):
            return points
        table = frames.opened(table)
        given = frames.positions(table)
        out = points.copy()
        for j in np.flatnonzero((~same(points, was)).any(axis=0)).tolist():
            feature = self.features[j]
            try:
                out[:, j] = encode_column(feature, table, given)
            except InputError:  # not a value of this column: it is not the claimed one
                out[:, j] = np.nan
        return out

    def check_columns(self, table: Any) -> None:
        """Refuse a table that lacks a column. Those that nothing reads may be absent."""
        given = set(frames.names(table))
        absent = [name for name in self.read if name not in given]
        array = frames.is_array(table)
        if array and table.shape[1] != len(self.columns):
            raise InputError(f"{table.shape[1]} columns were given.", f"The model reads {len(self.columns)}.")
        if array and absent:
            raise InputError(
                "an array was given, but the data has named columns.",
                choice("The model reads", None, self.read)[0],
                "Give the rows as a table with these columns: pd.DataFrame(rows, columns=data.columns).",
            )
        if absent:
            strangers = [name for name in frames.names(table) if name not in self.columns]
            near = {name: alike[0] for name in absent if (alike := suggested(name, strangers))}
            meant = {name: given for name, given in near.items() if list(near.values()).count(given) == 1}
            raise UnknownColumnError(
                choice("columns are missing:", None, absent)[0],
                choice("The model reads", absent[0], self.read)[0],
                " ".join(f"Rename {given!r} to {name!r}." for name, given in list(meant.items())[:NAMES_LISTED]),
            )

    def no_farther(self, start: FloatArray, one: FloatArray, other: FloatArray) -> BoolArray:
        """Whether in each column `one` is unchanged, equal to `other`, or on the way to it."""
        ordered = np.array([feature.levels is None or feature.ordered for feature in self])
        with np.errstate(invalid="ignore"):
            between = ((start <= one) & (one <= other)) | ((start >= one) & (one >= other))
        return np.asarray((same(one, start) | same(one, other) | (ordered & between)).all(axis=-1))

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Name, kind, values, missing and why, one tuple per column. Every view of a space shows these."""
        return [
            (feature.name, feature.kind, feature.describe(), "may be missing" if feature.missing else "", feature.why)
            for feature in self.features
        ]

    def __repr__(self) -> str:
        header = ("column", "kind", "values", "missing", "why")
        lines = [header, *self.rows()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )

    def _repr_html_(self) -> str:
        from html import escape

        left = 'style="text-align: left"'  # notebooks align tables to the right
        head = "".join(f"<th {left}>{name}</th>" for name in ("column", "kind", "values", "missing", "why"))
        body = "".join(
            "<tr>" + "".join(f"<td {left}>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def places(features: Sequence[Feature]) -> list[tuple[int, int]]:
    """For each column of the user's table in order, which feature it holds, and which of that feature's columns it is."""
    dummies = {
        at: (j, place)
        for j, feature in enumerate(features)
        if feature.dummies is not None
        for place, at in enumerate(feature.dummies.at)
    }
    others = iter([(j, 0) for j, feature in enumerate(features) if feature.dummies is None])
    count = sum(len(feature.columns) for feature in features)
    return [dummies[at] if at in dummies else next(others) for at in range(count)]


def encode_column(feature: Feature, table: Any, given: Mapping[str, int]) -> FloatArray:
    """One feature as numbers. The columns of the table are at the positions `given`."""
    if feature.dummies is not None:
        return feature.dummies.encode(feature.name, table, given)
    position = given[feature.name]
    if feature.levels is None:
        found = frames.numbers(table, feature.name, position)
    else:
        code = {level: float(k) for k, level in enumerate(feature.levels)}
        try:
            found = frames.looked_up(table, feature.name, position, code)
        except (KeyError, TypeError):
            column = frames.values(table, feature.name, position)
            bad = next(v for v in column if v is not None and v not in feature.levels)
            raise InputError(
                f"column {feature.name!r} holds {bad!r}, which was not seen before.",
                f"Its values are {feature.describe()}.",
                did_you_mean(bad, feature.levels)
                or "Correct the row, or declare the level with space={...: bf.Categorical([...])} if the model knows it.",
            ) from None
    check_codes(feature, found)
    return found


def check_codes(feature: Feature, found: FloatArray) -> None:
    """Refuse an infinite number, and a missing value in a column that allows none."""
    if np.isinf(found).any():
        raise InputError(f"column {feature.name!r} holds an infinite value.", "Numbers must be finite.")
    if not feature.missing and np.isnan(found).any():
        row = int(np.flatnonzero(np.isnan(found))[0])
        raise InputError(
            f"column {feature.name!r} is missing in row {row} of those given.",
            "The model takes no missing values there.",
            "Fill it, or add a SimpleImputer to the pipeline.",
        )


def decode_columns(feature: Feature, codes: FloatArray, changed: BoolArray) -> Iterator[tuple[str, Any]]:
    """The columns of a feature, as the user's values."""
    if feature.dummies is None:
        yield feature.name, decode_column(feature, codes, changed)
        return
    for place, name in enumerate(feature.columns):
        yield name, feature.dummies.ones(place)[codes.astype(np.intp)].astype(np.float64)


def decode_column(feature: Feature, codes: FloatArray, changed: BoolArray) -> Sequence[Any] | NDArray[Any]:
    """One column as the user's values. In a column of float32, only numbers that changed are rounded to that."""
    if feature.levels is None:
        with np.errstate(over="ignore"):
            return np.where(changed, codes.astype(np.float32), codes) if feature.single else codes
    numbers = feature.numbers
    if numbers is not None and not feature.none and not any(isinstance(level, bool) for level in feature.levels):
        return np.append(np.asarray(numbers), np.nan)[np.where(np.isnan(codes), len(numbers), codes).astype(np.intp)]
    lost = None if feature.none else np.nan
    return [lost if code != code else feature.levels[int(code)] for code in codes]


def same(before: FloatArray, after: FloatArray) -> BoolArray:
    """Where two tables of encoded values agree. Two missing values agree."""
    return np.asarray((before == after) | (np.isnan(before) & np.isnan(after)))
