"""Constraints written as conditions, such as `if job == clerk then income >= 20000`."""

from __future__ import annotations

import re

from butfor.errors import InputError, UnknownColumnError
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.follows import Follows
from butfor.problem.constraints.follows_names import follows
from butfor.problem.constraints.implications import Event, Part
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.written.comparisons import compares, read_comparison, unreadable
from butfor.problem.written.numbers import number_at
from butfor.problem.written.phrases import meant, read_phrase, unquoted
from butfor.space.space import Space

IF = re.compile(r"\s*if\b", re.IGNORECASE)
CONDITION = re.compile(r"\s*if\s+(?P<cause>.+?)\s*,?\s+then\s+(?P<consequence>.+?)\s*", re.IGNORECASE | re.DOTALL)
MOVE = re.compile(r"(?P<name>.+?)\s+(?P<word>rises|falls)(?:\s+by(?:\s+at\s+least)?\s+(?P<by>.+))?", re.DOTALL)
LISTED = re.compile(r"allowed\s+(?P<words>.+)", re.DOTALL)
LEVEL = re.compile(r"(?P<name>.+?)\s+becomes\s+(?P<level>.+)", re.DOTALL)

FOLLOWS = re.compile(r"\s*(?P<effect>.+?)\s+if\s+(?P<cause>.+?)\s*", re.IGNORECASE | re.DOTALL)
BEFORE = re.compile(
    r"(?P<name>.+?)\s*(?P<sense>>=|=>|≥|<=|=<|≤|==?)\s*(?P<before>.+?)_before\s*(?P<sign>[-+−])\s*(?P<by>.+)", re.DOTALL
)

HALVES = (
    "Each part of a condition is a comparison of one column, such as 'job == clerk' or 'income >= 20000', or a change, such "
    "as 'education rises', 'age rises by 2' or 'job becomes clerk'."
)


EFFECTS = (
    "What follows is written as 'age >= age_before + 2 if education rises', or as 'age rises by 2 if education rises'."
)


def is_condition(text: str) -> bool:
    """Whether a text is a condition."""
    return CONDITION.fullmatch(text) is not None


def read_condition(text: str, space: Space) -> list[AbstractConstraint]:
    """The implications that a condition means: one for each end of an interval that must be kept."""
    found = CONDITION.fullmatch(text)
    assert found is not None
    causes, consequences = (_parts(text, found[half], space) for half in ("cause", "consequence"))
    if len(causes) > 1:
        raise unreadable(text, f"The cause {found['cause']!r} has two ends. Write a condition for one end.")
    return [rule.implies(causes[0], consequence) for consequence in consequences]


def is_consequence(text: str, space: Space) -> bool:
    """Whether a text says what follows by itself: something `if` something, without the word at its begin."""
    found = FOLLOWS.fullmatch(text)
    return found is not None and not IF.match(text) and not any(" if " in name.lower() for name in space.names)


def read_consequence(text: str, space: Space) -> Follows:
    """The consequence that a text means, such as `age >= age_before + 2 if education rises`."""
    found = FOLLOWS.fullmatch(text)
    assert found is not None
    name, by = _rise(text, found["effect"], space)
    try:
        return follows(name, by, _event(text, found["cause"], space))
    except UnknownColumnError as error:
        raise error.within(f"the constraint {text!r}") from None


def _rise(text: str, half: str, space: Space) -> tuple[str, float]:
    """Which column changes by itself, and by how much."""
    found, moving = BEFORE.fullmatch(half), MOVE.fullmatch(half)
    if found is not None and unquoted(found["name"]) == unquoted(found["before"]):
        up, sense = found["sign"] == "+", found["sense"]
        if sense in ("==", "=") or up == (">" in sense or sense == "≥"):
            return unquoted(found["name"]), (1 if up else -1) * _amount(text, found["by"])
    elif found is None and moving is not None and moving["by"]:
        return unquoted(moving["name"]), (1 if moving["word"] == "rises" else -1) * _amount(text, moving["by"])
    raise unreadable(text, EFFECTS)


def _amount(text: str, words: str) -> float:
    found = number_at(words, 0)
    if found is None or found.better or found.percent or found.end < len(words):
        raise unreadable(text, EFFECTS)
    return found.value


def _parts(text: str, half: str, space: Space) -> list[Part]:
    """What one half of a condition says: a change, or where a column ends. Two ends of a number are two parts."""
    if listed := LISTED.fullmatch(half):
        allowed = read_phrase("allowed", listed["words"], space, f"the constraint {text!r}")
        assert isinstance(allowed, Allowed)
        return [allowed]
    if not compares(half, space):
        return [_event(text, half, space)]
    try:
        (found,) = read_comparison(half, space)
    except InputError as error:
        raise InputError(f"in the constraint {text!r}, {error.given}", error.needed, error.remedy) from None
    if isinstance(found, Allowed):
        return [found]
    if not isinstance(found, Between):
        raise unreadable(text, HALVES)
    if space[found.name].levels is not None or not found.closed:
        return [found]
    return [rule.between(found.name, found.low), rule.between(found.name, high=found.high)]


def _event(text: str, half: str, space: Space) -> Event:
    """A change in words."""
    if becoming := LEVEL.fullmatch(half):
        name = unquoted(becoming["name"])
        return rule.becomes(name, meant(unquoted(becoming["level"]), space[name].levels or ()))
    moving = MOVE.fullmatch(half)
    by = number_at(moving["by"] or "0", 0) if moving is not None else None
    if moving is None or by is None or by.better or by.percent or by.end < len(moving["by"] or "0"):
        raise unreadable(text, HALVES)
    event = rule.rises if moving["word"] == "rises" else rule.falls
    space.index(unquoted(moving["name"]))
    return event(unquoted(moving["name"]), by.value)
