"""What a change costs: terms that the user adds up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from butfor.arrays import FloatArray, keep_plain, plain
from butfor.errors import InputError, InputTypeError, number, suggests
from butfor.problem.level_prices import level_table
from butfor.problem.prices import Price, Prices
from butfor.problem.weights import per_column, shown
from butfor.space.feature import Feature
from butfor.space.space import Space

Scale = Literal["range", "mad", "std", "none"]

TRANSPOSED, NEGATIVE = 1e-5, 1e-9
"""By which shares of its largest entry Q may differ from its transpose, and have a negative eigenvalue, for each column."""


class AbstractCost(ABC):
    """A cost: a non-negative combination of terms, such as `2 * bf.L1() + bf.L0()`."""

    @abstractmethod
    def terms(self) -> tuple[tuple[float, Term], ...]:
        """The weighted terms."""

    def __add__(self, other: AbstractCost) -> AbstractCost:
        if not isinstance(other, AbstractCost):
            raise InputTypeError(
                f"{other!r} was added to a cost.", "Only costs are added, as in bf.L1() + 0.5 * bf.L0()."
            )
        return Mix((*self.terms(), *other.terms()))

    def __radd__(self, other: Any) -> AbstractCost:
        return self if isinstance(other, int) and other == 0 else self + other  # sum() starts with 0

    def __rmul__(self, weight: float) -> AbstractCost:
        message = (f"the weight {weight!r} was given to a cost.", "Weights must be finite and not negative.")
        if not 0 <= number(weight, *message) < np.inf:
            raise InputError(*message)
        return Mix(tuple((float(weight) * old, term) for old, term in self.terms()))

    __mul__ = __rmul__


class Term(AbstractCost):
    """One term of a cost."""

    comes_last: ClassVar[bool] = False
    """Whether it replaces what other terms say."""

    def __post_init__(self) -> None:
        keep_plain(self)

    def terms(self) -> tuple[tuple[float, Term], ...]:
        """This term alone, with weight 1."""
        return ((1.0, self),)

    @abstractmethod
    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """`prices` with this term added."""


@dataclass(frozen=True)
class Mix(AbstractCost):
    """A sum of weighted terms, made by `+` and `*`."""

    parts: tuple[tuple[float, Term], ...]

    def terms(self) -> tuple[tuple[float, Term], ...]:
        """The parts."""
        return self.parts

    def __repr__(self) -> str:
        return " + ".join(f"{term!r}" if weight == 1 else f"{weight:g} * {term!r}" for weight, term in self.parts)


@dataclass(frozen=True)
class Norm(Term):
    """A norm of the change of a row.

    - `weights`: a factor per column (default 1);
    - `scale`: what counts as one unit of each number: its "range", "mad", "std", "none" (its own unit) or a number per
      column.
    """

    weights: Mapping[str, float] | None = None
    scale: Scale | Mapping[str, float] = "range"

    def units(self, space: Space) -> FloatArray:
        """The price of one unit of change, for each feature (a whole range, or a level)."""
        return per_column(self.weights, space, 1.0, "weight")

    def widths(self, space: Space) -> FloatArray:
        """For each feature, the change that counts as one unit."""
        for name in self.scale if isinstance(self.scale, Mapping) else ():
            space.index(name)
        return np.array([_width(feature, self.scale) for feature in space.features])

    def __repr__(self) -> str:
        settings = []
        if self.weights:
            settings.append(f"weights={shown(self.weights)}")
        if self.scale != "range":
            settings.append(f"scale={self.scale!r}")
        return f"{type(self).__name__}({', '.join(settings)})"


@suggests
@dataclass(frozen=True, repr=False)
class L1(Norm):
    """The sum of the changes, each as a share of its column's range. The default.

    `sum_j w_j |x_j - x0_j| / range_j`. A changed category counts 1. A change of an ordinal level counts its steps
    divided by the number of possible steps. A value that becomes known or missing counts 1. Choose it for sparse,
    proportionate answers.

    - `weights`: a factor w_j per column (default: 1);
    - `scale`: what counts as one unit of a number: the "range" of its column, its median absolute deviation ("mad"), its
      standard deviation ("std"), its own unit ("none"), or a dict with a number per column.

    >>> L1(weights={"age": 3.0})
    L1(weights={'age': 3.0})
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Linear prices."""
        unit = weight * self.units(space)
        return prices.plus("l1", unit / self.widths(space), unit, _tables(space, unit, lambda d: d))


@suggests
@dataclass(frozen=True, repr=False)
class L2(Norm):
    """The sum of squared scaled changes. It prefers many small changes to one large one.

    `sum_j w_j ((x_j - x0_j) / range_j)^2`, without a square root. Levels count as in `bf.L1`, squared; `weights` and
    `scale` are as there. Choose it when a large change hurts more than in proportion.

    >>> 0.5 * L2() + L0()
    0.5 * L2() + L0()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Quadratic prices."""
        unit = weight * self.units(space)
        return prices.plus("l2", unit / self.widths(space) ** 2, unit, _tables(space, unit, lambda d: d**2))


@suggests
@dataclass(frozen=True, repr=False)
class LInf(Norm):
    """The largest scaled change of any column, so that no single one moves far.

    `max_j w_j |x_j - x0_j| / range_j`. Levels, `weights` and `scale` are as in `bf.L1`. Choose it when the burden should be
    spread. Add a little L1: alone, it does not care about changes below the largest.

    >>> LInf(scale="std") + 0.01 * L1()
    LInf(scale='std') + 0.01 * L1()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Prices of which only the largest counts."""
        unit = weight * self.units(space)
        reach = {j: table for j, table in _tables(space, unit, lambda d: d).items() if table.any()}
        return prices.with_largest(unit / self.widths(space), unit, reach)


@suggests
@dataclass(frozen=True)
class L0(Term):
    """The number of changed columns, whatever the amounts. With weights, a fixed price for each.

    Choose it when every change is a step to take. Add some L1: `bf.L0() + 0.1 * bf.L1()`. To limit the number instead
    of pricing it, use `bf.at_most_changes`.

    >>> L0(weights={"job": 3.0})
    L0(weights={'job': 3.0})
    """

    weights: Mapping[str, float] | None = None

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """A fixed price per change."""
        unit = weight * per_column(self.weights, space, 1.0, "weight")
        return prices.plus("l0", unit, np.zeros(len(space)), _tables(space, unit, lambda d: (d > 0).astype(np.float64)))

    def __repr__(self) -> str:
        return f"L0(weights={shown(self.weights)})" if self.weights else "L0()"


@suggests
@dataclass(frozen=True)
class Gower(Term):
    """Gower's distance: the mean of the range-scaled changes over all columns.

    It is `L1()` divided by the number of columns (Gower, Biometrics 27, 1971). A changed category counts 1. Choose it
    to compare with published figures.

    >>> Gower()
    Gower()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """L1 prices divided by the number of columns. Ordinal levels count by rank."""
        return L1().add_to(prices, weight / len(space), space)


