"""An answer as text: a table of changes, and its certificate."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from butfor.explanation.changes import Change, word
from butfor.explanation.explanations import Explanations
from butfor.problem.targets.class_scores import SCORE_NAMES
from butfor.problem.targets.score import Score
from butfor.solvers.outcome import Status
from butfor.views import survival_words
from butfor.views.words import by_changing, promised_in_words

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation

TEXT_WIDTH = 100
"""The width of a printed answer, in characters."""

ANSWERS_LISTED = 20
"""How many answers are listed."""

CHANGES_LISTED = 40
"""How many changes of one answer are listed."""


NO_BREAK = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"


def headline(answer: Explanation) -> str:
    """One line: what the model predicts now, and what it would predict."""
    now = answer.told(answer.before)
    if answer.certificate.status is Status.PROVEN_INFEASIBLE:
        return f"{now}: no admissible change makes it {wanted(answer)}"
    if not answer.found:
        return f"{now}: no change was found that makes it {wanted(answer)}"
    if not answer.changes:
        return f"{now}: {answer.certificate.why}"
    target = survival_words.target_of(answer)
    if target is not None:
        return survival_words.headline(answer, target)
    return f"{now} → {answer.told(answer.after)}, {by_changing(answer)}"


def wanted(answer: Explanation) -> str:
    """The target in words: the classes as the user calls them."""
    spec = answer.question.spec.get("target")
    if answer.words is None or not isinstance(spec, dict) or spec.get("kind") != "Classes":
        return answer.question.target
    return " or ".join(answer.told(label) for label in spec["labels"])


def scored(answer: Explanation) -> str:
    """The score in words, with its class as the user calls it."""
    score = answer.score
    if score is None:
        return ""
    return str(replace(score, of=" ".join(filter(None, score_name(answer, score)))))


def score_name(answer: Explanation, score: Score) -> tuple[str, str]:
    """The kind of a score, and the class that it is about (empty if it is about a quantity)."""
    for kind in SCORE_NAMES.values():
        if score.of.startswith(f"{kind} "):
            return kind, answer.told(score.of.removeprefix(f"{kind} "))
    return score.of, ""


def score_line(answer: Explanation) -> str:
    """One line: the score before and after, and what is needed. Empty if nothing more is known than the headline says."""
    if answer.score is None or (answer.changes and survival_words.target_of(answer)):
        return ""
    return scored(answer)


def footer(answer: Explanation) -> str:
    """One line: cost and certificate."""
    cost = f"cost {word(answer.cost)} by {answer.question.cost}; " if answer.found else ""
    return f"{cost}{answer.certificate.status.short}: {answer.certificate.why}"


def panel(answer: Explanation) -> Any:
    """A rich renderable of one answer."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [Text(headline(answer), style="bold")]
    scored = score_line(answer)
    if scored:
        parts.append(Text(visible(scored)))
    if answer.changes:
        boxed = any(change.stays for change in answer.changes)
        led = any(change.follows for change in answer.changes)
        more = {"by itself": "right"} if led else {}
        more |= {"stays valid": "left"} if boxed else {}
        table = _table("column", before="right", after="right", change="right", **more)
        for change in answer.changes[:CHANGES_LISTED]:
            facts = [*([change.follows] if led else []), *([stays(change)] if boxed else [])]
            _add(table, change.label, *change.text, change.difference, *facts)
        parts.append(table)
    rest = len(answer.changes) - CHANGES_LISTED
    if rest > 0:
        parts.append(Text(f"and {rest} more changes", style="dim"))
    parts += [Text(visible(promise)) for promise in promises(answer)]
    return Group(*parts, Text(footer(answer), style="green" if answer.found else "yellow"))


def stays(change: Change) -> str:
    """The values of a column that the answer may take, too; empty if none were promised."""
    if change.stays is None:
        return ""
    low, high = change.show_within(*change.stays)
    return f"from {low} to {high}"


def promises(answer: Explanation) -> list[str]:
    """What an answer was asked to survive, in words."""
    return promised_in_words(answer.question, answer.words) if answer.found and answer.changes else []


def panel_many(answers: Sequence[Explanation]) -> Any:
    """A rich renderable with one line per answer."""
    from rich.console import Group
    from rich.text import Text

    shown = answers[:ANSWERS_LISTED]
    several = any(one.rank > 1 for one in shown)
    names = {"answer": "right"} if several else {}
    table = _table("row", **names, before="left", after="left", changes="left", cost="right", status="left")
    for one in shown:
        words = "; ".join(map(_in_short, one.changes[:CHANGES_LISTED]))
        rest = len(one.changes) - CHANGES_LISTED
        _add(
            table,
            str(one.label),
            *([str(one.rank)] if several else []),
            one.told(one.before),
            one.told(one.after) if one.found else "",
            words + (f"; and {rest} more" if rest > 0 else ""),
            f"{one.cost:.4g}" if one.found else "",
            one.certificate.status.short,
        )
    rest = len(answers) - ANSWERS_LISTED
    more = [Text(f"and {rest} more")] if rest > 0 else []
    if isinstance(answers, Explanations) and answers.cut_short:
        more.append(Text(answers.summary, style="yellow"))
    return Group(table, *more) if more else table


def _in_short(change: Change) -> str:
    """A change in a list of many."""
    return f"{change.label} {change.text[0]} → {change.text[1]}" + " (by itself)" * change.by_itself


def _table(first: str, **justify: Any) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name, side in {first: "left", **justify}.items():
        table.add_column(name, justify=side, overflow="fold")
    return table


def _add(table: Any, *cells: str) -> None:
    """Add a line of user text. Markup is not interpreted, and control characters are made visible."""
    from rich.text import Text

    table.add_row(*(Text(visible(cell).replace("\N{NO-BREAK SPACE}", " ")) for cell in cells))


def visible(text: str) -> str:
    """The text with its control characters made visible. Spaces that do not break a line are none."""
    return "".join(c if c.isprintable() or c in NO_BREAK else repr(c)[1:-1] for c in text)


def table(names: Sequence[str], lines: Iterable[Sequence[str]]) -> Any:
    """A rich table of texts that may be long. Spaces and solvers are listed in it."""
    made = _table(*names[:1], **dict.fromkeys(names[1:], "left"))
    made.padding = (0, 1)
    for line in lines:
        _add(made, *line)
    return made


def render(answer: Explanation) -> str:
    """The answer as plain text."""
    return plain(panel(answer))


def render_many(answers: Sequence[Explanation]) -> str:
    """The answers as plain text."""
    return plain(panel_many(answers))


def plain(renderable: Any) -> str:
    """Anything that rich can print, as text without colours or trailing spaces."""
    from rich.console import Console

    out = StringIO()
    console = Console(file=out, width=TEXT_WIDTH, color_system=None, legacy_windows=False, force_jupyter=False)
    console.print(renderable)
    text = "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))
    return text if _writes("→") else text.replace("→", "->")


def _writes(character: str) -> bool:
    """Whether the encoding of standard output has this character."""
    try:
        character.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, AttributeError):
        return False
    return True
