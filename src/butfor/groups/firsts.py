"""The first answer to each row of a batch, in columns, and the groups that its rows belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, InputTypeError
from butfor.explanation.concat import check_same_question
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.one_answer import as_batch
from butfor.portfolio.portfolio import Portfolio
from butfor.solvers.outcome import Status
from butfor.space import frames
from butfor.space.space import Space, same

MISSING_GROUP = "missing"
"""The group of rows whose value in the grouping column is missing. It stands in brackets if a group has this name."""

Answers = Explanation | Explanations | Portfolio

Batch = Answers | list[Answers] | tuple[Answers, ...]


@dataclass(frozen=True, eq=False)
class Firsts:
    """The first answers of a batch.

    - `start`, `points` (rows, features): the rows and their answers, encoded (all NaN if none was found);
    - `costs` (rows): infinite if none was found;
    - `statuses`, `conflicts`: of each answer, as its certificate says them;
    - `labels`: of each row, as the user's table has them (its position if it has none);
    - `tables`: the rows themselves, in the user's own tables, one after the other;
    - `near`: how many answers lie near the threshold, and of how many (see `Explanations.near_threshold`).
    """

    space: Space
    start: FloatArray
    points: FloatArray
    costs: FloatArray
    statuses: list[Status]
    conflicts: list[tuple[str, ...]]
    labels: list[Any]
    tables: list[Any]
    near: tuple[int, int]

    def __len__(self) -> int:
        return len(self.costs)

    @cached_property
    def found(self) -> BoolArray:
        """Which rows have an answer."""
        return np.isfinite(self.costs)

    @cached_property
    def moved(self) -> BoolArray:
        """Which columns the answers change (rows, features)."""
        return np.asarray(~same(self.start, self.points) & self.found[:, None])

    @cached_property
    def already(self) -> BoolArray:
        """Which rows meet the target as they are."""
        return np.asarray(self.found & ~self.moved.any(axis=1) & (self.costs == 0))

    def framed(self, columns: dict[str, list[Any]]) -> Any:
        """Columns as a table of the user's kind."""
        return frames.framed(self.tables[0], columns)


def firsts(answers: Batch | Firsts) -> Firsts:
    """The first answer to each row. Batches may be given together if they answer the same question."""
    if isinstance(answers, Firsts):
        return answers
    parts, first = list[Firsts](), None
    for batch in _batches(answers):
        if len(batch):
            first = first or batch
            check_same_question(first, batch)
            parts.append(_firsts_of(batch))
    if not parts:
        raise InputError("no answer was given.", "At least one row must have been explained.")
    return Firsts(
        space=parts[0].space,
        start=np.vstack([one.start for one in parts]),
        points=np.vstack([one.points for one in parts]),
        costs=np.concatenate([one.costs for one in parts]),
        statuses=[status for one in parts for status in one.statuses],
        conflicts=[conflict for one in parts for conflict in one.conflicts],
        labels=[label for one in parts for label in one.labels],
        tables=[table for one in parts for table in one.tables],
        near=(sum(one.near[0] for one in parts), sum(one.near[1] for one in parts)),
    )


def _firsts_of(batch: Explanations) -> Firsts:
    """The first answers of one batch. Of a portfolio, nothing else is kept while it is read."""
    at = np.flatnonzero(batch.ranks == 1)
    known, labels, rows = batch.certificates, batch.labels, batch.table_rows[at]
    return Firsts(
        space=batch.space,
        start=batch.factual_codes[rows],
        points=batch.point_codes[at],
        costs=batch.costs[at],
        statuses=[known[i].status for i in at.tolist()],
        conflicts=[known[i].conflict for i in at.tolist()],
        labels=[labels[i] for i in at.tolist()],
        tables=[frames.take(batch.table, rows)],
        near=batch.near_threshold,
    )


def _batches(answers: Batch) -> Iterator[Explanations]:
    if isinstance(answers, Explanations):
        yield answers
    elif isinstance(answers, Explanation):
        yield as_batch(answers)
    elif isinstance(answers, Portfolio):
        yield from answers.parts()
    elif isinstance(answers, list | tuple):
        for one in answers:
            if not isinstance(one, Explanation | Explanations | Portfolio):
                raise _not_answers(one)
            yield from _batches(one)
    else:
        raise _not_answers(answers)


def _not_answers(given: Any) -> InputTypeError:
    return InputTypeError(
        f"{type(given).__name__} was given.", "Answers are needed.", "Give what explain returned, or a list of it."
    )


def groups_of(known: Firsts, by: Any) -> dict[Any, IntArray]:
    """The rows of each group, in the order of the groups.

    `by` is a column of the rows that were explained, dummies of one, or holds the group of each row.
    """
    if isinstance(by, Iterable) and not isinstance(by, str):
        each = list(by)
        if len(each) != len(known):
            raise InputError(
                f"by= holds {len(each)} groups, and {len(known)} rows were answered.",
                "It must hold one group per row, in their order.",
            )
    elif str(by) in known.space.names and known.space[str(by)].dummies is not None:
        feature, codes = known.space[str(by)], known.start[:, known.space.index(str(by))]
        each = [feature.value(code) for code in codes.tolist()]
    else:
        each = [value for table in known.tables for value in frames.named_column(table, by, f"by={by!r}")]
    plain = [None if frames.is_missing(one) else _plain(one) for one in each]
    rows: dict[Any, list[int]] = {}
    for i, group in enumerate(plain):
        rows.setdefault(group, []).append(i)
    lost = rows.pop(None, None)
    if lost is not None:
        name = MISSING_GROUP
        while name in rows:  # a group of the user's own
            name = f"({name})"
        rows[name] = lost
    return {group: np.array(rows[group]) for group in sorted(rows, key=_order)}


def _plain(group: Any) -> Any:
    """A group as a number or a text, which every table can hold."""
    if isinstance(group, np.generic):
        group = group.item()
    return group if isinstance(group, str | int | float) else str(group)


def _order(group: Any) -> tuple[int, float, str]:
    """Numbers come before texts."""
    return (0, float(group), "") if isinstance(group, Real) else (1, 0.0, str(group))


def parts_of(known: Firsts, by: Any) -> dict[Any, IntArray]:
    """The rows of each group. Without `by`, all rows are one group that has no name."""
    return {None: np.arange(len(known))} if by is None else groups_of(known, by)


def named(groups: Sequence[Any], columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Columns after one that names the group of each line, unless there are no groups."""
    if all(group is None for group in groups):
        return columns
    mixed = len({type(group) for group in groups}) > 1
    return {"group": [str(group) for group in groups] if mixed else list(groups), **columns}