@suggests
@dataclass(frozen=True)
class MAD(Term):
    """L1 scaled by each number's median absolute deviation (MAD).

    A number whose MAD is zero is scaled by its range. A changed category counts 1. Choose it when a few extreme values
    stretch the ranges (Wachter, Mittelstadt and Russell, Harvard Journal of Law and Technology 31, 2018).

    >>> MAD()
    MAD()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """L1 prices in MADs."""
        return L1(scale="mad").add_to(prices, weight, space)


@suggests
@dataclass(frozen=True)
class Table(Term):
    """Your own prices per column: a callable `price(before, after)` or, for levels, a table.

    Choose it when you know what each change costs. A table maps `(before, after)` or `after` to a price. A change that it
    does not name is not allowed (its price is infinite). A callable for a number gets the factual value and an array of
    other values. Its price must not fall with the distance, which is checked on use. To stay costs nothing, and neither
    does a number here that becomes known or missing (see `bf.Missing`). Columns that are not named cost nothing here: add
    `bf.L1(weights=...)` for them.

    >>> Table({"job": {("clerk", "manager"): 2.0, ("clerk", "nurse"): 5.0}})
    Table(['job'])
    """

    prices: Mapping[str, Mapping[Any, float] | Price]

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Tables for levels, callables for numbers."""
        if not isinstance(self.prices, Mapping):
            raise InputTypeError(f"bf.Table({self.prices!r}) was given.", "It takes a dict {column: prices}.")
        tables, calls = {}, {}
        for name, price in self.prices.items():
            j = space.index(name)
            feature = space.features[j]
            if feature.levels is not None:
                tables[j] = weight * level_table(feature, price)
            elif callable(price):
                calls[j] = (weight, price)
            else:
                raise InputTypeError(
                    f"column {name!r} is a number and was given a table of prices.",
                    "A number needs a callable price(before, after).",
                )
        zero = np.zeros(len(space))
        return prices.plus("l1", zero, zero, tables).with_calls(calls)

    def __repr__(self) -> str:
        return f"Table({list(self.prices) if isinstance(self.prices, Mapping) else self.prices!r})"


