"""The way of an answer through a decision tree, as text and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.views.drawing import BLUE, GREY, PALE, axes_of, escaped, label
from butfor.views.plot import title
from butfor.views.text import plain, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.tree_path import CrossedSplit, TreePath

WAY, ASIDE, TEXT = 0.24, 0.07, 0.31
"""Where the way of the answer, the leaf of the row, and the questions are drawn across."""

ANSWERS = {True: "yes", False: "no"}


def text(path: TreePath) -> str:
    """A table with a line per split."""
    lines = [
        (split.question, ANSWERS[split.was], ANSWERS[split.now], "crossed" if split.crossed else "")
        for split in path.splits
    ]
    return plain(table(("question", "row", "answer", ""), lines)) if lines else "the tree has no split"


def draw(path: TreePath, ax: Axes | None = None) -> Axes:
    """Draw the way of the answer downwards. A diamond is a split that it crosses, a dot one that it does not.

    A dashed line shows where the row itself turns off.
    """
    splits, answer = path.splits, path.answer
    bottom = len(splits)
    ax = axes_of(ax, 6.4, 1.0 + 0.58 * (bottom + 1))
    ax.plot([WAY, WAY], [0, bottom], color=BLUE, linewidth=2, zorder=1)
    off = next((line for line, split in enumerate(splits) if split.crossed), None)
    if off is not None:
        ax.plot([WAY, ASIDE, ASIDE], [off, off + 0.6, bottom], color=GREY, linewidth=1.4, linestyle="dashed", zorder=0)
        _leaf(ax, ASIDE, bottom, label(answer.told(answer.before)), GREY)
    for line, split in enumerate(splits):
        _split(ax, line, split)
    _leaf(ax, WAY if off is not None else ASIDE + WAY / 2, bottom, label(answer.told(answer.after)), BLUE)
    ax.set_title(title(answer), loc="left", fontsize=11, pad=10)
    ax.set_xlim(-0.05, 1.0)
    ax.set_ylim(bottom + 0.6, -0.5)
    ax.axis("off")
    ax.set_label(in_words(path))
    return ax


def in_words(path: TreePath) -> str:
    """What the picture shows, for those who do not see it."""
    told = "; ".join(
        f"{split.question}: {ANSWERS[split.was]} → {ANSWERS[split.now]}" for split in path.splits if split.crossed
    )
    return f"Way through the tree: {len(path.crossed)} of {len(path.splits)} splits are crossed. {told or 'None'}."


def _split(ax: Axes, line: int, split: CrossedSplit) -> None:
    """One split: a mark on the way, the question, and what the row and the answer say to it."""
    marker, size, color = ("D", 10, BLUE) if split.crossed else ("o", 7, GREY)
    ax.plot(WAY, line, marker, markersize=size, color=color, markeredgecolor="white", zorder=2)
    ax.text(TEXT, line - 0.02, escaped(split.question), va="bottom", fontsize=9.5, color=color,
            fontweight="bold" if split.crossed else "normal")  # fmt: skip
    said = f"{ANSWERS[split.was]} → {ANSWERS[split.now]}" if split.crossed else ANSWERS[split.now]
    ax.text(TEXT, line + 0.04, said, va="top", fontsize=8.5, color=GREY)


def _leaf(ax: Axes, across: float, down: float, words: str, color: str) -> None:
    ax.text(
        across, down, words, ha="center", va="center", fontsize=9.5, color=color, zorder=3,
        bbox={"boxstyle": "round,pad=0.45", "facecolor": PALE if color == GREY else "white", "edgecolor": color},
    )  # fmt: skip
