"""Pictures of survival: survival functions before and after, and maps over two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, UnknownColumnError, UnsupportedModelError
from butfor.estimator.prediction import Prediction
from butfor.explain.explainer import Explainer
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.model.questions import evaluate, is_read
from butfor.model.survival.readout import Survival
from butfor.problem.costs import price
from butfor.problem.spec import from_spec
from butfor.problem.targets.survival import OnCurves
from butfor.problem.targets.target import AbstractTarget
from butfor.space import frames
from butfor.space.space import Space
from butfor.views.survival_curves import Map, draw, draw_map, span_of
from butfor.views.survival_words import target_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VALUES_PER_COLUMN = 120
"""How many values of each of its two columns a map shows."""


def curves(explainer: Explainer, answer: Explanation | Explanations, ax: Axes | None = None) -> Axes:
    """Draw the survival functions of an answer before and after the change.

    The time or chance of the target is marked on both, and the gain is written beside it. The functions are those of
    the estimator itself. Times are in the unit that was given to the target (`unit="months"`).
    """
    answer = answer.only
    target = target_of(answer)
    if not isinstance(target, OnCurves):
        raise InputError(
            f"the answer is about {answer.question.target}.",
            "Survival functions are drawn for targets on a time or a chance.",
            "Use bf.survival.mean_gain and the like, or answer.plot().",
        )
    source = explainer.reading.source
    before = source.curves(frames.select(answer.factual, answer.space.names))
    after = None if answer.point is None else source.curves(frames.select(answer.point, answer.space.names))
    return draw(answer, target, before, after, ax)


def map_of(
    explainer: Explainer,
    x: Any,
    target: AbstractTarget,
    columns: tuple[str, str],
    points: Mapping[str, Any] | None = None,
    *,
    ball: bool = True,
    steps: int = VALUES_PER_COLUMN,
    ax: Axes | None = None,
) -> Axes:
    """Draw the quantity of a survival target as a map over two columns.

    All other columns are as in the row `x`. The target is just met on the white line, and missed where the map is
    veiled.

    - `points`: name -> an answer to mark, as a row or an explanation;
    - `ball`: whether to draw the line on which changes cost as much as the first explanation. No answer outside is
      cheaper;
    - `steps`: how many values of each column are computed.
    """
    reading, space = explainer.reading, explainer.space
    if not isinstance(target, OnCurves):
        raise InputError(
            f"a map was asked for, but the target is {target!r}.",
            "It must be about a time or a chance: bf.survival.mean_gain, ...",
        )
    unknown = [name for name in columns if name not in space.names]
    if unknown or len(set(columns)) != 2:
        raise UnknownColumnError(f"columns={columns!r} were given.", f"Two of {list(space.names)} are needed.")
    if any(space[name].levels is not None for name in columns):
        raise InputError(f"columns={columns!r} were given.", "Both must be numbers.", "Choose others.")
    if not is_read(reading.model) or not isinstance(reading.readout, Survival):
        raise UnsupportedModelError(
            "a map was asked for, but the model was not read.", "Its survival functions must be known."
        )
    table = frames.as_table(x)
    before = Prediction(reading.source, table)
    settled = target.settled(reading.readout, before)
    i, j = (space.names.index(name) for name in columns)
    start = space.encode(table)[0]
    rows = {
        name: one.only.point if isinstance(one, Explanation | Explanations) else one
        for name, one in (points or {}).items()
    }
    marked = {"now": start} | {name: space.encode(row)[0] for name, row in rows.items() if row is not None}
    across, along = (
        span_of(space.features[k].low, space.features[k].high, [float(point[k]) for point in marked.values()], steps)
        for k in (i, j)
    )
    grid = np.repeat(start[None], steps * steps, axis=0)
    grid[:, i], grid[:, j] = (side.ravel() for side in np.meshgrid(across, along))
    focused = settled.focus(reading, before)
    values = reading.readout.value(settled.quantity, evaluate(focused.model, grid)).reshape(steps, steps)
    found = Map(
        across, along, values, float(settled.goal(settled.quantity.of(before.curves))[0]), settled.up,
        settled.quantity.words(settled.unit), columns, _dearer(points, space, grid) if ball else None,
    )  # fmt: skip
    return draw_map(found, {name: (float(point[i]), float(point[j])) for name, point in marked.items()}, ax)


def _dearer(points: Mapping[str, Any] | None, space: Space, grid: FloatArray) -> FloatArray | None:
    """How much more each change costs than the first answer.

    None if there is no answer, or if its prices are not known.
    """
    answers = (one.only for one in (points or {}).values() if isinstance(one, Explanation | Explanations))
    first = next((one for one in answers if one.found), None)
    if first is None:
        return None
    try:
        prices = price(from_spec(first.question.spec["cost"]), space)
    except LookupError:  # a price that is a function is only described
        return None
    return prices.total(np.broadcast_to(first.factual_codes, grid.shape), grid) - first.cost