@suggests
@dataclass(frozen=True, eq=False)
class Quadratic(Term):
    """A quadratic form of the raw changes, `(x - x0)' Q (x - x0)`.

    Q is symmetric and positive semidefinite, with one row per column in `columns`, which must be numbers. Choose it
    when changes interact (neighbouring pixels, correlated measurements). With the inverse covariance it is the
    squared Mahalanobis distance.

    >>> Quadratic(np.array([[2.0, 1.0], [1.0, 2.0]]), columns=("height", "weight"))
    Quadratic(Q of 2 columns)
    """

    Q: FloatArray
    columns: tuple[str, ...] | None = None

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """A matrix over all features."""
        given: Any = space.names if self.columns is None else self.columns
        names = tuple(map(plain, given)) if isinstance(given, Iterable) else ()
        if isinstance(given, str) or not names or len(set(names)) != len(names):
            raise InputTypeError(f"columns={given!r} was given.", "It must be a list of columns, each once.")
        try:
            Q = np.asarray(self.Q, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError("Q does not hold numbers.", "It must be an array with one row per column.") from None
        size = float(np.abs(Q).max(initial=0.0))
        if Q.shape != (len(names), len(names)) or not np.isfinite(size) or np.abs(Q - Q.T).max() > TRANSPOSED * size:
            raise InputError(
                f"Q of shape {Q.shape} was given for {len(names)} columns.",
                "Q must be square and symmetric, with one row per column.",
            )
        Q = (Q + Q.T) / 2
        if np.linalg.eigvalsh(Q)[0] < -len(Q) * NEGATIVE * size:
            raise InputError(
                "Q has a negative eigenvalue.", "Q must be positive semidefinite, so that no cost is negative."
            )
        where = [space.index(name) for name in names]
        texts = [space.features[j].name for j in where if space.features[j].levels is not None]
        if texts:
            raise InputError(f"Q prices the columns {texts}, which are not numbers.", "", "Name only number columns.")
        whole = np.zeros((len(space), len(space)))
        whole[np.ix_(where, where)] = weight * Q
        return replace(prices, Q=whole if prices.Q is None else prices.Q + whole)

    def __repr__(self) -> str:
        return f"Quadratic(Q of {np.shape(self.Q)[0] if np.ndim(self.Q) else 0} columns)"


DEFAULT = L1()


def price(cost: AbstractCost, space: Space) -> Prices:
    """The prices of `cost` in `space`. Levels change for free if no term prices them."""
    if not isinstance(cost, AbstractCost):
        raise InputTypeError(
            f"cost={cost!r} was given.",
            "A cost must be bf.L1(), bf.L2(), bf.L0(), ... or a sum of them, or a text such as 'L1+0.5*L0'.",
            f"Call it: bf.{cost.__name__}()." if isinstance(cost, type) else "",
        )
    zero = np.zeros(len(space))
    empty = {j: np.zeros((len(f.levels) + 1,) * 2) for j, f in enumerate(space.features) if f.levels is not None}
    none = np.stack([zero, zero])
    prices = Prices(zero, zero, zero, zero, none, none, tables=empty)
    for weight, term in sorted(cost.terms(), key=lambda part: part[1].comes_last):
        if weight:
            prices = term.add_to(prices, weight, space)
    return prices.with_coin(*typical_changes(space))


USUAL_WIDTH = 10.0
"""A range of more median absolute deviations than this is that of a few extreme values."""


def typical_changes(space: Space) -> tuple[FloatArray, FloatArray]:
    """For each number a typical value, and that value moved up and down by a typical amount, within the range.

    The amount is the range. If a few extreme values, such as a sentinel, make that wide, it is `USUAL_WIDTH` times the median
    absolute deviation.
    """
    before, after = np.zeros((2, len(space))), np.zeros((2, len(space)))
    for j, feature in enumerate(space.features):
        if feature.levels is None:
            start = min(max(feature.typical, feature.low), feature.high)
            before[:, j] = start
            size = min(USUAL_WIDTH * feature.mad or feature.range, feature.range)
            after[:, j] = max(start - size, feature.low), min(start + size, feature.high)
    return before, after


def _tables(space: Space, unit: FloatArray, shape: Callable[[FloatArray], FloatArray]) -> dict[int, FloatArray]:
    """For each feature with levels, its prices: a function of the distance, times the unit price."""
    return {
        j: unit[j] * shape(distances(feature)) for j, feature in enumerate(space.features) if feature.levels is not None
    }


def distances(feature: Feature) -> FloatArray:
    """Distances between the levels of a feature, and between each level and "missing".

    Any two levels are 1 apart. Ordered levels are k / (m - 1) apart if their ranks differ by k and there are m levels.
    "Missing" is 1 apart from every level.
    """
    assert feature.levels is not None
    count = len(feature.levels)
    table = 1.0 - np.eye(count + 1)
    if feature.ordered and count > 1:
        rank = np.arange(count)
        table[:count, :count] = np.abs(rank[:, None] - rank) / (count - 1)
    return table


def _width(feature: Feature, scale: Scale | Mapping[str, float]) -> float:
    if isinstance(scale, Mapping):
        given = scale.get(feature.name, 1.0)
        message = (f"the scale of {feature.name!r} is {given!r}.", "Scales must be positive numbers.")
        width = number(given, *message)
        if not 0 < width < np.inf:
            raise InputError(*message)
        return width
    if feature.levels is not None or scale == "none":
        return 1.0
    if scale not in ("range", "mad", "std"):
        raise InputError(
            f"scale={scale!r} was given.",
            "It must be 'range', 'mad', 'std', 'none' or a dict with a number per column.",
        )
    return {"range": feature.range, "mad": feature.mad, "std": feature.std}[scale] or feature.range
