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
from butfor.problem.written.costs import COSTS, read_cost, weighted
from butfor.problem.written.numbers import DOUBTFUL

PLAIN_NAME = re.compile(r"[^\W\d]\w*")
LISTED_APART = ",:\n'\"`"
"""What stands between the values of a phrase or around them, so that none can hold it."""


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
            return _comparison(constraint)
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
            return f"{_name(name)} {'rises' if by > 0 else 'falls'} by {_number(abs(by))} if {_part(cause)}"
        case Implication(cause, consequence):
            parts = [_part(cause), _part(consequence)]
            return None if None in parts else f"if {parts[0]} then {parts[1]}"
    return None


def written_cost(cost: costs.AbstractCost) -> tuple[str, dict[str, float]] | None:
    """The text that means a cost, as `read_cost` reads it, and the prices of columns; None if there is no text."""
    terms = cost.terms()
    prices = [dict(getattr(term, "weights", None) or {}) for _, term in terms if not isinstance(term, Missing)] or [{}]
    if any(one != prices[0] for one in prices) or any(
        type(term) not in (*COSTS.values(), Missing) for _, term in terms
    ):
        return None
    text = " + ".join(f"{weight!r}*{_term(term)}" for weight, term in terms).replace("1.0*", "")
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


def _comparison(constraint: Between | Allowed) -> str | None:
    """One column and its ends, or its values."""
    name = _name(constraint.name)
    match constraint:
        case Allowed(_, (value,)):
            return f"{name} == {value}"
        case Allowed(_, values):
            told = [str(value) for value in values]
            plain = not any(set(LISTED_APART) & set(one) for one in told)
            return f"allowed {name}:{','.join(told)}" if plain else None
        case Between(_, low, high) if constraint.closed:
            return f"between {name}:{low}:{high}"
        case Between(_, low, high):
            endless = not isinstance(low, str) and low == -float("inf")
            return f"{name} <= {_number(high)}" if endless or low is None else f"{name} >= {_number(low)}"


def _part(part: Part) -> str | None:
    """One half of a condition."""
    if not isinstance(part, Event):
        return _comparison(part)
    if part.word == "becomes":
        return f"{_name(part.name)} becomes {part.level}"
    return f"{_name(part.name)} {part.word}" + (f" by {_number(part.by)}" if part.by else "")


def _name(name: str) -> str:
    return name if PLAIN_NAME.fullmatch(name) else f"`{name}`"


def _number(value: Any) -> str:
    """A number that is read in one way only; a level as it is."""
    if not isinstance(value, int | float):
        return str(value)
    text = repr(value).removesuffix(".0")
    return f"{text}0" if DOUBTFUL.fullmatch(text) else text
