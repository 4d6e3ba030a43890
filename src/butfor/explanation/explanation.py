"""Answers as plain data: one explanation, or many in columns.

They print, pickle, compare equal and never change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError
from butfor.explanation.changes import Change, change_rows
from butfor.explanation.question_record import QuestionRecord
from butfor.explanation.render import rendered
from butfor.solvers.outcome import Status
from butfor.space import frames
from butfor.space.space import Space, same
from butfor.verdict.certificate import Certificate


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, eq=False)
class Explanation:
    """The answer for one row: what to change, what it costs, and the certificate.

    - `point`: the changed row, of the same kind as the row that was given (None if there is none);
    - `changes`: the changed columns with their values before and after;
    - `before`, `after`: the model's own predictions;
    - `row`: the position of the factual among the rows given;
    - `rank`: the place of this answer among several to the same factual (1: the cheapest);
    - `model`: the name of the estimator's class;
    - `sealed`: whether the JSON that it was read from had a hash (None: it was not read from JSON).
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
    question: QuestionRecord
    row: int = 0
    rank: int = 1
    model: str = ""
    created: str = field(default_factory=now)
    sealed: bool | None = None

    def __post_init__(self) -> None:
        _freeze(self, "factual_codes", "point_codes")

    @property
    def only(self) -> Explanation:
        """This answer itself. So a single answer can stand in for `Explanations` that hold one."""
        return self

    @property
    def found(self) -> bool:
        """Whether there is an answer."""
        return self.point is not None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changed columns, before and after, in the user's values."""
        return tuple(column for column in self.columns() if column.changed)

    def columns(self) -> tuple[Change, ...]:
        """Every column, changed or not: the facts that all views lay out."""
        return change_rows(self.space, self.factual_codes, self.point_codes)

    def to_frame(self) -> Any:
        """One row per changed column: column, before, after, change.

        `before` and `after` are text, because columns differ in type; `change` is missing for what is not a number.
        The result is a table of the same kind as the row that was given. For arrays it is a dict of columns, which
        holds the values themselves.
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
        """The answer as JSON. `Explanation.from_json` and `butfor check` read it.

        The schema is described in the documentation.
        """
        return str(rendered(self, "json", indent=indent))

    @staticmethod
    def from_json(text: str) -> Explanation:
        """The answer that `to_json` wrote."""
        answer: Explanation = rendered(text, "loaded")
        return answer

    def to_html(self) -> str:
        """An HTML page with the table of changes and the certificate. It needs no other file."""
        return str(rendered([self], "page"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the changes on each column's range, with matplotlib. Returns the axes."""
        return rendered(self, "plot", ax)

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
        return str(rendered(self, "text"))

    def __rich__(self) -> Any:
        return rendered(self, "panel")

    def _repr_html_(self) -> str:
        return str(rendered(self, "fragment"))


