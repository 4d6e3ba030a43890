"""The list of all answers, by the user's own row labels. A script of a few lines filters and sorts it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from butfor.explanation.changes import Change, word
from butfor.report.reported import Reported
from butfor.report.table import TableColumn, table
from butfor.solvers.outcome import Status
from butfor.verdict.certificate import Certificate
from butfor.views import survival_words
from butfor.views.languages import say, say_count, say_number
from butfor.views.markup import isolated, phrase, sentence
from butfor.views.page_words import output_told, status_told, texts_told, why_told
from butfor.views.text import score_name


def rows(of: Reported) -> str:
    """The section with a line per answer."""
    answers = of.answers
    names = [
        isolated(label) + (say(", answer {rank}", rank=str(rank)) if rank > 1 else "")
        for label, rank in zip(answers.labels, answers.ranks.tolist(), strict=True)
    ]
    grouped = [TableColumn(say("Group"), [isolated(group) for group in of.groups])] if of.groups else []
    listed = table(
        "rows",
        TableColumn(say("Row"), names),
        *grouped,
        TableColumn(say("Prediction"), _predictions(of), "predicted"),
        *_scores(of),
        TableColumn(
            say("Changes"), [_what(of, *both) for both in zip(of.changes, answers.certificates, strict=True)], "what"
        ),
        TableColumn(say("Cost"), list(map(_cost, answers.costs.tolist(), answers.certificates)), "cost"),
        TableColumn(say("Status"), _links(of), "status"),
    )
    return f'<section class="butfor chapter"><h2>{say("Rows")}</h2>{_rest(of)}{_tools(of)}{listed}</section>'


def _rest(of: Reported) -> str:
    """What is said if not all rows are listed."""
    listed = int((of.answers.ranks == 1).sum())
    if listed == len(of.firsts):
        return ""
    many = say_count(listed), say_count(len(of.firsts))
    told = say("The first {count} of {total} rows are listed, with their certificates.", count=many[0], total=many[1])
    return f'<p class="note">{told}</p>'


def _tools(of: Reported) -> str:
    """What filters the list. It is hidden until the script is there to make it work."""
    statuses = list(dict.fromkeys(status_told(proof.status) for proof in of.proofs))
    row, shown = say("Row"), escape(say("{shown} of {all} are shown.", shown="{shown}", all="{all}"))
    return (
        f'<form class="tools" hidden><label>{row} <input type="search" name="{row}" autocomplete="off"></label>'
        f"{_choice(say('Group'), sorted(set(of.groups)))}{_choice(say('Status'), statuses)}"
        f'<p role="status" data-shown="{shown}"></p></form>'
    )


def _choice(name: str, values: Sequence[str]) -> str:
    if len(values) < 2:
        return ""
    options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
    return f'<label>{name} <select name="{name}"><option value="">{say("all")}</option>{options}</select></label>'


def _predictions(of: Reported) -> list[str]:
    """What the model predicts before and after; for survival, the number that the target is about."""
    answers, first = of.answers, of.first
    target = survival_words.target_of(first)

    def told(was: Any, now: Any) -> tuple[str, str]:
        if target is None:
            return output_told(first, was), output_told(first, now)
        before, after, _ = survival_words.figures(was, now, target)
        return say_number(before), after

    column = list[str]()
    for was, now, changes in zip(answers.outputs_before, answers.outputs_after, of.changes, strict=True):
        before, after = told(was, now if changes else was)
        column.append(f"{isolated(before)} → {isolated(after)}" if changes else isolated(after))
    return column


def _scores(of: Reported) -> list[TableColumn]:
    """The score before and after. It has no column if it is what the model predicts, or not known."""
    known = [score for score in of.answers.scores if score is not None]
    names = {score.of: score_name(of.first, score) for score in known}
    if not any(label for _, label in names.values()):
        return []
    column = list[str]()
    for score in of.answers.scores:
        moved = (
            []
            if score is None
            else list(map(say_number, score.texts))[: 1 if score.after in (None, score.before) else 2]
        )
        whose = f" ({isolated(names[score.of][1])})" if score is not None and len(names) > 1 else ""
        column.append("\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}".join(moved) + whose)
    kind, label = next(iter(names.values()))
    title = say(f"{kind} {{label}}", label=label) if len(names) == 1 else say(kind)
    return [TableColumn(title[:1].upper() + title[1:], column, "score")]


def _what(of: Reported, changes: Sequence[Change], certificate: Certificate) -> str:
    """What changes; if nothing does, the reason."""
    if not changes:
        why = say("nothing needs to change") if certificate.status.found else why_told(certificate, of.first)
        return sentence(why)
    texts = ((c.label, *texts_told(c)) for c in changes)
    each = (f"<li>{isolated(name)} {isolated(before)} → <b>{isolated(after)}</b></li>" for name, before, after in texts)
    return f"<ul>{''.join(each)}</ul>"


def _cost(cost: float, certificate: Certificate) -> str:
    """The cost; below it the proven bound, if it is another number and known."""
    if not certificate.status.found:
        return ""
    bound = (
        f'<br><span class="more">{phrase(say("at least {number}", number=say_number(word(certificate.bound))))}</span>'
    )
    return say_number(word(cost)) + (bound if certificate.status is Status.WITHIN_GAP else "")


def _links(of: Reported) -> list[str]:
    """The status of each answer, which leads to its certificate."""
    place = {proof: number for number, proof in enumerate(dict.fromkeys(of.proofs), 1)}
    return [f'<a href="#certificate-{place[proof]}">{status_told(proof.status)}</a>' for proof in of.proofs]
