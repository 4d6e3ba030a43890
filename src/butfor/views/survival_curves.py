"""Pictures of answers about survival: the survival functions before and after."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.survival.curves import Chance, Curves
from butfor.problem.targets.survival import OnCurves
from butfor.views.drawing import BLUE, GREY, axes_of, escaped
from butfor.views.survival_words import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.explanation import Explanation

TITLE_LINE = 70
"""The length of a line of the title."""

POINTS = 300
"""The number of times at which a continuous survival function is drawn."""

HARDLY = 0.01
"""The picture ends where a smaller share is left."""

ABOVE_AXIS = 0.06
"""The height at which the gain of a time is drawn."""

ROOM_FOR_GAIN = 0.2
"""The share of the width that is kept free to the right of where the gain is written."""


def draw(answer: Explanation, target: OnCurves, before: Curves, after: Curves | None, ax: Axes | None = None) -> Axes:
    """Draw S(t) before and after, the quantity on both, and what was gained.

    A mean or a quantile is a line down to the axis, a chance is a dot.
    """
    ax = axes_of(ax, 7.5, 4.2)
    unit = target.unit or "time"
    shown = [(before, answer.before, GREY, "now")]
    if after is not None:
        shown.append((after, answer.after, BLUE, "after the changes"))
    for curves, value, color, label in shown:
        times, survival = _drawn(curves)
        ax.step(times, survival, where="post", color=color, linewidth=2, label=label)
        _mark(ax, target, curves, value, color)
    ax.set_xlim(0, max(_gone(curves) for curves, *_ in shown))
    ax.set_ylim(0, 1.02)
    if after is not None:
        _gain(ax, answer, target, before, after)
    ax.set_xlabel(escaped(unit))
    ax.set_ylabel("share without the event")
    title = _title(answer, target)
    ax.set_title(escaped(fill(title, TITLE_LINE)), loc="left", fontsize=10.5, pad=26)
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderaxespad=0.2)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_label(f"Survival functions {'now' if after is None else 'now and after the changes'}. {title}.")
    return ax


def _drawn(curves: Curves) -> tuple[FloatArray, FloatArray]:
    """The times at which the only row's curve is drawn, and S there."""
    end = curves.span[1]
    last = end if np.isfinite(end) else float(curves.quantile(0.97)[0])
    known = getattr(curves, "times", None)
    times = np.linspace(0.0, last, POINTS) if known is None else np.append(0.0, known)
    return times, curves.along(times)[0]


def _gone(curves: Curves) -> float:
    """The first time that is drawn at which hardly anyone is left without the event; else the last one."""
    times, survival = _drawn(curves)
    gone = times[survival < HARDLY]
    return float(gone[0] if len(gone) else times[-1])


def _mark(ax: Axes, target: OnCurves, curves: Curves, value: float, color: str) -> None:
    quantity = target.quantity
    if isinstance(quantity, Chance):
        ax.plot(quantity.time, value, "o", color=color, markersize=8, zorder=4)
        return
    if np.isfinite(value):
        ax.vlines(value, 0, curves.at(value)[0], color=color, linestyle="dashed", linewidth=1.4)
        ax.plot(value, curves.at(value)[0], "o", color=color, markersize=6, zorder=4)


def _gain(ax: Axes, answer: Explanation, target: OnCurves, before: Curves, after: Curves) -> None:
    """Show what was gained by an arrow, and write it where no curve can be.

    Survival functions fall, so there is none above and to the right of the higher of two curves at any time.
    """
    quantity, gain = target.quantity, answer.after - answer.before
    if isinstance(quantity, Chance):
        time, start, end = quantity.time, (quantity.time, answer.before), (quantity.time, answer.after)
    elif np.isfinite(gain):
        time = max(answer.before, answer.after)
        start, end = (answer.before, ABOVE_AXIS), (answer.after, ABOVE_AXIS)
    else:
        return
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": BLUE})
    height = float(max(before.at(time)[0], after.at(time)[0]))
    ax.annotate(
        escaped(f"{gain:+.4g}{f' {target.unit}' if target.unit and quantity.timed else ''}"), (time, height), (8, 4),
        textcoords="offset points", ha="left", va="bottom", fontsize=10, color=BLUE,
    )  # fmt: skip
    ax.set_xlim(right=max(ax.get_xlim()[1], time / (1 - ROOM_FOR_GAIN)))
    ax.set_ylim(top=max(1.02, height + 0.12))


def _title(answer: Explanation, target: OnCurves) -> str:
    name = target.quantity.words(target.unit)
    if not answer.found:
        return f"{name}: {answer.certificate.status.value.partition(':')[0]}"
    before, after, wanted = figures(answer.before, answer.after, target)
    return f"{name[:1].upper()}{name[1:]}: from {before} to {after}, where {wanted} is wanted"
