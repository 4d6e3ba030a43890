"""The answers of one method, in any form.

They may be butfor's own, one table per factual, or one table for all factuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.space import Space, same


@dataclass(frozen=True, eq=False)
class Given:
    """Encoded answers.

    - `row` (answers): the number of each answer's factual;
    - `points` (answers, features): the answers;
    - `seconds` (factuals): the time taken, NaN if it is not known.
    """

    row: IntArray
    points: FloatArray
    seconds: FloatArray


def given(answers: Any, factuals: FloatArray, space: Space) -> Given:
    """The answers to the `factuals`, which are encoded. `Judge.measures` says what may be given."""
    if isinstance(answers, Explanations):
        return _own(answers, factuals, space)
    if isinstance(answers, Explanation):
        answers = [answers]
    if isinstance(answers, list | tuple):
        return _listed(answers, factuals, space)
    table = frames.as_table(answers)
    points, found = _rows(table, space)
    if len(factuals) == 1:
        row = np.zeros(len(found), dtype=np.intp)
    elif len(found) == len(factuals):
        row = np.arange(len(factuals))
    else:
        raise InputError(
            f"a table of {len(found)} answers was given for {len(factuals)} factuals.",
            "One table must hold one answer per factual, or all answers to a single factual.",
            "Give a list with one table per factual.",
        )
    row = row[found]
    return Given(row, _exact(points, factuals[row]), np.full(len(factuals), np.nan))


def _own(answers: Explanations, factuals: FloatArray, space: Space) -> Given:
    """butfor's own answers. They know their factuals and how long they took."""
    start = space.encode(answers.table)
    if start.shape != factuals.shape or not same(start, factuals).all():
        raise InputError(
            f"answers to {len(start)} other rows were given for {len(factuals)} factuals.",
            "The factuals must be the rows that were explained, in the same order.",
        )
    seconds = np.zeros(len(factuals))
    np.add.at(seconds, answers.rows, [certificate.seconds for certificate in answers.certificates])
    points, _ = _rows(answers.points, space)
    return Given(answers.rows[answers.found], points, seconds)


def _listed(answers: Sequence[Any], factuals: FloatArray, space: Space) -> Given:
    """The answers in a list with one entry per factual."""
    if len(answers) != len(factuals):
        raise InputError(
            f"a list of {len(answers)} was given for {len(factuals)} factuals.",
            "It must hold one entry per factual: a table of answers, an Explanation, Explanations or None.",
        )
    parts = [_one(entry, factual, space) for entry, factual in zip(answers, factuals, strict=True)]
    counts = [len(part.points) for part in parts]
    return Given(
        np.repeat(np.arange(len(parts)), counts),
        np.vstack([part.points for part in parts]),
        np.array([part.seconds[0] for part in parts]),
    )


def _one(entry: Any, factual: FloatArray, space: Space) -> Given:
    if entry is None:
        return Given(np.empty(0, dtype=np.intp), np.empty((0, len(space))), np.full(1, np.nan))
    if not isinstance(entry, Explanation):
        table = entry if isinstance(entry, Explanations) else frames.as_table(entry)
        return given(table, factual[None], space)
    points = np.empty((0, len(space))) if entry.point is None else space.encode(entry.point)
    return Given(np.zeros(len(points), dtype=np.intp), points, np.array([entry.certificate.seconds]))


def _rows(table: Any, space: Space) -> tuple[FloatArray, BoolArray]:
    """The encoded rows of a table that hold an answer, and which rows these are.

    A row in which all values are missing holds no answer.
    """
    height = frames.height(table)
    if not height:
        return np.empty((0, len(space))), np.zeros(0, dtype=np.bool_)
    read = [(name, position) for position, name in enumerate(frames.names(table)) if name in space.columns]
    blank = np.full(height, bool(read))
    for name, position in read:
        if blank.any():
            blank &= [value is None for value in frames.values(table, name, position)]
    found = ~blank
    rows = table if found.all() else frames.take(table, np.flatnonzero(found))
    return space.encode(_spelled_out(rows, space)) if found.any() else np.empty((0, len(space))), found


def _spelled_out(table: Any, space: Space) -> Any:
    """The table, with text replaced by the number or level that it spells.

    Some libraries keep every value, or every level, as text.
    """
    columns = {
        name: frames.values(table, name, at) for at, name in enumerate(frames.names(table)) if name in space.columns
    }
    meant = {name: _meant(space[name], column) if name in space.names else column for name, column in columns.items()}
    if all(meant[name] is column for name, column in columns.items()):
        return table
    return np.array(list(meant.values()), dtype=object).T if frames.is_array(table) else frames.like(table, meant)


def _meant(feature: Feature, column: list[Any]) -> list[Any]:
    """The values that the text in a column spells. If it spells none, the column itself."""
    levels = feature.levels
    if not any(isinstance(value, str) for value in column) or any(isinstance(level, str) for level in levels or ()):
        return column
    if levels is not None:
        names = {str(float(level)): level for level in levels if isinstance(level, int | float)}
        names |= {str(level): level for level in levels}
        return [names.get(value, value) for value in column]
    try:
        return [float(value) if isinstance(value, str) else value for value in column]
    except ValueError:
        return column


def _exact(points: FloatArray, factuals: FloatArray) -> FloatArray:
    """The points, with values restored that equal the factual's in single precision.

    Some libraries keep numbers in single precision.
    """
    with np.errstate(over="ignore"):
        return np.where(points == factuals.astype(np.float32), factuals, points)
