"""The list of all answers, by the user's own row labels. A script of a few lines filters and sorts it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from butfor.explanation.changes import Change, word
from butfor.report.portfolio import Portfolio
from butfor.report.table import TableColumn, table
from butfor.solvers.outcome import Status
from butfor.verdict.certificate import Certificate
from butfor.views import survival_words
from butfor.views.markup import isolated, phrase, sentence
from butfor.views.text import score_name
from butfor.views.words import why_in_words


def rows(of: Portfolio) -> str:
    """The section with a line per answer."""
    answers = of.answers
    names = [
        isolated(label) + (f", answer {rank}" if rank > 1 else "")
        for label, rank in zip(answers.labels, answers.ranks.tolist(), strict=True)
    ]
    grouped = [TableColumn("Group", [isolated(group) for group in of.groups])] if of.groups else []
    listed = table(
        "rows",
        TableColumn("Row", names),
        *grouped,
        TableColumn("Prediction", _predictions(of), "predicted"),
        *_scores(of),
        TableColumn(
            "Changes", [_what(of, *both) for both in zip(of.changes, answers.certificates, strict=True)], "what"
        ),
        TableColumn("Cost", list(map(_cost, answers.costs.tolist(), answers.certificates)), "cost"),
        TableColumn("Status", _links(of), "status"),
    )
    return f'<section class="butfor chapter"><h2>Rows</h2>{_tools(of)}{listed}</section>'


def _tools(of: Portfolio) -> str:
    """What filters the list. It is hidden until the script is there to make it work."""
    statuses = list(dict.fromkeys(proof.status for proof in of.proofs))
    return (
        '<form class="tools" hidden><label>Row <input type="search" name="Row" autocomplete="off"></label>'
        f"{_choice('Group', sorted(set(of.groups)))}{_choice('Status', statuses)}"
        '<p role="status"></p></form>'
    )


def _choice(name: str, values: Sequence[str]) -> str:
    if len(values) < 2:
        return ""
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label>'


def _predictions(of: Portfolio) -> list[str]:
    """What the model predicts before and after; for survival, the number that the target is about."""
    answers, first = of.answers, of.first
    target = survival_words.target_of(first)

    def told(was: Any, now: Any) -> tuple[str, str]:
        return (first.told(was), first.told(now)) if target is None else survival_words.figures(was, now, target)[:2]

    column = list[str]()
    for was, now, changes in zip(answers.outputs_before, answers.outputs_after, of.changes, strict=True):
        before, after = told(was, now if changes else was)
        column.append(f"{isolated(before)} → {isolated(after)}" if changes else isolated(after))
    return column


def _scores(of: Portfolio) -> list[TableColumn]:
    """The score before and after. It has no column if it is what the model predicts, or not known."""
    known = [score for score in of.answers.scores if score is not None]
    names = {score.of: score_name(of.first, score) for score in known}
    if not any(label for _, label in names.values()):
        return []
    column = list[str]()
    for score in of.answers.scores:
        moved = [] if score is None else score.texts[: 1 if score.after in (None, score.before) else 2]
        whose = f" ({isolated(names[score.of][1])})" if score is not None and len(names) > 1 else ""
        column.append("\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}".join(moved) + whose)
    kind, label = next(iter(names.values()))
    return [TableColumn(f"{kind.capitalize()} {label}" if len(names) == 1 else kind.capitalize(), column, "score")]


def _what(of: Portfolio, changes: Sequence[Change], certificate: Certificate) -> str:
    """What changes; if nothing does, the reason."""
    if not changes:
        why = why_in_words(certificate, of.answers.question, of.answers.words)
        return sentence("nothing needs to change" if certificate.status.found else why)
    each = (f"<li>{isolated(c.label)} {isolated(c.text[0])} → <b>{isolated(c.text[1])}</b></li>" for c in changes)
    return f"<ul>{''.join(each)}</ul>"


def _cost(cost: float, certificate: Certificate) -> str:
    """The cost; below it the proven bound, if it is another number and known."""
    if not certificate.status.found:
        return ""
    bound = f'<br><span class="more">{phrase(f"at least {word(certificate.bound)}")}</span>'
    return word(cost) + (bound if certificate.status is Status.WITHIN_GAP else "")


def _links(of: Portfolio) -> list[str]:
    """The status of each answer, which leads to its certificate."""
    place = {proof: number for number, proof in enumerate(dict.fromkeys(of.proofs), 1)}
    return [f'<a href="#certificate-{place[proof]}">{proof.status}</a>' for proof in of.proofs]
