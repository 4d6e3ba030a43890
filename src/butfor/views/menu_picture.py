"""A menu as a matrix: one line per set of columns, one mark per changed column, and the cost beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from butfor.explanation.changes import Change, aligned, word
from butfor.explanation.menu import MenuLine
from butfor.views.drawing import BLUE, GREY, PALE, axes_of, bare, escaped, label, titled
from butfor.views.listing import target_of, told
from butfor.views.menu import in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.explanation import Explanation
    from butfor.explanation.menu import Menu

OPTIONS_DRAWN = 20
"""How many options are drawn."""

IMPOSSIBLE_DRAWN = 5
"""How many sets that do not suffice are drawn, nearest first."""

VALUE_LENGTH = 12
"""Longer values are cut: the columns of the matrix are narrow."""

MARK_BELOW, VALUE_ABOVE = 0.17, 0.24
"""How far the mark of a change is below the middle of its line, and its new value above, in lines."""

MARK_RISES, MARK_FALLS, MARK_BECOMES, MARK_IMPOSSIBLE = "^", "v", "o", "x"
"""The marks of a number that rises or falls, of a level that is exchanged, and of a column that does not help."""


def draw(menu: Menu, ax: Axes | None = None) -> Axes:
    """Draw the options, cheapest at the top, and below them the nearest sets that provably do not suffice.

    A triangle points to where a number moves, and a dot is another level. Above them are the new values.
    """
    options = menu.answers[:OPTIONS_DRAWN]
    lacking = [line for line in menu.impossible if line.columns and line.lack < float("inf")][:IMPOSSIBLE_DRAWN]
    names = _names(options, lacking)
    lines = len(options) + len(lacking)
    ax = axes_of(ax, 3.6 + 0.72 * max(len(names), 4), 1.6 + 0.42 * max(lines, 1))
    for y, option in enumerate(options):
        _line(ax, y, [names.index(change.name) for change in option.changes], MARK_BELOW)
        for change in option.changes:
            x = names.index(change.name)
            ax.plot(x, y + MARK_BELOW, _mark(change), color=BLUE, markersize=8, zorder=3)
            ax.text(
                x,
                y - VALUE_ABOVE,
                label(change.text[1], VALUE_LENGTH),
                ha="center",
                va="center",
                fontsize=7.5,
                color=BLUE,
                zorder=3,
            )
    for y, line in enumerate(lacking, len(options)):
        _line(ax, y, [names.index(name) for name in line.columns])
        for name in line.columns:
            ax.plot(names.index(name), y, MARK_IMPOSSIBLE, color=GREY, markersize=7, markeredgewidth=2, zorder=3)
    right = [f"cost {cost}" for cost in aligned([word(float(f"{option.cost:.4g}")) for option in options])]
    right += [f"gets to {line.reached:.3g}, needs {line.needed:.3g}" for line in lacking]
    _frame(ax, menu, names, right)
    ax.set_label(in_words(menu))
    return ax


def _names(options: Sequence[Explanation], lacking: Sequence[MenuLine]) -> list[str]:
    """The columns that occur, those of cheap options first."""
    changed = [change.name for option in options for change in option.changes]
    return list(dict.fromkeys([*changed, *(name for line in lacking for name in line.columns)]))


def _mark(change: Change) -> str:
    if change.change is None:
        return MARK_BECOMES
    return MARK_RISES if change.change > 0 else MARK_FALLS


def _line(ax: Axes, y: int, places: Sequence[int], below: float = 0.0) -> None:
    """The band of a line, and what ties its marks together, which may stand a little below its middle."""
    if y % 2 == 0:
        ax.axhspan(y - 0.5, y + 0.5, color=PALE, alpha=0.35, linewidth=0, zorder=0)
    if places:
        ax.plot([min(places), max(places)], [y + below] * 2, color=GREY, linewidth=1.2, zorder=2)


def _frame(ax: Axes, menu: Menu, names: Sequence[str], right: Sequence[str]) -> None:
    titled(ax, escaped(f"{told(menu, menu.before)} → {target_of(menu, menu.target)}"))
    called = {change.name: change.label for option in menu for change in option.columns()}
    ax.set_xticks(range(len(names)), [label(called.get(name, name)) for name in names], rotation=40, ha="right")
    ax.set_yticks(range(len(right)), right)
    ax.yaxis.tick_right()
    ax.set_xlim(-0.6, max(len(names), 1) - 0.4)
    ax.set_ylim(max(len(right), 1) - 0.5, -0.5)
    bare(ax, *ax.spines, size=9)
    if not right:
        ax.text(0.0, 0.0, "no set of so few columns suffices", va="center", fontsize=9.5, color=GREY)
