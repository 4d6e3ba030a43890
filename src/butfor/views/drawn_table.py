"""A table that is drawn: its columns, and plain axes for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from butfor.errors import InputError
from butfor.space import frames
from butfor.views.plot import LONG_NAME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EVERY_ROW = "all rows"
"""The name of the only group of a table without groups."""


def columns_of(table: Any, needed: Sequence[str], maker: str) -> dict[str, list[Any]]:
    """The columns of a table that the function `maker` made. It must have at least one line."""
    columns = frames.listed(table)
    absent = [name for name in needed if name not in columns]
    if absent:
        raise InputError(f"the table has no column {absent[0]!r}.", f"Give the table that {maker} made.")
    if not len(columns[needed[0]]):
        raise InputError("the table has no line.", "There is nothing to draw.")
    return columns


def group_names(columns: dict[str, list[Any]], lines: int) -> list[str]:
    """The group of each line, as text."""
    return [str(group) for group in columns.get("group", [EVERY_ROW] * lines)]


def label(text: Any) -> str:
    """A text for a tick or title: cut if it is long, and without formulas."""
    words = str(text)
    return (words if len(words) <= LONG_NAME else f"{words[: LONG_NAME - 1]}…").replace("$", r"\$")


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or new ones of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    _, made = pyplot.subplots(figsize=(width, height), layout="constrained")
    return made


def bare(ax: Axes, *sides: str) -> None:
    """Hide the marks of the ticks and these sides of the frame."""
    ax.tick_params(labelsize=8.5, length=0)
    for side in sides:
        ax.spines[side].set_visible(False)
