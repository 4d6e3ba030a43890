"""Answers as plain data: one explanation, or many in columns. They print, pickle, compare equal and never change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.explanation.changes import Change, change_rows
from butfor.solvers.solver import Status
from butfor.space import frames
from butfor.space.space import Space, same
from butfor.verdict.certificate import Certificate


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Question:
    """What was asked: in words, and as data with which the answer can be checked later."""

    target: str
    cost: str
    constraints: tuple[str, ...]
    spec: dict[str, Any] = field(compare=False, hash=False, default_factory=dict)


@dataclass(frozen=True, eq=False)
class Explanation:
    """The answer for one row: what to change, what it costs, and the certificate.

    `point` is the changed row, of the kind that was given (None if there is none); `changes` lists the changed columns
    with their values before and after; `before` and `after` are the model's own predictions. `row` is the position of the
    factual among the rows given, `rank` its place among several answers to it (1: the cheapest), `model` the estimator's
    class.
    """

    space: Space
    factual_codes: FloatArray
    point_codes: FloatArray | None
    factual: Any
    point: Any
    before: Any
    after: Any
    cost: float
    certificate: Certificate
    question: Question
    row: int = 0
    rank: int = 1
    model: str = ""
    created: str = field(default_factory=now)

    def __post_init__(self) -> None:
        _freeze(self, "factual_codes", "point_codes")

    @property
    def found(self) -> bool:
        """Whether there is an answer."""
        return self.point is not None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changed columns, before and after, in the user's values."""
        return tuple(row for row in self.rows() if row.changed)

    def rows(self) -> tuple[Change, ...]:
        """Every column, changed or not: the facts that all views lay out."""
        return change_rows(self.space, self.factual_codes, self.point_codes)

    def to_frame(self) -> Any:
        """One row a changed column: column, before, after (as text, for columns differ in type) and change (of numbers).

        A table of the kind that was given; a dict of columns, with the values themselves, for arrays.
        """
        found = self.changes
        columns: dict[str, list[Any]] = {
            "column": [c.name for c in found],
            "before": [c.before for c in found],
            "after": [c.after for c in found],
            "change": [c.change for c in found],
        }
        if frames.is_array(self.factual):
            return columns
        for key in ("before", "after"):
            columns[key] = [None if value is None else str(value) for value in columns[key]]
        return frames.like(self.factual, columns)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The answer as JSON (schema in the documentation); `Explanation.from_json` and `butfor check` read it."""
        from butfor.views.json import dump

        return dump(self, indent=indent)

    @staticmethod
    def from_json(text: str) -> Explanation:
        """The answer that `to_json` wrote."""
        from butfor.views.json import load

        return load(text)

    def to_html(self) -> str:
        """A page of its own with the table of changes and the certificate."""
        from butfor.views.html import page

        return page([self])

    def plot(self, ax: Any = None) -> Any:
        """The changes on each column's range, with matplotlib; returns the axes."""
        from butfor.views.plot import draw

        return draw(self, ax)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        return (
            self.question == other.question
            and _same(self.factual_codes, other.factual_codes)
            and _same(self.point_codes, other.point_codes)
            and (self.cost == other.cost)
            and self.space == other.space
            and _without_time(self.certificate) == _without_time(other.certificate)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from butfor.views.text import render

        return render(self)

    def __rich__(self) -> Any:
        from butfor.views.text import panel

        return panel(self)

    def _repr_html_(self) -> str:
        from butfor.views.html import fragment

        return fragment(self)


@dataclass(frozen=True, eq=False)
class Explanations(Sequence[Explanation]):
    """Answers for several rows, or several for one, in columns; indexing gives single explanations.

    `row` says which given row each answer is for, `rank` its place among several for that row (1: the cheapest); an answer
    that was not found stays in its place.
    """

    space: Space
    row: IntArray
    factual_codes: FloatArray
    point_codes: FloatArray
    table: Any
    before: Sequence[Any]
    after: Sequence[Any]
    cost: FloatArray
    certificates: Sequence[Certificate]
    question: Question
    model: str = ""
    created: str = field(default_factory=now)
    rank: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def __post_init__(self) -> None:
        if len(self.rank) < len(self.row):  # not given: the answers to a row stand in order
            object.__setattr__(self, "rank", _ranks(self.row))
        _freeze(self, "row", "rank", "factual_codes", "point_codes", "cost")

    def __len__(self) -> int:
        return len(self.row)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> Explanations: ...
    def __getitem__(self, index: int | slice | Sequence[int] | NDArray[Any]) -> Explanation | Explanations:
        if isinstance(index, slice | Sequence | np.ndarray):
            at = np.arange(len(self))[index]
            return replace(
                self,
                row=self.row[at],
                rank=self.rank[at],
                point_codes=self.point_codes[at],
                before=[self.before[i] for i in at],
                after=[self.after[i] for i in at],
                cost=self.cost[at],
                certificates=[self.certificates[i] for i in at],
            )
        i = range(len(self))[index]
        row = int(self.row[i])
        factual = frames.take(self.table, [row])
        found = bool(np.isfinite(self.cost[i]))
        codes = self.point_codes[i] if found else None
        start = self.factual_codes[row]
        return Explanation(
            space=self.space,
            factual_codes=start,
            point_codes=codes,
            factual=factual,
            point=self.space.decode(codes[None], factual, start[None]) if codes is not None else None,
            before=self.before[i],
            after=self.after[i] if found else None,
            cost=float(self.cost[i]),
            certificate=self.certificates[i],
            question=self.question,
            row=row,
            rank=int(self.rank[i]),
            model=self.model,
            created=self.created,
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanations):
            return NotImplemented
        same = np.array_equal(self.row, other.row) and np.array_equal(self.rank, other.rank)
        return same and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @property
    def statuses(self) -> list[Status]:
        """The status of each answer."""
        return [certificate.status for certificate in self.certificates]

    @property
    def found(self) -> BoolArray:
        """Which answers were found; `answers[answers.found]` are those."""
        return np.isfinite(self.cost)

    @property
    def points(self) -> Any:
        """All answers that were found as one table of the kind that was given."""
        at = np.flatnonzero(self.found)
        rows = self.row[at]
        return self.space.decode(self.point_codes[at], frames.take(self.table, rows), self.factual_codes[rows])

    def to_frame(self) -> Any:
        """One row an answer: row, status, cost, bound, number of changes, predictions, and the point's columns.

        A table of the kind that was given; a dict of columns for arrays. Unfound answers have missing values.
        """
        start = self.factual_codes[self.row]
        moved = ~same(self.point_codes, start)
        found = self.found
        columns: dict[str, Any] = {
            "row": self.row.tolist(),
            "status": [status.name for status in self.statuses],
            "cost": [float(c) if f else None for c, f in zip(self.cost, found, strict=True)],
            "bound": [float(c.bound) if np.isfinite(c.bound) else None for c in self.certificates],
            "changed": [int(m.sum()) if f else None for m, f in zip(moved, found, strict=True)],
            "before": list(self.before),
            "after": [a if f else None for a, f in zip(self.after, found, strict=True)],
        }
        for j, feature in enumerate(self.space.features):
            name = feature.name if feature.name not in columns else f"{feature.name} (column)"
            columns[name] = [
                feature.value(code) if f else None for code, f in zip(self.point_codes[:, j], found, strict=True)
            ]
        return columns if frames.is_array(self.table) else frames.like(self.table, columns)

    def to_json(self, *, indent: int | None = 2) -> str:
        """A JSON list of all answers."""
        from butfor.views.json import dump_many

        return dump_many(list(self), indent=indent)

    def to_html(self) -> str:
        """One page with all answers."""
        from butfor.views.html import page

        return page(list(self))

    def __repr__(self) -> str:
        from butfor.views.text import render_many

        return render_many(self)

    def __rich__(self) -> Any:
        from butfor.views.text import panel_many

        return panel_many(self)

    def _repr_html_(self) -> str:
        from butfor.views.html import fragment_many

        return fragment_many(self)


def _ranks(row: IntArray) -> IntArray:
    """The place of each answer among those to the same row: 1, 2, ..."""
    order = np.argsort(row, kind="stable")
    first = np.searchsorted(row[order], row[order])
    ranks = np.empty(len(row), dtype=np.intp)
    ranks[order] = np.arange(len(row)) - first + 1
    return ranks


def _freeze(answer: Explanation | Explanations, *names: str) -> None:
    """Make the arrays of an answer read-only (as views: whoever made them keeps theirs)."""
    for name in names:
        array = getattr(answer, name)
        if array is not None:
            frozen = array.view()
            frozen.flags.writeable = False
            object.__setattr__(answer, name, frozen)


def _same(a: FloatArray | None, b: FloatArray | None) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b, equal_nan=True))


def _without_time(certificate: Certificate) -> Certificate:
    return replace(certificate, seconds=0.0)
