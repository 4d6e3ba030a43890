"""The columns that a PMML model takes, and what it reads of them: numbers, and the positions of levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError
from butfor.space import frames

Step = tuple[str, Any]
"""What is done to a number, and with what: "+", "-", "*" or "/" a constant, "float", "double" (no float32), "is" a level,
a value "instead" of a missing one, one that bends it, or one that is made piece by piece."""


@dataclass(frozen=True)
class Field:
    """A column that the model takes.

    - `levels`: the values of a column that is not a number;
    - `instead`: what takes the place of a missing value (None: nothing);
    - `unknown`: what becomes of an unknown level: "refused", "missing", or "kept" as one that no test names;
    - `single`: whether numbers are float32;
    - `low`, `high`: the numbers that are valid;
    - `required`: whether the file says that no row has a prediction without it.
    """

    name: str
    levels: tuple[Any, ...] | None = None
    instead: Any = None
    unknown: str = "refused"
    single: bool = False
    low: float = -np.inf
    high: float = np.inf
    required: bool = False

    def numbers(self, x: FloatArray) -> FloatArray:
        """Numbers as the model gets them."""
        if self.single:
            with np.errstate(over="ignore"):
                x = x.astype(np.float32).astype(np.float64)
        return x if self.instead is None else np.where(np.isnan(x), float(self.instead), x)

    def checked(self, x: FloatArray) -> FloatArray:
        """Numbers that must be valid."""
        outside = (x < self.low) | (x > self.high)
        if outside.any():
            raise InputError(
                f"column {self.name!r} holds {float(x[outside][0])!r}.",
                f"The file says that its values lie from {self.low!r} to {self.high!r}.",
            )
        return x

    def codes(self, values: Iterable[Any]) -> FloatArray:
        """The positions of levels; NaN for a missing one."""
        assert self.levels is not None
        known = {str(level): float(k) for k, level in enumerate(self.levels)}
        known |= {level: float(k) for k, level in enumerate(self.levels)}
        lost = np.nan if self.instead is None else known[self.instead]
        return np.array([self._code(value, known, lost) for value in values], dtype=np.float64)

    def _code(self, value: Any, known: dict[Any, float], lost: float) -> float:
        if frames.is_missing(value):
            return lost
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        found = known.get(value, known.get(text))
        levels = [*(self.levels or ())]
        if found is not None:
            return found
        if self.unknown == "refused":
            raise InputError(
                f"column {self.name!r} holds {value!r}, which the file does not know.",
                f"It knows {levels[:8]}.",
            )
        return lost if self.unknown == "missing" else float(len(levels))


@dataclass(frozen=True)
class Read:
    """What a model reads: a field, after some steps. `levels`: what it may be, if it is the position of a level."""

    field: int
    steps: tuple[Step, ...] = ()
    levels: tuple[Any, ...] | None = None

    def then(self, name: str, by: Any = None, levels: tuple[Any, ...] | None = None) -> Read:
        """What is read after one more step."""
        return Read(self.field, (*self.steps, (name, by)), levels)

    def after(self, x: FloatArray) -> FloatArray:
        """The numbers, or the positions of levels, after the steps."""
        with np.errstate(all="ignore"):
            for name, by in self.steps:
                x = STEP_FUNCTIONS[name](x, by)
        return x

    def undefined(self, x: FloatArray) -> BoolArray:
        """Where a function among the steps is not defined."""
        out = np.zeros(len(x), dtype=np.bool_)
        for k, (name, _) in enumerate(self.steps):
            if name in BENDING_STEPS:
                before = Read(self.field, self.steps[:k]).after(x)
                out |= np.isnan(Read(self.field, self.steps[k : k + 1]).after(before)) & ~np.isnan(before)
        return out

    @property
    def slope(self) -> float:
        """How much it rises with its field."""
        factor = 1.0
        for name, by in self.steps:
            factor *= by if name == "*" else 1 / by if name == "/" else 1.0
        return factor

    @property
    def takes_missing(self) -> bool:
        """Whether it is known where its field is missing, too."""
        return not bool(np.isnan(self.after(np.array([np.nan])))[0])

    @property
    def gaps(self) -> bool:
        """Whether it is missing somewhere where its field is not."""
        lost = False
        for name, by in self.steps:
            if name == "instead":
                lost = False
            elif name in PIECES:
                kept = name in ("lines", "within") or np.isnan(by.missing)
                lost = by.gaps or (lost and kept)
        return lost


def is_single(read: Read, fields: Sequence[Field]) -> bool:
    """Whether a read number is float32."""
    return bool(read.steps[-1][0] == "float") if read.steps else fields[read.field].single


def compared(x: float, read: Read, fields: Sequence[Field]) -> float:
    """A number of the file as it is compared with what is read: float32 if that is."""
    return float(np.float32(x)) if is_single(read, fields) else x


def _in_single(x: FloatArray, _: Any) -> FloatArray:
    with np.errstate(over="ignore"):
        return x.astype(np.float32).astype(np.float64)


BENDING_STEPS: dict[str, Callable[[FloatArray, Any], FloatArray]] = {
    "min": np.minimum,
    "max": np.maximum,
    "ln": lambda x, _: np.log(x),
    "ln1p": lambda x, _: np.log1p(x),
    "log10": lambda x, _: np.log10(x),
    "sqrt": lambda x, _: np.sqrt(x),
    "exp": lambda x, _: np.exp(x),
    "expm1": lambda x, _: np.expm1(x),
}
"""Functions that never fall, and are no lines. The first two have a constant."""

PIECES = ("lines", "within", "bins", "table")
"""What is made piece by piece: the constants are those of `pieces.py`."""

STEP_FUNCTIONS: dict[str, Callable[[FloatArray, Any], FloatArray]] = BENDING_STEPS | {
    "+": lambda x, by: x + by,
    "-": lambda x, by: x - by,
    "*": lambda x, by: x * by,
    "/": lambda x, by: x / by,
    "float": _in_single,
    "double": lambda x, _: x,
    "is": lambda x, by: np.where(np.isnan(x), np.nan, x == (-1 if by is None else by)),
    "instead": lambda x, by: np.where(np.isnan(x), by, x),
    **dict.fromkeys(PIECES, lambda x, by: by(x)),
}


def inputs(fields: Sequence[Field], table: Any) -> list[FloatArray]:
    """The columns of a table as the model gets them: numbers, and the positions of levels."""
    names = frames.names(table)
    out = []
    for j, field in enumerate(fields):
        at = j if frames.is_array(table) else names.index(field.name)
        if field.levels is None:
            out.append(field.numbers(field.checked(frames.numbers(table, names[at], at))))
        else:
            out.append(field.codes(frames.values(table, names[at], at)))
    return out
