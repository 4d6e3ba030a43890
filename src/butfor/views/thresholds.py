"""Pictures of thresholds: where they lie and how long they survive, and what a quantile keeps and loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from butfor.arrays import FloatArray
from butfor.views.drawing import BLUE, GREY, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVALS = 20
"""Into how many intervals a heat map divides the range of each column."""

COLUMNS_MAPPED = 40
"""How many columns a heat map shows: those whose thresholds survive longest."""


def heat_map(marks: Mapping[str, Sequence[tuple[float, float]]], ax: Axes | None = None) -> Axes:
    """Draw the thresholds of each column on its range, coloured by the highest quantile that keeps one.

    `marks` maps a column to its thresholds: for each, its place in the range from 0 to 1, and the quantile.
    """
    best = {name: max((survives for _, survives in its), default=0.0) for name, its in marks.items()}
    chosen = sorted(marks, key=lambda name: -best[name])[:COLUMNS_MAPPED]
    names = [name for name in marks if name in chosen]
    cells = np.full((len(names), INTERVALS), np.nan)
    for line, name in enumerate(names):
        for place, survives in marks[name]:
            interval = min(int(place * INTERVALS), INTERVALS - 1)
            cells[line, interval] = np.nanmax([cells[line, interval], survives])
    ax = axes_of(ax, 7.5, 1.3 + 0.26 * len(names))
    edges = np.linspace(0.0, 1.0, INTERVALS + 1)
    drawn = ax.pcolormesh(
        edges,
        np.arange(len(names) + 1),
        cells,
        cmap="viridis_r",
        vmin=0.0,
        vmax=1.0,
        edgecolors="#eef1f4",
        linewidth=0.5,
    )
    ax.set_yticks(np.arange(len(names)) + 0.5, [name.replace("$", r"\$") for name in names])
    ax.invert_yaxis()
    ax.tick_params(labelsize=8, length=0)
    ax.set_xlabel("place in the range of the column", fontsize=8.5, color=GREY)
    ax.set_xlim(0.0, 1.0)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=min(1.0, 4.0 / max(len(names) * 0.26, 1.0)))
    bar.set_label("kept up to quantile", fontsize=8.5, color=GREY)
    bar.ax.tick_params(labelsize=8)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def curves(
    quantiles: Sequence[float],
    series: Mapping[str, Sequence[float]],
    thresholds: Sequence[int],
    suggested: float,
    ax: Axes | None = None,
) -> Axes:
    """Draw shares against the quantile, with the number of thresholds at the top, and mark the suggested quantile."""
    ax = axes_of(ax, 7.0, 3.6)
    place = np.arange(len(quantiles), dtype=np.float64)
    for (name, values), colour in zip(series.items(), (BLUE, "#c2410c", "#15803d", GREY), strict=False):
        ax.plot(place, values, "o-", color=colour, markersize=4)
        ax.annotate(
            name, (place[-1], values[-1]), (6, 0), textcoords="offset points", va="center", fontsize=8.5, color=colour
        )
    ax.axvline(_at(suggested, quantiles, place), color=GREY, linewidth=1, linestyle=":")
    ax.annotate(
        "suggested",
        (_at(suggested, quantiles, place), 1.02),
        (4, -8),
        textcoords="offset points",
        fontsize=8,
        color=GREY,
    )
    ax.set_xticks(place, [f"{quantile:g}\n{count}" for quantile, count in zip(quantiles, thresholds, strict=True)])
    ax.set_xlabel("quantile, and the thresholds that it keeps", fontsize=8.5, color=GREY)
    ax.set_ylim(-0.02, 1.05)
    ax.set_xlim(-0.3, len(quantiles) - 1 + 0.32 * len(quantiles))
    ax.tick_params(labelsize=8, length=0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _at(quantile: float, quantiles: Sequence[float], place: FloatArray) -> float:
    return float(np.interp(quantile, quantiles, place))
