"""Formulas: how a number follows from others, by +, -, *, / and rounding.

A formula is computed as it is written, operation by operation. It knows, too, whether it is a quotient of two linear sums:
then all rows on one side of a threshold lie in a half-plane.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from butfor.arrays import FloatArray

Sum = Mapping[Any, float]
"""A linear sum: the factor of each column, and its constant under `CONSTANT`."""

CONSTANT = None
"""Stands for the number 1 among the columns of a linear sum."""

ROUNDING = {"round", "python_round"}
"""How a number is rounded: as numpy and tables do it, which scale it first, or as Python does it, by the digits of the number
itself. 0.05 is a little more than one twentieth: numpy makes it 0.0, and Python 0.1."""

BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}
"""How strongly a sign binds."""


@dataclass(frozen=True)
class Quotient:
    """`upper / lower`, two linear sums. If `lower` is a constant, it is a linear sum itself."""

    upper: Sum
    lower: Sum

    @property
    def is_linear(self) -> bool:
        """Whether it divides by a number only."""
        return not set(self.lower) - {CONSTANT}


@dataclass(frozen=True, eq=False)
class Formula:
    """A number, a column, or two formulas with a sign between them. One that is rounded has a formula and a number of digits.

    Arithmetic with formulas makes formulas. So a function of numbers can be called with columns, and tells what it computes.
    A function that compares them, or asks whether they hold, does more than calculate: that is an error.

    >>> Formula.column("debt") / (Formula.column("income") + 12)
    debt / (income + 12)
    """

    sign: str
    parts: tuple[Any, ...]

    __array_ufunc__ = None  # an array of formulas is computed one by one
    __hash__ = object.__hash__

    @classmethod
    def column(cls, name: Hashable) -> Formula:
        """The value of a column."""
        return cls("column", (name,))

    @classmethod
    def of(cls, value: Any) -> Formula:
        """A formula, or a number as one."""
        if isinstance(value, Formula):
            return value
        if isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_) and np.isfinite(float(value)):
            return cls("number", (float(value),))
        raise TypeError(f"{value!r} is no number")

    def __add__(self, other: Any) -> Formula:
        return Formula("+", (self, Formula.of(other)))

    def __radd__(self, other: Any) -> Formula:
        return Formula("+", (Formula.of(other), self))

    def __sub__(self, other: Any) -> Formula:
        return Formula("-", (self, Formula.of(other)))

    def __rsub__(self, other: Any) -> Formula:
        return Formula("-", (Formula.of(other), self))

    def __mul__(self, other: Any) -> Formula:
        return Formula("*", (self, Formula.of(other)))

    def __rmul__(self, other: Any) -> Formula:
        return Formula("*", (Formula.of(other), self))

    def __truediv__(self, other: Any) -> Formula:
        return Formula("/", (self, Formula.of(other)))

    def __rtruediv__(self, other: Any) -> Formula:
        return Formula("/", (Formula.of(other), self))

    def __neg__(self) -> Formula:
        return Formula("*", (Formula.of(-1), self))

    def __pos__(self) -> Formula:
        return self

    def __round__(self, digits: int = 0) -> Formula:
        return Formula("round", (self, int(digits)))

    def __bool__(self) -> bool:
        raise TypeError("whether a formula holds depends on the row")

    def __eq__(self, other: object) -> bool:
        raise TypeError("whether a formula equals something depends on the row")

    def __repr__(self) -> str:
        return self.written({})

    def written(self, names: Mapping[Hashable, str]) -> str:
        """The formula as text. Columns are called by `names`, or by what they are."""
        if self.sign == "column":
            return names.get(self.parts[0], str(self.parts[0]))
        if self.sign == "number":
            return f"{self.parts[0]:.15g}" if float(f"{self.parts[0]:.15g}") == self.parts[0] else repr(self.parts[0])
        if self.sign in ROUNDING:
            return f"{self.sign}({self.parts[0].written(names)}, {self.parts[1]})"
        left, right = (
            f"({words})" if self._needs_brackets(part, k) else words
            for k, part in enumerate(self.parts)
            for words in [part.written(names)]
        )
        return f"{left} {self.sign} {right}"

    def _needs_brackets(self, part: Formula, k: int) -> bool:
        own, inner = BINDS[self.sign], BINDS.get(part.sign, 3)
        return inner < own or (k == 1 and inner == own) or (k == 1 and part.sign == "number" and part.parts[0] < 0)

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns that it reads, each once, in the order in which they are written."""
        return tuple(dict.fromkeys(self._columns()))

    def _columns(self) -> Iterator[Hashable]:
        if self.sign == "column":
            yield self.parts[0]
        for part in self.parts:
            if isinstance(part, Formula):
                yield from part._columns()

    def at(self, values: Mapping[Any, FloatArray]) -> FloatArray:
        """What it is at some values of its columns. To divide by 0 is not a number."""
        if self.sign == "column":
            return np.asarray(values[self.parts[0]])
        if self.sign == "number":
            return self.parts[0]  # type: ignore[no-any-return]  # a plain number takes the type of what stands beside it
        if self.sign == "round":
            return np.asarray(np.round(self.parts[0].at(values), self.parts[1]))
        if self.sign == "python_round":
            inner = np.asarray(self.parts[0].at(values), dtype=np.float64)
            return np.array([round(x, self.parts[1]) for x in inner.ravel().tolist()]).reshape(inner.shape)
        left, right = (part.at(values) for part in self.parts)
        with np.errstate(all="ignore"):
            if self.sign == "/":
                return np.asarray(np.where(right == 0, np.nan, left / right))
            return np.asarray(left + right if self.sign == "+" else left - right if self.sign == "-" else left * right)

    def put(self, formulas: Mapping[Hashable, Formula]) -> Formula:
        """The same with formulas in place of some columns."""
        if self.sign == "column":
            return formulas.get(self.parts[0], self)
        parts = tuple(part.put(formulas) if isinstance(part, Formula) else part for part in self.parts)
        return Formula(self.sign, parts)

    def of_plain_numbers(self) -> Formula:
        """The formula of a function that is called with one number of Python for each column."""
        parts = tuple(part.of_plain_numbers() if isinstance(part, Formula) else part for part in self.parts)
        return Formula("python_round" if self.sign == "round" else self.sign, parts)

    def divisors(self) -> Iterator[Formula]:
        """All by which it divides."""
        for part in self.parts:
            if isinstance(part, Formula):
                yield from part.divisors()
        if self.sign == "/":
            yield self.parts[1]

    def quotient(self) -> Quotient | None:
        """The quotient of linear sums that it is; None if it is none."""
        if self.sign == "column":
            return Quotient({self.parts[0]: 1.0}, BY_ONE)
        if self.sign == "number":
            return Quotient({CONSTANT: self.parts[0]}, BY_ONE)
        if self.sign in ROUNDING:
            return None
        first, second = (part.quotient() for part in self.parts)
        if first is None or second is None:
            return None
        if self.sign in "+-":
            way = 1.0 if self.sign == "+" else -1.0
            if dict(first.lower) == dict(second.lower):
                return Quotient(_added(first.upper, second.upper, way), first.lower)
            return _over(
                _added_if(_times(first.upper, second.lower), _times(second.upper, first.lower), way),
                _times(first.lower, second.lower),
            )
        if self.sign == "/":
            second = Quotient(second.lower, second.upper)
        return _over(_times(first.upper, second.upper), _times(first.lower, second.lower))


