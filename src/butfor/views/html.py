"""An answer as HTML: a card, and a fragment for a notebook. `butfor.report` makes whole pages of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from json import dumps
from typing import TYPE_CHECKING, Any

from butfor.explanation.changes import Change, word
from butfor.solvers.outcome import Status
from butfor.space.feature import Feature
from butfor.verdict.certificate import Certificate
from butfor.views.languages import built_in, say, say_number, spoken
from butfor.views.markup import isolated, pairs, part, phrase, sentence
from butfor.views.page_words import (
    check_told,
    difference_told,
    headline_told,
    output_told,
    score_told,
    status_told,
    stays_told,
    texts_told,
    value_told,
    wanted_told,
    why_told,
)
from butfor.views.words import constraints_in_words, cost_in_words

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation
    from butfor.explanation.explanations import Explanations

ANSWERS_IN_A_NOTEBOOK = 20
"""How many answers a notebook lists."""

LONG_VALUES = 60
"""If the values of a column take more characters than this, they are only counted."""

DRAWING_WIDTH, DRAWING_EDGE = 208, 6
"""The width of the drawing of a range, and the room on its left and right."""


def fragment(answer: Explanation) -> str:
    """The answer for a notebook."""
    return f"<style>{style()}</style>{card(answer)}"


def fragment_many(answers: Explanations) -> str:
    """One line per answer, for a notebook."""
    rest = len(answers) - ANSWERS_IN_A_NOTEBOOK
    more = f'<p class="note">and {rest} more</p>' if rest > 0 else ""
    return f'<style>{style()}</style><section class="butfor">{_list(answers[:ANSWERS_IN_A_NOTEBOOK])}{more}</section>'


@cache
def style() -> str:
    """The style sheet of all fragments and pages."""
    return files("butfor.views").joinpath("style.css").read_text(encoding="utf-8")


def card(answer: Explanation) -> str:
    """Everything about an answer."""
    return (
        f'<section class="butfor">{outline(answer)}'
        f'<div class="facts">{_certificate(answer)}{asked(answer)}{_origin(answer)}</div></section>'
    )


def outline(answer: Explanation) -> str:
    """What changes and what stays. The certificate and the question are left out."""
    return f"{_head(answer)}{_changes(answer)}{_kept(answer)}"


def _head(answer: Explanation) -> str:
    status = answer.certificate.status
    tone = "found" if status.found else "impossible" if status is Status.PROVEN_INFEASIBLE else "open"
    place = say("Answer {rank} to row {row}.", rank=str(answer.rank), row=str(answer.label)) if answer.rank > 1 else ""
    if answer.found and answer.changes:
        count, more = len(answer.actions), len(answer.consequences)
        title = (
            f'<span class="was">{isolated(output_told(answer, answer.before))} →</span> '
            f"{isolated(output_told(answer, answer.after))}"
        )
        cost = say_number(word(float(f"{answer.cost:.4g}")))
        kind = "By changing {count} of {all} columns, at a cost of {cost}."
        sub = say(kind, count=str(count), all=str(len(answer.space)), cost=cost)
        if more:
            follow = "1 more follows by itself." if more == 1 else "{count} more follow by themselves."
            sub += f" {say(follow, count=str(more))}"
    else:
        meaning = say(status.value)
        title, sub = isolated(headline_told(answer)), "" if answer.found else f"{meaning[:1].upper()}{meaning[1:]}."
    scored = score_told(answer)
    sub = " ".join(filter(None, [escape(place), escape(sub), sentence(scored) if scored else ""]))
    return f'<p class="badge {tone}">{status_told(status.short)}</p><h2>{title}</h2><p class="sub">{sub}</p>'


def _changes(answer: Explanation) -> str:
    if not answer.changes:
        return ""
    head = f'<th scope="col">{say("Column")}</th>'
    head += "".join(f'<th scope="col" class="number">{say(label)}</th>' for label in ("Before", "After", "Change"))
    led, boxed = (any(getattr(change, fact) for change in answer.changes) for fact in ("follows", "stays"))
    head += f'<th scope="col" class="number">{say("By itself")}</th>' if led else ""
    head += f'<th scope="col">{say("Stays valid")}</th>' if boxed else ""
    keys = f'<span class="key was">{say("before")}</span> <span class="key is">{say("after")}</span>'
    head += f'<th scope="col">{say("On its range:")} {keys}</th>'
    body = "".join(_change(change, answer, led, boxed) for change in answer.changes)
    return f'<table class="changes"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _change(change: Change, answer: Explanation, led: bool, boxed: bool) -> str:
    before, after = texts_told(change)
    follows = _signed(difference_told(change.following)) if change.follows else ""
    more = f'<td class="number change" data-label="{say("By itself")}">{follows}</td>' if led else ""
    stay = f'<td data-label="{say("Stays valid")}">{isolated(stays_told(change))}</td>' if boxed else ""
    where = _drawing(change) or f'<span class="more">{isolated(_values(answer.space[change.name]))}</span>'
    return (
        f'<tr><th scope="row">{isolated(change.label)}</th>'
        f'<td class="number before" data-label="{say("Before")}">{isolated(before)}</td>'
        f'<td class="number after" data-label="{say("After")}">{isolated(after)}</td>'
        f'<td class="number change" data-label="{say("Change")}">{_signed(difference_told(change))}</td>{more}{stay}'
        f'<td class="where">{where}</td></tr>'
    )


def _signed(text: str) -> str:
    """A signed change with a minus of its full width; nothing for a level."""
    return isolated(f"−{text[1:]}" if text.startswith("-") else text) if text else ""


def _values(feature: Feature) -> str:
    """The values of a column; only their number if the list would be long."""
    words = feature.describe()
    return words if len(words) <= LONG_VALUES else say("one of {count} values", count=str(len(feature.levels or ())))


def _drawing(change: Change) -> str:
    """The range of a number as a line. A stroke marks the old value, a dot the new one, a band where it stays valid."""
    if change.position is None or change.ends is None:
        return ""
    first, last = min(0.0, *change.position), max(1.0, *change.position)
    width = DRAWING_WIDTH - 2 * DRAWING_EDGE

    def at(share: float) -> str:
        return f"{DRAWING_EDGE + width * (share - first) / (last - first):.1f}"

    was, is_ = (at(share) for share in change.position)
    low, high = at(0.0), at(1.0)
    before, after = texts_told(change)
    ends = [value_told(change, end) for end in change.ends]
    promise = say("; it stays valid {stays}", stays=stays_told(change)) if change.stays else ""
    moved = say(
        "from {before} to {after}, on a range of {low} to {high}", before=before, after=after, low=ends[0], high=ends[1]
    )
    label = escape(moved + promise, quote=True)
    band = ""
    if change.stays:
        shares = ((end - change.ends[0]) / (change.ends[1] - change.ends[0]) for end in change.stays)
        x1, x2 = (at(min(max(share, first), last)) for share in shares)
        band = f'<line class="stays" x1="{x1}" y1="11" x2="{x2}" y2="11"/>'
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {DRAWING_WIDTH} 34" xmlns="http://www.w3.org/2000/svg">'
        f'<line class="track" x1="{low}" y1="11" x2="{high}" y2="11"/>{band}'
        f'<line class="path" x1="{was}" y1="11" x2="{is_}" y2="11"/>'
        f'<line class="was" x1="{was}" y1="4" x2="{was}" y2="18"/>'
        f'<circle class="is" cx="{is_}" cy="11" r="5"/>'
        f'<text x="{low}" y="32">{escape(ends[0])}</text><text x="{high}" y="32" text-anchor="end">{escape(ends[1])}</text></svg>'
    )


def _kept(answer: Explanation) -> str:
    kept = [row for row in answer.columns() if not row.changed]
    if not kept:
        return ""
    listed = "".join(
        f"<div><dt>{isolated(row.label)}</dt><dd>{isolated(texts_told(row)[0])}</dd></div>" for row in kept
    )
    plural = "1 column stays as it is" if len(kept) == 1 else "{count} columns stay as they are"
    title = say(plural, count=str(len(kept))) if answer.found else say("The row as it is")
    return f'<details><summary>{title}</summary><dl class="kept">{listed}</dl></details>'


def _certificate(answer: Explanation) -> str:
    certificate = answer.certificate
    checks = "".join(
        f'<li class="{"passed" if fine else "failed"}">{isolated(check_told(name, answer))}</li>'
        for name, fine in certificate.checks
    )
    facts: list[tuple[str, str]] = []
    if answer.found:
        facts = [("Cost", say_number(word(answer.cost))), ("Proven bound", say_number(word(certificate.bound)))]
        if certificate.status is Status.WITHIN_GAP:
            facts.append(("Gap", f"{say_number(f'{100 * certificate.gap:.2f}')}%"))
    facts += [(title, say_number(word(number))) for title, number in _evidence(certificate) if number is not None]
    body = f"<p>{sentence(why_told(certificate, answer))}</p>{_pairs(facts)}{_closest(answer)}"
    if checks:
        body += f'<p class="note">{say("Recomputed with the model itself:")}</p><ul class="checks">{checks}</ul>'
    return part(say("Certificate"), body)


def _evidence(certificate: Certificate) -> Iterator[tuple[str, float | None]]:
    """What else is known, with the name of each number."""
    around, farthest = certificate.evidence.around, certificate.evidence.farthest
    if around is not None:
        yield "Neighbours that the model predicted", around.predicted
        yield "Score of the worst neighbour", around.score
    if farthest is not None:
        yield "Needed", farthest.needed
        yield "Reached at most", farthest.reached
        yield "Reached by the closest row found", farthest.closest


def _pairs(facts: Sequence[tuple[str, str]]) -> str:
    """Facts with their names in the language of the page."""
    return pairs((say(name), value) for name, value in facts)


def _closest(answer: Explanation) -> str:
    """What the closest row changes, if there is no answer and one is known."""
    if answer.closest_codes is None:
        return ""
    moved = "".join(
        f"<li>{isolated(one.label)} {' → '.join(map(isolated, texts_told(one)))}</li>" for one in answer.closest_changes
    )
    nothing = f"<li>{say('nothing')}</li>"
    return f'<p class="note">{say("The closest row changes")}</p><ul>{moved or nothing}</ul>'


def asked(answer: Explanation) -> str:
    """The question: what was wanted, at what cost, under which constraints."""
    question = answer.question
    rules = "".join(
        f"<li>{phrase(rule)}</li>" for rule in constraints_in_words(question, answer.words, built_in(spoken()))
    )
    body = _pairs([("Wanted", wanted_told(answer)), ("Cost", cost_in_words(question, answer.words))])
    under = f'<p class="note">{say("under these constraints:")}</p><ul>{rules}</ul>' if rules else ""
    return part(say("The question"), body + under)


def _origin(answer: Explanation) -> str:
    certificate = answer.certificate
    versions = ", ".join(f"{name} {version}" for name, version in certificate.versions.items())
    facts = [
        ("Model", answer.model),
        ("Fingerprint", certificate.fingerprint),
        ("Data fingerprint", answer.data_fingerprint),
        ("Row", str(answer.label)),
        ("Method", certificate.solver),
        ("Time", f"{say_number(f'{certificate.seconds:.3g}')} s"),
        ("Seed", str(certificate.seed)),
        ("Made", answer.created.replace("T", " ").replace("+00:00", " UTC")),
        ("Versions", versions),
    ]
    return part(
        say("Where it comes from"), pairs([*((say(name), value) for name, value in facts), *noted(answer.meta)])
    )


def noted(meta: dict[str, Any]) -> list[tuple[str, str]]:
    """What was noted with an answer, as facts with names."""
    return [
        (escape(name), one if isinstance(one, str) else dumps(one, ensure_ascii=False)) for name, one in meta.items()
    ]


def _list(answers: Sequence[Explanation]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Row", "Before", "After", "Changes", "Cost", "Status"))
    lines = []
    for one in answers:
        name = escape(str(one.label)) + (f", answer {one.rank}" if one.rank > 1 else "")
        changes = "<br>".join(f"{isolated(c.label)} {isolated(c.text[0])} → {isolated(c.text[1])}" for c in one.changes)
        cost = word(one.cost) if one.found else ""
        after = isolated(one.told(one.after)) if one.found else ""
        cells = (isolated(one.told(one.before)), after, changes, cost, one.certificate.status.short)
        lines.append(f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    body = "".join(lines)
    return f'<div class="scroll"><table class="list"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
