"""Pictures of survival: functions before and after, and maps over two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.errors import InputError, UnknownColumnError, UnsupportedModelError
from butfor.explain import Explainer
from butfor.explanation import Explanation
from butfor.model.ask import evaluate, parts
from butfor.model.survival import Survival
from butfor.problem.survival_target import OnCurves
from butfor.problem.target import AbstractTarget, Prediction
from butfor.space import frames
from butfor.views.survival_curves import circle, draw, draw_map, span_of
from butfor.views.survival_words import target_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 120
"""How many values of each column a map computes."""


def curves(explainer: Explainer, answer: Explanation, ax: Axes | None = None) -> Axes:
    """The survival functions of an answer before and after, with what was asked marked and the gain written beside it.

    The functions are those of the estimator itself. Times are in the unit that the target was given (`unit="months"`).
    """
    target = target_of(answer)
    if target is None:
        raise InputError(
            f"the answer is about {answer.question.target}.",
            "Survival functions are drawn for targets on a time or a chance.",
            "Use bf.survival.mean_gain and the like, or answer.plot().",
        )
    source = explainer._reading.source
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
    steps: int = STEPS,
    ax: Axes | None = None,
) -> Axes:
    """What is asked of survival as a map over two columns, the others as in the row `x`.

    White is the line where the target is met. `points` are answers to mark, by name: rows, or explanations; `ball` draws the ball
    around x on which the first of them lies, outside which nothing better is.
    """
    reading, space = explainer._reading, explainer.space
    if not isinstance(target, OnCurves):
        raise InputError(f"a map of {target!r} was asked.", "It shows a time or a chance: bf.survival.mean_gain, ...")
    unknown = [name for name in columns if name not in space.names]
    if unknown or len(set(columns)) != 2:
        raise UnknownColumnError(f"columns={columns!r} were given.", f"Two of {list(space.names)} are needed.")
    if not parts(reading.model) or not isinstance(reading.readout, Survival):
        raise UnsupportedModelError("a map was asked of a model that was not read.", "Its survival must be known.")
    table = frames.as_table(x)
    before = Prediction(reading.source, table)
    settled = target.settled(reading.readout, before)
    i, j = (space.names.index(name) for name in columns)
    start = space.encode(table)[0]
    rows = {name: one.point if isinstance(one, Explanation) else one for name, one in (points or {}).items()}
    marked = {"now": start} | {name: space.encode(row)[0] for name, row in rows.items() if row is not None}
    sides = [
        span_of(space.features[k].low, space.features[k].high, [float(point[k]) for point in marked.values()], steps)
        for k in (i, j)
    ]
    grid = np.repeat(start[None], steps * steps, axis=0)
    grid[:, i], grid[:, j] = (side.ravel() for side in np.meshgrid(*sides))
    focused = settled.focus(reading, before)
    values = reading.readout.value(settled.quantity, evaluate(focused.model, grid)).reshape(steps, steps)
    first = next((point for name, point in marked.items() if name != "now"), None)
    outline = None
    if ball and first is not None:
        radius = float(np.hypot(first[i] - start[i], first[j] - start[j]))
        outline = circle((float(start[i]), float(start[j])), (radius, radius))
    wanted = float(settled.wish(before).values[0])
    marks = {name: (float(point[i]), float(point[j])) for name, point in marked.items()}
    return draw_map(
        (sides[0], sides[1]), values, wanted, (columns[0], columns[1]), marks, outline,
        settled.quantity.words(settled.unit), ax,
    )  # fmt: skip
