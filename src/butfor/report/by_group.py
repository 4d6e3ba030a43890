"""Groups beside each other: what became of their rows, what it costs them, what they must change."""

from __future__ import annotations

from butfor import groups
from butfor.report.lines import Line, lines_by_group, lines_of, percent, rounded
from butfor.report.pictures import interval
from butfor.report.portfolio import Portfolio
from butfor.report.summary import stacked
from butfor.report.table import TableColumn, table
from butfor.views.markup import isolated

COLUMNS_NAMED = 3
"""How many of the columns that change most often are named for a group."""


def by_group(of: Portfolio) -> str:
    """The section about groups; nothing if there are none."""
    if of.by is None:
        return ""
    lines = lines_of(groups.costs(of.answers, of.by))
    statuses, changes = (lines_by_group(table(of.answers, of.by)) for table in (groups.statuses, groups.changes))
    most = max((line["high"] or line["mean"] or 0.0 for line in lines), default=0.0)
    names = [line["group"] for line in lines]
    shown = table(
        "stacks",
        TableColumn(of.grouped_by, [isolated(name) for name in names]),
        TableColumn(
            "Statuses",
            [stacked(str(line["group"]), statuses[line["group"]]) + _needing(line) for line in lines],
            "drawn",
        ),
        TableColumn("Mean cost", [_mean(line, most) for line in lines], "drawn"),
        TableColumn("Median", [rounded(line["median"]) for line in lines], "number"),
        TableColumn("Changes most often", [_most_changed(of, changes.get(name, [])) for name in names], "typical"),
    )
    note = '<p class="note">Mean costs are those of the answers, with intervals of 95 % (bootstrap).</p>'
    compared = _differences(of) if len(lines) > 1 else ""
    return f'<section class="butfor chapter summary"><h2>By {isolated(of.grouped_by)}</h2>{shown}{note}{compared}</section>'


def _needing(line: Line) -> str:
    """What became of the rows that need a change."""
    ends = ", ".join(f"{line[end]:,} {end}" for end in ("answered", "impossible", "open") if line[end])
    return f"of {line['rows']:,} that need a change: {ends}" if ends else "none needs a change"


def _mean(line: Line, most: float) -> str:
    mean, low, high = line["mean"], line["low"], line["high"]
    if mean is None:
        return ""
    if low is None or high is None:
        return interval(mean, mean, mean, most, f"mean cost {rounded(mean)}") + rounded(mean)
    told = f"{rounded(mean)} ({rounded(low)} to {rounded(high)})"
    return interval(low, mean, high, most, f"mean cost {told}") + told


def _most_changed(of: Portfolio, lines: list[Line]) -> str:
    often = sorted((line for line in lines if line["rows"]), key=lambda line: -line["rows"])[:COLUMNS_NAMED]
    return ", ".join(f"{isolated(of.label(line['column']))} {percent(line['share'])}" for line in often)


def _differences(of: Portfolio) -> str:
    """Whether the groups differ by more than chance."""
    lines = lines_of(groups.differences(of.answers, of.by or ()))
    told = "".join(
        f"<li>{line['quantity']}: lowest for {isolated(line['lowest'])}, highest for {isolated(line['highest'])}; "
        f"difference {line['difference']:.3g}, p = {line['p']:.2g}</li>"
        for line in lines
        if line["lowest"] is not None
    )
    note = '<p class="note">p: how often chance alone spreads the groups as far (permutation test).</p>'
    return f"<ul>{told}</ul>{note}" if told else ""
