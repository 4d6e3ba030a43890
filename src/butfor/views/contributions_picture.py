"""What each change contributes, as a waterfall: step by step from where the row is to where the answer is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.views.drawing import BLUE, GREY, ORANGE, axes_of, bare, escaped, label, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.contributions import Contributions

STEPS_DRAWN = 30
"""How many changes are drawn, those that contribute most."""

ROOM_FOR_NUMBERS = 0.14
"""The share of the width that is kept free on each side for the numbers at the bars."""


def draw(parts: Contributions, ax: Axes | None = None, of: Literal["score", "cost"] = "score") -> Axes:
    """Draw one bar per change, each from where the one above it ends. The largest part comes first.

    A blue bar helps, and a hatched orange one works against the answer. `of` says what is divided.
    """
    start, steps, end, name, needed = _numbers(parts, of)
    order = np.argsort(-np.abs(steps), kind="stable")[:STEPS_DRAWN]
    left_out = len(steps) - len(order)
    texts = [_change_text(parts, i) for i in order.tolist()]
    sizes = steps[order]
    if left_out:
        texts.append(f"{left_out} smaller ones")
        sizes = np.append(sizes, steps.sum() - sizes.sum())
    ends = start + np.cumsum(sizes)
    begins = np.append(start, ends[:-1])
    ax = axes_of(ax, 7.5, 1.5 + 0.42 * (len(sizes) + 2))
    up = end >= start if of == "score" else True
    for line, (begin, stop) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True), 1):
        helps = (stop >= begin) == up
        ax.barh(
            line, stop - begin, left=begin, height=0.56, color=BLUE if helps else ORANGE,
            hatch="" if helps else "///", edgecolor="white", linewidth=0,
        )  # fmt: skip
        ax.plot([stop, stop], [line, line + 1], color=GREY, linewidth=0.8, zorder=0)
        _number(ax, stop, line, f"{stop - begin:+.3g}", right=stop >= begin)
    ax.plot([start, start], [0, 1], color=GREY, linewidth=0.8, zorder=0)
    for line, value in ((0, start), (len(sizes) + 1, end)):
        ax.plot(value, line, "o", color=GREY if line == 0 else BLUE, markersize=7)
        _number(ax, value, line, f"{value:.4g}", right=True)
    _frame(ax, ["now", *texts, "answer"], np.array([start, *ends, end]), needed)
    ax.set_xlabel(label(name), fontsize=8.5, color=GREY, loc="left")
    titled(ax, escaped(f"What each change contributes to the {of}"))
    told = "; ".join(
        f"{text.replace(chr(10), ' ')}: {size:+.3g}" for text, size in zip(texts, sizes.tolist(), strict=True)
    )
    ax.set_label(f"Waterfall of the {name}, from {start:.4g} to {end:.4g}: {told or 'no change'}.")
    return ax


def _numbers(parts: Contributions, of: str) -> tuple[float, FloatArray, float, str, float | None]:
    """Where the waterfall starts, its steps, where it ends, the name of the number, and what is needed of it."""
    score = parts.answer.score
    if of == "cost":
        if parts.cost is None:
            raise InputError("the cost of this answer is a function.", "Its parts are not known.", "Draw the score.")
        return 0.0, parts.cost, float(parts.cost.sum()), "cost", None
    if of != "score":
        raise InputError(f"of={of!r} was given.", "Give 'score' or 'cost'.")
    if parts.score is None or score is None or score.after is None:
        raise InputError("the model gives no score.", "Only the cost can be divided.", "Give of='cost'.")
    return score.before, parts.score, score.after, score.of, score.threshold


def _change_text(parts: Contributions, i: int) -> str:
    change = parts.answer.changes[i]
    return f"{label(change.label)}\n{label(change.text[0])} → {label(change.text[1])}"


def _number(ax: Axes, at: float, line: int, text: str, *, right: bool) -> None:
    """Write a number beside the end of a bar, outside it."""
    ax.annotate(
        text, (at, line), (6 if right else -6, 0), textcoords="offset points", ha="left" if right else "right",
        va="center", fontsize=8.5, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
    )  # fmt: skip


def _frame(ax: Axes, names: list[str], places: FloatArray, needed: float | None) -> None:
    """Name the lines, leave room for the numbers, and mark what is needed."""
    if needed is not None:
        places = np.append(places, needed)
        ax.axvline(needed, color="black", linestyle="dotted", linewidth=1.2, zorder=0)
        ax.annotate(
            f"{needed:.4g} needed", (needed, -0.62), (3, 0), textcoords="offset points", fontsize=8, va="top",
            color=GREY,
        )  # fmt: skip
    width = float(np.ptp(places)) or 1.0
    ax.set_xlim(places.min() - ROOM_FOR_NUMBERS * width, places.max() + 2 * ROOM_FOR_NUMBERS * width)
    ax.set_ylim(len(names) - 0.4, -0.7)
    ax.set_yticks(range(len(names)), names)
    bare(ax, "top", "right", "left")
