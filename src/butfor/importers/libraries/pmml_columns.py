"""What a PMML model reads of a field, as a column: lines, functions that bend it, bins, and pieces that may turn around.

A weighted sum takes a column that turns around as a shape. Trees take it as bins, between whose ends no cut is passed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.pmml.fields import BENDING_STEPS, Read
from butfor.estimator.pmml.pieces import Discretized, InsideEnds, KnottedLines
from butfor.importers.fold.bent import bent
from butfor.importers.fold.column import Column, Values, reached
from butfor.importers.fold.nodes import BEYOND_ALL
from butfor.model.float_order import LARGEST_FLOAT, last_between

MAY_FOLLOW_TURNS = ("+", "-", "*", "/", "float", "double", "min", "max", "exp", "expm1", "instead")
"""AfterSteps that may follow pieces that turn around before trees: they never fall, and are defined everywhere."""


@dataclass(frozen=True)
class AfterSteps:
    """The steps of a read, as a function that travels between processes."""

    read: Read

    def __call__(self, x: Values) -> Values:
        return self.read.after(x)


@dataclass(frozen=True)
class PmmlColumn:
    """A read of a column. `cuts`: the numbers with which trees compare it; None before a weighted sum."""

    read: Read
    given: Column
    cuts: FloatArray | None = None

    @property
    def column(self) -> Column:
        """The column after all steps."""
        column = self.given
        for k, (name, by) in enumerate(self.read.steps):
            step = Read(self.read.field, ((name, by),))
            number = column.table is None and column.edges is None
            if name in BENDING_STEPS or (name == "lines" and by.rises):
                column = _bent(column, name, by, step)
            elif number and isinstance(by, Discretized):
                column = replace(column.map(AfterSteps(step)), edges=_numbers(reached(column, by.ends)), slope=0.0)
            elif number and isinstance(by, KnottedLines | InsideEnds):
                column = self._turned(column, k, by, step)
            else:
                column = column.map(AfterSteps(step), slope=column.slope * step.slope)
        return column

    def _turned(self, column: Column, k: int, by: KnottedLines | InsideEnds, step: Read) -> Column:
        """The column after lines that fall somewhere, or leave numbers out."""
        if self.cuts is not None:
            rest = Read(self.read.field, self.read.steps[k:])
            return replace(column.map(AfterSteps(step)), edges=_passed(column, by.knots, rest, self.cuts), slope=0.0)
        if not column.affine:
            raise UnsupportedModelError(
                f"{column.bent_by} bends a column, and lines in the file that turn around bend it again.",
                "It must be bent once.",
                "Let the swarm search: give its predictions with bf.black_box.",
            )
        return column.map(
            AfterSteps(step),
            affine=False,
            turns=True,
            bends=partial(reached, column, by.knots),
            bent_by="lines in the file",
        )


def _bent(column: Column, name: str, by: Any, step: Read) -> Column:
    """The column after a function that never falls. Lines bend at their knots, and so do two ends."""
    at = tuple(by.knots) if isinstance(by, KnottedLines) else () if by is None else (float(by),)
    return bent(column, AfterSteps(step), f"{name} in the file", at)


def _passed(column: Column, knots: FloatArray, rest: Read, cuts: FloatArray) -> FloatArray:
    """The last raw numbers before what is read passes a cut, or before a knot. Between knots it only rises, or only falls."""
    if any(name not in MAY_FOLLOW_TURNS for name, _ in rest.steps[1:]):
        raise UnsupportedModelError(
            f"{', '.join(name for name, _ in rest.steps[1:])} follows lines in the file that turn around.",
            "What follows them must rise everywhere.",
            "Give the predictions with bf.black_box: the swarm searches.",
        )
    ends = _numbers(reached(column, np.concatenate([np.nextafter(knots, -np.inf), knots])))
    first, last = np.append(-LARGEST_FLOAT, np.nextafter(ends, np.inf)), np.append(ends, LARGEST_FLOAT)

    def value(x: FloatArray) -> FloatArray:
        return rest.after(column.at(x)).astype(np.float64)

    begin, end = (np.repeat(some, len(cuts)) for some in (first, last))
    rises, asked = value(begin) <= value(end), np.tile(cuts, len(first))

    def holds(x: FloatArray) -> BoolArray:
        return np.where(rises, value(x) <= asked, value(x) > asked)

    found = last_between(holds, begin, end)
    return _numbers(np.concatenate([ends, found]))


def _numbers(ends: FloatArray) -> FloatArray:
    """The ends that numbers of a column can pass, in ascending order."""
    return np.unique(ends[np.abs(ends) < BEYOND_ALL])
