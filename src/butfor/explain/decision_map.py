"""Ask the model what it decides over two columns, around a row and its answers, all in one batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.explain.contributions import target_of
from butfor.explain.grid import MapGrid, grid_over
from butfor.explanation.alternatives import to_one_row
from butfor.explanation.consequences import acted
from butfor.explanation.cost_parts import prices_of
from butfor.explanation.decision_map import DecisionMap, Mark, PromisedBox
from butfor.explanation.explanation import Explanation
from butfor.explanation.region import Region
from butfor.importers.read import Reading
from butfor.space import frames
from butfor.space.space import Space, same


def decision_map(
    given: Explanation | Sequence[Explanation],
    columns: Sequence[str] | None,
    others: str,
    region: Region | None,
    steps: int,
    reading: Reading,
) -> DecisionMap:
    """The map over two columns (None: those that the first answer moves most)."""
    answers = to_one_row(given)
    first, space = answers[0], answers[0].space
    start, found = first.factual_codes, [one for one in answers if one.found]
    chosen = tuple(_most_changed(first) if columns is None else columns)
    marked = {"now": start} | {_name(i, found): _point(one) for i, one in enumerate(found)}
    base = _others(others, first)
    grid = grid_over(space, chosen, base, list(marked.values()), steps)
    table = space.decode(grid.points, frames.take(first.factual, np.zeros(len(grid.points), dtype=np.intp)),
                         np.broadcast_to(start, grid.points.shape))  # fmt: skip
    asked = Prediction(reading.source, table)
    target = target_of(first)
    row = Prediction(reading.source, space.select(first.factual))
    values = target.measured(asked, first.after) if first.found and first.score else None
    return DecisionMap(
        columns=(space.features[grid.i], space.features[grid.j]),
        x=grid.x,
        y=grid.y,
        met=target.met(row.take(np.zeros(len(grid.points), dtype=np.intp)), asked).reshape(grid.shape),
        values=None if values is None else values.reshape(grid.shape),
        of=first.score.of if first.score else "",
        threshold=first.score.threshold if first.score else None,
        target=first.question.target,
        others="now" if base is start else next(name for name in marked if name != "now"),
        marks=marks_of(marked, base, grid, space),
        row=first.factual,
        dearer=dearer(found[0], grid) if found else None,
        box=None if region is None else _box(region, base, grid),
        words=first.words,
    )


def marks_of(points: Mapping[str, FloatArray], base: FloatArray, grid: MapGrid, space: Space) -> tuple[Mark, ...]:
    """Rows as marks on the map of rows that are otherwise like `base`."""
    return tuple(
        Mark(name, float(point[grid.i]), float(point[grid.j]), grid.others(base, point, space))
        for name, point in points.items()
    )


def dearer(answer: Explanation, grid: MapGrid) -> FloatArray | None:
    """How much more each row of the grid costs than an answer. None if its prices are not known."""
    prices = prices_of(answer.question, answer.space)
    if prices is None:
        return None
    start = np.broadcast_to(answer.factual_codes, grid.points.shape)
    costs = prices.total(start, acted(answer.question, answer.space, start, grid.points))
    return (costs - answer.cost).reshape(grid.shape)


def _box(region: Region, base: FloatArray, grid: MapGrid) -> PromisedBox:
    numbers = np.array([feature.levels is None for feature in region.space])
    outside = np.where(numbers, (base < region.low) | (base > region.high), ~same(base, region.codes))
    low, high = (np.where(numbers, end, region.codes) for end in (region.low, region.high))
    ends = [(float(low[k]), float(high[k])) for k in (grid.i, grid.j)]
    return PromisedBox(ends[0], ends[1], grid.named(outside, region.space))


def _others(whose: str, answer: Explanation) -> FloatArray:
    """The row of which the map has the other columns."""
    if whose not in ("row", "answer"):
        raise InputError(f"others={whose!r} was given.", "Give 'row' or 'answer'.")
    if whose == "row":
        return answer.factual_codes
    if answer.point_codes is None:
        raise InputError("others='answer' was given, but the answer has no point.", "Give others='row'.")
    return answer.point_codes


def _name(i: int, found: Sequence[Explanation]) -> str:
    return "answer" if len(found) == 1 else f"answer {i + 1}"


def _point(answer: Explanation) -> FloatArray:
    assert answer.point_codes is not None
    return answer.point_codes


def _most_changed(answer: Explanation) -> tuple[str, ...]:
    changes = sorted(answer.changes, key=lambda change: -abs(change.share) if change.position else -1.0)
    if len(changes) < 2:
        raise InputError(
            f"the answer changes {len(changes)} columns.", "A map has two.", "Name them: columns=('income', 'age')."
        )
    return changes[0].name, changes[1].name
