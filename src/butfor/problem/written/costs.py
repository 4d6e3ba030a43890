"""A cost that is written as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from butfor.errors import InputError, choice
from butfor.problem import costs
from butfor.problem.missing_price import Missing

COSTS: dict[str, type[costs.Term]] = {
    "L1": costs.L1, "L2": costs.L2, "LInf": costs.LInf, "L0": costs.L0, "Gower": costs.Gower, "MAD": costs.MAD,
}  # fmt: skip

MISSING_TERM = re.compile(r"missing\s*\((.*)\)", re.IGNORECASE)
MISSING_PRICE = re.compile(r"(lost|found)(?:\s+(.+?))?\s*=\s*([^=]+)", re.IGNORECASE)
"""What stands in the brackets of Missing: lost=3, or found savings=0.1."""

PLUS = re.compile(r"(?<![0-9.][eE])\+")
"""A plus sign that is not inside a number such as 1e+3."""


def read_cost(text: str, given: str | None = None) -> costs.AbstractCost:
    """A cost written as L1, or as a sum such as L1+0.5*L0. Errors show what was `given`."""
    given = f"cost={text!r}" if given is None else given
    first, *others = (_term(part, given) for part in PLUS.split(text))
    for other in others:
        first = first + other
    return first


def _term(part: str, given: str) -> costs.AbstractCost:
    """One term: a cost, or a cost times a number."""
    factors = [factor.strip() for factor in part.split("*")]
    prices = [MISSING_TERM.fullmatch(factor) for factor in factors]
    known = {name.lower(): kind for name, kind in COSTS.items()}
    at = [k for k, factor in enumerate(factors) if prices[k] or factor.removesuffix("()").lower() in known]
    if len(at) != 1 or len(factors) > 2:
        unknown = next((factor for factor in factors if factor[:1].isalpha()), None)
        listed, meant = choice("The costs are", unknown, COSTS)
        raise InputError(f"{given} was given.", f"{listed} A sum of them is written as L1+0.5*L0.", meant)
    said, name = prices[at[0]], factors.pop(at[0]).removesuffix("()").lower()
    cost = known[name]() if said is None else _missing(said[1], given)
    if not factors:
        return cost
    weight = None
    with suppress(ValueError):
        weight = float(factors[0])
    if weight is None:
        raise InputError(f"{given} was given.", f"{factors[0]!r} is not a number.", "Write a weighted cost as 0.5*L0.")
    return weight * cost


def _missing(text: str, given: str) -> costs.Term:
    """The prices of what becomes missing or known: of all columns, or of named ones."""
    prices: dict[str, dict[str | None, float]] = {"lost": {}, "found": {}}
    for part in text.split(","):
        found, value = MISSING_PRICE.fullmatch(part.strip()), None
        with suppress(ValueError):
            value = float(found[3]) if found else None
        if found is None or value is None:
            raise InputError(
                f"{given} was given.",
                f"{part.strip()!r} is no price of what becomes missing or known.",
                "Write Missing(lost=3), Missing(found savings=0.1), or several of them with commas.",
            )
        prices[found[1].lower()][found[2]] = value
    if any(None in each and len(each) > 1 for each in prices.values()):
        raise InputError(
            f"{given} was given.",
            "A price for all columns stands beside one for a named column.",
            "Give one price for all, or one for each.",
        )
    return Missing(*(_of_columns(each) for each in prices.values()))


def _of_columns(prices: dict[str | None, float]) -> float | dict[str, float] | None:
    """One price for all columns, or one for each that is named."""
    return prices[None] if None in prices else {name: price for name, price in prices.items() if name} or None


def weighted(cost: costs.AbstractCost, prices: Mapping[str, float]) -> costs.AbstractCost:
    """A cost in which a change of these columns counts so many times as much."""
    if not prices:
        return cost
    terms = [(weight, _with_prices(term, prices)) for weight, term in cost.terms()]
    return terms[0][1] if [weight for weight, _ in terms] == [1.0] else costs.Mix(tuple(terms))


def _with_prices(term: costs.Term, prices: Mapping[str, float]) -> costs.Term:
    if isinstance(term, Missing):
        return term  # it has prices of its own
    if not isinstance(term, costs.Norm | costs.L0):
        raise InputError(
            f"a price of {next(iter(prices))!r} was given with the cost {term!r}.",
            "Columns have prices of their own in L1, L2, LInf, L0 and sums of these.",
        )
    return replace(term, weights={**(term.weights or {}), **prices})
