"""The summary: what became of the rows, what must change, and what it costs."""

from __future__ import annotations

from collections import Counter

import numpy as np

from butfor import groups
from butfor.explanation.near_threshold import NEAR_THRESHOLD, TOLD_NEAR
from butfor.groups.counted import ALREADY, NOT_LOOKED_FOR
from butfor.report.lines import Line, counts, lines_of, percent, rounded
from butfor.report.pictures import histogram, share_bar, stacked_bar
from butfor.report.reported import Reported
from butfor.report.table import TableColumn, table
from butfor.solvers.conflict import MODEL, RANGES
from butfor.solvers.outcome import Status
from butfor.views.languages import built_in, say, say_count, say_number, spoken
from butfor.views.markup import isolated, sentence
from butfor.views.page_words import status_told
from butfor.views.words import blamed_in_words

QUARTILES = {"least": 0.0, "lower quarter": 0.25, "median": 0.5, "upper quarter": 0.75, "most": 1.0}
"""How costs are summed up."""


def summary(of: Reported) -> str:
    """The section about all rows."""
    statuses = lines_of(groups.statuses(of.firsts))
    return (
        f'<section class="butfor chapter summary"><h2>{say("Summary")}</h2><p>{_lead(of, statuses)}</p>'
        f"{_statuses(statuses)}{_conflicts(of)}{_changes(of)}{_costs(of)}</section>"
    )


def _lead(of: Reported, statuses: list[Line]) -> str:
    """What became of the rows in a sentence or two, and what to do about the rest."""
    count = Counter({line["status"]: line["rows"] for line in statuses})
    total = say("1 row") if len(of.firsts) == 1 else say("{count} rows", count=say_count(len(of.firsts)))
    already = count.pop(ALREADY, 0)
    ends = {
        "answered": sum(count[status.short] for status in Status if status.found),
        "proven impossible": count[Status.PROVEN_INFEASIBLE.short],
        "open": count[Status.NOT_FOUND.short],
    }
    others = ", ".join(f"{say_count(many)} {say(words)}" for words, many in ends.items() if many)
    met = say("{count} of {total} meet the target without a change", count=say_count(already), total=total)
    told = [
        met if already else "",
        f"{say('the others') if already else total}: {others}" if others else "",
        _near(of),
        say("more time (time_limit) would help those that are not proven") if of.answers.cut_short else "",
    ]
    return " ".join(map(sentence, filter(None, told)))


def _near(of: Reported) -> str:
    """How many answers are only just across the border."""
    near, every = of.firsts.near
    told = {"near": say_count(near), "all": say_count(every), "distance": say_number(f"{NEAR_THRESHOLD:g}")}
    return say(TOLD_NEAR, **told) if near else ""


def _statuses(lines: list[Line]) -> str:
    keys = "".join(
        f'<li><span class="swatch {line["status"].replace(" ", "-")}"></span>{status_told(line["status"])}: '
        f"<b>{say_count(line['rows'])}</b> ({percent(line['share'])})</li>"
        for line in lines
    )
    return f'<h3>{say("What became of the rows")}</h3>{stacked(say("all rows"), lines)}<ul class="keys">{keys}</ul>'


def stacked(what: str, lines: list[Line]) -> str:
    """A bar that is divided by what became of the rows."""
    told = ", ".join(f"{say_count(line['rows'])} {status_told(line['status'])}" for line in lines if line["rows"])
    return stacked_bar([(line["status"], line["share"]) for line in lines], f"{what}: {told}")


def _conflicts(of: Reported) -> str:
    every = lines_of(groups.conflicts(of.firsts))
    lines = [line for line in every if line["conflict"] != NOT_LOOKED_FOR]
    rest = sum(line["rows"] for line in every) - sum(line["rows"] for line in lines)
    rows = say("1 impossible row") if rest == 1 else say("{count} impossible rows", count=say_count(rest))
    note = (
        f'<p class="note">{say("What makes {rows} so was not looked for, or not found.", rows=rows)}</p>'
        if rest
        else ""
    )
    if not lines:
        return note
    question, words = of.answers.question, of.answers.words
    told = {
        " and ".join(one.conflict): "; ".join(
            say(told) if told in (RANGES, MODEL) else told
            for told in blamed_in_words(question, one.conflict, words, built_in(spoken()))
        )
        for one in of.answers.certificates
    }
    told[NOT_LOOKED_FOR] = say(NOT_LOOKED_FOR)
    shown = table(
        "stacks",
        TableColumn(
            say("Smallest conflict"), [isolated(told.get(line["conflict"], line["conflict"])) for line in lines]
        ),
        TableColumn(say("Rows"), counts(lines, "rows"), "number"),
        TableColumn(say("Share"), [percent(line["share"]) for line in lines], "number"),
    )
    return f"<h3>{say('Why rows are impossible')}</h3>{shown}{note}"


def _changes(of: Reported) -> str:
    lines = lines_of(groups.changes(of.firsts))
    if not lines:
        return f"<h3>{say('What changes')}</h3><p>{say('No answer changes a column.')}</p>"
    shares = [percent(line["share"]) for line in lines]
    bars = [
        share_bar(line["share"], f"{of.label(line['column'])}: {share}") + share
        for line, share in zip(lines, shares, strict=True)
    ]
    return f"<h3>{say('What changes')}</h3>" + table(
        "stacks",
        TableColumn(say("Column"), [isolated(of.label(line["column"])) for line in lines]),
        TableColumn(say("Share of answers"), bars, "drawn"),
        TableColumn(say("Answers"), counts(lines, "rows"), "number"),
        TableColumn(say("Up"), counts(lines, "up"), "number"),
        TableColumn(say("Down"), counts(lines, "down"), "number"),
        TableColumn(say("Typical change"), [isolated(_typical(of, line)) for line in lines], "typical"),
    )


def _typical(of: Reported, line: Line) -> str:
    """The median change of a number, or the level that is most often the new one."""
    if line["median"] is None:
        return (
            "" if line["becomes"] is None else say("most often {value}", value=of.show(line["column"], line["becomes"]))
        )
    sign = "+" if line["median"] > 0 else "−" if line["median"] < 0 else ""
    return say("median {value}", value=f"{sign}{of.show(line['column'], abs(line['median']))}")


def _costs(of: Reported) -> str:
    known = of.firsts
    paid = known.costs[known.found & ~known.already]
    if not len(paid):
        return f"<h3>{say('What it costs')}</h3><p>{say('No row has an answer that costs anything.')}</p>"
    figures = {say(name): rounded(float(np.quantile(paid, share))) for name, share in QUARTILES.items()}
    words = ", ".join(f"{name} {figure}" for name, figure in figures.items())
    listed = "".join(f"<div><dt>{name}</dt><dd>{figure}</dd></div>" for name, figure in figures.items())
    return (
        f"<h3>{say('What it costs')}</h3>"
        f"{histogram(paid, say('costs of {count} answers: {figures}', count=say_count(len(paid)), figures=words))}"
        f'<p class="axis"><span>0</span><span>{figures[say("most")]}</span></p>'
        f'<dl class="figures"><div><dt>{say("answers")}</dt><dd>{say_count(len(paid))}</dd></div>{listed}</dl>'
    )
