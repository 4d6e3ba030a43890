"""What robustness costs, as a picture: cost over radius."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from butfor.views.plot import BLUE, GREY, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.front import Front


def draw(front: Front, ax: Axes | None = None) -> Axes:
    """Draw the cost of each radius. What lies between a bound and a cost is not known, and is shaded."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots(figsize=(6.0, 3.5), layout="constrained")
    found = np.isfinite(front.costs)
    radii, costs, bounds = front.radii[found], front.costs[found], front.bounds[found]
    ax.fill_between(radii, bounds, costs, color=PALE)
    ax.plot(radii, costs, "o-", color=BLUE)
    for radius in front.radii[~found]:
        ax.axvline(radius, color=GREY, linestyle=":")
    ax.set_title("What robustness costs", loc="left", fontsize=11, pad=10)
    ax.set_xlabel("radius in ranges" + ("" if found.all() else " (dotted: no answer)"))
    ax.set_ylabel("cost")
    ax.set_ylim(bottom=0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
