"""One raw column: a number (any, whole, in steps) or one of finitely many levels (ordered or not)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError


@dataclass(frozen=True)
class Feature:
    """What is known of one column.

    A number lies in `[low, high]`, on the grid `anchor + step * k` if `step > 0`. A feature with `levels` takes one of
    them and is encoded as its position. `typical`, `mad` and `std` describe the training data (in encoded form).
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    anchor: float = 0.0
    levels: tuple[Any, ...] | None = None
    ordered: bool = False
    missing: bool = False
    single: bool = False
    typical: float = 0.0
    mad: float = 0.0
    std: float = 0.0
    why: str = ""

    @property
    def kind(self) -> str:
        """The one word for it: constant, binary, ordinal, categorical, integer, step or continuous."""
        if self.levels is not None:
            if len(self.levels) == 1:
                return "constant"
            if len(self.levels) == 2:
                return "binary"
            return "ordinal" if self.ordered else "categorical"
        if self.low == self.high:
            return "constant"
        if self.step == 1:
            return "integer"
        return "step" if self.step else "continuous"

    @property
    def range(self) -> float:
        """The width that scales a distance: 1 for levels, `high - low` for numbers (1 if that is zero)."""
        return 1.0 if self.levels is not None else (self.high - self.low) or 1.0

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The levels as numbers, if they all are numbers or booleans."""
        if self.levels is None or any(isinstance(level, str) or level is None for level in self.levels):
            return None
        try:
            return tuple(float(level) for level in self.levels)
        except (TypeError, ValueError):
            return None

    def value(self, code: float) -> Any:
        """The user's value for an encoded one; `None` if missing."""
        if code != code:
            return None
        if self.levels is not None:
            return self.levels[int(code)]
        return int(code) if self.step == 1 and code == int(code) else float(code)

    def code(self, level: Any, whose: str) -> int:
        """The encoded value of a level that `whose` names (for the error, if there is no such level)."""
        assert self.levels is not None
        try:
            return self.levels.index(level)
        except ValueError:
            raise InputError(
                f"{whose} names {level!r}, which {self.name!r} never is.", f"Its values are {self.describe()}."
            ) from None

    def in_numbers(self, codes: FloatArray) -> FloatArray:
        """Encoded values as numbers, levels that are numbers included."""
        if self.levels is None:
            return codes
        known = self.numbers
        assert known is not None
        return np.append(np.asarray(known), np.nan)[np.where(np.isnan(codes), len(known), codes).astype(np.intp)]

    def describe(self) -> str:
        """Its values, in words."""
        if self.levels is not None:
            shown = [str(level) for level in self.levels[:6]]
            more = len(self.levels) - len(shown)
            glue = " < " if self.ordered else ", "
            return glue.join(shown) + (f" and {more} more" if more else "")
        grid = f", steps of {self.step:g}" if self.step not in (0.0, 1.0) else ""
        return f"{self.low:g} to {self.high:g}{grid}"


@dataclass(frozen=True)
class Override:
    """What a user says of a column instead of letting it be inferred."""

    kind: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    levels: tuple[Any, ...] | None = None

    def apply(self, feature: Feature) -> Feature:
        """`feature` with what was declared in place of what was inferred."""
        if self.levels is not None:
            return replace(
                feature, levels=self.levels, ordered=self.kind == "ordinal", step=0.0, low=0.0, high=0.0, why="given"
            )
        low = feature.low if self.low is None else self.low
        high = feature.high if self.high is None else self.high
        if feature.levels is not None:
            if feature.numbers is None:
                raise InputError(
                    f"column {feature.name!r} holds {feature.describe()} and was declared {self.kind}.",
                    "A number needs numeric data.",
                    "Declare it bf.Categorical(...) or bf.Ordinal(...).",
                )
            low = min(feature.numbers) if self.low is None else low
            high = max(feature.numbers) if self.high is None else high
        if low > high:
            raise InputError(
                f"column {feature.name!r} was declared from {low:g} to {high:g}.", "low must not exceed high."
            )
        return replace(feature, levels=None, low=low, high=high, step=self.step or 0.0, anchor=0.0, why="given")


def Continuous(low: float | None = None, high: float | None = None) -> Override:
    """Declare a column to be any number from `low` to `high` (default: the data's range)."""
    return Override("continuous", _end(low), _end(high), 0.0)


def Integer(low: float | None = None, high: float | None = None) -> Override:
    """Declare a column to be a whole number from `low` to `high` (default: the data's range)."""
    return Override("integer", _end(low), _end(high), 1.0)


def Step(step: float, low: float | None = None, high: float | None = None) -> Override:
    """Declare a column to be a multiple of `step` from `low` to `high` (default: the data's range)."""
    width = _end(step)
    if width is None or width <= 0:
        raise InputError(f"step={step!r} was given.", "A step is a positive number.")
    return Override("step", _end(low), _end(high), width)


def Categorical(levels: Sequence[Any]) -> Override:
    """Declare a column to be one of `levels`, without order."""
    return Override("categorical", levels=_distinct(levels))


def Ordinal(levels: Sequence[Any]) -> Override:
    """Declare a column to be one of `levels`, from lowest to highest."""
    return Override("ordinal", levels=_distinct(levels))


def _end(value: Any) -> float | None:
    """An end of a range, or a step, as it was given: a finite number or nothing."""
    if value is None:
        return None
    if not isinstance(value, int | float | np.number) or not np.isfinite(value):
        raise InputError(f"{value!r} was given as the end or step of a range.", "A finite number is needed.")
    return float(value)


def _distinct(levels: Sequence[Any]) -> tuple[Any, ...]:
    found = tuple(levels)
    if isinstance(levels, str) or not found or len(set(found)) != len(found):
        raise InputError(f"levels={levels!r} were given.", "Levels are a list of at least one value, each once.")
    return found
