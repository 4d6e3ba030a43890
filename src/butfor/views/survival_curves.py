"""Pictures of answers about survival: the survival functions before and after, and maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.survival.curves import Chance, Curves
from butfor.problem.targets.survival import OnCurves
from butfor.views.plot import BLUE, GREY
from butfor.views.survival_words import figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.explanation import Explanation

POINTS = 300
"""The number of times at which a continuous survival function is drawn."""

ABOVE_AXIS = 0.06
"""The height at which the gain of a time is drawn."""

RED, GREEN = "#b3261e", "#1b7f4d"

MARKS = (
    ("o", 9, "white", GREY), ("*", 14, BLUE, "white"), ("D", 11, "none", RED), ("s", 11, "none", GREEN),
    ("^", 11, "none", GREY),
)  # fmt: skip
"""How the factual and the answers are drawn on a map: marker, size, face and edge. The first is drawn on top."""

PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
"""The background of words that may cross a line."""


def draw(answer: Explanation, target: OnCurves, before: Curves, after: Curves | None, ax: Axes | None = None) -> Axes:
    """Draw S(t) before and after, the quantity on both, and what was gained.

    A mean or a quantile is a line down to the axis, a chance is a dot.
    """
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(7.5, 4.2), layout="constrained")
    unit = target.unit or "time"
    shown = [(before, answer.before, GREY, "now")]
    if after is not None:
        shown.append((after, answer.after, BLUE, "after the changes"))
    for curves, value, color, label in shown:
        times, survival = _drawn(curves)
        ax.step(times, survival, where="post", color=color, linewidth=2, label=label)
        _mark(ax, target, curves, value, color)
    if after is not None:
        _gain(ax, answer, target)
    ax.set_xlim(left=0)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel(unit)
    ax.set_ylabel("share without the event")
    ax.set_title(_title(answer, target), loc="left", fontsize=10.5, pad=10)
    ax.legend(frameon=False, loc="upper right")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _drawn(curves: Curves) -> tuple[FloatArray, FloatArray]:
    """The times at which the only row's curve is drawn, and S there."""
    end = curves.span[1]
    last = end if np.isfinite(end) else float(curves.quantile(0.97)[0])
    known = getattr(curves, "times", None)
    times = np.linspace(0.0, last, POINTS) if known is None else np.append(0.0, known)
    return times, curves.along(times)[0]


def _mark(ax: Axes, target: OnCurves, curves: Curves, value: float, color: str) -> None:
    quantity = target.quantity
    if isinstance(quantity, Chance):
        ax.plot(quantity.time, value, "o", color=color, markersize=8, zorder=4)
        return
    if np.isfinite(value):
        ax.vlines(value, 0, curves.at(value)[0], color=color, linestyle="dashed", linewidth=1.4)
        ax.plot(value, curves.at(value)[0], "o", color=color, markersize=6, zorder=4)


def _gain(ax: Axes, answer: Explanation, target: OnCurves) -> None:
    """Write what was gained next to where it is seen."""
    quantity, gain = target.quantity, answer.after - answer.before
    unit = f" {target.unit}" if target.unit and quantity.timed else ""
    text = f"{gain:+.4g}{unit}"
    if isinstance(quantity, Chance):
        at = (quantity.time, (answer.before + answer.after) / 2)
        ax.annotate("", (quantity.time, answer.after), (quantity.time, answer.before), arrowprops={"arrowstyle": "->"})
        ax.annotate(text, at, (8, 0), textcoords="offset points", va="center", fontsize=10, bbox=PAPER)
    elif np.isfinite(gain):
        ax.annotate(
            "", (answer.after, ABOVE_AXIS), (answer.before, ABOVE_AXIS), arrowprops={"arrowstyle": "->", "color": BLUE}
        )
        right = max(answer.before, answer.after)
        ax.annotate(
            text,
            (right, ABOVE_AXIS),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=10,
            color=BLUE,
            bbox=PAPER,
        )


def _title(answer: Explanation, target: OnCurves) -> str:
    name = target.quantity.words(target.unit)
    if not answer.found:
        return f"{name}: {answer.certificate.status.value.partition(':')[0]}".replace("$", r"\$")
    before, after, wanted = figures(answer.before, answer.after, target)
    return f"{name}: {before} → {after} (wanted: {wanted})".replace("$", r"\$")


@dataclass(frozen=True, eq=False)
class Map:
    """A quantity over two columns.

    - `x` (across), `y` (down): the values of the two columns;
    - `values` (down, across): the quantity, `values[i, k]` at `x[k], y[i]`;
    - `wanted`: the value to reach, from below if `up`, else from above;
    - `dearer` (down, across): how much more each row costs than the answer. It is negative inside the answer's ball.
    """

    x: FloatArray
    y: FloatArray
    values: FloatArray
    wanted: float
    up: bool
    title: str
    columns: tuple[str, str]
    dearer: FloatArray | None = None


def draw_map(found: Map, points: Mapping[str, tuple[float, float]], ax: Axes | None = None) -> Axes:
    """Draw contours of the quantity, the points, and the ball of an answer.

    The region that misses the target is veiled, and a white line shows where the target is just met.
    """
    from matplotlib import pyplot

    if ax is None:
        _, ax = pyplot.subplots(figsize=(6.4, 5.0), layout="constrained")
    over = (found.x, found.y, found.values)
    drawn = ax.contourf(*over, levels=24, cmap="viridis", alpha=0.85)
    ax.figure.colorbar(drawn, ax=ax, label=found.title)
    low, high = found.values.min(), found.values.max()
    missed = [low - 1, found.wanted] if found.up else [found.wanted, high + 1]
    if missed[0] < missed[1]:
        ax.contourf(*over, levels=missed, colors=["white"], alpha=0.4)
    if low < found.wanted < high:
        ax.contour(*over, levels=[found.wanted], colors="white", linewidths=2.2)
    if found.dearer is not None and found.dearer.max() > 0:
        around = found.dearer.reshape(found.values.shape)
        ax.contour(found.x, found.y, around, levels=[0.0], colors="black", linestyles="dotted", linewidths=1.4)
    for k, ((label, (x, y)), (marker, size, face, edge)) in enumerate(zip(points.items(), MARKS, strict=False)):
        ax.plot(
            x, y, marker, markersize=size, markerfacecolor=face, markeredgecolor=edge, markeredgewidth=1.6,
            linestyle="none", label=label, zorder=9 - k,
        )  # fmt: skip
    ax.set_xlim(found.x[0], found.x[-1])
    ax.set_ylim(found.y[0], found.y[-1])
    ax.set_xlabel(found.columns[0])
    ax.set_ylabel(found.columns[1])
    ax.legend(fontsize=8, loc="best")
    return ax


def span_of(low: float, high: float, marked: list[float], steps: int) -> FloatArray:
    """`steps` values along an axis, which cover the range and everything that is marked."""
    low, high = min([low, *marked]), max([high, *marked])
    return np.linspace(low, high, steps)
