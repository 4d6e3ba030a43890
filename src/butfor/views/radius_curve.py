"""What robustness costs, as a picture: cost over radius."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from butfor.views.drawing import BLUE, GREY, PALE, axes_of, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.front import Front


def draw(front: Front, ax: Axes | None = None) -> Axes:
    """Draw the cost of each radius. What lies between a bound and a cost is not known, and is shaded."""
    ax = axes_of(ax, 6.0, 3.5)
    found = np.isfinite(front.costs)
    radii, costs, bounds = front.radii[found], front.costs[found], front.bounds[found]
    ax.fill_between(radii, bounds, costs, color=PALE)
    ax.plot(radii, costs, "o-", color=BLUE)
    for radius in front.radii[~found]:
        ax.axvline(radius, color=GREY, linestyle=":")
    titled(ax, "What robustness costs")
    ax.set_xlabel("radius in ranges" + ("" if found.all() else " (dotted: no answer)"))
    ax.set_ylabel("cost")
    ax.set_ylim(bottom=0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    told = "; ".join(f"{radius:.4g}: {cost:.4g}" for radius, cost in zip(radii.tolist(), costs.tolist(), strict=True))
    ax.set_label(f"What robustness costs, radius by radius. {told or 'No answer was found'}.")
    return ax
