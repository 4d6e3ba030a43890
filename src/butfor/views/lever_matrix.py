"""The levers as a matrix: how many rows each column alone can help, and each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.views.drawn_table import axes_of, bare, columns_of, label
from butfor.views.plot import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARK_CELL = 0.65
"""Numbers in cells with a larger share are written in white."""


def levers(table: Any, ax: Axes | None = None) -> Axes:
    """Draw the table of `bf.groups.levers`: a column alone on the diagonal, each pair below it.

    Each cell names the number of rows that are helped, and is the darker the larger their share. A question mark says
    that more may be helped, because some rows are open.
    """
    columns = columns_of(table, ["column", "with_column", "rows", "share", "open"], "bf.groups.levers")
    pairs = list(zip(columns["column"], columns["with_column"], strict=True))
    alone = {name: rows for (name, other), rows in zip(pairs, columns["rows"], strict=True) if other is None}
    names = sorted(alone, key=lambda name: -alone[name])
    place = {name: i for i, name in enumerate(names)}
    cells = np.full((len(names), len(names)), np.nan)
    size = 1.6 + 0.62 * len(names)
    ax = axes_of(ax, size + 0.8, size)
    for (name, other), rows, share, left in zip(pairs, columns["rows"], columns["share"], columns["open"], strict=True):
        down, across = max(place[name], place[other or name]), min(place[name], place[other or name])
        cells[down, across] = share
        ax.text(
            across + 0.5, down + 0.5, f"{rows}{'?' if left else ''}", ha="center", va="center", fontsize=8.5,
            color="white" if share > DARK_CELL else "black", fontweight="normal" if other else "bold",
        )  # fmt: skip
    drawn = ax.pcolormesh(cells, cmap="Blues", vmin=0.0, vmax=1.0, edgecolors="white", linewidth=1.2)
    ax.set_xticks(np.arange(len(names)) + 0.5, [label(name) for name in names], rotation=40, ha="right")
    ax.set_yticks(np.arange(len(names)) + 0.5, [label(name) for name in names])
    ax.invert_yaxis()
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
    bar.set_label("share of the rows helped", fontsize=8.5, color=GREY)
    bar.ax.tick_params(labelsize=8)
    bare(ax, "top", "right", "left", "bottom")
    words = ", ".join(f"{name} {alone[name]}" for name in names)
    ax.set_label(f"Matrix of levers. Rows that each column alone helps: {words}.")
    return ax
