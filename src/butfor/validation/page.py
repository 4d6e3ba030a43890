"""A dossier as a page: the same structure as its JSON, laid out for the screen and for paper. It has no script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from butfor.report.page import document
from butfor.report.pictures import share_bar
from butfor.report.table import TableColumn, table
from butfor.validation.facts import DossierSection, Fact, FactTable
from butfor.views.markup import isolated, pairs, phrase

if TYPE_CHECKING:
    from butfor.validation.dossier import Dossier

ABOUT = "What was read of a model, what is proven of a sample of its answers, and what is not."


def page(dossier: Dossier) -> str:
    """The whole page."""
    listed = "".join(f'<li><a href="#{escape(one.name)}">{isolated(one.title)}</a></li>' for one in dossier.sections)
    contents = f'<nav class="butfor chapter contents" aria-label="Contents"><ol>{listed}</ol></nav>'
    first, *others = map(_section, dossier.sections)
    return document(dossier.title, dossier.title, ABOUT, [first, contents, *others], dossier.version, "")


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
    for place, heading in enumerate(of.headings):
        cells = [isolated(texts[place]) for texts in of.texts]
        look = heading.look
        if look == "share":
            values = [line[place] for line in of.lines]
            cells = [share_bar(value or 0.0, cell) + cell for value, cell in zip(values, cells, strict=True)]
            look = "drawn"
        columns.append(TableColumn(heading.label, cells, look))
    return f"<h3>{isolated(of.title)}</h3>{table('stacks', columns[0], *columns[1:])}"


def _limits(limits: Sequence[Fact]) -> str:
    listed = "".join(f"<dt>{isolated(one.label)}</dt><dd>{phrase(one.text)}</dd>" for one in limits)
    return f'<dl class="limits">{listed}</dl>' if limits else ""


def _commands(commands: Sequence[tuple[str, str]]) -> str:
    listed = "".join(f"<li>{phrase(does)}<pre><code>{escape(command)}</code></pre></li>" for does, command in commands)
    return f'<ol class="commands">{listed}</ol>' if commands else ""
