"""What became of the rows of each group, as stacked bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from butfor.views.drawing import GREY, axes_of, bare, label
from butfor.views.drawn_table import columns_of, group_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = {
    "already met": ("#bdc6d1", ""),
    "proven optimal": ("#0072b2", ""),
    "within gap": ("#56b4e9", "//"),
    "valid": ("#56b4e9", ".."),
    "proven impossible": ("#d55e00", ""),
    "not found": ("#f0e442", "xx"),
}
"""The colour of each status (of Okabe and Ito, which the colour-blind can tell apart) and its hatching."""

NARROW = 0.07
"""The number of rows is left out of bars that are narrower."""


def statuses(table: Any, ax: Axes | None = None) -> Axes:
    """Draw the table of `bf.groups.statuses`: a bar per group, divided by what became of its rows."""
    columns = columns_of(table, ["status", "rows", "share"], "bf.groups.statuses")
    lines = list(zip(group_names(columns, len(columns["rows"])), columns["status"], columns["rows"], columns["share"],
                     strict=True))  # fmt: skip
    groups = list(dict.fromkeys(group for group, *_ in lines))
    ax = axes_of(ax, 7.5, 1.3 + 0.5 * len(groups))
    ends = dict.fromkeys(groups, 0.0)
    named = set[str]()
    for group, status, rows, share in lines:
        at = groups.index(group)
        colour, hatch = LOOKS.get(status, (GREY, ""))
        ax.barh(at, share, left=ends[group], height=0.6, color=colour, hatch=hatch, edgecolor="white",
                label=None if status in named else status)  # fmt: skip
        if share >= NARROW:
            bright = colour not in ("#0072b2", "#d55e00")
            ax.text(ends[group] + share / 2, at, str(rows), ha="center", va="center", fontsize=8.5,
                    color="black" if bright else "white")  # fmt: skip
        ends[group] += share
        named.add(status)
    ax.set_yticks(range(len(groups)), [label(group) for group in groups])
    ax.set_ylim(len(groups) - 0.4, -0.6)
    ax.set_xlim(0.0, 1.0)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(len(named), 4), fontsize=8.5, frameon=False,
        handlelength=1.2, borderaxespad=0.2,
    )  # fmt: skip
    bare(ax, "top", "right", "left")
    told = "; ".join(f"{group}: {rows} {status}" for group, status, rows, _ in lines if rows)
    ax.set_label(f"Statuses by group. {told}.")
    return ax
