"""A batch as a heat map: one line per row, one column per raw column that any answer changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.views.drawing import GREY, PALE, axes_of, bare, label
from butfor.views.drawn_table import columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS_NAMED = 40
"""Up to so many rows are named at the side."""

LEAST_SHADE = 0.01
"""Shares of a range below this are all pale. Above, the colour follows the logarithm, so small changes are seen."""


def shifts(table: Any, ax: Axes | None = None) -> Axes:
    """Draw the table of `bf.groups.shifts`: which columns each answer raises (purple) and lowers (orange), how far.

    A cell that is left blank is a column that stays. The colour follows the logarithm of the share of the range.
    """
    columns = columns_of(table, ["row"], "bf.groups.shifts")
    rows = columns.pop("row")
    names = list(columns)
    cells = np.array([columns[name] for name in names], dtype=np.float64).T
    ax = axes_of(ax, min(12.0, 2.2 + 0.75 * len(names)), min(6.0, 1.4 + 0.22 * len(rows)))
    from matplotlib.colors import SymLogNorm

    drawn = ax.pcolormesh(
        np.where(cells == 0, np.nan, cells), cmap="PuOr", norm=SymLogNorm(LEAST_SHADE, vmin=-1.0, vmax=1.0)
    )
    ax.set_facecolor("#f6f7f9")
    ax.set_xticks(np.arange(len(names)) + 0.5, [label(name) for name in names], rotation=40, ha="right")
    ax.set_xticks(np.arange(len(names) + 1), minor=True)
    ax.grid(which="minor", axis="x", color=PALE, linewidth=0.8)
    ax.tick_params(which="minor", length=0)
    if len(rows) <= ROWS_NAMED:
        ax.set_yticks(np.arange(len(rows)) + 0.5, [label(row) for row in rows])
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(rows)} rows", fontsize=8.5, color=GREY)
    ax.invert_yaxis()
    bar = ax.figure.colorbar(drawn, ax=ax, ticks=[-1, -0.1, 0, 0.1, 1], shrink=0.9)
    bar.ax.set_yticklabels(["−100 %", "−10 %", "0", "+10 %", "+100 %"])
    bar.minorticks_off()
    bar.set_label("change, as a share of the range", fontsize=8.5, color=GREY)
    bar.ax.tick_params(labelsize=8)
    bare(ax, "top", "right", "left", "bottom")
    often = {name: int((cells[:, j] != 0).sum()) for j, name in enumerate(names)}
    words = ", ".join(f"{name} in {count}" for name, count in often.items())
    ax.set_label(f"Heat map of {len(rows)} answers. Columns that change: {words}.")
    return ax
