"""Tables as HTML. On a narrow screen each line becomes a block, in which every cell says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from butfor.views.markup import isolated


class TableColumn(NamedTuple):
    """A column of a table: its heading, its cells as HTML, and how they look (a class of the style)."""

    heading: str
    cells: Sequence[str]
    look: str = ""


def table(look: str, first: TableColumn, *others: TableColumn) -> str:
    """The table. The first column names its lines."""
    head = "".join(f'<th scope="col"{_class(one.look)}>{isolated(one.heading)}</th>' for one in (first, *others))
    begin = [f'<td{_class(one.look)} data-label="{escape(one.heading)}">' for one in others]
    columns = [
        [mark + cell + "</td>" if cell else "<td></td>" for cell in one.cells]
        for mark, one in zip(begin, others, strict=True)
    ]
    lines = zip((f'<th scope="row">{cell}</th>' for cell in first.cells), *columns, strict=True)
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in lines)
    return f'<table class="{look}"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>'


def _class(look: str) -> str:
    return f' class="{look}"' if look else ""
