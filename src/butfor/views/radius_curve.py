"""What robustness costs, as text, as HTML and as a picture: cost over radius."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from butfor.explanation.changes import in_words as in_short
from butfor.explanation.changes import word
from butfor.solvers.outcome import Status
from butfor.views.drawing import BLUE, GREY, PALE, axes_of, titled
from butfor.views.listing import Listing, told
from butfor.views.text import status_name, wanted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.front import Front


def listing(front: Front) -> Listing:
    """What is shown of a front."""
    lines = [
        (word(radius), word(cost) if status.found else "", in_short(one.changes), _known(status, bound))
        for radius, cost, one, status, bound in zip(
            front.radii.tolist(), front.costs.tolist(), front, front.statuses, front.bounds.tolist(), strict=True
        )
    ]
    title = f"{told(front, front[0].before)} → {wanted(front[0])}: cost against radius"
    return Listing(title, ("radius", "cost", "changes", "status"), lines)


def in_words(front: Front) -> str:
    """The front in sentences."""
    pairs = zip(front.radii.tolist(), front.costs.tolist(), strict=True)
    found = "; ".join(f"{radius:.4g}: {cost:.4g}" for radius, cost in pairs if np.isfinite(cost))
    return f"What robustness costs, radius by radius. {found or 'No answer was found'}."


def _known(status: Status, bound: float) -> str:
    """The status, and the bound where that says more."""
    settled = status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
    return status_name(status) if settled else f"{status_name(status)}; at least {bound:.6g}"


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
    ax.set_label(in_words(front))
    return ax
