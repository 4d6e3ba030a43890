"""One feature: a raw column, or dummies of one. It is a number (any, whole, in steps) or has levels (ordered or not)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, did_you_mean, suggests
from butfor.space.dummies import Dummies


@dataclass(frozen=True)
class Feature:
    """What is known about one column, or about columns of 0 and 1 that are dummies of one.

    - `low`, `high`: the ends of the range of a number;
    - `step`, `anchor`: the grid of a number, `anchor + step * k`, if `step > 0`;
    - `levels`: the values of a column that is not a number; a level is encoded as its position;
    - `ordered`: whether the levels are ordered;
    - `missing`: whether a value may be missing;
    - `none`: whether the data writes a missing value as None and not as NaN. Encoders tell them apart;
    - `single`: whether the numbers are float32;
    - `typical`, `mad`, `std`: a typical value of the training data, the median absolute deviation and the standard
      deviation (all encoded);
    - `why`: where this knowledge comes from, in words;
    - `dummies`: the columns of 0 and 1 over which it is spread; None if it has a column of its own;
    - `unread`: whether nothing reads it. Then it may hold anything, never changes, and has the code 0.
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    anchor: float = 0.0
    levels: tuple[Any, ...] | None = None
    ordered: bool = False
    missing: bool = False
    none: bool = False
    single: bool = False
    typical: float = 0.0
    mad: float = 0.0
    std: float = 0.0
    why: str = ""
    dummies: Dummies | None = None
    unread: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the user's table that hold it."""
        return (self.name,) if self.dummies is None else self.dummies.columns

    @property
    def kind(self) -> str:
        """One word: constant, binary, ordinal, categorical, integer, step, continuous, or unread."""
        if self.unread:
            return "unread"
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
    def is_real(self) -> bool:
        """Whether it is a number that may have any value."""
        return self.levels is None and not self.step and not self.unread

    @property
    def range(self) -> float:
        """The width that scales distances. It is 1 for levels, `high - low` for numbers (1 if that is zero)."""
        return 1.0 if self.levels is not None else (self.high - self.low) or 1.0

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The levels as numbers, if all of them are numbers or booleans."""
        if self.levels is None or any(isinstance(level, str) or level is None for level in self.levels):
            return None
        try:
            return tuple(float(level) for level in self.levels)
        except (TypeError, ValueError):
            return None

    def value(self, code: float) -> Any:
        """The user's value for an encoded one; `None` if it is missing, or if nothing reads the column."""
        if code != code or self.unread:
            return None
        if self.levels is not None:
            return self.levels[int(code)]
        return int(code) if self.step == 1 and code == int(code) else float(code)

    def code(self, level: Any, whose: str) -> int:
        """The encoded value of a level. If there is no such level, the error says that `whose` names it."""
        assert self.levels is not None
        try:
            return self.levels.index(level)
        except ValueError:
            raise InputError(
                f"{whose} names {level!r}, which is not a value of {self.name!r}.",
                f"Its values are {self.describe()}.",
                did_you_mean(level, self.levels),
            ) from None

    def in_numbers(self, codes: FloatArray) -> FloatArray:
        """Encoded values as numbers. Levels must be numbers, too."""
        if self.levels is None:
            return codes
        known = self.numbers
        assert known is not None
        return np.append(np.asarray(known), np.nan)[np.where(np.isnan(codes), len(known), codes).astype(np.intp)]

    def describe(self) -> str:
        """The values of the column, in words."""
        if self.unread:
            return "anything"
        if self.levels is not None:
            shown = [str(level) for level in self.levels[:6]]
            more = len(self.levels) - len(shown)
            glue = " < " if self.ordered else ", "
            return glue.join(shown) + (f" and {more} more" if more else "")
        grid = f", steps of {self.step:g}" if self.step not in (0.0, 1.0) else ""
        return f"{self.low:g} to {self.high:g}{grid}"


def unread(feature: Feature) -> Feature:
    """A feature of which nothing is known, because nothing reads it: a number that is always 0."""
    dummies = feature.dummies and feature.dummies.of([])
    return Feature(feature.name, step=1.0, why="the model drops it", dummies=dummies, unread=True)


