"""A whole letter to the person whom a row is about: date, reference, greeting, what to change, and whom to ask.

It uses none of the words of this library. What is proven is told only if that is asked for.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from butfor.errors import InputError, InputTypeError
from butfor.explanation.changes import Change, texts_of, texts_within
from butfor.explanation.column_words import ColumnWords
from butfor.problem.targets.score import close
from butfor.problem.targets.values import ValueIn
from butfor.solvers.conflict import MODEL, RANGES
from butfor.solvers.outcome import Status
from butfor.views.languages import Templates
from butfor.views.letters import Letter, templates_of
from butfor.views.text import score_name, visible
from butfor.views.words import blamed_in_words

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation

BULLET = "- "

TELLING_DIGITS = range(3, 18)
"""With how many digits it is told how near permitted changes come: as few as tell that from what is needed."""

LETTER_PARTS = ("date", "reference", "greeting", "text", "contact", "closing")
"""What a template of a letter may name. It must name the text."""

Template = str | os.PathLike[str] | None
Day = dt.date | str | None


def render(
    answers: Explanation | Sequence[Explanation],
    language: str = "en",
    template: Template = None,
    *,
    date: Day = None,
    reference: str = "",
    contact: str = "",
    proof: bool = False,
    templates: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> str:
    """The letter about the answers to one row."""
    ways = list(answers) if isinstance(answers, Sequence) else [answers]
    _check(ways, reference, contact)
    known = templates_of(language, templates)
    letter = CustomerLetter(ways, known, proof)
    return letter.page(_frame(template), _day(date, ways[0].created, known["customer"]), reference, contact)


class CustomerLetter(Letter):
    """The paragraphs of a letter. Several answers to its row are several ways."""

    def __init__(self, ways: Sequence[Explanation], templates: Templates, proof: bool) -> None:
        plain = {**templates, "constraints": templates["constraints"] | templates["customer_constraints"]}
        super().__init__(ways[0], plain, "customer")
        self.ways, self.proof, self.in_percent = ways, proof, True

    def page(self, frame: str, day: str, reference: str, contact: str) -> str:
        """The whole letter. What is empty leaves no gap."""
        own = self.own
        parts = {
            "date": day,
            "reference": self._fill("reference", {"reference": reference}) if reference else "",
            "greeting": own["greeting"],
            "text": "\n\n".join(filter(None, self.paragraphs())),
            "contact": self._fill("contact", {"contact": contact}) if contact else "",
            "closing": own["closing"],
        }
        filled = self.joined(frame or own["page"], parts, "page")
        return "\n\n".join(part for part in filled.strip("\n").split("\n\n") if part.strip())

    def paragraphs(self) -> Iterator[str]:
        """What the answer is, what would change it or stands in the way, and that it is no promise."""
        first, facts = self.ways[0], self._facts(self.ways[0])
        yield self._fill("opening", facts)
        if not first.found:
            yield from self._not_found(facts)
            yield self._fill("may_change", facts)
            return
        if not first.changes:
            yield self._fill("met", facts)
            return
        for number, way in enumerate(way for way in self.ways if way.found):
            yield from self._way(way, self._facts(way), "another" if number else "found")
        if any(len(way.actions) > 1 for way in self.ways):
            yield self._fill("together", facts)
        yield self._fill("no_promise", facts)

    def _facts(self, way: Explanation) -> dict[str, str]:
        wanted = self.wanted()
        return {
            "now": self._quoted(way.before),
            "output": self._quoted(way.after) if way.found else "",
            "wanted": wanted if isinstance(self.target(), ValueIn) else self._in_quotes(wanted),
            "answer": self._subject(),
        }

    def _way(self, way: Explanation, facts: dict[str, str], name: str) -> Iterator[str]:
        """One way: its changes in a list, and what follows from them."""
        words = way.words.prediction if way.words else None
        clause = {"output": self._told(way.after)} if words and words.phrase else {}  # a clause has no quotation marks
        outcome = self._outcome(facts | clause)
        yield self._fill(name, facts | {"outcome": outcome}) + self._list(map(self._change, way.actions))
        if way.consequences:
            yield self._fill("follows", facts) + self._list(map(self._change, way.consequences))
        if self.proof:
            self.answer = way
            status = "later" if way.rank > 1 else way.certificate.status.name
            yield self.filled_text(self.templates["letter"][status], facts | self._proof(), status)

    def _not_found(self, facts: dict[str, str]) -> Iterator[str]:
        """What stands in the way, and how near permitted changes come."""
        status = self.answer.certificate.status
        yield self._fill(status.name, facts)
        if status is not Status.PROVEN_INFEASIBLE:
            return
        yield self._in_the_way(facts)
        yield from self._how_near()
        if self.proof:
            yield self.filled_text(
                self.templates["letter"][status.name], facts | {"wanted": self.wanted()}, status.name
            )

    def _in_the_way(self, facts: dict[str, str]) -> str:
        answer = self.answer
        own = {RANGES: "conflict_ranges", MODEL: "conflict_model"}
        conflict = answer.certificate.conflict
        rest = [text for text in conflict if text not in own]
        told = blamed_in_words(answer.question, rest, answer.words, self.templates)
        if told:
            return self._fill("conflict", facts) + self._list(told)
        return " ".join(self._fill(own[text], facts) for text in conflict)

    def _how_near(self) -> Iterator[str]:
        answer = self.answer
        farthest, score = answer.certificate.evidence.farthest, answer.score
        if score is None or farthest is None:
            return
        kind, up = score_name(answer, score)[0], farthest.way > 0
        reached, needed = _apart(farthest.reached, farthest.needed, outwards=True)
        facts = {
            "score": self.score_name(),
            "reached": self._score(kind, reached),
            "needed": self._score(kind, needed),
        }
        yield self._fill("nearest_least" if up else "nearest_most", facts)
        changed = answer.closest_changes
        if changed and farthest.closest is not None:
            tight = close(farthest.closest, farthest.reached)
            closest = reached if tight else _apart(farthest.closest, farthest.needed, outwards=False)[0]
            yield self._fill("closest", {"closest": self._score(kind, closest)}) + self._list(
                map(self._change, changed)
            )

    def _change(self, change: Change) -> str:
        """A line of the list. A label stands alone there, so a phrase with its article is not needed."""
        words = change.words or ColumnWords()
        before, after = texts_of(change, words, self.numbers)
        facts = {"label": change.label, "before": before, "after": after}
        if change.stays is None:
            return self._fill("change", facts)
        low, high = texts_within(*change.stays, words, self.numbers)
        return self._fill("change_within", facts | {"low": low, "high": high})

    @staticmethod
    def _list(lines: Iterable[str]) -> str:
        return "".join(f"\n{BULLET}{line}" for line in lines)

    def _subject(self) -> str:
        """What a prediction is called. A number that nobody has named is called what the score is."""
        words = self.answer.words.prediction if self.answer.words else None
        number = isinstance(self.answer.before, float) and self.answer.score is not None
        return self.score_name() if number and not (words and words.label) else self._answer()

    def _quoted(self, output: Any) -> str:
        """A prediction: a number as it is, and a class in quotation marks."""
        told = self._told(output)
        return told if isinstance(output, float) else self._in_quotes(told)

    def _in_quotes(self, text: str) -> str:
        return self._fill("quoted", {"text": text})


def _apart(number: float, needed: float, *, outwards: bool) -> tuple[str, str]:
    """Two numbers as short texts that differ. The first is rounded towards the second, or away from it."""
    rounding = ROUND_CEILING if (needed >= number) == outwards else ROUND_FLOOR
    if not (isfinite(number) and isfinite(needed)):
        return str(number), str(needed)
    exact, goal = Decimal(repr(number)), Decimal(repr(needed))
    steps = (Decimal((0, (1,), min(exact.adjusted() - digits + 1, 0))) for digits in TELLING_DIGITS)
    rounded = (exact.quantize(step, rounding) for step in steps)
    return _plain(next((one for one in rounded if one != goal), exact)), _plain(goal)


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _check(ways: Sequence[Explanation], reference: str, contact: str) -> None:
    for name, given in (("reference", reference), ("contact", contact)):
        if not isinstance(given, str):
            raise InputTypeError(f"{name}={given!r} was given.", "It must be a text.")
    if not ways:
        raise InputError("no answer was given.", "A letter is about the answers to one row.")
    rows = {way.row for way in ways}
    if len(rows) > 1:
        raise InputError(
            f"these are answers to {len(rows)} rows.",
            "A letter is about one row.",
            "answers.letters(folder) writes one for each row.",
        )


def _frame(template: Template) -> str:
    """The text of a template, which must have a place for the text of the letter."""
    if template is None:
        return ""
    if not isinstance(template, str | os.PathLike):
        raise InputTypeError(f"template={template!r} was given.", "A text, or the pathlib.Path of a file, is needed.")
    frame = template if isinstance(template, str) else Path(template).read_text(encoding="utf-8-sig")
    if "{text}" not in frame:
        shown = repr(template) if isinstance(template, str) else str(template)
        raise InputError(
            f"the template {shown} has no {{text}}.",
            f"It is the text of a letter, with the names {', '.join(f'{{{one}}}' for one in LETTER_PARTS)} in it.",
            "A file is given as pathlib.Path(...).",
        )
    return frame.replace("\r\n", "\n")


def _day(given: Day, created: str, own: Mapping[str, Any]) -> str:
    """The date of the letter in the language's own way."""
    if isinstance(given, str):
        return visible(given)
    day = dt.datetime.fromisoformat(created).date() if given is None else given
    if not isinstance(day, dt.date):
        raise InputTypeError(f"date={given!r} was given.", "A datetime.date, or a text, is needed.")
    facts = {"day": str(day.day), "month": own["months"][day.month - 1], "year": str(day.year)}
    return CustomerLetter.filled_text(own["date"], facts, "date")
