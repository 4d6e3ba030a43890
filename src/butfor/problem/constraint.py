"""What a change must respect: constraints on one column, which narrow its domain, and relations between several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from butfor.errors import InputError, InputTypeError, UnsupportedProblemError, number
from butfor.model.cells import BoolArray
from butfor.problem.domain import Domain, on_grid, open_domain
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.frames import FloatArray
from butfor.space.space import Space


class AbstractConstraint(ABC):
    """Something the answer must respect. Immutable; prints as it was written."""

    @abstractmethod
    def check(self, space: Space) -> None:
        """Raise a clear error if it cannot be meant in this space."""

    @abstractmethod
    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """Which rows respect it."""

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        """The smallest pieces that can be blamed for a contradiction."""
        return (self,)


class Restriction(AbstractConstraint):
    """A constraint on one column at a time: it narrows the domain."""

    @abstractmethod
    def narrow(self, domain: Domain, space: Space) -> None:
        """Work it into the domain."""


def _same(before: FloatArray, after: FloatArray) -> BoolArray:
    return np.asarray((before == after) | (np.isnan(before) & np.isnan(after)))


@dataclass(frozen=True)
class Fixed(Restriction):
    """See `fixed`."""

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"fixed({', '.join(map(repr, self.names))})"

    def check(self, space: Space) -> None:
        for name in self.names:
            space.index(name)

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        return tuple(Fixed((name,)) for name in self.names)

    def narrow(self, domain: Domain, space: Space) -> None:
        for name in self.names:
            domain.forbid_moves(space.index(name))

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        return np.asarray(np.all(_same(before[:, at], after[:, at]), axis=1))


@dataclass(frozen=True)
class Direction(Restriction):
    """See `only_up` and `only_down`."""

    names: tuple[str, ...]
    up: bool

    def __repr__(self) -> str:
        return f"only_{'up' if self.up else 'down'}({', '.join(map(repr, self.names))})"

    def check(self, space: Space) -> None:
        for name in self.names:
            feature = space[name]
            if feature.levels is not None and not feature.ordered:
                raise InputError(
                    f"{self!r} was given, but the values of {name!r} ({feature.describe()}) have no order.",
                    "",
                    f"Declare one with space={{{name!r}: bf.Ordinal([...])}}, or list moves with bf.moves.",
                )

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        return tuple(Direction((name,), self.up) for name in self.names)

    def narrow(self, domain: Domain, space: Space) -> None:
        for name in self.names:
            j = space.index(name)
            x = domain.factuals[:, j]
            if j in domain.levels:
                code = np.arange(domain.levels[j].shape[1])
                start = np.where(np.isnan(x), -1 if self.up else len(code), x)[:, None]
                domain.narrow_levels(j, code >= start if self.up else code <= start)
            else:
                known = ~np.isnan(x)
                low = np.where(known & self.up, x, -np.inf)
                high = np.where(known & (not self.up), x, np.inf)
                domain.narrow(j, low, high)

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        b, a = before[:, at], after[:, at]
        fine = (a >= b) if self.up else (a <= b)
        return np.asarray(np.all(fine | np.isnan(b) | np.isnan(a), axis=1))


@dataclass(frozen=True)
class Between(Restriction):
    """See `between`."""

    name: str
    low: Any
    high: Any

    def __repr__(self) -> str:
        return f"between({self.name!r}, {self.low!r}, {self.high!r})"

    def _ends(self, feature: Feature) -> tuple[float, float]:
        if feature.levels is None:
            low, high = float(self.low), float(self.high)
        elif feature.numbers is not None and feature.ordered:
            inside = [k for k, value in enumerate(feature.numbers) if self.low <= value <= self.high]
            return (float(inside[0]), float(inside[-1])) if inside else (np.inf, -np.inf)
        else:
            low, high = (float(_code(feature, level, repr(self))) for level in (self.low, self.high))
        return low, high

    def check(self, space: Space) -> None:
        feature = space[self.name]
        if feature.levels is not None and not feature.ordered:
            raise InputError(
                f"{self!r} was given, but the values of {self.name!r} have no order.",
                "",
                "Use bf.allowed(name, values).",
            )
        try:
            low, high = self._ends(feature)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputTypeError(f"{self!r} was given.", f"{self.name!r} is a number: give two numbers.") from None
        if np.isnan(low) or np.isnan(high) or (low > high and feature.levels is None):
            raise InputError(f"{self!r} was given.", "The first end must not exceed the second.")

    def narrow(self, domain: Domain, space: Space) -> None:
        j = space.index(self.name)
        low, high = self._ends(space.features[j])
        if j in domain.levels:
            code = np.arange(domain.levels[j].shape[1])
            domain.narrow_levels(j, (code >= low) & (code <= high))
        else:
            domain.narrow(j, low, high)

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        low, high = self._ends(space.features[j])
        a = after[:, j]
        return np.asarray(((a >= low) & (a <= high)) | np.isnan(a))


@dataclass(frozen=True)
class Within(Restriction):
    """See `within`."""

    name: str
    share: float

    def __repr__(self) -> str:
        return f"within({self.name!r}, {self.share!r})"

    def check(self, space: Space) -> None:
        if space[self.name].levels is not None:
            raise InputError(f"{self!r} was given, but {self.name!r} is no number.", "", "Use bf.allowed or bf.moves.")
        said = (f"{self!r} was given.", "The share is finite and not negative: 0.1 is plus or minus 10 %.")
        if not 0 <= number(self.share, *said) < np.inf:
            raise InputError(*said)

    def _ends(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        room = self.share * np.abs(x)
        return np.where(np.isnan(x), -np.inf, x - room), np.where(np.isnan(x), np.inf, x + room)

    def narrow(self, domain: Domain, space: Space) -> None:
        j = space.index(self.name)
        domain.narrow(j, *self._ends(domain.factuals[:, j]))

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        low, high = self._ends(before[:, j])
        a = after[:, j]
        return np.asarray(((a >= low) & (a <= high)) | np.isnan(a))


@dataclass(frozen=True)
class Grid(Restriction):
    """See `step` and `whole`."""

    name: str
    step: float
    anchor: float = 0.0

    def __repr__(self) -> str:
        if self.step == 1 and not self.anchor:
            return f"whole({self.name!r})"
        return f"step({self.name!r}, {self.step!r}" + (f", anchor={self.anchor!r})" if self.anchor else ")")

    def check(self, space: Space) -> None:
        if space[self.name].levels is not None:
            raise InputError(f"{self!r} was given, but {self.name!r} is no number.")
        said = (f"{self!r} was given.", "A step is a positive number, its anchor a number.")
        if not (0 < number(self.step, *said) < np.inf and np.isfinite(number(self.anchor, *said))):
            raise InputError(*said)

    def narrow(self, domain: Domain, space: Space) -> None:
        domain.coarsen(space.index(self.name), self.step, self.anchor)

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        a = after[:, j]
        return np.asarray(_same(before[:, j], a) | np.isnan(a) | on_grid(a, self.step, self.anchor))


@dataclass(frozen=True)
class Allowed(Restriction):
    """See `allowed`."""

    name: str
    values: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"allowed({self.name!r}, {list(self.values)!r})"

    def _codes(self, space: Space) -> BoolArray:
        feature = space[self.name]
        assert feature.levels is not None
        mask = np.zeros(len(feature.levels), dtype=np.bool_)
        mask[[_code(feature, value, repr(self)) for value in self.values]] = True
        return mask

    def check(self, space: Space) -> None:
        if space[self.name].levels is None:
            raise InputError(f"{self!r} was given, but {self.name!r} is a number.", "", "Use bf.between and bf.step.")
        if not self.values:
            raise InputError(f"{self!r} was given.", "At least one value must be allowed.")
        self._codes(space)

    def narrow(self, domain: Domain, space: Space) -> None:
        domain.narrow_levels(space.index(self.name), self._codes(space))

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        a = after[:, space.index(self.name)]
        mask = np.append(self._codes(space), True)
        return np.asarray(mask[np.where(np.isnan(a), len(mask) - 1, a).astype(np.intp)])


@dataclass(frozen=True)
class Moves(Restriction):
    """See `moves`."""

    name: str
    table: tuple[tuple[Any, tuple[Any, ...]], ...]

    def __repr__(self) -> str:
        return f"moves({self.name!r}, { {before: list(after) for before, after in self.table}!r})"

    def _matrix(self, space: Space) -> BoolArray:
        feature = space[self.name]
        assert feature.levels is not None
        matrix = np.eye(len(feature.levels), dtype=np.bool_)
        for before, after in self.table:
            for level in after:
                matrix[_code(feature, before, repr(self)), _code(feature, level, repr(self))] = True
        return matrix

    def check(self, space: Space) -> None:
        if space[self.name].levels is None:
            raise InputError(
                f"{self!r} was given, but {self.name!r} is a number.", "", "Use bf.only_up, bf.within, ..."
            )
        self._matrix(space)

    def narrow(self, domain: Domain, space: Space) -> None:
        j = space.index(self.name)
        x = domain.factuals[:, j]
        allowed = self._matrix(space)[np.nan_to_num(x).astype(np.intp)]
        domain.narrow_levels(j, np.where(np.isnan(x)[:, None], True, allowed))

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        j = space.index(self.name)
        b, a = before[:, j], after[:, j]
        known = ~(np.isnan(b) | np.isnan(a))
        fine = self._matrix(space)[np.nan_to_num(b).astype(np.intp), np.nan_to_num(a).astype(np.intp)]
        return np.asarray(~known | fine)


@dataclass(frozen=True)
class MayVanish(Restriction):
    """See `may_be_missing`."""

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"may_be_missing({', '.join(map(repr, self.names))})"

    def check(self, space: Space) -> None:
        for name in self.names:
            if not space[name].missing:
                raise InputError(
                    f"{self!r} was given, but the model takes no missing value in {name!r}.",
                    "",
                    "Leave that column out, or put an imputer into the pipeline.",
                )

    def narrow(self, domain: Domain, space: Space) -> None:
        for name in self.names:
            domain.missing[:, space.index(name)] = True

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return np.ones(len(before), dtype=np.bool_)


@dataclass(frozen=True)
class AtMost(AbstractConstraint):
    """See `at_most_changes`."""

    count: int

    def __repr__(self) -> str:
        return f"at_most_changes({self.count})"

    def check(self, space: Space) -> None:
        said = (f"{self!r} was given.", "It takes a whole number of at least 1.")
        count = number(self.count, *said)
        if count != int(count) or count < 1:
            raise InputError(*said)

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return np.asarray((~_same(before, after)).sum(axis=1) <= self.count)


@dataclass(frozen=True)
class Relation(AbstractConstraint):
    """See `linear`."""

    weights: tuple[tuple[str, float], ...]
    sense: Literal["<=", ">=", "=="]
    bound: float

    def __repr__(self) -> str:
        return f"linear({dict(self.weights)!r}, {self.sense!r}, {self.bound!r})"

    def check(self, space: Space) -> None:
        if self.sense not in ("<=", ">=", "=="):
            raise InputError(f"{self!r} was given.", "The sense is '<=', '>=' or '=='.")
        if not np.isfinite([self.bound, *(weight for _, weight in self.weights)]).all() or not self.weights:
            raise InputError(f"{self!r} was given.", "Weights and bound are finite, and at least one column is named.")
        for name, _ in self.weights:
            if space[name].levels is not None and space[name].numbers is None:
                raise InputError(f"{self!r} was given, but {name!r} is no number.", "", "Use bf.implies or bf.moves.")

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        total = np.zeros(len(after))
        size = np.full(len(after), abs(self.bound))
        for name, weight in self.weights:
            part = weight * numbers(space[name], after[:, space.index(name)])
            total, size = total + part, size + np.abs(part)
        slack = 1e-8 * (1 + size)
        if self.sense == "<=":
            return np.asarray(total <= self.bound + slack)
        if self.sense == ">=":
            return np.asarray(total >= self.bound - slack)
        return np.asarray(np.abs(total - self.bound) <= slack)


@dataclass(frozen=True)
class Event:
    """A change of one column: what `implies` is made of. See `rises`, `falls`, `becomes`."""

    word: Literal["rises", "falls", "becomes"]
    name: str
    by: float = 0.0
    level: Any = None

    def __repr__(self) -> str:
        if self.word == "becomes":
            return f"becomes({self.name!r}, {self.level!r})"
        return f"{self.word}({self.name!r}" + (f", by={self.by!r})" if self.by else ")")

    @property
    def sign(self) -> float:
        """+1 for a rise, -1 for a fall."""
        return 1.0 if self.word == "rises" else -1.0

    def check(self, space: Space, *, wanted: bool) -> None:
        """Raise a clear error if it cannot be meant in this space."""
        feature = space[self.name]
        if self.word == "becomes":
            if feature.levels is None:
                raise InputError(f"{self!r} was given, but {self.name!r} is a number.", "", "Use bf.rises or bf.falls.")
            _code(feature, self.level, repr(self))
            return
        if feature.levels is not None and not feature.ordered:
            raise InputError(
                f"{self!r} was given, but the values of {self.name!r} have no order.", "", "Use bf.becomes."
            )
        if not (np.isfinite(self.by) and self.by >= 0):
            raise InputError(f"{self!r} was given.", "by is at least 0.")
        if wanted and not self.by and feature.levels is None and not feature.step:
            raise InputError(f"{self!r} was given as a consequence.", "A number needs an amount: by=...")

    def holds(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """In which rows it happens."""
        j = space.index(self.name)
        if self.word == "becomes":
            code = _code(space.features[j], self.level, repr(self))
            return np.asarray((after[:, j] == code) & (before[:, j] != code))
        gain = self.sign * (after[:, j] - before[:, j])
        return np.asarray(gain >= self.by * (1 - 1e-9) if self.by else gain > 0)


@dataclass(frozen=True)
class Implication(AbstractConstraint):
    """See `implies`."""

    cause: Event
    consequence: Event

    def __repr__(self) -> str:
        return f"implies({self.cause!r}, {self.consequence!r})"

    def check(self, space: Space) -> None:
        if not isinstance(self.cause, Event) or not isinstance(self.consequence, Event):
            raise InputTypeError(f"{self!r} was given.", "It takes two of bf.rises, bf.falls, bf.becomes.")
        self.cause.check(space, wanted=False)
        self.consequence.check(space, wanted=True)

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        wanted = self.consequence.holds(space, before, after)
        if self.consequence.word == "becomes":
            code = _code(space[self.consequence.name], self.consequence.level, repr(self))
            wanted = after[:, space.index(self.consequence.name)] == code
        return np.asarray(~self.cause.holds(space, before, after) | wanted)


@dataclass(frozen=True)
class Margin(AbstractConstraint):
    """See `margin`."""

    eps: float

    def __repr__(self) -> str:
        return f"margin({self.eps!r})"

    def check(self, space: Space) -> None:
        if not (np.isfinite(self.eps) and self.eps >= 0):
            raise InputError(f"{self!r} was given.", "A margin is finite and not negative.")

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        raise UnsupportedProblemError("a margin is judged with the model: see butfor.certificate")


@dataclass(frozen=True, eq=False)
class Plausible(AbstractConstraint):
    """See `plausible`."""

    forest: Any
    path_length: float | None

    def __repr__(self) -> str:
        asked = "" if self.path_length is None else f", path_length={self.path_length!r}"
        return f"plausible({type(self.forest).__name__}{asked})"

    def check(self, space: Space) -> None:
        if self.path_length is not None and not np.isfinite(number(self.path_length, repr(self), "It is a number.")):
            raise InputError(f"{self!r} was given.", "The average path length is a finite number.")

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        raise UnsupportedProblemError("plausibility is judged by its forest: see butfor.rewrite.plausibility")


@dataclass(frozen=True, eq=False)
class Candidates(AbstractConstraint):
    """See `candidates`."""

    table: Any

    def __repr__(self) -> str:
        return f"candidates({len(self.table)} rows)"

    def check(self, space: Space) -> None:
        if not frames.height(frames.as_table(self.table)):
            raise InputError("bf.candidates was given no rows.", "At least one is needed.")
        self.rows(space)

    def rows(self, space: Space) -> FloatArray:
        """The rows, encoded."""
        return space.encode(self.table)

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        rows = self.rows(space)
        return np.array([_same(rows, row).all(axis=1).any() for row in after], dtype=np.bool_)


@dataclass(frozen=True)
class Fresh(AbstractConstraint):
    """Not all of these columns change together: what makes the next of several answers a different one."""

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"unlike the answer that changes {', '.join(self.names)}"

    def check(self, space: Space) -> None:
        for name in self.names:
            space.index(name)

    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        return np.asarray(np.any(_same(before[:, at], after[:, at]), axis=1))


def admissible(space: Space, factuals: FloatArray, constraints: Iterable[AbstractConstraint]) -> Domain:
    """The domain of some rows under constraints; the one kind that widens it comes before all that narrow it."""
    domain = open_domain(space, factuals)
    restrictions = [constraint for constraint in constraints if isinstance(constraint, Restriction)]
    for constraint in sorted(restrictions, key=lambda constraint: not isinstance(constraint, MayVanish)):
        constraint.narrow(domain, space)
    return domain


def numbers(feature: Feature, codes: FloatArray) -> FloatArray:
    """Encoded values as numbers, levels that are numbers included."""
    if feature.levels is None:
        return codes
    known = feature.numbers
    assert known is not None
    return np.append(np.asarray(known), np.nan)[np.where(np.isnan(codes), len(known), codes).astype(np.intp)]


def _code(feature: Feature, level: Any, said: str) -> int:
    assert feature.levels is not None
    try:
        return feature.levels.index(level)
    except ValueError:
        raise InputError(
            f"{said} names {level!r}, which {feature.name!r} never is.", f"Its values are {feature.describe()}."
        ) from None


def fixed(*names: str) -> Fixed:
    """These columns keep their value: what nobody can change, and what nobody should be told to change.

    >>> fixed("sex", "race")
    fixed('sex', 'race')
    """
    return Fixed(_names(names, "fixed"))


def only_up(*names: str) -> Direction:
    """These numbers (or ordered levels) do not fall: age, education.

    >>> only_up("age", "education")
    only_up('age', 'education')
    """
    return Direction(_names(names, "only_up"), up=True)


def only_down(*names: str) -> Direction:
    """These numbers (or ordered levels) do not rise: debts, late payments.

    >>> only_down("debt")
    only_down('debt')
    """
    return Direction(_names(names, "only_down"), up=False)


def between(name: str, low: Any, high: Any) -> Between:
    """This number (or ordered level) ends in `[low, high]`, ends included; moved there if it is not.

    >>> between("income", 0, 90_000)
    between('income', 0, 90000)
    """
    return Between(name, low, high)


def within(name: str, share: float) -> Within:
    """This number moves by at most `share` of its factual value: 0.1 is plus or minus 10 %. Choose it to keep steps small.

    >>> within("income", 0.1)
    within('income', 0.1)
    """
    return Within(name, share)


def step(name: str, step: float, anchor: float = 0.0) -> Grid:
    """This number, if it changes, becomes `anchor` plus a multiple of `step`.

    For one question; a column that always has steps is declared once, with `space={"months": bf.Step(6)}`.

    >>> step("amount", 500)
    step('amount', 500)
    """
    return Grid(name, step, anchor)


def whole(name: str) -> Grid:
    """This number, if it changes, becomes a whole one. Columns of whole numbers in the data are whole without it.

    >>> whole("rooms")
    whole('rooms')
    """
    return Grid(name, 1.0)


def allowed(name: str, values: Iterable[Any]) -> Allowed:
    """This category ends as one of `values`, moved there if it is not.

    >>> allowed("housing", ["rents", "owns"])
    allowed('housing', ['rents', 'owns'])
    """
    return Allowed(name, tuple(values))


def moves(name: str, table: Mapping[Any, Iterable[Any]]) -> Moves:
    """This category changes only as the table says, `{before: [after, ...]}`; it may always stay.

    Choose it for steps that people can take; to price them instead of forbidding the others, use `bf.Table`.

    >>> moves("job", {"unemployed": ["temporary"]})
    moves('job', {'unemployed': ['temporary']})
    """
    return Moves(name, tuple((before, tuple(after)) for before, after in table.items()))


def may_be_missing(*names: str) -> MayVanish:
    """These columns may also become missing (by default a known value stays known).

    Choose it to see whether withholding a value would pay, which says something about the model.

    >>> may_be_missing("savings")
    may_be_missing('savings')
    """
    return MayVanish(_names(names, "may_be_missing"))


def at_most_changes(count: int) -> AtMost:
    """At most `count` columns change: for answers that a person can remember.

    >>> at_most_changes(3)
    at_most_changes(3)
    """
    return AtMost(count)


def linear(weights: Mapping[str, float], sense: Literal["<=", ">=", "=="], bound: float) -> Relation:
    """A linear relation between numbers of the answer: sums, budgets, shares.

    Met within 1e-8 of the size of its terms.

    >>> linear({"debt": 1.0, "income": -0.4}, "<=", 0.0)
    linear({'debt': 1.0, 'income': -0.4}, '<=', 0.0)
    """
    return Relation(tuple((name, float(weight)) for name, weight in weights.items()), sense, float(bound))


def rises(name: str, by: float = 0.0) -> Event:
    """The event that a number rises (by at least `by`), or an ordered level (by ranks); for `bf.implies`.

    >>> rises("age", by=2)
    rises('age', by=2)
    """
    return Event("rises", name, by)


def falls(name: str, by: float = 0.0) -> Event:
    """The event that a number falls (by at least `by`), or an ordered level (by ranks); for `bf.implies`.

    >>> falls("hours")
    falls('hours')
    """
    return Event("falls", name, by)


def becomes(name: str, level: Any) -> Event:
    """The event that a category becomes `level`, having been another; for `bf.implies`.

    >>> becomes("job", "permanent")
    becomes('job', 'permanent')
    """
    return Event("becomes", name, level=level)


def implies(cause: Event, consequence: Event) -> Implication:
    """If the cause happens, so must the consequence: changes that bring others along.

    >>> implies(rises("education"), rises("age", by=2))
    implies(rises('education'), rises('age', by=2))
    """
    return Implication(cause, consequence)


def margin(eps: float) -> Margin:
    """Stay `eps` inside every boundary that decides, measured in ranges of the columns.

    A linear model: the distance to each deciding hyperplane, in range-scaled units. A tree: each deciding cut is at least
    `eps` ranges away; for a regressor or a probability, the cuts of the leaf decide. Choose it for answers that survive
    small changes of the data and of the model.

    >>> margin(0.01)
    margin(0.01)
    """
    return Margin(float(eps))


def plausible(forest: Any, path_length: float | None = None) -> Plausible:
    """The answer looks like the data: a fitted isolation forest needs at least `path_length` questions to single it out.

    `mean_t h_t(x) >= path_length`, h the depth of x's leaf plus what a tree of its size would add (Liu, Ting and Zhou, ICDM
    2008): a sum of trees, kept exactly. The default is the forest's own border between outliers and the rest. `forest` is
    an `IsolationForest`, or a pipeline that ends in one, fitted on the columns that the model reads.

    >>> from sklearn.ensemble import IsolationForest
    >>> plausible(IsolationForest(), path_length=8.0)
    plausible(IsolationForest, path_length=8.0)
    """
    return Plausible(forest, path_length)


def candidates(table: Any) -> Candidates:
    """The answer is one of these rows, of the kind the model reads; choose it for black boxes, or for answers that exist.

    As the What-If Tool does (Wexler et al., IEEE TVCG 26, 2020). Proven optimal means: among these rows.

    >>> candidates([[1.0, 2.0], [3.0, 4.0]])
    candidates(2 rows)
    """
    return Candidates(table)


def _names(names: tuple[str, ...], word: str) -> tuple[str, ...]:
    if not names:
        raise InputError(f"{word}() was given no column.", "Name at least one.")
    if any(not isinstance(name, str) for name in names):
        raise InputTypeError(f"{word}{names!r} was given.", "Columns are named by text, one argument each.")
    return names
