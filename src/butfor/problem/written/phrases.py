"""Constraints written as a word and what it is about, such as `fixed age, sex` or `within income:0.1`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from butfor.errors import InputError
from butfor.model.formula_text import read_formula, written
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.computed import ComputedColumn
from butfor.problem.constraints.confident_names import confident
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.follows_names import follows
from butfor.problem.constraints.linked_names import combinations, linked
from butfor.problem.written.numbers import number_at
from butfor.space.feature import Feature
from butfor.space.space import Space

QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"|`([^`]*)`")

LONE_QUOTE = re.compile(r"(?<!\w)['\"`]|['\"`](?!\w)")
"""A quote that is no apostrophe within a word."""

STANDS_QUOTED = re.compile(rf"(?<![^\s:,])(?:{QUOTED.pattern})(?=[\s:,]|$)")
"""A name in quotes among others. Whatever stands in it belongs to the name."""

QUOTED_OR_WORD = re.compile(rf"{STANDS_QUOTED.pattern}|\S+")


def unquoted(words: str) -> str:
    """Words without the quotes around them."""
    found = QUOTED.fullmatch(words.strip())
    return next(part for part in found.groups() if part is not None) if found else words.strip()


@dataclass(frozen=True)
class Phrase:
    """What stands after a word.

    - `form`: how to write it;
    - `read`: the constraint that it means. The errors show what was `given`.
    """

    form: str
    read: Callable[[str, Space, str], AbstractConstraint]

    @property
    def colons(self) -> int:
        """How many colons stand in it."""
        return self.form.count(":")


def read_phrase(word: str, rest: str, space: Space, given: str) -> AbstractConstraint:
    """The constraint that a word and its rest mean. The errors show what was `given`."""
    phrase, rest = PHRASES[word], re.sub(r"(?<=\d)\s+%", "%", rest)
    if phrase.colons and len(_parts(rest, phrase.colons)) <= phrase.colons:
        raise InputError(f"{given} was given.", f"Write it as {word} {phrase.form}.")
    return phrase.read(rest, space, given)


def split(words: str, known: Iterable[str]) -> list[str]:
    """The parts between commas, without quotes; the whole text if it is a known name."""
    return list(map(unquoted, _pieces(words, known)))


def _pieces(words: str, known: Iterable[str]) -> list[str]:
    """The same with quotes."""
    if words in set(known):
        return [words]
    names = [found.span() for found in STANDS_QUOTED.finditer(words)]
    commas = [k for k, sign in enumerate(words) if sign == "," and not any(a < k < b for a, b in names)]
    return [words[a + 1 : b].strip() for a, b in pairwise([-1, *commas, len(words)])]


def meant(words: str, known: Iterable[Any]) -> Any:
    """The known value that is written like this, or the only one that is so in small letters.

    If there is none, it is the words themselves. In that case, the code that uses them raises an error.
    """
    values = list(known)
    alike = [value for value in values if str(value).lower() == words.lower()]
    return next((value for value in values if str(value) == words), alike[0] if len(alike) == 1 else words)


def read_number(words: str, kind: Callable[[Any], Any], given: str, *, share: bool = False) -> Any:
    """A number, whole or not. A `share` may be in per cent."""
    with suppress(ValueError):
        return kind(words)
    found = number_at(words, 0)
    if (
        found is None
        or found.end < len(words)
        or found.better
        or found.percent > share
        or kind(found.value) != found.value
    ):
        better = f"Write {found.better}." if found is not None and found.better else ""
        raise InputError(f"{given} was given.", f"{words!r} is not a {'whole ' if kind is int else ''}number.", better)
    return kind(found.value)


def columns_in(words: str, space: Space) -> list[str]:
    """The names between commas or spaces. The longest known name counts, so that a name may hold spaces."""
    found: list[str] = []
    for part in _pieces(words, space.names):
        left = [word.group() for word in QUOTED_OR_WORD.finditer(part)]
        while left:
            size = next((n for n in range(len(left), 1, -1) if " ".join(left[:n]) in space.names), 1)
            found.append(unquoted(" ".join(left[:size])))
            left = left[size:]
    return found


def _several(words: str, space: Space, given: str) -> list[str]:
    """At least two columns."""
    names = columns_in(words, space)
    if len(names) < 2:
        raise InputError(f"{given} was given.", "It takes at least two columns.")
    return names


def _parts(words: str, count: int) -> list[str]:
    """The column, and the `count` parts after colons. Spaces do as well as colons."""
    return list(map(unquoted, _in_quotes(words, count)))


def _in_quotes(words: str, count: int) -> list[str]:
    """The same with quotes."""
    named = STANDS_QUOTED.match(words)
    if named is None:
        return words.rsplit(":" if words.count(":") >= count else None, count)
    rest = words[named.end() :].strip(" :")
    return [named.group(), *rest.split(":" if rest.count(":") >= count - 1 else None, count - 1)]


def _between(words: str, space: Space, given: str) -> AbstractConstraint:
    name, low, high = _parts(words, 2)
    return rule.between(name, _end(low, space[name], given), _end(high, space[name], given))


def _end(words: str, feature: Feature, given: str) -> Any:
    """An end of an interval: a level, or a number."""
    if feature.levels is not None and feature.numbers is None:
        return meant(words, feature.levels)
    return read_number(words, float, given)


def _within(words: str, space: Space, given: str) -> AbstractConstraint:
    name, share = _parts(words, 1)
    return rule.within(name, read_number(share, float, given, share=True))


def _step(words: str, space: Space, given: str) -> AbstractConstraint:
    name, size = _parts(words, 1)
    return rule.step(name, read_number(size, float, given))


def _follows(words: str, space: Space, given: str) -> AbstractConstraint:
    name, by, of = _parts(words, 2)
    return follows(name, read_number(by, float, given, share=True), of)


def _allowed(words: str, space: Space, given: str) -> AbstractConstraint:
    by_colon = words.rpartition(":")[0].strip() in space.names or STANDS_QUOTED.match(words) or len(words.split()) < 2
    name, values = _in_quotes(words, 1) if by_colon else words.split(None, 1)
    name = unquoted(name)
    known = space[name].levels or ()
    return rule.allowed(name, [meant(value, known) for value in split(values, map(str, known))])


def _robust(words: str, space: Space, given: str) -> AbstractConstraint:
    """A radius for all real numbers, or one per column after a colon."""
    if ":" not in words:
        return rule.robust(read_number(words, float, given, share=True))
    pairs = [_parts(part, 1) for part in _pieces(words, space.names)]
    if any(len(pair) < 2 for pair in pairs):
        raise InputError(f"{given} was given.", "Write it as robust R, or robust A:R,B:R.")
    return rule.robust({name: read_number(length, float, given) for name, length in pairs})


def read_computed(words: str, space: Space, given: str) -> AbstractConstraint:
    """A column, an equals sign, and a formula of other columns."""
    name, sign, rest = words.partition("=")
    if not sign:
        raise InputError(f"{given} was given.", "Write it as computed A = FORMULA.")
    return ComputedColumn(unquoted(name), written(read_formula(rest.lstrip("="), space.names)))


PHRASES: dict[str, Phrase] = {
    "fixed": Phrase("A,B", lambda words, space, given: rule.fixed(columns_in(words, space))),
    "only_up": Phrase("A,B", lambda words, space, given: rule.only_up(columns_in(words, space))),
    "only_down": Phrase("A,B", lambda words, space, given: rule.only_down(columns_in(words, space))),
    "may_be_missing": Phrase("A,B", lambda words, space, given: rule.may_be_missing(columns_in(words, space))),
    "between": Phrase("A:LOW:HIGH", _between),
    "within": Phrase("A:SHARE", _within),
    "step": Phrase("A:STEP", _step),
    "whole": Phrase("A", lambda words, space, given: rule.whole(unquoted(words))),
    "allowed": Phrase("A:X,Y", _allowed),
    "at_most_changes": Phrase("N", lambda words, space, given: rule.at_most_changes(read_number(words, int, given))),
    "linked": Phrase("A,B", lambda words, space, given: linked(*_several(words, space, given))),
    "combinations": Phrase("A,B", lambda words, space, given: combinations(*_several(words, space, given))),
    "computed": Phrase("A = FORMULA", read_computed),
    "follows": Phrase("A:BY:B", _follows),
    "robust": Phrase("R", _robust),
    "confident": Phrase("LEVEL", lambda words, space, given: confident(read_number(words, float, given, share=True))),
    "margin": Phrase("EPS", lambda words, space, given: rule.margin(read_number(words, float, given, share=True))),
}
"""What stands after each word. The words are those of `bf`."""
