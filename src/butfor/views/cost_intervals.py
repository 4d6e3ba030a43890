"""What recourse costs in each group: the mean with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from butfor.views.drawn_table import axes_of, bare, columns_of, group_names, label
from butfor.views.plot import BLUE, GREY, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def costs(table: Any, ax: Axes | None = None) -> Axes:
    """Draw the table of `bf.groups.costs`: the mean cost of each group as a dot, its interval as a bar.

    Beside it stands how many rows were answered, and how many are impossible or open: their cost is in no mean.
    """
    columns = columns_of(table, ["rows", "answered", "impossible", "open", "mean", "low", "high"], "bf.groups.costs")
    lines = len(columns["rows"])
    names = group_names(columns, lines)
    ax = axes_of(ax, 7.5, 1.1 + 0.5 * lines)
    known = [mean for mean in columns["mean"] if mean is not None]
    ends = [high for high in columns["high"] if high is not None]
    right = max([*known, *ends], default=0.0) or 1.0
    words = []
    for line in range(lines):
        mean, low, high = (columns[name][line] for name in ("mean", "low", "high"))
        if low is not None:
            ax.barh(line, high - low, left=low, height=0.36, color=PALE, edgecolor=BLUE, linewidth=0.8)
        if mean is not None:
            ax.plot(mean, line, "o", color=BLUE, markersize=7)
        told = _counts(columns, line)
        ax.annotate(told, (1.04 * right, line), va="center", fontsize=8.5, color=GREY, annotation_clip=False)
        words.append(f"{names[line]}: {'no mean' if mean is None else f'mean {mean:.3g}'}, {told}")
    ax.set_yticks(range(lines), [label(name) for name in names])
    ax.set_ylim(lines - 0.4, -0.6)
    ax.set_xlim(0.0, 1.45 * right)
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= right * 1.001])
    ax.set_xlabel("mean cost, with the interval of the mean", fontsize=8.5, color=GREY, loc="left")
    bare(ax, "top", "right", "left")
    ax.set_label(f"Costs by group. {'; '.join(words)}.")
    return ax


def _counts(columns: dict[str, list[Any]], line: int) -> str:
    answered, rows = columns["answered"][line], columns["rows"][line]
    others = {"impossible": columns["impossible"][line], "open": columns["open"][line]}
    return ", ".join([f"{answered} of {rows} answered", *(f"{n} {word}" for word, n in others.items() if n)])
