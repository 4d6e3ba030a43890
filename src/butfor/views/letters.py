"""An answer in sentences, from templates that can be translated and replaced. They never say more than is proven."""

from __future__ import annotations

import os
import string
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from math import floor, inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from butfor.errors import InputError, InputTypeError, choice
from butfor.explanation.changes import Change, texts_of, texts_within, word
from butfor.explanation.column_words import ColumnWords, NumberStyle
from butfor.problem.spec import from_spec
from butfor.problem.targets.classes import Classes, Other, Probability
from butfor.problem.targets.values import ValueIn
from butfor.views.text import score_name, visible

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation

STYLES = ("letter", "brief", "technical")
"""The styles, each a table of the templates."""

TABLES = ("numbers", "lists", "scores", "targets", *STYLES)

Templates = dict[str, dict[str, Any]]


def render(
    answer: Explanation, style: str, language: str, templates: Mapping[str, Any] | str | os.PathLike[str] | None
) -> str:
    """The answer in sentences of a style and a language. `templates` take the place of the built-in ones."""
    if style not in STYLES:
        raise InputError(f"style={style!r} was given.", *choice("The styles are", style, STYLES, repr))
    known = _templates(language, templates)
    return str(known[style]["join"]).join(filter(None, Letter(answer, known, style).sentences()))


def languages() -> list[str]:
    """The languages that are built in."""
    names = (entry.name for entry in files("butfor.views.sentences").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


class Letter:
    """The sentences about one answer."""

    def __init__(self, answer: Explanation, templates: Templates, style: str) -> None:
        self.answer, self.own = answer, templates[style]
        self.lists, self.scores, self.targets = (templates[table] for table in ("lists", "scores", "targets"))
        self.numbers = NumberStyle(**templates["numbers"])

    def sentences(self) -> Iterator[str]:
        """What the answer says, and what is proven about it, sentence by sentence."""
        answer = self.answer
        status = answer.certificate.status
        facts = {"now": self._told(answer.before), "wanted": self._wanted(), "solver": answer.certificate.solver}
        if not answer.found:
            yield self._fill(status.name, facts)
            return
        if not answer.changes:
            yield self._fill("met", facts)
            return
        facts |= {"output": self._told(answer.after), "changes": self._listed(list(map(self._change, answer.changes)))}
        yield from self._found(facts)
        yield self._fill("later" if answer.rank > 1 else status.name, facts | self._proof())

    def _found(self, facts: dict[str, str]) -> Iterator[str]:
        """What would be different. If the prediction is the score itself, it is told once."""
        score = self.answer.score
        if score is None:
            yield self._fill("found", facts)
            return
        kind, output = score_name(self.answer, score)
        numbers = dict(zip(("before", "after", "threshold"), map(self._number, score.texts), strict=False))
        name = self._fill_text(self.scores.get(kind, kind), {"output": output}, kind)
        facts = facts | {"score": name} | numbers
        itself = not output and isinstance(self.answer.after, float)
        if itself:
            facts |= {"before": facts["now"], "after": facts["output"]}
        yield self._fill("quantity" if itself else "found", facts)
        if not itself:
            yield self._fill("score", facts)
        if score.threshold is not None:
            yield self._fill("at_least" if score.up else "at_most", facts)

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

    def _change(self, change: Change) -> str:
        words = change.words or ColumnWords()
        before, after = texts_of(change, words, self.numbers)
        label = change.label
        if self.lists["lower_labels"] and self.own["join"] == " " and label[1:2].islower() and change.words:
            label = label[:1].lower() + label[1:]
        facts = {"label": label, "before": before, "after": after}
        if change.stays is None:
            return self._fill("change", facts)
        low, high = texts_within(*change.stays, words, self.numbers)
        return self._fill("change_within", facts | {"low": low, "high": high})

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

    def _wanted(self) -> str:
        """The target in words. One that has no words in this language is given as it prints."""
        question = self.answer.question
        try:
            target = from_spec(question.spec.get("target"))
        except LookupError:
            target = None
        match target:
            case Classes(labels):
                return str(self.lists["or"]).join(map(self._told, labels))
            case Other():
                return str(self.targets["other"])
            case Probability(label, threshold):
                facts = {"output": self._told(label), "threshold": self._number(word(threshold))}
                return self._fill_text(self.targets["probability"], facts, "probability")
            case ValueIn(low, high) if low == -inf or high == inf:
                name, end = ("at_most", high) if low == -inf else ("at_least", low)
                return self._fill_text(self.targets[name], {"threshold": self._number(word(end))}, name)
        return question.target

    def _fill(self, name: str, facts: Mapping[str, str]) -> str:
        """The template of this name, filled in."""
        return self._fill_text(self.own[name], facts, name)

    @staticmethod
    def _fill_text(template: str, facts: Mapping[str, str], name: str) -> str:
        try:
            return _Plain().vformat(template, (), {one: visible(text) for one, text in facts.items()})
        except (LookupError, ValueError) as error:
            raise InputError(
                f"the template {name!r} is {template!r} ({type(error).__name__}: {error}).",
                f"It may name {', '.join(f'{{{one}}}' for one in facts)}.",
            ) from None


class _Plain(string.Formatter):
    """Fills in names and nothing else: no attributes, no formats."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return kwargs[field_name], field_name


@cache
def _built_in(language: str) -> Templates:
    return tomllib.loads(files("butfor.views.sentences").joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def _templates(language: str, given: Mapping[str, Any] | str | os.PathLike[str] | None) -> Templates:
    """The templates of a language, with those that were given in the place of the built-in ones."""
    known = languages()
    if language not in known and given is None:
        raise InputError(
            f"language={language!r} was given.",
            choice("The languages are", language, known, repr)[0],
            "Give templates= for another one.",
        )
    merged = {table: dict(rows) for table, rows in _built_in(language if language in known else "en").items()}
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
        if "change" in rows and "change_within" not in rows:  # a sentence of one language stays in it
            merged[table]["change_within"] = rows["change"]
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