BY_ONE: Sum = {CONSTANT: 1.0}


def _over(upper: Sum | None, lower: Sum | None) -> Quotient | None:
    return None if upper is None or lower is None or not any(lower.values()) else Quotient(upper, lower)


def _times(one: Sum, other: Sum) -> Sum | None:
    """The product of two sums, if one of them is a constant."""
    for number, linear in ((one, other), (other, one)):
        if not set(number) - {CONSTANT}:
            return {name: number.get(CONSTANT, 0.0) * factor for name, factor in linear.items()}
    return None


def _added(one: Sum, other: Sum, way: float) -> Sum:
    names = dict.fromkeys([*one, *other])
    return {name: one.get(name, 0.0) + way * other.get(name, 0.0) for name in names}


def _added_if(one: Sum | None, other: Sum | None, way: float) -> Sum | None:
    return None if one is None or other is None else _added(one, other, way)


def ends(linear: Sum, low: Mapping[Any, float], high: Mapping[Any, float]) -> tuple[float, float]:
    """The smallest and the largest value of a linear sum over a box."""
    found = [linear.get(CONSTANT, 0.0)] * 2
    for name, factor in linear.items():
        if name is not CONSTANT and factor:
            both = sorted((factor * low[name], factor * high[name]))
            found = [found[0] + both[0], found[1] + both[1]]
    return found[0], found[1]
