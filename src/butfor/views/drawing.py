"""What all pictures share: colours, texts that matplotlib leaves as they are, and plain axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from butfor.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY, PALE = "#1658c4", "#c04a00", "#586271", "#dde2e8"
"""The new, what speaks against it, the old, and the ground. Blue and orange differ for the colour-blind, too."""

COLUMNS_DRAWN = 30
"""How many columns a picture shows at most, with a line for each."""

LONG_NAME = 28
"""Longer names and values are cut."""


def label(text: Any, most: int = LONG_NAME) -> str:
    """A text for a tick, a title or a value: cut if it has more characters, and without formulas."""
    words = str(text)
    return escaped(words if len(words) <= most else f"{words[: most - 1]}…")


def escaped(text: str) -> str:
    """The text, escaped so that matplotlib finds no formula in it."""
    return text.replace("$", r"\$")


def pyplot() -> Any:
    """The part of matplotlib that makes figures. Whoever draws no picture does without matplotlib."""
    try:
        from matplotlib import pyplot as made
    except ImportError:
        raise MissingExtraError(
            "a picture needs matplotlib.", "It is not installed.", 'Run: pip install "butfor[plots]"'
        ) from None
    return made


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or new ones of this size in inches."""
    if ax is not None:
        return ax
    axes: Axes = pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    return axes


def bare(ax: Axes, *sides: str, size: float = 8.5) -> None:
    """Hide the marks of the ticks and these sides of the frame. `size` is that of the ticks' labels."""
    ax.tick_params(labelsize=size, length=0)
    for side in sides:
        ax.spines[side].set_visible(False)


def in_lines(ax: Axes, names: list[str]) -> None:
    """Name the lines of a picture that has one line per thing, the first at the top, and hide the frame."""
    lines = max(len(names), 1)
    ax.set_yticks(range(len(names)), [label(name) for name in names])
    ax.set_ylim(lines - 0.4, -0.6)
    ax.set_xticks([])
    bare(ax, *ax.spines, size=10)


def titled(ax: Axes, title: str) -> None:
    """Write the title. It is already escaped."""
    ax.set_title(title, loc="left", fontsize=11, pad=10)