@dataclass(frozen=True, eq=False)
class Explanations(Sequence[Explanation]):
    """Answers for several rows, or several answers for one row, in columns.

    Indexing gives single explanations.

    - `rows`: which of the given rows each answer is for;
    - `ranks`: the place of each answer among those for the same row (1: the cheapest);
    - `outputs_before`, `outputs_after`: what the model predicts for the row and for the point;
    - `costs`: what each answer costs; infinite if none was found (its place is kept).

    If there is only one answer, its attributes can be used directly: `answers.point` is `answers.only.point`.
    """

    space: Space
    rows: IntArray
    factual_codes: FloatArray
    point_codes: FloatArray
    table: Any
    outputs_before: Sequence[Any]
    outputs_after: Sequence[Any]
    costs: FloatArray
    certificates: Sequence[Certificate]
    question: QuestionRecord
    model: str = ""
    created: str = field(default_factory=now)
    ranks: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def __post_init__(self) -> None:
        if len(self.ranks) < len(self.rows):  # not given: the answers to each row are in order
            object.__setattr__(self, "ranks", _ranks(self.rows))
        _freeze(self, "rows", "ranks", "factual_codes", "point_codes", "costs")

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> Explanations: ...
    def __getitem__(self, index: int | slice | Sequence[int] | NDArray[Any]) -> Explanation | Explanations:
        if isinstance(index, slice | Sequence | np.ndarray):
            at = np.arange(len(self))[index]
            return replace(
                self,
                rows=self.rows[at],
                ranks=self.ranks[at],
                point_codes=self.point_codes[at],
                outputs_before=[self.outputs_before[i] for i in at],
                outputs_after=[self.outputs_after[i] for i in at],
                costs=self.costs[at],
                certificates=[self.certificates[i] for i in at],
            )
        i = range(len(self))[index]
        row = int(self.rows[i])
        factual = frames.take(self.table, [row])
        found = bool(np.isfinite(self.costs[i]))
        codes = self.point_codes[i] if found else None
        start = self.factual_codes[row]
        return Explanation(
            space=self.space,
            factual_codes=start,
            point_codes=codes,
            factual=factual,
            point=self.space.decode(codes[None], factual, start[None]) if codes is not None else None,
            before=self.outputs_before[i],
            after=self.outputs_after[i] if found else None,
            cost=float(self.costs[i]),
            certificate=self.certificates[i],
            question=self.question,
            row=row,
            rank=int(self.ranks[i]),
            model=self.model,
            created=self.created,
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Explanation):
            return len(self) == 1 and self[0] == other
        if not isinstance(other, Explanations):
            return NotImplemented
        same = np.array_equal(self.rows, other.rows) and np.array_equal(self.ranks, other.ranks)
        return same and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def only(self) -> Explanation:
        """The single answer. An error explains what to do if there are several."""
        if len(self) != 1:
            raise InputError(
                f"these are {len(self)} answers.",
                "Only a single answer has a point, a cost, changes and a certificate.",
                "Choose one (answers[0]), or use the columns: points, costs, certificates.",
            )
        return self[0]

    @property
    def factual(self) -> Any:
        """The row as it is, before any change (single answer)."""
        return self.only.factual

    @property
    def point(self) -> Any:
        """The changed row of the single answer; None if there is none. It is of the same kind as the given row."""
        return self.only.point

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changed columns of the single answer, before and after."""
        return self.only.changes

    @property
    def cost(self) -> float:
        """What the single answer costs."""
        return self.only.cost

    @property
    def certificate(self) -> Certificate:
        """What is known about the single answer."""
        return self.only.certificate

    @property
    def before(self) -> Any:
        """What the model predicts for the row (single answer)."""
        return self.only.before

    @property
    def after(self) -> Any:
        """What the model predicts for the point (single answer)."""
        return self.only.after

    @property
    def row(self) -> int:
        """Which of the given rows the single answer is for."""
        return self.only.row

    @property
    def rank(self) -> int:
        """The place of the single answer among those for its row (1: the cheapest)."""
        return self.only.rank

    def columns(self) -> tuple[Change, ...]:
        """Every column of the single answer, changed or not."""
        return self.only.columns()

    @property
    def statuses(self) -> list[Status]:
        """The status of each answer."""
        return [certificate.status for certificate in self.certificates]

    @property
    def found(self) -> BoolArray:
        """Which answers were found. `answers[answers.found]` keeps only those."""
        return np.isfinite(self.costs)

    @property
    def points(self) -> Any:
        """All points that were found, as one table of the same kind as the given one."""
        at = np.flatnonzero(self.found)
        rows = self.rows[at]
        return self.space.decode(self.point_codes[at], frames.take(self.table, rows), self.factual_codes[rows])

    def to_frame(self) -> Any:
        """One row per answer, as a table.

        Its columns are: row, status, cost, bound, number of changes, predictions, and the columns of the point.
        The result is a table of the same kind as the given one (for arrays, a dict of columns). Answers that were not
        found have missing values.
        """
        start = self.factual_codes[self.rows]
        moved = ~same(self.point_codes, start)
        found = self.found
        columns: dict[str, Any] = {
            "row": self.rows.tolist(),
            "status": [status.name for status in self.statuses],
            "cost": [float(c) if f else None for c, f in zip(self.costs, found, strict=True)],
            "bound": [float(c.bound) if np.isfinite(c.bound) else None for c in self.certificates],
            "changed": [int(m.sum()) if f else None for m, f in zip(moved, found, strict=True)],
            "before": list(self.outputs_before),
            "after": [a if f else None for a, f in zip(self.outputs_after, found, strict=True)],
        }
        for j, feature in enumerate(self.space.features):
            name = feature.name if feature.name not in columns else f"{feature.name} (column)"
            columns[name] = [
                feature.value(code) if f else None for code, f in zip(self.point_codes[:, j], found, strict=True)
            ]
        return columns if frames.is_array(self.table) else frames.like(self.table, columns)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The single answer as JSON, or a JSON list of all."""
        return str(
            rendered(self.only, "json", indent=indent) if len(self) == 1 else rendered(self, "json list", indent=indent)
        )

    def to_html(self) -> str:
        """One page with all answers."""
        return str(rendered(list(self), "page"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the changes of the single answer on each column's range, with matplotlib. Returns the axes."""
        return self.only.plot(ax)

    def __repr__(self) -> str:
        return repr(self.only) if len(self) == 1 else str(rendered(self, "text of many"))

    def __rich__(self) -> Any:
        return rendered(self.only, "panel") if len(self) == 1 else rendered(self, "panel of many")

    def _repr_html_(self) -> str:
        return str(rendered(self.only, "fragment") if len(self) == 1 else rendered(self, "fragment of many"))


def _ranks(row: IntArray) -> IntArray:
    """The place of each answer among those for the same row: 1, 2, ..."""
    order = np.argsort(row, kind="stable")
    first = np.searchsorted(row[order], row[order])
    ranks = np.empty(len(row), dtype=np.intp)
    ranks[order] = np.arange(len(row)) - first + 1
    return ranks


def _freeze(answer: Explanation | Explanations, *names: str) -> None:
    """Make the arrays of an answer read-only. They are views, so the caller's own arrays stay writable."""
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
