"""Constraints and costs as the text that is read back as the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from butfor.problem import costs
from butfor.problem.constraints.computed import ComputedColumn
from butfor.problem.constraints.confident import Confident
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.follows import Follows
from butfor.problem.constraints.implications import Event, Implication, Part
from butfor.problem.constraints.judged import Margin
from butfor.problem.constraints.linked import Combinations
from butfor.problem.constraints.relations import AtMost, LinearRelation
from butfor.problem.constraints.restrictions import Allowed, Between, Direction, Fixed, Grid, MayVanish, Within
from butfor.problem.constraints.robust import Robust
from butfor.problem.missing_price import Missing
from butfor.problem.written.conditions import CONDITION, FOLLOWS
from butfor.problem.written.costs import COSTS, read_cost, weighted
from butfor.problem.written.numbers import DOUBTFUL

PLAIN_NAME = re.compile(r"(?!(?:if|then|allowed)$)[^\W\d]\w*", re.IGNORECASE)
"""A name that is read as one without quotes, also in a condition."""
PLAIN_LEVEL = re.compile(r"(?!.*\b(?:if|then)\b)[\w.+-]+(?: [\w.+-]+)*", re.IGNORECASE)
"""A level that is read as one without quotes. In others, signs and words of comparisons, formulas or conditions may stand."""
TAKEN_IN_PHRASES = re.compile(r":|\d\s+%")
"""What a phrase takes out of its levels, also in quotes."""


def written_constraint(constraint: AbstractConstraint | str) -> str | None:
    """The text that means a constraint; None if there is none."""
    match constraint:
        case str():
            return constraint
        case Fixed(names):
            return _phrase("fixed", names)
        case Direction(names, up):
            return _phrase("only_up" if up else "only_down", names)
        case MayVanish(names):
            return _phrase("may_be_missing", names)
        case Between() | Allowed():
            return _alone(constraint)
        case Within(name, share):
            return f"within {_name(name)}:{share!r}"
        case Grid(name, step, 0):
            return f"step {_name(name)}:{step!r}"
        case AtMost(count):
            return f"at_most_changes {count}"
        case LinearRelation(weights, sense, bound):
            terms = " + ".join(f"{_number(weight)}*{_name(name)}" for name, weight in weights)
            return f"{terms.replace('+ -', '- ')} {sense} {_number(bound)}"
        case Margin(eps):
            return f"margin {eps!r}"
        case Robust(radius, "linf", slips) if not slips:
            each = radius.items() if isinstance(radius, Mapping) else ()
            return f"robust {','.join(f'{_name(name)}:{length!r}' for name, length in each) or repr(radius)}"
        case Confident(level, None):
            return f"confident {level!r}"
        case Combinations(names, None):
            return _phrase(constraint.word, names)
        case ComputedColumn(name, text) if text:
            return f"computed {_name(name)} = {text}"
        case Follows(name, by, str(of)):
            return f"follows {_name(name)}:{by!r}:{_name(of)}"
        case Follows(name, by, Event() as cause):
            effect = f"{_name(name)} {'rises' if by > 0 else 'falls'} by {_number(abs(by))}"
            return _in_halves(FOLLOWS, "{} if {}", effect, _part(cause))
        case Implication(cause, consequence):
            return _in_halves(CONDITION, "if {} then {}", _part(cause), _part(consequence))
    return None


def written_cost(cost: costs.AbstractCost) -> tuple[str, dict[str, float]] | None:
    """The text that means a cost, as `read_cost` reads it, and the prices of columns; None if there is no text."""
    terms = cost.terms()
    prices = [dict(getattr(term, "weights", None) or {}) for _, term in terms if not isinstance(term, Missing)] or [{}]
    if any(one != prices[0] for one in prices) or any(
        type(term) not in (*COSTS.values(), Missing) for _, term in terms
    ):
        return None
    text = " + ".join(_term(term) if weight == 1 else f"{weight!r}*{_term(term)}" for weight, term in terms)
    return (text, prices[0]) if weighted(read_cost(text), prices[0]) == cost else None


def _term(term: costs.Term) -> str:
    if not isinstance(term, Missing):
        return type(term).__name__
    told = []
    for word, given in (("lost", term.lost), ("found", term.found)):
        each = given if isinstance(given, Mapping) else {"": given} if given is not None else {}
        told += [f"{word} {name}".rstrip() + f"={price!r}" for name, price in each.items()]
    return f"Missing({', '.join(told)})"


def _phrase(word: str, names: Iterable[str]) -> str:
    return f"{word} {', '.join(map(_name, names))}"


def _alone(constraint: Between | Allowed) -> str | None:
    """A comparison by itself; None if a word in a level would part it in two."""
    told = _comparison(constraint)
    parted = told is not None and FOLLOWS.fullmatch(told) and " if " not in constraint.name.lower()
    return None if parted else told


def _comparison(constraint: Between | Allowed) -> str | None:
    """One column and its ends, or its values."""
    name = _name(constraint.name)
    match constraint:
        case Allowed(_, (value,)):
            return _compared(name, "==", _level(value))
        case Allowed(_, values):
            return _listed(f"allowed {name}:", values, ",")
        case Between(_, low, high) if constraint.closed:
            return _listed(f"between {name}:", (low, high), ":")
        case Between(_, low, high):
            endless = not isinstance(low, str) and low == -float("inf")
            return _compared(name, "<=", _end(high)) if endless or low is None else _compared(name, ">=", _end(low))


def _compared(name: str, sign: str, told: str | None) -> str | None:
    return None if told is None else f"{name} {sign} {told}"


def _listed(phrase: str, levels: tuple[Any, ...], glue: str) -> str | None:
    """A phrase and its levels."""
    told = [one for one in map(_level, levels) if one is not None and not TAKEN_IN_PHRASES.search(one)]
    return phrase + glue.join(told) if len(told) == len(levels) else None


def _in_halves(pattern: re.Pattern[str], form: str, *halves: str | None) -> str | None:
    """A text of two halves; None if a word in one of them would part it elsewhere."""
    text = form.format(*halves)
    found = pattern.fullmatch(text)
    return text if found is not None and found.groups() == halves else None


def _part(part: Part) -> str | None:
    """One half of a condition."""
    if isinstance(part, Between) and part.closed:
        ends = [_number(end) for end in (part.low, part.high) if type(end) in (int, float)]
        return f"{ends[0]} <= {_name(part.name)} <= {ends[1]}" if len(ends) == 2 else None
    if not isinstance(part, Event):
        return _comparison(part)
    if part.word == "becomes":
        return _compared(_name(part.name), "becomes", _level(part.level))
    return f"{_name(part.name)} {part.word}" + (f" by {_number(part.by)}" if part.by else "")


def _name(name: str) -> str:
    return name if PLAIN_NAME.fullmatch(name) else f"`{name}`"


def _level(level: Any) -> str | None:
    """A level, in quotes that it does not hold where it needs some. None if it holds all of them."""
    text = str(level)
    if PLAIN_LEVEL.fullmatch(text):
        return text
    return next((f"{quote}{text}{quote}" for quote in "'\"`" if quote not in text), None)


def _end(end: Any) -> str | None:
    """An end of an interval: a number or a level."""
    return _number(end) if isinstance(end, int | float) else _level(end)


def _number(value: Any) -> str:
    """A number that is read in one way only."""
    text = repr(value).removesuffix(".0")
    return f"{text}0" if DOUBTFUL.fullmatch(text) else text
