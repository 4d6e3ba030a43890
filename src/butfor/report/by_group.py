"""Groups beside each other: what became of their rows, what it costs them, what they must change."""

from __future__ import annotations

from butfor import groups
from butfor.report.lines import Line, lines_by_group, lines_of, percent, rounded
from butfor.report.pictures import interval
from butfor.report.reported import Reported
from butfor.report.summary import stacked
from butfor.report.table import TableColumn, table
from butfor.views.languages import say, say_count, say_number
from butfor.views.markup import isolated

COLUMNS_NAMED = 3
"""How many of the columns that change most often are named for a group."""


def by_group(of: Reported) -> str:
    """The section about groups; nothing if there are none."""
    if of.by is None:
        return ""
    lines = lines_of(groups.costs(of.firsts, of.by))
    statuses, changes = (lines_by_group(table(of.firsts, of.by)) for table in (groups.statuses, groups.changes))
    most = max((line["high"] or line["mean"] or 0.0 for line in lines), default=0.0)
    names = [line["group"] for line in lines]
    shown = table(
        "stacks",
        TableColumn(of.grouped_by, [isolated(name) for name in names]),
        TableColumn(
            say("Statuses"),
            [stacked(str(line["group"]), statuses[line["group"]]) + _needing(line) for line in lines],
            "drawn",
        ),
        TableColumn(say("Mean cost"), [_mean(line, most) for line in lines], "drawn"),
        TableColumn(say("Median"), [rounded(line["median"]) for line in lines], "number"),
        TableColumn(say("Changes most often"), [_most_changed(of, changes.get(name, [])) for name in names], "typical"),
    )
    note = f'<p class="note">{say("Mean costs are those of the answers, with intervals of 95 % (bootstrap).")}</p>'
    compared = _differences(of) if len(lines) > 1 else ""
    title = say("By {group}", group=isolated(of.grouped_by))
    return f'<section class="butfor chapter summary"><h2>{title}</h2>{shown}{note}{compared}</section>'


def _needing(line: Line) -> str:
    """What became of the rows that need a change."""
    ends = ", ".join(f"{say_count(line[end])} {say(end)}" for end in ("answered", "impossible", "open") if line[end])
    if not ends:
        return say("none needs a change")
    return say("of {count} that need a change: {ends}", count=say_count(line["rows"]), ends=ends)


def _mean(line: Line, most: float) -> str:
    mean, low, high = line["mean"], line["low"], line["high"]
    if mean is None:
        return ""
    if low is None or high is None:
        return interval(mean, mean, mean, most, say("mean cost {mean}", mean=rounded(mean))) + rounded(mean)
    told = say("{mean} ({low} to {high})", mean=rounded(mean), low=rounded(low), high=rounded(high))
    return interval(low, mean, high, most, say("mean cost {mean}", mean=told)) + told


def _most_changed(of: Reported, lines: list[Line]) -> str:
    often = sorted((line for line in lines if line["rows"]), key=lambda line: -line["rows"])[:COLUMNS_NAMED]
    return ", ".join(f"{isolated(of.label(line['column']))} {percent(line['share'])}" for line in often)


def _differences(of: Reported) -> str:
    """Whether the groups differ by more than chance."""
    lines = lines_of(groups.differences(of.firsts, of.by or ()))
    told = "".join(
        "<li>"
        + say(
            "{quantity}: lowest for {lowest}, highest for {highest}; difference {difference}, p = {p}",
            quantity=say(line["quantity"]),
            lowest=isolated(line["lowest"]),
            highest=isolated(line["highest"]),
            difference=say_number(f"{line['difference']:.3g}"),
            p=say_number(f"{line['p']:.2g}"),
        )
        + "</li>"
        for line in lines
        if line["lowest"] is not None
    )
    note = f'<p class="note">{say("p: how often chance alone spreads the groups as far (permutation test).")}</p>'
    return f"<ul>{told}</ul>{note}" if told else ""
