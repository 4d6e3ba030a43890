"""A cost that is written as text."""

from __future__ import annotations

import re
from contextlib import suppress

from butfor.errors import InputError, choice
from butfor.problem import costs

COSTS: dict[str, type[costs.Term]] = {
    "L1": costs.L1, "L2": costs.L2, "LInf": costs.LInf, "L0": costs.L0, "Gower": costs.Gower, "MAD": costs.MAD,
}  # fmt: skip

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
    known = {name.lower(): kind for name, kind in COSTS.items()}
    at = [k for k, factor in enumerate(factors) if factor.removesuffix("()").lower() in known]
    if len(at) != 1 or len(factors) > 2:
        unknown = next((factor for factor in factors if factor[:1].isalpha()), None)
        listed, meant = choice("The costs are", unknown, COSTS)
        raise InputError(f"{given} was given.", f"{listed} A sum of them is written as L1+0.5*L0.", meant)
    cost = known[factors.pop(at[0]).removesuffix("()").lower()]()
    if not factors:
        return cost
    weight = None
    with suppress(ValueError):
        weight = float(factors[0])
    if weight is None:
        raise InputError(f"{given} was given.", f"{factors[0]!r} is not a number.", "Write a weighted cost as 0.5*L0.")
    return weight * cost
