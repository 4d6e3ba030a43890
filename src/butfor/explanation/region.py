"""A box of rows around one row that all get the same answer from the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.explanation.changes import Change, change_rows
from butfor.explanation.column_words import Words
from butfor.explanation.render import rendered
from butfor.space import frames
from butfor.space.space import Space


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """A box in which a target is met everywhere: one that was promised, or one no side of which can be moved out.

    - `low`, `high`: the smallest and the largest value of each column that holds a number (encoded);
    - `codes`: the row inside. Levels and missing values stay as they are there;
    - `words`: how columns are called and their values are written;
    - `widest`: whether it was grown to its end. If not, the time ended, and some side can perhaps be moved out.
    """

    space: Space
    codes: FloatArray
    low: FloatArray
    high: FloatArray
    target: str
    row: Any
    words: Words | None = None
    widest: bool = True

    @cached_property
    def columns(self) -> tuple[Change, ...]:
        """Each column, with its value inside, and its words."""
        return change_rows(self.space, self.codes, None, self.words)

    def ends(self, j: int) -> str:
        """The interval of a column, in words. It is rounded inwards."""
        return " to ".join(self.columns[j].show_within(float(self.low[j]), float(self.high[j])))

    def describe(self) -> str:
        """The box in words, one line per column. Those that nothing reads may hold anything, and are left out."""
        lines = [f"{self.target} for all of these values together"]
        for j, (feature, column) in enumerate(zip(self.space, self.columns, strict=True)):
            if feature.unread:
                continue
            if feature.levels is None and self.low[j] < self.high[j]:
                everything = self.low[j] <= feature.low and self.high[j] >= feature.high
                lines.append(f"  {column.label}: {self.ends(j)}{' (its whole range)' if everything else ''}")
            else:
                lines.append(f"  {column.label}: {column.text[0]}")
        if not self.widest:
            lines.append("  the time ended: some of these may reach further")
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """One row per column that is read: column, low, value, high. For arrays it is a dict of columns."""
        read = [(j, feature) for j, feature in enumerate(self.space) if not feature.unread]
        values = [feature.value(self.codes[j]) for j, feature in read]
        columns: dict[str, list[Any]] = {
            "column": [feature.name for _, feature in read],
            "low": [None if feature.levels else float(self.low[j]) for j, feature in read],
            "value": [None if value is None else str(value) for value in values],
            "high": [None if feature.levels else float(self.high[j]) for j, feature in read],
        }
        return frames.framed(self.row, columns)

    def contains(self, rows: Any) -> BoolArray:
        """Which rows lie in the box."""
        points = self.space.encode(frames.as_table(rows))
        numbers = np.array([feature.levels is None for feature in self.space]) & ~np.isnan(self.codes)
        same = (points == self.codes) | (np.isnan(points) & np.isnan(self.codes))
        inside = (points >= self.low) & (points <= self.high)
        return np.asarray(np.where(numbers, inside, same).all(axis=1))

    def plot(self, ax: Any = None) -> Any:
        """Draw the box as one bar per column on the column's range, with matplotlib. Returns the axes."""
        return rendered(self, "region", ax)

    def __repr__(self) -> str:
        return self.describe()
