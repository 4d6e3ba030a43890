"""An answer in sentences, from templates that can be translated and replaced. They never say more than is proven."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import floor, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from butfor.errors import InputError, InputTypeError, choice
from butfor.explanation.changes import Change, is_number, texts_of, texts_within, word
from butfor.explanation.column_words import ColumnWords, NumberStyle
from butfor.problem.spec import from_spec
from butfor.problem.targets.classes import Classes, Other, Probability
from butfor.problem.targets.safer import OtherBeyond
from butfor.problem.targets.values import ValueIn
from butfor.solvers.conflict import MODEL, RANGES
from butfor.solvers.outcome import Status
from butfor.views.languages import Templates, built_in, filled, languages
from butfor.views.text import score_name, visible
from butfor.views.words import blamed_in_words

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation

STYLES = ("letter", "brief", "technical")
"""The styles, each a table of the templates."""

WHOLE_LETTERS = ("customer", "customer_constraints")
"""The tables of whole letters. See `butfor.views.customer`."""

TABLES = ("numbers", "lists", "scores", "targets", "constraints", *STYLES, *WHOLE_LETTERS)

OF_CHANGES = ("change_level", "change_phrase", "change_within")
"""The templates beside "change". If that is replaced and they are not, it takes their place: one letter, one language."""


def render(
    answer: Explanation, style: str, language: str, templates: Mapping[str, Any] | str | os.PathLike[str] | None
) -> str:
    """The answer in sentences of a style and a language. `templates` take the place of the built-in ones."""
    if style not in STYLES:
        raise InputError(f"style={style!r} was given.", *choice("The styles are", style, STYLES, repr))
    known = templates_of(language, templates)
    return str(known[style]["join"]).join(filter(None, Letter(answer, known, style).sentences()))


class Letter:
    """The sentences about one answer."""

    def __init__(self, answer: Explanation, templates: Templates, style: str) -> None:
        self.answer, self.own, self.templates = answer, templates[style], templates
        self.lists, self.scores, self.targets = (templates[table] for table in ("lists", "scores", "targets"))
        self.numbers = NumberStyle(**templates["numbers"])
        self.in_percent = style == "letter"

    def sentences(self) -> Iterator[str]:
        """What the answer says, and what is proven about it, sentence by sentence."""
        answer = self.answer
        status = answer.certificate.status
        facts = {
            "now": self._told(answer.before), "wanted": self.wanted(), "solver": answer.certificate.solver,
            "answer": self._answer(),
        }  # fmt: skip
        if not answer.found:
            yield self._fill(status.name, facts)
            if status is Status.PROVEN_INFEASIBLE:
                yield from self._stands_in_the_way()
                yield from self._how_near()
            return
        if not answer.changes:
            yield self._fill("met", facts)
            return
        facts |= {"output": self._told(answer.after), "changes": self._changed(answer.actions)}
        yield from self._found(facts | {"outcome": self._outcome(facts)})
        if answer.consequences:
            yield self._fill("follows", {"changes": self._changed(answer.consequences)})
        yield self._fill("later" if answer.rank > 1 else status.name, facts | self._proof())
        yield self._fill("no_promise", facts)

    def _found(self, facts: dict[str, str]) -> Iterator[str]:
        """What would be different. If the prediction is the score itself, it is told once."""
        score = self.answer.score
        if score is None:
            yield self._fill("found", facts)
            return
        kind, output = score_name(self.answer, score)
        texts = (self._score(kind, text) for text in score.texts)
        facts = facts | {"score": self.score_name()} | dict(zip(("before", "after", "threshold"), texts, strict=False))
        itself = not output and isinstance(self.answer.after, float)
        if itself:
            facts |= {"before": facts["now"], "after": facts["output"]}
        yield self._fill("quantity" if itself else "found", facts)
        if not itself:
            yield self._fill("score", facts)
        if score.threshold is not None:
            yield self._fill("at_least" if score.up else "at_most", facts)

    def _stands_in_the_way(self) -> Iterator[str]:
        """The constraints, or the ranges, or the model, that make it impossible."""
        answer = self.answer
        conflict = answer.certificate.conflict
        own = {RANGES: "conflict_ranges", MODEL: "conflict_model"}
        told = blamed_in_words(
            answer.question, (text for text in conflict if text not in own), answer.words, self.templates
        )
        if told:
            yield self._fill("conflict", {"conflict": self._listed(told)})
        else:
            yield from (self._fill(own[text], {}) for text in conflict)

    def _how_near(self) -> Iterator[str]:
        """How far permitted changes get, and the closest of them that was found."""
        answer = self.answer
        farthest, score = answer.certificate.evidence.farthest, answer.score
        if score is None or farthest is None:
            return
        kind = score_name(answer, score)[0]
        reached, needed, closest = (
            "" if number is None else self._score(kind, f"{number:.4g}")
            for number in (farthest.reached, farthest.needed, farthest.closest)
        )
        yield self._fill("nearest", {"score": self.score_name(), "reached": reached, "needed": needed})
        if closest and answer.closest_changes:
            yield self._fill("closest", {"changes": self._changed(answer.closest_changes), "closest": closest})

    def score_name(self) -> str:
        """What the score is, in this language."""
        assert self.answer.score is not None
        kind, output = score_name(self.answer, self.answer.score)
        return self.filled_text(self.scores.get(kind, kind), {"output": output}, kind)

    def _score(self, kind: str, text: str) -> str:
        """A number of the score; a probability in per cent, in a letter."""
        if not (self.in_percent and kind == "probability of"):
            return self._number(text)
        share = f"{100 * Decimal(text):f}"
        return self._number(share.rstrip("0").rstrip(".") if "." in share else share) + "\N{NO-BREAK SPACE}%"

    def _proof(self) -> dict[str, str]:
        """What templates may say about cost and bound. The share is rounded down."""
        certificate = self.answer.certificate
        share = certificate.bound / certificate.cost if certificate.cost else 1.0
        return {
            "cost": self._number(word(self.answer.cost)),
            "bound": self._number(word(certificate.bound)),
            "share": f"{floor(100 * share)}\N{NO-BREAK SPACE}%",
            "by": self.answer.question.cost,
            "rank": str(self.answer.rank),
        }

    def _answer(self) -> str:
        """What a prediction is called."""
        words = self.answer.words.prediction if self.answer.words else None
        return self._within(words.label) if words is not None and words.label else str(self.lists["answer"])

    def _outcome(self, facts: Mapping[str, str]) -> str:
        """What the model would say, in the user's own clause if there is one."""
        words = self.answer.words.prediction if self.answer.words else None
        if words is not None and words.phrase and self.own["outcome"]:
            return self.filled_text(words.phrase, {"value": facts["output"]}, "phrase")
        return self._fill("outcome", facts)

    def _changed(self, changes: tuple[Change, ...]) -> str:
        return self._listed(list(map(self._change, changes)))

    def _within(self, label: str) -> str:
        """A label within a sentence."""
        lower = self.lists["lower_labels"] and self.own.get("join", " ") == " " and label[1:2].islower()
        return label[:1].lower() + label[1:] if lower else label

    def _change(self, change: Change) -> str:
        words = change.words or ColumnWords()
        before, after = texts_of(change, words, self.numbers)
        label = self._within(change.label) if change.words else change.label
        facts = {"label": label, "before": before, "after": after}
        if change.stays is not None:
            low, high = texts_within(*change.stays, words, self.numbers)
            return self._fill("change_within", facts | {"low": low, "high": high})
        if words.phrase:
            facts["phrase"] = self.filled_text(words.phrase, {"value": after}, "phrase")
            return self._fill("change_phrase", facts)
        return self._fill("change" if is_number(change.after) else "change_level", facts)

    def _told(self, output: Any) -> str:
        return self.answer.told(output, self.numbers) if self._named else self._number(word(output))

    @property
    def _named(self) -> bool:
        return self.answer.words is not None and self.answer.words.prediction is not None

    def _number(self, text: str) -> str:
        """A number in the style of the language; any other text as it is."""
        return self.numbers.apply(text, grouped=True) if set(text) <= set("-.0123456789") and text else text

    def _listed(self, texts: list[str]) -> str:
        if len(texts) == 1:
            return texts[0]
        comma, glue = str(self.lists["comma"]), str(self.lists["and"])
        return comma.join(texts[:-1]) + glue + texts[-1]

    def wanted(self) -> str:
        """The target in words. One that has no words in this language is given as it prints."""
        target = self.target()
        match target:
            case Classes(labels):
                return str(self.lists["or"]).join(map(self._told, labels))
            case Other():
                return str(self.targets["other"])
            case Probability(label, low, high) if target.one_sided:
                name, end = ("probability", low) if high == 1 else ("probability_at_most", high)
                facts = {"output": self._told(label), "threshold": self._number(word(end))}
                return self.filled_text(self.targets[name], facts, name)
            case ValueIn(low, high) if low == -inf or high == inf:
                name, end = ("at_most", high) if low == -inf else ("at_least", low)
                return self.filled_text(self.targets[name], {"threshold": self._number(word(end))}, name)
        return self.answer.question.target

    def target(self) -> Any:
        """The target that was asked for of this row; None if it is of a kind that is not known here."""
        try:
            target = from_spec(self.answer.question.spec.get("target"))
        except LookupError:
            return None
        return target.of(self.answer.before) if isinstance(target, OtherBeyond) else target

    def _fill(self, name: str, facts: Mapping[str, str]) -> str:
        """The template of this name, filled in."""
        return self.filled_text(self.own[name], facts, name)

    @classmethod
    def filled_text(cls, template: str, facts: Mapping[str, str], name: str) -> str:
        """A template, filled in. Control characters in what it tells are made visible."""
        return cls.joined(template, {one: visible(text) for one, text in facts.items()}, name)

    @staticmethod
    def joined(template: str, facts: Mapping[str, str], name: str) -> str:
        """A template, filled with texts that are made here."""
        try:
            return filled(template, facts)
        except (LookupError, ValueError) as error:
            raise InputError(
                f"the template {name!r} is {template!r} ({type(error).__name__}: {error}).",
                f"It may name {', '.join(f'{{{one}}}' for one in facts)}.",
            ) from None


