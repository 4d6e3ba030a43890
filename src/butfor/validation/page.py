"""A dossier as a page: the same structure as its JSON, laid out for the screen and for paper. It has no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from butfor.report.page import document
from butfor.report.pictures import share_bar
from butfor.report.table import TableColumn, table
from butfor.validation.facts import DossierSection, Fact, FactTable
from butfor.views.markup import isolated, pairs, phrase

ABOUT_DOSSIER = "What was read of a model, what is proven of a sample of its answers, and what is not."


def page(title: str, sections: Sequence[DossierSection], version: str) -> str:
    """The whole page. `version` is that of butfor."""
    listed = "".join(f'<li><a href="#{escape(one.name)}">{isolated(one.title)}</a></li>' for one in sections)
    contents = f'<nav class="butfor chapter contents" aria-label="Contents"><ol>{listed}</ol></nav>'
    first, *others = map(_section, sections)
    return document(title, title, ABOUT_DOSSIER, [first, contents, *others], version, "")


def _section(of: DossierSection) -> str:
    body = [
        *(f"<p>{phrase(words)}</p>" for words in of.says),
        _facts(of.facts),
        *map(_table, of.tables),
        _limits(of.limits),
        _commands(of.commands),
    ]
    return (
        f'<section class="butfor chapter summary" id="{escape(of.name)}"><h2>{isolated(of.title)}</h2>'
        f"{''.join(body)}</section>"
    )


def _facts(facts: Sequence[Fact]) -> str:
    listed = pairs((isolated(one.label), one.text) for one in facts)
    return f'<div class="facts first known">{listed}</div>' if facts else ""


def _table(of: FactTable) -> str:
    if not of.lines:
        return ""
    columns = []
    for place, (label, look) in enumerate(zip(of.labels, of.looks, strict=True)):
        cells = [isolated(texts[place]) for texts in of.texts]
        if look == "share":
            values = [line[place] for line in of.lines]
            cells = [share_bar(value or 0.0, cell) + cell for value, cell in zip(values, cells, strict=True)]
        columns.append(TableColumn(label, cells, "drawn" if look == "share" else look))
    return f"<h3>{isolated(of.title)}</h3>{table('stacks wraps', columns[0], *columns[1:])}"


def _limits(limits: Sequence[Fact]) -> str:
    listed = "".join(f"<dt>{isolated(one.label)}</dt><dd>{phrase(one.text)}</dd>" for one in limits)
    return f'<dl class="limits">{listed}</dl>' if limits else ""


def _commands(commands: Sequence[tuple[str, str]]) -> str:
    listed = "".join(f"<li>{phrase(does)}<pre><code>{escape(command)}</code></pre></li>" for does, command in commands)
    return f'<ol class="commands">{listed}</ol>' if commands else ""
