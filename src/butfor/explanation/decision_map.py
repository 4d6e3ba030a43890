"""What a model decides over two columns, around a row and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.explanation.column_words import Words
from butfor.explanation.render import rendered
from butfor.space import frames
from butfor.space.feature import Feature


@dataclass(frozen=True)
class Mark:
    """A row on a map: its name, its encoded values of the two columns, and the other columns in which it differs."""

    name: str
    x: float
    y: float
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromisedBox:
    """A region on a map: its ends in both columns (encoded), and the other columns in which the row is outside it."""

    x: tuple[float, float]
    y: tuple[float, float]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class DecisionMap:
    """What a model decides over two columns. All other columns are as in one row, the mark called `others`.

    - `columns`: the column across, and the one upwards;
    - `x`, `y`: their values (encoded);
    - `met` (y, x): whether the target is met;
    - `values` (y, x): the number that the target is about (None: the model has none);
    - `of`: what that number is, in words;
    - `threshold`: the number that is needed (None: there is no fixed one);
    - `dearer` (y, x): how much more each change costs than the first answer (None: not known);
    - `marks`: the row, and its answers;
    - `box`: a region (None: none was given).
    """

    columns: tuple[Feature, Feature]
    x: FloatArray
    y: FloatArray
    met: BoolArray
    values: FloatArray | None
    of: str
    threshold: float | None
    target: str
    others: str
    marks: tuple[Mark, ...]
    row: Any
    dearer: FloatArray | None = None
    box: PromisedBox | None = None
    words: Words | None = None

    def to_frame(self) -> Any:
        """One row per pair of values: both columns, the number, and whether the target is met.

        For arrays it is a dict of columns.
        """
        across, upwards = self.columns
        columns: dict[str, list[Any]] = {
            across.name: [across.value(code) for code in self.x.tolist()] * len(self.y),
            upwards.name: np.repeat([upwards.value(code) for code in self.y.tolist()], len(self.x)).tolist(),
            "value": [None] * self.met.size if self.values is None else self.values.ravel().tolist(),
            "met": self.met.ravel().tolist(),
        }
        return frames.framed(self.row, columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the map, with matplotlib. Returns the axes."""
        return rendered(self, "decision map", ax)

    def __repr__(self) -> str:
        return str(rendered(self, "decision map in words"))