def templates_of(language: str, given: Mapping[str, Any] | str | os.PathLike[str] | None) -> Templates:
    """The templates of a language, with those that were given in the place of the built-in ones."""
    known = languages()
    if language not in known and given is None:
        raise InputError(
            f"language={language!r} was given.",
            choice("The languages are", language, known, repr)[0],
            "Give templates= for another one.",
        )
    merged = {table: dict(rows) for table, rows in built_in(language if language in known else "en").items()}
    for table, rows in _read(given).items():
        if table not in TABLES or not isinstance(rows, Mapping):
            raise InputError(f"the templates have {table!r}.", *choice("Their tables are", table, TABLES))
        for name, template in rows.items():
            if table != "scores" and name not in merged[table]:
                raise InputError(
                    f"the templates have {name!r} in {table!r}.", *choice("The names there are", name, merged[table])
                )
            if type(template) is not type(merged[table].get(name, "")):
                raise InputTypeError(f"the template {name!r} in {table!r} is {template!r}.", "It must be a text.")
            merged[table][name] = template
        if "change" in rows:
            merged[table] |= {name: rows["change"] for name in OF_CHANGES if table in STYLES and name not in rows}
    return merged


def _read(given: Mapping[str, Any] | str | os.PathLike[str] | None) -> Mapping[str, Any]:
    if given is None or isinstance(given, Mapping):
        return given or {}
    if not isinstance(given, str | os.PathLike):
        raise InputTypeError(f"templates={given!r} were given.", "A dict or the path of a TOML file is needed.")
    try:
        return tomllib.loads(Path(given).read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise InputError(f"{given} is not TOML: {error}.", "The documentation shows the names.") from None
