"""Columns that are computed from others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, InputTypeError
from butfor.model.computed import ComputedFeature
from butfor.model.formula import Formula, Quotient, ends
from butfor.model.formula_probes import TELLING_NUMBERS, Probed, mixed_rows, rows_with_gaps
from butfor.model.formula_text import read_formula, written
from butfor.problem.constraints.constraint import AbstractConstraint, CodedConstraint, Relation
from butfor.problem.constraints.linked import Combinations
from butfor.problem.form import ConstraintKind
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.space import Space, encode_column, same

AS_COMPUTED = 1e-9
"""By which share of its size a value of the data may differ from what is computed: libraries round their sums."""

CONTRADICTIONS_NAMED = 3
"""How many rows an error names that contradict a computed column."""


@dataclass(frozen=True)
class ComputedColumn(Relation):
    """See `computed`. It has a formula as text, or a `function` of the values of columns `names`."""

    kind = ConstraintKind.COMPUTED

    name: str
    text: str = ""
    function: Callable[..., Any] | None = None
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if self.function is None:
            return f"computed({self.name!r}, {self.text!r})"
        return f"computed({self.name!r}, {getattr(self.function, '__name__', 'a function')} of {', '.join(self.names)})"

    @classmethod
    def of_function(cls, name: str, function: Callable[..., Any], names: Sequence[str]) -> ComputedColumn:
        """A function of columns. If it only calculates, it is called with their names, and tells its formula.

        Then it is asked about some numbers, and about missing values. If it computes something else there, its formula is
        not known.
        """
        try:
            formula = Formula.of(function(*map(Formula.column, names))).of_plain_numbers()
        except Exception:
            formula = None
        if formula is None or not _computes(function, formula, names):
            return cls(name, function=function, names=tuple(names))
        return cls(name, written(formula))

    @property
    def formula(self) -> Formula | None:
        """Its formula; None if it is a function of which nothing is known."""
        return _read(self.text) if self.function is None else None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns from which it is computed."""
        return self.names if self.formula is None else tuple(map(str, self.formula.columns))

    @property
    def numbers(self) -> tuple[str, ...]:
        return (self.name, *self.inputs)

    @property
    def following(self) -> tuple[str, ...]:
        return (self.name,)

    def validate(self, space: Space) -> None:
        for name in self.numbers:
            space.index(name)
        if self.name in self.inputs or not self.inputs:
            raise InputError(f"{self!r} was given.", "It must be computed from other columns.")
        words = [name for name in self.inputs if space[name].levels is not None and space[name].numbers is None]
        if self.formula is not None and words:
            raise InputError(
                f"{self!r} was given, and {words[0]!r} holds {space[words[0]].describe()}.",
                "A formula calculates with numbers.",
                "Give a function of the values.",
            )
        for divisor in () if self.formula is None else self.formula.divisors():
            self._check_divisor(divisor, space)

    def _check_divisor(self, divisor: Formula, space: Space) -> None:
        """Refuse a division by what may be 0."""
        sums = divisor.quotient()
        if sums is None or not sums.is_linear:
            return
        low, high = ends(sums.upper, *(dict(zip(*each, strict=True)) for each in _ranges(divisor, space)))
        if low <= 0 <= high:
            raise InputError(
                f"{self!r} was given, and {divisor!r} ranges from {low:g} to {high:g}.",
                "What it is divided by must not become 0.",
                f"Declare a range without 0, as in space={{{divisor.columns[0]!r}: bf.Continuous(low=...)}}, "
                "or give a function that says what it is then.",
            )

    def learnt(self, space: Space, data: Any) -> Self:
        """The same. Rows of the data that contradict it are an error."""
        table = frames.opened(frames.as_table(data))
        given = {name: k for k, name in enumerate(frames.names(table))}
        points = np.full((frames.height(table), len(space)), np.nan)
        for name in self.numbers:
            feature = replace(space[name], missing=True)
            points[:, space.index(name)] = encode_column(feature, table, given)
        self._check(space, points, "the data")
        return self

    def check_rows(self, space: Space, rows: FloatArray) -> None:
        self._check(space, rows, "those given")

    def _check(self, space: Space, points: FloatArray, where: str) -> None:
        """Refuse rows whose value differs from what is computed, and rows of which it cannot be computed."""
        held, found = points[:, space.index(self.name)], self.values(space, points, strict=True)
        numbers = space[self.name].levels is None
        near = np.abs(held - found) <= AS_COMPUTED * np.abs(found) if numbers else np.zeros(len(held), dtype=np.bool_)
        if numbers and space[self.name].single:
            near |= np.float32(held) == np.float32(found)
        wrong = np.flatnonzero(~near & ~same(held, found))
        if not len(wrong):
            return
        first = int(wrong[0])
        value, right = (space[self.name].value(code[first]) for code in (held, found))
        some, more = (
            ", ".join(map(str, wrong[:CONTRADICTIONS_NAMED].tolist())),
            f" and {len(wrong) - CONTRADICTIONS_NAMED} more" * (len(wrong) > CONTRADICTIONS_NAMED),
        )
        raise InputError(
            f"{self!r} was given, and row{'s' * (len(wrong) > 1)} {some}{more} of {where} say otherwise: "
            f"in row {first}, {self.name!r} is {value!r} and not {right!r}.",
            "Each row must hold what is computed.",
            "Compute the column anew, or say how it was rounded, as in 'round(debt / income, 2)'.",
        )

    def values(self, space: Space, points: FloatArray, *, strict: bool = False) -> FloatArray:
        """What is computed at encoded points, encoded. It is NaN where the function fails, or an error if that is `strict`."""
        return self.of_columns(space, {name: points[:, space.index(name)] for name in self.inputs}, strict=strict)

    def of_columns(self, space: Space, columns: Mapping[str, FloatArray], *, strict: bool = False) -> FloatArray:
        """The same of the encoded values of its inputs."""
        made = self._computed(space, columns, strict=strict)
        codes = _encoded(space[self.name], made)
        if strict and self.function is not None:
            self._check_made(space[self.name], made, codes)
        return codes

    def _computed(self, space: Space, columns: Mapping[str, FloatArray], *, strict: bool) -> Sequence[Any] | FloatArray:
        if self.formula is not None:
            numbers = {name: space[name].in_numbers(codes) for name, codes in columns.items()}
            return np.asarray(self.formula.at(numbers))
        assert self.function is not None
        rows = zip(*(map(space[name].value, codes.tolist()) for name, codes in columns.items()), strict=True)
        return [self._called(values, row, strict=strict) for row, values in enumerate(rows)]

    def _called(self, values: tuple[Any, ...], row: int, *, strict: bool) -> Any:
        assert self.function is not None
        try:
            return self.function(*values)
        except Exception as error:
            if not strict:
                return None
            said = ", ".join(f"{name}={value!r}" for name, value in zip(self.names, values, strict=True))
            raise InputError(
                f"{self!r} was given, and the function fails in row {row}, for {said} ({type(error).__name__}: {error}).",
                "It must have a value in each row.",
                "A missing value is None.",
            ) from error

    def _check_made(self, feature: Feature, made: Sequence[Any] | FloatArray, codes: FloatArray) -> None:
        """Refuse what a function gives and its column cannot hold."""
        for row, value in enumerate(made):
            if np.isnan(codes[row]) and not frames.is_missing(value):
                raise InputError(
                    f"{self!r} was given, and the function gives {value!r} in row {row}.",
                    f"{self.name!r} holds {feature.describe()}.",
                    "Give such a value, or None where it is missing.",
                )

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.numbers]
        kept = same(before[:, at], after[:, at]).all(axis=1)
        return np.asarray(kept | same(after[:, at[0]], self.values(space, after)))

    def among(self, constraints: tuple[AbstractConstraint, ...]) -> Self:
        """The same. Columns that are computed twice, from each other, or linked to others as well, are an error."""
        every = [one for one in constraints if isinstance(one, ComputedColumn)]
        twice = next((one for one in every if one.name == self.name and one != self), None)
        if twice is not None:
            raise InputError(f"{self!r} and {twice!r} were given.", "A column follows in one way.", "Leave one out.")
        try:
            in_order(every)
        except CycleError as error:
            raise InputError(
                f"{', '.join(map(repr, every))} were given.",
                f"Each column must follow from others in the end, and {' from '.join(error.args[1])} is a circle.",
                "Leave one of them out.",
            ) from None
        linked = next((one for one in constraints if isinstance(one, Combinations) and self.name in one.names), None)
        if linked is not None:
            raise InputError(f"{self!r} and {linked!r} were given.", "A column follows in one way.", "Leave one out.")
        return self


