"""Answers as a table of the kind that the rows came in, and as files that other programs open."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError, MissingExtraError
from butfor.explanation.changes import is_number
from butfor.explanation.consequences import acted, effects_of
from butfor.explanation.cost_parts import cost_parts, prices_of
from butfor.explanation.explanations import Explanations
from butfor.records.whole_file import path_of, write_whole
from butfor.space import frames
from butfor.space.space import same

Form = Literal["wide", "long"]

Columns = dict[str, list[Any]]


def frame(answers: Explanations, form: str) -> Any:
    """The answers as a table of the kind given. For arrays it is a dict of columns."""
    columns = _columns(answers, form)
    if form == "long" or frames.is_array(answers.table):
        return frames.framed(answers.table, columns)
    points, held = _points(answers), list(answers.cells())
    of_points = list(columns)[len(columns) - len(held) :]
    about = frames.like(answers.table, {name: columns[name] for name in columns if name not in of_points})
    return frames.beside(about, dict(zip(of_points, held, strict=True)), points)


def _points(answers: Explanations) -> Any:
    """The points as a table with the types of the user's own, with a row without values for each that is not found."""
    found = np.flatnonzero(answers.found)
    start = answers.table_rows[found]
    points = answers.space.decode(
        answers.point_codes[found], frames.take(answers.table, start), answers.factual_codes[start]
    )
    at = {i: k for k, i in enumerate(found.tolist())}
    return frames.take_or_leave(points, [at.get(i) for i in range(len(answers))])


def to_csv(answers: Explanations, path: str | os.PathLike[str] | None, form: str) -> str | None:
    """The answers as CSV, written to a file or returned as text. A missing value is an empty cell."""
    written = csv_of(_columns(answers, form))
    if path is None:
        return written
    write_whole(path, [written])
    return None


def write_csv(answers: Explanations, path: str | os.PathLike[str]) -> None:
    """Write the answers as CSV, a row per answer."""
    to_csv(answers, path, "wide")


def csv_of(columns: Columns) -> str:
    """Columns as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def to_excel(answers: Explanations, path: str | os.PathLike[str], form: str) -> None:
    """The answers as a sheet of Excel. Text stays text: nothing in a cell is a formula."""
    columns, goal = _columns(answers, form), path_of(path)
    try:
        openpyxl = import_module("openpyxl")
    except ImportError:
        raise MissingExtraError(
            "to_excel was called.", "openpyxl is needed to write such a file.", 'Run: pip install "butfor[excel]"'
        ) from None
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "answers"
    lines = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    for i, line in enumerate(lines, 1):
        for j, value in enumerate(line, 1):
            if value is not None:
                _write_cell(sheet.cell(i, j), value)
    sheet.freeze_panes = "A2"
    beside = goal.with_name(f".{os.getpid()}.{goal.name}")
    try:
        book.save(beside)
        beside.replace(goal)
    finally:
        beside.unlink(missing_ok=True)


def _write_cell(cell: Any, value: Any) -> None:
    """A number or a truth value as such, anything else as text without control characters."""
    if isinstance(value, bool) or (is_number(value) and np.isfinite(value)):
        cell.value = value
    else:
        cell.value = "".join(c if c.isprintable() else " " for c in str(value))
        cell.data_type = "s"


def _columns(answers: Explanations, form: str) -> Columns:
    if form not in ("wide", "long"):
        raise InputError(f"form={form!r} was given.", "It must be 'wide' (a row per answer) or 'long' (per change).")
    return dict(wide(answers)) if form == "wide" else long(answers)


def wide(answers: Explanations) -> Iterator[tuple[str, list[Any]]]:
    """One row per answer: what is known about it, and the columns of its point."""
    start = answers.factual_codes[answers.table_rows]
    found = answers.found.tolist()
    moved = (~same(acted(answers.question, answers.space, start, answers.point_codes), start)).sum(axis=1).tolist()
    about: Columns = {
        "row": answers.labels,
        "rank": answers.ranks.tolist(),
        "status": [status.name for status in answers.statuses],
        "cost": [cost if f else None for cost, f in zip(answers.costs.tolist(), found, strict=True)],
        "bound": [float(one.bound) if np.isfinite(one.bound) else None for one in answers.certificates],
        "changed": [count if f else None for count, f in zip(moved, found, strict=True)],
        "before": list(answers.outputs_before),
        "after": [after if f else None for after, f in zip(answers.outputs_after, found, strict=True)],
        **_scores(answers),
    }
    yield from about.items()
    for name, cells in answers.cells().items():
        yield (
            name if name not in about else f"{name} (column)",
            [cell if f else None for cell, f in zip(cells, found, strict=True)],
        )


def long(answers: Explanations) -> Columns:
    """One row per change of each answer that was found. Answers keep their order, and columns that of the data."""
    found = np.flatnonzero(answers.found)
    start, points = answers.factual_codes[answers.table_rows[found]], answers.point_codes[found]
    own = acted(answers.question, answers.space, start, points)
    moved = ~same(points, start) | ~same(own, start)
    which, column = np.nonzero(moved)
    prices = prices_of(answers.question, answers.space)
    parts = None if prices is None else cost_parts(prices, start, own)[which, column]
    features = [answers.space.features[j] for j in column.tolist()]
    before, after = (
        [feature.value(code) for feature, code in zip(features, codes[which, column].tolist(), strict=True)]
        for codes in (start, points)
    )
    labels, ranks, costs = answers.labels, answers.ranks.tolist(), answers.costs.tolist()
    at = found[which].tolist()
    return {
        "row": [labels[i] for i in at],
        "rank": [ranks[i] for i in at],
        "column": [feature.name for feature in features],
        "before": [None if value is None else str(value) for value in before],
        "after": [None if value is None else str(value) for value in after],
        "change": [
            b - a if feature.levels is None and a is not None and b is not None else None
            for feature, a, b in zip(features, before, after, strict=True)
        ],
        **_following(answers, column, (points - own)[which, column]),
        "cost": [None] * len(at) if parts is None else parts.tolist(),
        "share": [None] * len(at) if parts is None else _shares(parts.tolist(), [costs[i] for i in at]),
        **{name: [values[i] for i in at] for name, values in _scores(answers).items()},
    }


def _following(answers: Explanations, column: IntArray, parts: FloatArray) -> Columns:
    """How much of each change of a number follows from others, if anything can."""
    if not effects_of(answers.question, answers.space):
        return {}
    numbers = np.array([feature.levels is None for feature in answers.space])[column] & ~np.isnan(parts)
    return {"follows": [part or 0.0 if fine else None for part, fine in zip(parts.tolist(), numbers, strict=True)]}


def _shares(parts: list[float], costs: list[float]) -> list[float | None]:
    return [part / cost if cost else None for part, cost in zip(parts, costs, strict=True)]


def _scores(answers: Explanations) -> Columns:
    scores = answers.scores
    return {
        "score": [one.of if one else None for one in scores],
        "score_before": [one.before if one else None for one in scores],
        "score_after": [one.after if one else None for one in scores],
        "score_needed": [one.threshold if one else None for one in scores],
    }
