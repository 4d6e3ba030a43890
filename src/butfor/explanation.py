"""Answers as plain data: one explanation, or many in columns. They print, pickle, compare equal and never change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from butfor.certificate import Certificate
from butfor.model.cells import IntArray
from butfor.solvers.solver import Status
from butfor.space import frames
from butfor.space.frames import FloatArray
from butfor.space.space import Space
from butfor.views.rows import Change, change_rows


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
    with their values before and after; `before` and `after` are the model's own predictions.
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
        """One row per changed column, as a table of the kind that was given (a list of dicts for arrays)."""
        records = [{"column": c.name, "before": c.before, "after": c.after} for c in self.changes]
        if frames.is_array(self.factual):
            return records
        columns = {key: [str(r[key]) if key != "column" else r[key] for r in records] for key in ("column", "before", "after")}
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
        """The changes as bars on each column's range, with matplotlib; returns the axes."""
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

    `row` says which given row each answer is for; an answer that was not found stays in its place.
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

    def __len__(self) -> int:
        return len(self.row)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Explanations: ...
    def __getitem__(self, index: int | slice) -> Explanation | Explanations:
        if isinstance(index, slice):
            at = np.arange(len(self))[index]
            return replace(
                self,
                row=self.row[at],
                point_codes=self.point_codes[at],
                before=[self.before[i] for i in at],
                after=[self.after[i] for i in at],
                cost=self.cost[at],
                certificates=[self.certificates[i] for i in at],
            )
        i = range(len(self))[index]
        row = int(self.row[i])
        factual = frames.take(self.table, [row])
        found = self.certificates[i].status.found
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
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    @property
    def statuses(self) -> list[Status]:
        """The status of each answer."""
        return [certificate.status for certificate in self.certificates]

    @property
    def found(self) -> np.ndarray:
        """Which answers were found."""
        return np.array([status.found for status in self.statuses], dtype=np.bool_)

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
        moved = ~((self.point_codes == start) | (np.isnan(self.point_codes) & np.isnan(start)))
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
            columns[name] = [feature.value(code) if f else None for code, f in zip(self.point_codes[:, j], found, strict=True)]
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
        from rich.text import Text

        return Text(repr(self))

    def _repr_html_(self) -> str:
        from butfor.views.html import fragment

        shown = "".join(fragment(one) for one in self[:20])
        return shown + (f"<p>and {len(self) - 20} more</p>" if len(self) > 20 else "")


def _same(a: FloatArray | None, b: FloatArray | None) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b, equal_nan=True))


def _without_time(certificate: Certificate) -> Certificate:
    return replace(certificate, seconds=0.0)
