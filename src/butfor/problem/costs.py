"""What a change costs: terms that the user adds up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, number
from butfor.problem.prices import Price, Prices
from butfor.space.feature import Feature
from butfor.space.space import Space

Scale = Literal["range", "mad", "std", "none"]


class AbstractCost(ABC):
    """A cost: a non-negative combination of terms, `2 * bf.L1() + bf.L0()`."""

    @abstractmethod
    def terms(self) -> tuple[tuple[float, Term], ...]:
        """The weighted terms."""

    def __add__(self, other: AbstractCost) -> AbstractCost:
        if not isinstance(other, AbstractCost):
            return NotImplemented
        return Mix((*self.terms(), *other.terms()))

    def __rmul__(self, weight: float) -> AbstractCost:
        if not np.isfinite(weight) or weight < 0:
            raise InputError(f"the weight {weight!r} was given to a cost.", "Weights are finite and not negative.")
        return Mix(tuple((float(weight) * old, term) for old, term in self.terms()))

    __mul__ = __rmul__


class Term(AbstractCost):
    """One term of a cost."""

    def terms(self) -> tuple[tuple[float, Term], ...]:
        """This term alone, with weight 1."""
        return ((1.0, self),)

    @abstractmethod
    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """`prices` with this term added."""


@dataclass(frozen=True)
class Mix(AbstractCost):
    """A sum of weighted terms; made by `+` and `*`."""

    parts: tuple[tuple[float, Term], ...]

    def terms(self) -> tuple[tuple[float, Term], ...]:
        """The parts."""
        return self.parts

    def __repr__(self) -> str:
        return " + ".join(f"{term!r}" if weight == 1 else f"{weight:g} * {term!r}" for weight, term in self.parts)


@dataclass(frozen=True)
class Norm(Term):
    """A norm of the scaled change; `weights` per column (default 1), scaled by `scale` per column."""

    weights: Mapping[str, float] | None = None
    scale: Scale | Mapping[str, float] = "range"

    def units(self, space: Space) -> FloatArray:
        """The price of a full unit of change of each feature (a whole range, a level)."""
        return _per_column(self.weights, space, 1.0, "weight")

    def widths(self, space: Space) -> FloatArray:
        """What counts as one unit of each number."""
        return np.array([_width(feature, self.scale) for feature in space.features])

    def __repr__(self) -> str:
        settings = []
        if self.weights:
            settings.append(f"weights={dict(self.weights)!r}")
        if self.scale != "range":
            settings.append(f"scale={self.scale!r}")
        return f"{type(self).__name__}({', '.join(settings)})"


@dataclass(frozen=True, repr=False)
class L1(Norm):
    """The sum of the changes, each as a share of its column's range; a changed category counts 1. The default.

    `sum_j w_j |x_j - x0_j| / range_j`, an ordinal level counting its steps over the number of steps there are, a value that
    becomes known or missing counting 1. Choose it for sparse, proportionate answers; every benchmark uses it.

    >>> L1(weights={"age": 3.0})
    L1(weights={'age': 3.0})
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Linear prices."""
        unit = weight * self.units(space)
        return prices.plus("l1", unit / self.widths(space), unit, _tables(space, unit, lambda d: d))


@dataclass(frozen=True, repr=False)
class L2(Norm):
    """The sum of squared scaled changes: many small changes rather than one large.

    `sum_j w_j ((x_j - x0_j) / range_j)^2`, no square root taken. Choose it when a change hurts more the larger it is.

    >>> 0.5 * L2() + L0()
    0.5 * L2() + L0()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Quadratic prices."""
        unit = weight * self.units(space)
        return prices.plus("l2", unit / self.widths(space) ** 2, unit, _tables(space, unit, lambda d: d**2))


@dataclass(frozen=True, repr=False)
class LInf(Norm):
    """The largest scaled change of any column: no single one moves far.

    `max_j w_j |x_j - x0_j| / range_j`. Choose it, best with a little L1 on top, when the burden should be spread; alone it
    does not care what the columns below the largest do.

    >>> LInf(scale="std") + 0.01 * L1()
    LInf(scale='std') + 0.01 * L1()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Prices of which the largest counts."""
        unit = weight * self.units(space)
        reach = {j: table for j, table in _tables(space, unit, lambda d: d).items() if table.any()}
        return prices.with_largest(unit / self.widths(space), unit, reach)


@dataclass(frozen=True)
class L0(Term):
    """The number of columns changed, whatever the amounts; with weights, a fixed price for each.

    Choose it, best with some L1 on top, when every change is a step to take: `bf.L0() + 0.1 * bf.L1()`. To cap the number
    instead of pricing it, use `bf.at_most_changes`.

    >>> L0(weights={"job": 3.0})
    L0(weights={'job': 3.0})
    """

    weights: Mapping[str, float] | None = None

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """A fixed price a change."""
        unit = weight * _per_column(self.weights, space, 1.0, "weight")
        return prices.plus("l0", unit, np.zeros(len(space)), _tables(space, unit, lambda d: (d > 0).astype(np.float64)))

    def __repr__(self) -> str:
        return f"L0(weights={dict(self.weights)!r})" if self.weights else "L0()"


@dataclass(frozen=True)
class Gower(Term):
    """Gower's distance: the mean over all columns of the range-scaled change, 1 for a changed category.

    It is `L1()` over the number of columns (Gower, Biometrics 27, 1971). Choose it to compare with published figures.

    >>> Gower()
    Gower()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """L1 prices over the number of columns; ordinal levels by rank."""
        return L1().add_to(prices, weight / len(space), space)