@dataclass(frozen=True)
class OnComputed(Relation):
    """A restriction beside computed columns. A domain of free columns does not hold what it says of computed ones."""

    kind = ConstraintKind.COMPUTED

    restriction: CodedConstraint

    def validate(self, space: Space) -> None:
        self.restriction.validate(space)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return self.restriction.holds_between(space, before, after)


def _computes(function: Callable[..., Any], formula: Formula, names: Sequence[str]) -> bool:
    """Whether a function computes what its formula says, and reads all of its columns."""

    def column(rows: list[NDArray[Any]]) -> list[NDArray[Any]]:
        return [np.array([function(*row) for row in zip(*(one.tolist() for one in rows), strict=True)], dtype=object)]

    if set(formula.columns) != set(names):
        return False
    probed, rows = Probed(column, [formula], names), mixed_rows([TELLING_NUMBERS] * len(names))
    wrong, gaps = probed.wrong(rows), probed.wrong(rows_with_gaps(rows, dict.fromkeys(range(len(names))))[0])
    return wrong is not None and not wrong.any() and (gaps is None or not gaps.any())


def in_order(computed: Iterable[ComputedColumn]) -> list[ComputedColumn]:
    """Computed columns, each after those from which it is computed."""
    by_name = {one.name: one for one in computed}
    graph = {name: [other for other in one.inputs if other in by_name] for name, one in by_name.items()}
    return [by_name[name] for name in TopologicalSorter(graph).static_order()]


