"""A region as a picture: one bar per column, on the range of the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from butfor.views.drawing import BLUE, COLUMNS_DRAWN, GREY, PALE, axes_of, escaped, in_lines, titled
from butfor.views.scale import scale_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.region import Region


def draw(region: Region, ax: Axes | None = None) -> Axes:
    """Draw each column's interval within its range, with a dot for the value inside. Levels are left out."""
    numbers = [
        j for j, f in enumerate(region.space) if f.levels is None and not f.unread and not np.isnan(region.codes[j])
    ]
    shown = sorted(numbers, key=lambda j: _width(region, j))[:COLUMNS_DRAWN]
    ax = axes_of(ax, 7.5, 0.9 + 0.55 * max(len(shown), 1))
    columns, words = region.columns, []
    for line, j in enumerate(shown):
        feature = region.space.features[j]
        scale = scale_of(feature)
        low, value, high = (scale.place(x) for x in (region.low[j], region.codes[j], region.high[j]))
        ax.barh(line, 1.0, height=0.2, color=PALE)
        ax.barh(line, high - low, left=low, height=0.42, color=BLUE, alpha=0.45)
        ax.plot(value, line, "o", color=BLUE)
        ax.annotate(escaped(region.ends(j)), (1.02, line), va="center", fontsize=9, color=GREY, annotation_clip=False)
        words.append(f"{columns[j].label} {region.ends(j)}")
    titled(ax, escaped(f"{region.target} everywhere in these intervals"))
    in_lines(ax, [columns[j].label for j in shown])
    ax.set_xlim(-0.02, 1.35)
    ax.set_label(f"{region.target} everywhere in these intervals: {'; '.join(words)}.")
    return ax


def _width(region: Region, j: int) -> float:
    return float((region.high[j] - region.low[j]) / region.space.features[j].range)
