"""A region as a picture: one bar per column, on the range of the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from butfor.explanation.changes import word
from butfor.views.plot import BLUE, GREY, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.region import Region

COLUMNS_DRAWN = 30
"""How many columns are drawn."""


def draw(region: Region, ax: Axes | None = None) -> Axes:
    """Draw each column's interval within its range, with a dot for the value inside. Levels are written as text."""
    numbers = [j for j, f in enumerate(region.space) if f.levels is None and not np.isnan(region.codes[j])]
    shown = sorted(numbers, key=lambda j: _width(region, j))[:COLUMNS_DRAWN]
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(7.5, 0.9 + 0.55 * max(len(shown), 1)), layout="constrained")
    for line, j in enumerate(shown):
        feature = region.space.features[j]
        scale = (feature.low, feature.range)
        low, value, high = ((x - scale[0]) / scale[1] for x in (region.low[j], region.codes[j], region.high[j]))
        ax.barh(line, 1.0, height=0.2, color=PALE)
        ax.barh(line, high - low, left=low, height=0.42, color=BLUE, alpha=0.45)
        ax.plot(value, line, "o", color=BLUE)
        ends = f"{word(feature.value(region.low[j]))} to {word(feature.value(region.high[j]))}"
        ax.annotate(ends, (1.02, line), va="center", fontsize=9, color=GREY, annotation_clip=False)
    ax.set_title(f"{region.target} everywhere in these intervals", loc="left", fontsize=11, pad=10)
    ax.set_yticks(range(len(shown)), [region.space.names[j].replace("$", r"\$") for j in shown])
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.35)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def _width(region: Region, j: int) -> float:
    return float((region.high[j] - region.low[j]) / region.space.features[j].range)