def names_of(function: Callable[..., Any], given: Iterable[str] | None) -> tuple[str, ...]:
    """The columns that a function is called with: those that were given, or its parameters."""
    if given is not None:
        return (given,) if isinstance(given, str) else tuple(given)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    plain = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if not plain or len(plain) < len(list(parameters)):
        raise InputTypeError(
            f"computed was given {function!r}.",
            "The names of its parameters must be those of columns.",
            "Name them: bf.computed('ratio', function, of=['debt', 'income']).",
        )
    return tuple(plain)


def features_of(computed: Iterable[ComputedColumn], space: Space) -> tuple[ComputedFeature, ...]:
    """What is computed of free columns alone, in the order in which it is computed."""
    known: dict[str, ComputedFeature] = {}
    formulas: dict[Any, Formula] = {}
    for one in in_order(computed):
        free = dict.fromkeys(name for part in one.inputs for name in _free(part, known, space))
        inputs = tuple(sorted(map(space.index, free)))
        formula = None
        if one.formula is not None and set(one.inputs) & set(known) <= set(formulas):
            formula = formulas[one.name] = one.formula.put(formulas)
        chain = (*(known[name] for name in one.inputs if name in known),)
        known[one.name] = ComputedFeature(
            space.index(one.name), inputs, _Following(one, space, inputs, chain), _quotient(formula, space)
        )
    return tuple(known.values())


def _free(name: str, known: Mapping[str, ComputedFeature], space: Space) -> Iterator[str]:
    """The free columns on which a column depends."""
    if name in known:
        yield from (space.names[j] for j in known[name].inputs)
    else:
        yield name


@dataclass(frozen=True, eq=False)
class _Following:
    """The value of a computed column, from those of free columns. What it is computed from comes first."""

    column: ComputedColumn
    space: Space
    inputs: tuple[int, ...]
    chain: tuple[ComputedFeature, ...]

    def __call__(self, values: FloatArray) -> FloatArray:
        known = dict(zip(self.inputs, values.T, strict=True))
        for one in self.chain:
            known[one.feature] = one.function(np.column_stack([known[j] for j in one.inputs]))
        index = self.space.index
        return self.column.of_columns(self.space, {name: known[index(name)] for name in self.column.inputs})


def _quotient(formula: Formula | None, space: Space) -> Quotient | None:
    """The quotient that a formula is, by the numbers of its columns. Levels have no half-planes."""
    found = None if formula is None else formula.quotient()
    if found is None or any(space[str(name)].levels is not None for name in formula.columns):  # type: ignore[union-attr]
        return None
    upper, lower = (
        {None if name is None else space.index(str(name)): factor for name, factor in part.items()}
        for part in (found.upper, found.lower)
    )
    return Quotient(upper, lower)


def _encoded(feature: Feature, values: Sequence[Any] | FloatArray) -> FloatArray:
    """Values as the codes of a column. What it cannot hold is NaN."""
    if feature.levels is None:
        found = np.array([_number(value) for value in values]) if isinstance(values, list) else np.asarray(values)
        found = np.where(np.isfinite(found), found, np.nan)
        with np.errstate(over="ignore"):
            return (
                found.astype(np.float32).astype(np.float64) if feature.single else np.asarray(found, dtype=np.float64)
            )
    code = {level: float(k) for k, level in enumerate(feature.levels)}
    return np.array([code.get(value, np.nan) for value in list(values)])


def _number(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except (TypeError, ValueError):
        return np.nan


def _ranges(formula: Formula, space: Space) -> Iterator[tuple[list[str], list[float]]]:
    """The names of the columns of a formula with their smallest numbers, and with their largest."""
    names = [str(name) for name in formula.columns]
    for end, low in ((min, True), (max, False)):
        numbers = [space[name].numbers for name in names]
        yield (
            names,
            [
                (space[name].low if low else space[name].high) if its is None else end(its)
                for name, its in zip(names, numbers, strict=True)
            ],
        )


@lru_cache(maxsize=64)
def _read(text: str) -> Formula:
    return read_formula(text)