@dataclass(frozen=True)
class MAD(Term):
    """L1 scaled by each number's median absolute deviation (its range where that is zero), 1 for a changed category.

    Choose it when a few extreme values stretch the ranges (Wachter, Mittelstadt and Russell, Harvard Journal of Law and
    Technology 31, 2018).

    >>> MAD()
    MAD()
    """

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """L1 prices in MADs."""
        return L1(scale="mad").add_to(prices, weight, space)


@dataclass(frozen=True)
class Table(Term):
    """Prices of your own, per column: a callable `price(before, after)` or, for levels, a table.

    A table maps `(before, after)` or `after` to a price; a change it does not name is not allowed (price infinity).
    A callable for a number is called with the factual value and an array of others; it must be 0 at the factual and not
    fall away from it (checked on use). Columns that are not named cost nothing here: add `bf.L1(weights=...)` for them.

    >>> Table({"job": {("clerk", "manager"): 2.0, ("clerk", "nurse"): 5.0}})
    Table(['job'])
    """

    prices: Mapping[str, Mapping[Any, float] | Price]

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Tables for levels, callables for numbers."""
        tables, calls = {}, {}
        for name, price in self.prices.items():
            j = space.index(name)
            feature = space.features[j]
            if feature.levels is not None:
                tables[j] = weight * _level_table(feature, price)
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
        return f"Table({list(self.prices)})"


@dataclass(frozen=True, eq=False)
class Quadratic(Term):
    """A quadratic form of the raw changes, `(x - x0)' Q (x - x0)`, Q symmetric positive semidefinite over `columns`.

    Choose it when changes interact (neighbouring pixels, correlated measurements); with the inverse covariance it is the
    squared Mahalanobis distance. Columns must be numbers.

    >>> Quadratic(np.array([[2.0, 1.0], [1.0, 2.0]]), columns=("height", "weight"))
    Quadratic(Q of 2 columns)
    """

    Q: FloatArray
    columns: tuple[str, ...] | None = None

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """A matrix over all features."""
        names = self.columns or space.names
        Q = np.asarray(self.Q, dtype=np.float64)
        if Q.shape != (len(names), len(names)) or not np.allclose(Q, Q.T):
            raise InputError(f"Q of shape {Q.shape} was given for {len(names)} columns.", "Q is square and symmetric.")
        if np.linalg.eigvalsh(Q).min() < -1e-9 * max(1.0, np.abs(Q).max()):
            raise InputError("Q has a negative eigenvalue.", "A cost must not be negative: Q is positive semidefinite.")
        where = [space.index(name) for name in names]
        texts = [space.features[j].name for j in where if space.features[j].levels is not None]
        if texts:
            raise InputError(f"Q prices the columns {texts}, which are no numbers.", "", "Name number columns only.")
        whole = np.zeros((len(space), len(space)))
        whole[np.ix_(where, where)] = weight * Q
        return replace(prices, Q=whole if prices.Q is None else prices.Q + whole)

    def __repr__(self) -> str:
        return f"Quadratic(Q of {len(self.Q)} columns)"


DEFAULT = L1()


def price(cost: AbstractCost, space: Space) -> Prices:
    """What `cost` comes to in `space`; levels without a price of their own change for free only if no term prices them."""
    if not isinstance(cost, AbstractCost):
        raise InputTypeError(f"cost={cost!r} was given.", "A cost is bf.L1(), bf.L2(), bf.L0(), ... or a sum of them.")
    zero = np.zeros(len(space))
    empty = {j: np.zeros((len(f.levels) + 1,) * 2) for j, f in enumerate(space.features) if f.levels is not None}
    prices = Prices(zero, zero, zero, zero, zero, zero, tables=empty)
    for weight, term in cost.terms():
        if not weight:
            continue
        prices = term.add_to(prices, weight, space)
    return prices


def _level_table(feature: Feature, price: Mapping[Any, float] | Price) -> FloatArray:
    """The (before, after) prices between the levels of a feature, "missing" last."""
    assert feature.levels is not None
    values = (*feature.levels, None)
    table = np.zeros((len(values), len(values)))
    known = set(feature.levels)
    if not callable(price):
        for key in price:
            named = key if isinstance(key, tuple) else (key,)
            for level in named:
                if level is not None and level not in known:
                    raise InputError(
                        f"the price table of {feature.name!r} names {level!r}.", f"Its values are {feature.describe()}."
                    )
    for i, before in enumerate(values):
        for k, after in enumerate(values):
            if i == k:
                continue
            if callable(price):
                table[i, k] = float(price(before, after))
            else:
                table[i, k] = float(price.get((before, after), price.get(after, np.inf)))
    if np.isnan(table).any() or (table < 0).any():
        raise InputError(f"the prices of {feature.name!r} hold a negative price or NaN.", "Prices are at least 0.")
    return table


def _tables(space: Space, unit: FloatArray, shape: Callable[[FloatArray], FloatArray]) -> dict[int, FloatArray]:
    """For each feature with levels, unit price times a function of the distance between levels."""
    return {
        j: unit[j] * shape(distances(feature)) for j, feature in enumerate(space.features) if feature.levels is not None
    }


def distances(feature: Feature) -> FloatArray:
    """Distances between levels: 1 between any two, or ranks apart over the number of ranks; 1 to and from "missing"."""
    assert feature.levels is not None
    count = len(feature.levels)
    table = 1.0 - np.eye(count + 1)
    if feature.ordered and count > 1:
        rank = np.arange(count)
        table[:count, :count] = np.abs(rank[:, None] - rank) / (count - 1)
    return table


def _width(feature: Feature, scale: Scale | Mapping[str, float]) -> float:
    if isinstance(scale, Mapping):
        width = float(scale.get(feature.name, 1.0))
        if not width > 0 or not np.isfinite(width):
            raise InputError(f"the scale of {feature.name!r} is {width!r}.", "Scales are positive.")
        return width
    if feature.levels is not None or scale == "none":
        return 1.0
    if scale not in ("range", "mad", "std"):
        raise InputError(f"scale={scale!r} was given.", "It is 'range', 'mad', 'std', 'none' or a dict per column.")
    return {"range": feature.range, "mad": feature.mad, "std": feature.std}[scale] or feature.range


def _per_column(given: Mapping[str, float] | None, space: Space, default: float, word: str) -> FloatArray:
    out = np.full(len(space), default)
    for name, value in (given or {}).items():
        j = space.index(name)
        message = (f"the {word} of {name!r} is {value!r}.", f"A {word} is finite and not negative.")
        out[j] = number(value, *message)
        if not np.isfinite(out[j]) or out[j] < 0:
            raise InputError(*message)
    return out
