"""An answer as a picture. Each changed column moves on its own range, from the old value to the new one."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from butfor.explanation.changes import Change
from butfor.views.drawing import BLUE, GREY, PALE, axes_of, escaped, in_lines, label, titled
from butfor.views.scale import Scale, scale_of
from butfor.views.text import stays

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.explanation import Explanation

CHANGES_DRAWN = 30
"""How many changed columns are drawn."""

LINE = 90
"""The length of a line of the reason, which is written if there is no change to draw."""

CHARACTER, TICK_CHARACTER = 0.0145, 0.0115
"""How wide a character of a value and of a tick is at most, as a share of the width of the range."""

GAP = 0.02
"""How far texts are apart at least. Two values that would be closer are written in one text."""


def draw(answer: Explanation, ax: Axes | None = None) -> Axes:
    """Draw one line per changed column. A ring is the old value, an arrow leads to a dot, the new one.

    A band is where a robust answer stays valid. Levels are written as text. On a skewed column, values are not drawn
    evenly, and ticks say where they are.
    """
    changes = answer.changes[:CHANGES_DRAWN]
    ax = axes_of(ax, 7.5, 0.9 + 0.62 * max(len(changes), 1))
    for line, change in enumerate(changes):
        if change.position is None:
            _level(ax, line, change)
        else:
            _number(ax, line, change, scale_of(answer.space[change.name]))
    titled(ax, title(answer))
    in_lines(ax, [change.label for change in changes])
    ax.set_xlim(-0.04, 1.04)
    if not changes:
        ax.text(-0.04, 0.0, escaped(fill(answer.certificate.why, LINE)), va="center", fontsize=9.5, color=GREY)
    ax.set_label(in_words(answer))
    return ax


def title(answer: Explanation) -> str:
    """The predictions before and after, and the cost, for the title of a picture."""
    before = label(answer.told(answer.before))
    if not answer.found:
        return f"{before}: {answer.certificate.status.value.partition(':')[0].partition(';')[0]}"
    return f"{before} → {label(answer.told(answer.after))}, at a cost of {answer.cost:.4g}"


def in_words(answer: Explanation) -> str:
    """What the picture shows, for those who do not see it."""
    before = answer.told(answer.before)
    if not answer.found:
        return f"No change is shown: {before} stays. {answer.certificate.why}."
    moves = "; ".join(_move_in_words(change) for change in answer.changes)
    return f"Changes from {before} to {answer.told(answer.after)}: {moves or 'none'}. Cost {answer.cost:.4g}."


def _move_in_words(change: Change) -> str:
    move = f"{change.label} from {change.text[0]} to {change.text[1]}"
    return f"{move} (stays valid {stays(change)})" if change.stays else move


def _number(ax: Axes, line: int, change: Change, scale: Scale) -> None:
    """Draw a number that moves on its range. A value outside is drawn just beyond the nearer end."""
    was, now = (min(max(scale.place(value), -0.02), 1.02) for value in (change.before, change.after))
    ax.plot([0, 1], [line, line], color=PALE, linewidth=4, solid_capstyle="round", zorder=1)
    if change.stays:
        ends = [min(max(scale.place(end), 0.0), 1.0) for end in change.stays]
        ax.plot(ends, [line, line], color=BLUE, alpha=0.3, linewidth=9, solid_capstyle="butt", zorder=1)
    ax.annotate(
        "", (now, line), (was, line), arrowprops={"arrowstyle": "-|>", "color": BLUE, "lw": 1.8, "shrinkA": 0}, zorder=2
    )
    ax.plot(was, line, "o", markersize=7, markerfacecolor="white", markeredgecolor=GREY, markeredgewidth=1.6, zorder=3)
    ax.plot(now, line, "o", markersize=8, color=BLUE, zorder=4)
    before, after = map(escaped, change.text)
    one, other = (_reach(at, text, CHARACTER) for at, text in ((was, change.text[0]), (now, change.text[1])))
    if _apart(one, other):
        _above(ax, was, line, before, GREY)
        _above(ax, now, line, after, BLUE)
    else:
        both = f"{before} → {after}"
        _above(ax, (was + now) / 2, line, both, "black", margin=len(both) * CHARACTER / 2)
    drawn: list[tuple[float, float]] = []
    for tick in sorted(scale.ticks(), key=lambda tick: 0 < scale.place(tick) < 1):  # the ends first
        text = change.show(tick)
        reach = _reach(scale.place(tick), text, TICK_CHARACTER)
        if all(_apart(reach, other) for other in drawn):
            drawn.append(reach)
            _tick(ax, scale.place(tick), line, escaped(text))


def _above(ax: Axes, at: float, line: int, text: str, color: str, margin: float = 0.04) -> None:
    """Write above a place. Near an end, the text goes inwards."""
    ax.annotate(
        text, (at, line), (0, 8), textcoords="offset points", ha=_inwards(at, margin), va="bottom", fontsize=9,
        color=color,
    )  # fmt: skip


def _tick(ax: Axes, at: float, line: int, text: str) -> None:
    """Mark a place on the range, and write below it."""
    if 0 < at < 1:
        ax.plot([at, at], [line - 0.07, line + 0.07], color=GREY, linewidth=0.8, zorder=1)
    ax.annotate(
        text, (at, line), (0, -7), textcoords="offset points", ha=_inwards(at, 0.04), va="top", fontsize=7.5, color=GREY
    )


def _reach(at: float, text: str, character: float) -> tuple[float, float]:
    """From where to where a text at a place goes. Near an end, it goes inwards."""
    width, way = len(text) * character, _inwards(at, 0.04)
    start = {"left": at, "right": at - width, "center": at - width / 2}[way]
    return start, start + width


def _apart(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[1] + GAP <= other[0] or other[1] + GAP <= one[0]


def _inwards(at: float, margin: float) -> str:
    return "left" if at < margin else "right" if at > 1 - margin else "center"


def _level(ax: Axes, line: int, change: Change) -> None:
    before, after = map(label, change.text)
    ax.annotate(f"{before}  →  ", (0.5, line), ha="right", va="center", fontsize=9.5, color=GREY)
    ax.annotate(after, (0.5, line), ha="left", va="center", fontsize=9.5, color=BLUE, fontweight="bold")
