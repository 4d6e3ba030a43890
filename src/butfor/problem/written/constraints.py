"""Constraints as users write them: objects, texts, one of either, or a collection of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from butfor.errors import InputError, InputTypeError, did_you_mean
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.written.comparisons import compares, read_comparison, unreadable
from butfor.problem.written.conditions import IF, is_condition, is_consequence, read_condition, read_consequence
from butfor.problem.written.phrases import LONE_QUOTE, PHRASES, QUOTED, read_phrase
from butfor.space.encodings import Encoding
from butfor.space.space import Space

Constraints = Iterable[AbstractConstraint | str] | AbstractConstraint | str
"""What may be given as constraints."""

GIVABLE = (
    "A constraint must be bf.fixed(...), bf.only_up(...), bf.between(...), ... or a text such as 'income <= 90000'."
)


def as_constraints(given: Any, space: Space) -> tuple[AbstractConstraint, ...]:
    """The constraints that the user wrote, not yet validated."""
    found: list[AbstractConstraint] = []
    for one in listed(given):
        if isinstance(one, str):
            found += read_constraint(one, space)
        elif isinstance(one, AbstractConstraint):
            found.append(one)
        elif isinstance(one, Encoding):
            raise InputTypeError(
                f"constraints contains bf.{one!r}.",
                "It says what columns are, and not what may become of them.",
                f'Declare it: bf.Explainer(..., space={{"a name": bf.{one!r}}}).',
            )
        else:
            called = f"Call it: bf.{one.__name__}(...)." if callable(one) and hasattr(one, "__name__") else ""
            raise InputTypeError(f"constraints contains {one!r}.", GIVABLE, called)
    return tuple(found)


def listed(given: Any) -> list[Any]:
    """What the user gave as constraints, as a list: one alone is a list, too."""
    if isinstance(given, AbstractConstraint | Encoding | str):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, Mapping | bytes):
        raise InputTypeError(f"constraints={given!r} was given.", "Constraints must be a list.", GIVABLE)
    return list(given)


def read_constraint(text: str, space: Space) -> list[AbstractConstraint]:
    """The constraints that a text means. A sum between two numbers means two."""
    _check_quotes(text, space)
    if is_condition(text):
        return read_condition(text, space)
    if IF.match(text) and "if" not in space.names:
        raise unreadable(text, "A condition is written as if ... then ...: both words and both halves are needed.")
    if is_consequence(text, space):
        return [read_consequence(text, space)]
    word, _, rest = text.strip().replace(":", " ", 1).partition(" ")
    word = word.lower().replace("-", "_")
    if word in PHRASES and not (word in space.names and compares(text, space)):
        rest = text.strip()[len(word) :].lstrip(" :")
        return [read_phrase(word, rest, space, f"the constraint {text!r}")]
    if compares(text, space):
        return read_comparison(text, space)
    meant = did_you_mean(word, PHRASES) if word.isidentifier() and word not in space.names else ""
    raise unreadable(text, meant) if meant else unreadable(text)


def _check_quotes(text: str, space: Space) -> None:
    """Refuse a quote at an end of a word that has no partner. Names and levels may hold such a sign."""
    if LONE_QUOTE.search(text) is None:
        return
    levels = (level for feature in space for level in feature.levels or () if isinstance(level, str))
    rest = text
    for known in sorted((*space.names, *levels), key=len, reverse=True):
        if LONE_QUOTE.search(known):
            rest = rest.replace(known, " " * len(known))
    found = LONE_QUOTE.search(QUOTED.sub(lambda pair: " " * len(pair.group()), rest))
    if found is not None:
        raise InputError(
            f"the constraint {text!r} was given.",
            f"The quote {found.group()} has no partner (character {found.start() + 1}).",
            "Close it, or leave it out.",
        )
