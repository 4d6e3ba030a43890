"""A small tree as a picture: questions above, predictions below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from butfor.views.drawing import GREY, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILLS = ("#fde8dc", "#dbe7fb", "#dff3e4", "#f3e3f7", "#fdf3cf", "#e4e8ee")
"""The colours of leaves, one per class; they begin anew after the last."""


def draw(
    texts: Sequence[str], no: Sequence[int], yes: Sequence[int], label: Sequence[int], ax: Axes | None = None
) -> Axes:
    """Draw a tree. Node 0 is the root; a node without children has -1 for them.

    `texts` says what is written in each node, `label` gives the class of each leaf.
    """
    place: dict[int, tuple[float, float]] = {}
    leaves = 0

    def put(node: int, depth: int) -> float:
        nonlocal leaves
        if no[node] < 0:
            across, leaves = float(leaves), leaves + 1
        else:
            across = (put(no[node], depth + 1) + put(yes[node], depth + 1)) / 2
        place[node] = (across, -float(depth))
        return across

    put(0, 0)
    deepest = -min(down for _, down in place.values())
    ax = axes_of(ax, max(4.0, 1.55 * leaves), 1.0 + 1.1 * deepest)
    for node, (across, down) in place.items():
        for child, word in ((no[node], "no"), (yes[node], "yes")):
            if child < 0:
                continue
            to = place[child]
            ax.plot([across, to[0]], [down, to[1]], color=GREY, linewidth=1, zorder=1)
            middle = (0.42 * across + 0.58 * to[0], 0.42 * down + 0.58 * to[1])
            ax.text(
                *middle, word, fontsize=8, color=GREY, ha="center", va="center", zorder=2,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        fill = "white" if no[node] >= 0 else FILLS[label[node] % len(FILLS)]
        ax.text(
            across, down, texts[node].replace("$", r"\$"), fontsize=8.5, ha="center", va="center", zorder=3,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": fill, "edgecolor": GREY, "linewidth": 0.8},
        )  # fmt: skip
    ax.set_xlim(-0.6, leaves - 0.4)
    ax.set_ylim(-deepest - 0.5, 0.5)
    ax.axis("off")
    return ax
