"""What a model decides over two columns, as a map."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.explanation.changes import shown, word
from butfor.views.drawing import BLUE, GREY, ORANGE, axes_of, bare, escaped, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.column_words import Words
    from butfor.explanation.decision_map import DecisionMap, PromisedBox
    from butfor.space.feature import Feature

MARKS = (
    ("o", 9, "white", "black"), ("*", 15, BLUE, "white"), ("D", 9, "white", ORANGE), ("s", 9, "white", BLUE),
    ("^", 10, "white", GREY), ("v", 10, "white", "black"), ("P", 10, "white", ORANGE), ("X", 10, "white", BLUE),
)  # fmt: skip
"""How the row and its answers are drawn: marker, size, face and edge. The first is drawn on top, and shapes differ."""

FEW_STEPS = 12
"""With so few values of a column, no line is drawn between them."""

COLOURS, DARKEST = "viridis", 0.3
"""The scale of colours, and where it begins. Black lines can be seen on all of it."""

HATCH = "///"
"""What marks where the target is missed. It leaves the colours as the scale says they are."""

LEGEND_LINE = 44
"""The length of a line beside the colours."""

LEGEND_COLUMNS = 2
"""How many marks a line of the legend names."""


def draw(found: DecisionMap, ax: Axes | None = None) -> Axes:
    """Draw the number over two columns, the row and its answers. Where the target is missed, the map is hatched.

    A white line runs around where it is met. On the dotted line, changes cost as much as the first answer: inside,
    they cost less. A dashed frame is the region. Of many answers, the first seven are marked.
    """
    ax = axes_of(ax, 6.8, 5.0)
    across, upwards = _edges(found.columns[0], found.x), _edges(found.columns[1], found.y)
    if found.values is not None:
        drawn = ax.pcolormesh(across, upwards, found.values, cmap=_colours(), rasterized=True)
        bar = ax.figure.colorbar(drawn, ax=ax)
        bar.set_label(escaped(fill(found.of, LEGEND_LINE)), fontsize=8.5, color=GREY)
        bar.ax.tick_params(labelsize=8)
    else:
        ax.pcolormesh(across, upwards, np.ones(found.met.shape), cmap=_colours(), vmin=0, vmax=1.6, rasterized=True)
    _hatched(ax, across, upwards, ~found.met)
    _border(ax, found, across, upwards)
    if found.dearer is not None and _smooth(found) and found.dearer.max() > 0:
        ax.contour(found.x, found.y, found.dearer, levels=[0.0], colors="black", linestyles="dotted", linewidths=1.4)
    if found.box is not None:
        _frame(ax, found.box, found.words, across, upwards)
    for k, (mark, (marker, size, face, edge)) in enumerate(zip(found.marks, MARKS, strict=False)):
        ax.plot(
            mark.x, mark.y, marker, markersize=size, markerfacecolor=face, markeredgecolor=edge, markeredgewidth=1.6,
            linestyle="none", label=_named(mark.name, mark.also, found.words), zorder=9 - k / 10, clip_on=False,
        )  # fmt: skip
    ax.set_xlim(across[0], across[-1])
    ax.set_ylim(upwards[0], upwards[-1])
    _axis(ax, found)
    entries = min(len(found.marks), len(MARKS)) + (found.box is not None)
    legend = ax.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=LEGEND_COLUMNS, fontsize=8, frameon=False,
        handletextpad=0.4, columnspacing=1.0, borderaxespad=0.2,
    )  # fmt: skip
    legend.set_in_layout(False)  # else a long name would make the map narrow
    title = escaped(f"{found.target}, except where it is hatched")
    ax.set_title(title, loc="left", fontsize=11, pad=12 + 13 * -(-entries // LEGEND_COLUMNS))
    ax.set_label(in_words(found))
    return ax


def in_words(found: DecisionMap) -> str:
    """What the map shows, for those who do not see it."""
    across, upwards = found.columns
    names = [_name(column, found.words) for column in found.columns]
    marks = "; ".join(
        f"{_named(mark.name, mark.also, found.words)} at {_value(across, mark.x, found.words)}, "
        f"{_value(upwards, mark.y, found.words)}"
        for mark in found.marks
    )
    return (
        f"Map of where the target ({found.target}) is met over {names[0]} and {names[1]}, with all other columns as "
        f"{found.others}: in {found.met.mean():.0%} of {found.met.size} rows asked. Marked: {marks}."
    )


def _named(name: str, also: Sequence[str], words: Words | None) -> str:
    """The name of a mark, and the other columns in which it differs from the rows of the map."""
    known = words.columns if words else {}
    labels = [known[one].label or one if one in known else one for one in also[:2]]
    more = ", ".join(map(label, labels)) + (", ..." if len(also) > 2 else "")
    return escaped(name) if not also else f"{escaped(name)} (with other {more})"


def _edges(feature: Feature, values: FloatArray) -> FloatArray:
    """The borders between the values. A number that may be anything has none before its first and after its last."""
    middles = (values[1:] + values[:-1]) / 2
    if feature.is_real:
        return np.concatenate([values[:1], middles, values[-1:]])
    half = feature.step / 2 if feature.levels is None else 0.5
    return np.concatenate([[values[0] - half], middles, [values[-1] + half]])


def _smooth(found: DecisionMap) -> bool:
    """Whether lines between the values mean something: both columns have many."""
    return min(found.met.shape) > FEW_STEPS and all(column.levels is None for column in found.columns)


def _border(ax: Axes, found: DecisionMap, across: FloatArray, upwards: FloatArray) -> None:
    """Draw a line around where the target is met: where a smooth number is the one needed, or else between the cells."""
    if _smooth(found) and _follows_the_number(found) and 0 < found.met.mean() < 1:
        ax.contour(found.x, found.y, found.values, levels=[found.threshold], colors="white", linewidths=2.4)
    else:
        _stairs(ax, across, upwards, found.met)


def _follows_the_number(found: DecisionMap) -> bool:
    """Whether the target is met where the number is beyond the threshold, and the number has no steps."""
    values, needed = found.values, found.threshold
    if values is None or needed is None or len(np.unique(values)) < values.size / 2:
        return False
    sides = (values >= needed, values > needed, values <= needed, values < needed)
    return any(np.array_equal(found.met, side) for side in sides)


def _colours() -> Any:
    """The scale of colours, without its darkest part."""
    import matplotlib as mpl
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(COLOURS, mpl.colormaps[COLOURS](np.linspace(DARKEST, 1.0, 256)))


def _hatched(ax: Axes, across: FloatArray, upwards: FloatArray, inside: BoolArray) -> None:
    """Hatch some cells. Those beside each other in a row are hatched together."""
    from matplotlib.collections import PolyCollection

    padded = np.pad(inside.astype(np.int8), ((0, 0), (1, 1)))
    turns = np.diff(padded, axis=1)
    (rows, begins), ends = np.nonzero(turns == 1), np.nonzero(turns == -1)[1]
    runs = [
        [(across[a], upwards[i]), (across[b], upwards[i]), (across[b], upwards[i + 1]), (across[a], upwards[i + 1])]
        for i, a, b in zip(rows, begins, ends, strict=True)
    ]
    ax.add_collection(PolyCollection(runs, facecolor="none", edgecolor="black", hatch=HATCH, linewidth=0, alpha=0.45))


def _stairs(ax: Axes, across: FloatArray, upwards: FloatArray, inside: BoolArray) -> None:
    """Draw the borders between cells that are inside and cells that are not."""
    from matplotlib.collections import LineCollection

    rows, columns = np.nonzero(inside[:, 1:] != inside[:, :-1])
    upright = [
        [(across[k + 1], upwards[i]), (across[k + 1], upwards[i + 1])] for i, k in zip(rows, columns, strict=True)
    ]
    rows, columns = np.nonzero(inside[1:] != inside[:-1])
    flat = [[(across[k], upwards[i + 1]), (across[k + 1], upwards[i + 1])] for i, k in zip(rows, columns, strict=True)]
    ax.add_collection(LineCollection(upright + flat, colors="white", linewidths=2.4, capstyle="round"))


def _frame(ax: Axes, box: PromisedBox, words: Words | None, across: FloatArray, upwards: FloatArray) -> None:
    """Draw a region as far as the map goes. A region of levels is a cell."""
    from matplotlib.patches import Rectangle

    (left, right), (low, high) = (
        (max(ends[0] - 0.5 * (ends[0] == ends[1]), side[0]), min(ends[1] + 0.5 * (ends[0] == ends[1]), side[-1]))
        for ends, side in ((box.x, across), (box.y, upwards))
    )
    ax.add_patch(
        Rectangle(
            (left, low), right - left, high - low, fill=False, edgecolor="black", linestyle="dashed", linewidth=1.6,
            label=_named("region", box.also, words), zorder=5,
        )
    )  # fmt: skip


def _axis(ax: Axes, found: DecisionMap) -> None:
    """Name the axes and their levels."""
    ax.set_xlabel(label(_name(found.columns[0], found.words)))
    ax.set_ylabel(label(_name(found.columns[1], found.words)))
    ax.tick_params(labelsize=8.5)
    if found.columns[0].levels is not None:
        names = [_value(found.columns[0], code, found.words) for code in found.x]
        ax.set_xticks(found.x, [label(name) for name in names], rotation=40, ha="right")
    if found.columns[1].levels is not None:
        ax.set_yticks(found.y, [label(_value(found.columns[1], code, found.words)) for code in found.y])
    if all(column.levels is not None for column in found.columns):
        bare(ax)


def _name(feature: Feature, words: Words | None) -> str:
    known = words.columns.get(feature.name) if words else None
    if known is None:
        return feature.name
    return (known.label or feature.name) + (f" ({known.unit})" if known.unit and feature.levels is None else "")


def _value(feature: Feature, code: float, words: Words | None) -> str:
    known = words.columns.get(feature.name) if words else None
    value = feature.value(float(code))
    return word(value) if known is None else shown(value, known)