@dataclass(frozen=True)
class Override:
    """A user's declaration of a column, which overrides what is inferred."""

    kind: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    levels: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        name = self.kind.capitalize()
        if self.levels is not None:
            return f"{name}({list(self.levels)})"
        given = {"low": self.low, "high": self.high}
        first = [f"{self.step:g}"] if self.kind == "step" else []
        return f"{name}({', '.join([*first, *(f'{key}={end:g}' for key, end in given.items() if end is not None)])})"

    def apply(self, feature: Feature) -> Feature:
        """`feature`, with the declaration in place of what was inferred."""
        if self.levels is not None:
            if feature.dummies is not None:
                feature = replace(feature, dummies=feature.dummies.of(self._codes(feature)))
            return replace(
                feature, levels=self.levels, ordered=self.kind == "ordinal", step=0.0, low=0.0, high=0.0, why="given"
            )
        low = feature.low if self.low is None else self.low
        high = feature.high if self.high is None else self.high
        if feature.levels is not None:
            if feature.numbers is None:
                raise InputError(
                    f"column {feature.name!r} holds {feature.describe()}, but was declared {self.kind}.",
                    "A number needs numeric data.",
                    "Declare it bf.Categorical(...) or bf.Ordinal(...).",
                )
            low = min(feature.numbers) if self.low is None else low
            high = max(feature.numbers) if self.high is None else high
        if low > high:
            raise InputError(
                f"column {feature.name!r} was declared to range from {low:g} to {high:g}.", "low must not exceed high."
            )
        return replace(feature, levels=None, low=low, high=high, step=self.step or 0.0, anchor=0.0, why="given")

    def _codes(self, feature: Feature) -> list[int]:
        """The codes of the levels that are declared of dummies. All must be named: the data holds each."""
        assert self.levels is not None
        codes = [feature.code(level, f"space={{{feature.name!r}: bf.{self!r}}}") for level in self.levels]
        lacking = [level for level in feature.levels or () if level not in self.levels]
        if lacking:
            raise InputError(
                f"space={{{feature.name!r}: bf.{self!r}}} leaves out {lacking[0]!r}, which the data holds.",
                f"All levels are needed: {feature.describe()}.",
            )
        return codes


@suggests
def Continuous(low: float | None = None, high: float | None = None) -> Override:
    """Declare a column to be any number. It lies from `low` to `high` (default: the data's range).

    Choose it for whole numbers that may become any number, and for a range that is not that of the data.

    >>> Continuous(high=100)
    Continuous(high=100)
    """
    return Override("continuous", _end(low), _end(high), 0.0)


@suggests
def Integer(low: float | None = None, high: float | None = None) -> Override:
    """Declare a column to be a whole number. It lies from `low` to `high` (default: the data's range).

    Choose it for counts that the data does not tell from other numbers.

    >>> Integer(0, 9)
    Integer(low=0, high=9)
    """
    return Override("integer", _end(low), _end(high), 1.0)


@suggests
def Step(step: float, low: float | None = None, high: float | None = None) -> Override:
    """Declare a column to be a multiple of `step`. It lies from `low` to `high` (default: the data's range).

    Choose it for what comes in steps, such as the months of a loan. For a single question, use `bf.step`.

    >>> Step(6, low=12, high=72)
    Step(6, low=12, high=72)
    """
    width = _end(step)
    if width is None or width <= 0:
        raise InputError(f"step={step!r} was given.", "A step must be a positive number.")
    return Override("step", _end(low), _end(high), width)


@suggests
def Categorical(levels: Sequence[Any]) -> Override:
    """Declare a column to be one of `levels`, without order.

    Choose it for numbers that are codes, and for levels that the model knows and the data does not hold.

    >>> Categorical(["owns", "rents"])
    Categorical(['owns', 'rents'])
    """
    return Override("categorical", levels=_distinct(levels))


@suggests
def Ordinal(levels: Sequence[Any]) -> Override:
    """Declare a column to be one of `levels`, from lowest to highest.

    Choose it where order matters: a step to the next level costs less than one to the last, and `bf.only_up` can be asked.

    >>> Ordinal(["none", "school", "college"])
    Ordinal(['none', 'school', 'college'])
    """
    return Override("ordinal", levels=_distinct(levels))


def _end(value: Any) -> float | None:
    """An end of a range, or a step, checked: a finite number or None."""
    if value is None:
        return None
    if not isinstance(value, int | float | np.number) or not np.isfinite(value):
        raise InputError(f"{value!r} was given as the end or step of a range.", "It must be a finite number.")
    return float(value)


def _distinct(levels: Sequence[Any]) -> tuple[Any, ...]:
    found = tuple(levels)
    if isinstance(levels, str) or not found or len(set(found)) != len(found):
        raise InputError(f"levels={levels!r} were given.", "Levels must be a list of at least one value, each once.")
    return found
