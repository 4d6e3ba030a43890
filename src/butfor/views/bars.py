"""Methods compared: one panel per measure, one bar per method, one dot per value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.views.drawing import BLUE, GREY, PALE, pyplot

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACROSS = 4
"""How many panels are drawn side by side."""


def draw(methods: Sequence[str], panels: Mapping[str, FloatArray]) -> NDArray[Any]:
    """Draw one panel per title and return their axes.

    - `methods` (values): the method of each value; the same method may occur several times;
    - `panels`: title -> (values): the numbers to draw.
    """
    names = list(dict.fromkeys(methods))
    rows = {name: [i for i, method in enumerate(methods) if method == name] for name in names}
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    size = (2.6 * across + 1.2, (0.9 + 0.34 * len(names)) * down)
    figure, grid = pyplot().subplots(down, across, figsize=size, sharey=True, squeeze=False, layout="constrained")
    axes = grid.ravel()
    for ax, (title, values) in zip(axes, panels.items(), strict=False):
        for line, name in enumerate(names):
            own = values[rows[name]]
            own = own[~np.isnan(own)]
            if len(own):
                ax.barh(line, own.mean(), height=0.62, color=BLUE if len(own) == 1 else PALE, edgecolor=BLUE)
                ax.annotate(
                    f"{own.mean():.3g}", (own.max(), line), (5, 0), textcoords="offset points", va="center", fontsize=8
                )
            if len(own) > 1:
                ax.plot(own, np.full(len(own), line), "o", markersize=3.5, color=BLUE, alpha=0.6)
        ax.set_title(title, loc="left", fontsize=8.5, color=GREY)
        ax.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names])
        ax.tick_params(labelsize=8, length=0)
        ax.margins(x=0.2)
        ax.set_xlim(left=min(0.0, ax.get_xlim()[0]) if (values < 0).any() else 0.0)
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
    axes[0].invert_yaxis()
    for ax in axes[len(panels) :]:
        figure.delaxes(ax)
    return np.asarray(axes[: len(panels)])
