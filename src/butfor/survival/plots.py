"""Pictures of survival: survival functions before and after, and maps over two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.prediction import Prediction
from butfor.explain.decision_map import dearer, marks_of
from butfor.explain.explainer import Explainer
from butfor.explain.grid import VALUES_PER_COLUMN, grid_over
from butfor.explanation.decision_map import DecisionMap
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.model.questions import evaluate, is_read
from butfor.model.survival.readout import Survival
from butfor.problem.targets.survival import OnCurves
from butfor.problem.targets.target import AbstractTarget
from butfor.space import frames
from butfor.views.decision_map import draw as draw_map
from butfor.views.survival_curves import draw
from butfor.views.survival_words import target_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def curves(explainer: Explainer, answer: Explanation | Explanations, ax: Axes | None = None) -> Axes:
    """Draw the survival functions of an answer before and after the change.

    Choose it to see at which times the gain is made. The time or chance of the target is marked on both, and the gain
    is written beside it. The functions are those of the estimator itself. Times are in the unit that was given to the
    target (`unit="months"`).
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
    before = source.curves(answer.factual)
    after = None if answer.point is None else source.curves(answer.point)
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

    Choose it to see how far away the target is, and where changes lead. All other columns are as in the row `x`. The
    target is just met on the white line, and missed where the map is hatched. The map goes a little beyond what is
    marked.

    - `points`: name -> an answer to mark, as a row or an explanation;
    - `ball`: whether to draw the line on which changes cost as much as the first explanation. No answer outside is
      cheaper;
    - `steps`: how many values of each column are computed, at most.
    """
    reading, space = explainer.reading, explainer.space
    if not isinstance(target, OnCurves):
        raise InputError(
            f"a map was asked for, but the target is {target!r}.",
            "It must be about a time or a chance: bf.survival.mean_gain, ...",
        )
    if not is_read(reading.model) or not isinstance(reading.readout, Survival):
        raise UnsupportedModelError(
            "a map was asked for, but the model was not read.",
            "Its survival functions must be known.",
            "Use bf.survival.curves(explainer, answer), which asks the model itself.",
        )
    table = frames.as_table(x)
    before = Prediction(reading.source, table)
    settled = target.settled(reading.readout, before)
    start = space.encode(table)[0]
    rows = {
        name: one.only.point if isinstance(one, Explanation | Explanations) else one
        for name, one in (points or {}).items()
    }
    marked = {"now": start} | {name: space.encode(row)[0] for name, row in rows.items() if row is not None}
    grid = grid_over(space, columns, start, list(marked.values()), steps)
    focused = settled.focus(reading, before)
    values = reading.readout.value(settled.quantity, evaluate(focused.model, grid.points)).reshape(grid.shape)
    wanted = float(settled.goal_of(before)[0])
    answers = (one.only for one in (points or {}).values() if isinstance(one, Explanation | Explanations))
    first = next((one for one in answers if one.found), None)
    found = DecisionMap(
        columns=(space.features[grid.i], space.features[grid.j]),
        x=grid.x,
        y=grid.y,
        met=values >= wanted if settled.up else values <= wanted,
        values=values,
        of=settled.quantity.words(settled.unit),
        threshold=wanted,
        target=repr(settled),
        others="now",
        marks=marks_of(marked, start, grid, space),
        row=table,
        dearer=dearer(first, grid) if ball and first is not None else None,
    )
    return draw_map(found, ax)
