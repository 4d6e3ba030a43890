"""A title, a table of facts and some remarks, as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from butfor.explanation.changes import word
from butfor.views.html import style
from butfor.views.markup import isolated
from butfor.views.text import plain, table, wanted

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation


@dataclass(frozen=True)
class Listing:
    """What is shown of several answers to one row.

    - `names`: the heads of the columns;
    - `lines`: the cells, line by line;
    - `remarks`: sentences below the table.
    """

    title: str
    names: tuple[str, ...]
    lines: Sequence[Sequence[str]]
    remarks: Sequence[str] = ()


def told(answers: Sequence[Explanation], prediction: Any) -> str:
    """A prediction as the user calls it, if an answer is there to say how."""
    return answers[0].told(prediction) if len(answers) else word(prediction)


def target_of(answers: Sequence[Explanation], target: str) -> str:
    """The target of all these answers in the user's words."""
    return wanted(answers[0]) if len(answers) else target


def as_text(listing: Listing) -> str:
    """The listing as plain text."""
    parts = [plain(listing.title)]
    if listing.lines:
        parts.append(plain(table(listing.names, listing.lines)))
    return "\n".join([*parts, *(plain(remark) for remark in listing.remarks)])


def as_html(listing: Listing) -> str:
    """The listing for a notebook."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in listing.names)
    rows = "".join("<tr>" + "".join(f"<td>{isolated(cell)}</td>" for cell in line) + "</tr>" for line in listing.lines)
    body = f'<table class="list"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>' if listing.lines else ""
    remarks = "".join(f'<p class="note">{isolated(remark)}</p>' for remark in listing.remarks)
    return (
        f'<style>{style()}</style><section class="butfor"><h2>{isolated(listing.title)}</h2>'
        f'<div class="scroll">{body}</div>{remarks}</section>'
    )
