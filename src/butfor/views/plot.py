"""An answer as a picture. Each changed column moves on its own range, from the old value to the new one."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from butfor.explanation.changes import Change

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.explanation import Explanation

BLUE, GREY, PALE = "#1658c4", "#586271", "#dde2e8"

CHANGES_DRAWN = 30
"""How many changed columns are drawn."""

LONG_NAME = 28
"""Longer names and values are cut."""

LINE = 90
"""The length of a line of the reason, which is written if there is no change to draw."""

SIDE_BY_SIDE = 0.12
"""Two values closer than this share of the width are written side by side, not each above its dot."""


def draw(answer: Explanation, ax: Axes | None = None) -> Axes:
    """Draw one line per changed column. A ring is the old value, an arrow leads to a dot, the new one.

    Levels are written as text.
    """
    changes = answer.changes[:CHANGES_DRAWN]
    if ax is None:
        from matplotlib import pyplot

        size = (7.5, 0.9 + 0.62 * max(len(changes), 1))
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    for line, change in enumerate(changes):
        (_level if change.position is None else _number)(ax, line, change)
    ax.set_title(_title(answer), loc="left", fontsize=11, pad=10)
    ax.set_yticks(range(len(changes)), [_short(change.label) for change in changes])
    ax.set_ylim(max(len(changes), 1) - 0.4, -0.6)
    ax.set_xlim(-0.04, 1.04)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    if not changes:
        ax.text(-0.04, 0.0, _plain(fill(answer.certificate.why, LINE)), va="center", fontsize=9.5, color=GREY)
    return ax


def _title(answer: Explanation) -> str:
    before = _short(answer.told(answer.before))
    if not answer.found:
        return f"{before}: {answer.certificate.status.value.partition(':')[0].partition(';')[0]}"
    return f"{before} → {_short(answer.told(answer.after))}, at a cost of {answer.cost:.4g}"


def _number(ax: Axes, line: int, change: Change) -> None:
    """Draw a number that moves on its range. A value outside is drawn just beyond the nearer end."""
    assert change.position is not None
    assert change.ends is not None
    was, now = (min(max(share, -0.02), 1.02) for share in change.position)
    ax.plot([0, 1], [line, line], color=PALE, linewidth=4, solid_capstyle="round", zorder=1)
    ax.annotate(
        "", (now, line), (was, line), arrowprops={"arrowstyle": "-|>", "color": BLUE, "lw": 1.8, "shrinkA": 0}, zorder=2
    )
    ax.plot(was, line, "o", markersize=7, markerfacecolor="white", markeredgecolor=GREY, markeredgewidth=1.6, zorder=3)
    ax.plot(now, line, "o", markersize=8, color=BLUE, zorder=4)
    before, after = change.text
    if abs(now - was) < SIDE_BY_SIDE:
        middle = (was + now) / 2
        side = "left" if middle < 0.1 else "right" if middle > 0.9 else "center"
        ax.annotate(
            f"{before} → {after}", (middle, line), (0, 8), textcoords="offset points", ha=side, va="bottom", fontsize=9
        )
    else:
        for at, text, color in ((was, before, GREY), (now, after, BLUE)):
            side = "left" if at < 0.04 else "right" if at > 0.96 else "center"
            ax.annotate(
                text, (at, line), (0, 8), textcoords="offset points", ha=side, va="bottom", fontsize=9, color=color
            )
    for at, end, side in ((0, change.ends[0], "left"), (1, change.ends[1], "right")):
        ax.annotate(
            change.show(end),
            (at, line),
            (0, -7),
            textcoords="offset points",
            ha=side,
            va="top",
            fontsize=7.5,
            color=GREY,
        )


def _level(ax: Axes, line: int, change: Change) -> None:
    before, after = map(_short, change.text)
    ax.annotate(f"{before}  →  ", (0.5, line), ha="right", va="center", fontsize=9.5, color=GREY)
    ax.annotate(after, (0.5, line), ha="left", va="center", fontsize=9.5, color=BLUE, fontweight="bold")


def _short(text: str) -> str:
    """The text, cut if it is too long."""
    return _plain(text if len(text) <= LONG_NAME else f"{text[: LONG_NAME - 1]}…")


def _plain(text: str) -> str:
    """The text, escaped so that matplotlib finds no formula in it."""
    return text.replace("$", r"\$")
