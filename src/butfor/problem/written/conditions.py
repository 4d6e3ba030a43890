"""Constraints written as conditions, such as `if job == clerk then income >= 20000`."""

from __future__ import annotations

import re

from butfor.errors import InputError
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.relations import Event, Part
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.written.comparisons import compares, read_comparison, unreadable
from butfor.problem.written.numbers import number_at
from butfor.problem.written.phrases import meant, unquoted
from butfor.space.space import Space

IF = re.compile(r"\s*if\b", re.IGNORECASE)
CONDITION = re.compile(r"\s*if\s+(?P<cause>.+?)\s*,?\s+then\s+(?P<consequence>.+?)\s*", re.IGNORECASE | re.DOTALL)
MOVE = re.compile(r"(?P<name>.+?)\s+(?P<word>rises|falls)(?:\s+by(?:\s+at\s+least)?\s+(?P<by>.+))?", re.DOTALL)
LEVEL = re.compile(r"(?P<name>.+?)\s+becomes\s+(?P<level>.+)", re.DOTALL)

HALVES = (
    "Each part of a condition is a comparison of one column, such as 'job == clerk' or 'income >= 20000', or a change, such "
    "as 'education rises', 'age rises by 2' or 'job becomes clerk'."
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


def _parts(text: str, half: str, space: Space) -> list[Part]:
    """What one half of a condition says: a change, or where a column ends. Two ends of a number are two parts."""
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
