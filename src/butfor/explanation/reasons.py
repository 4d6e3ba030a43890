"""Reason codes: the lender's own words for the columns that an answer changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, choice, suggests
from butfor.explanation.changes import change_rows
from butfor.explanation.consequences import acted_alone
from butfor.explanation.cost_parts import cost_parts, prices_of
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations

MOST_REASONS = 4
"""Regulation B's official interpretation calls more than four reasons unlikely to help (12 CFR 1002.9(b)(2), comment 1)."""


@dataclass(frozen=True)
class ReasonCode:
    """A reason: the column, its code, its value before and after, and its share of the cost of all changes."""

    column: str
    code: Any
    before: Any
    after: Any
    share: float

    def __repr__(self) -> str:
        return f"{self.code}: {self.column} {self.before} → {self.after}"


@suggests
def reasons(
    answer: Explanation | Explanations, codes: Mapping[str, Any], *, most: int = MOST_REASONS
) -> tuple[ReasonCode, ...]:
    """The lender's own codes for the columns that an answer changes, the dearest change first, at most `most`.

    Choose it to fill in a form that has a list of reasons. Each changed column needs a code: if one has none, that is an
    error, and not a reason fewer. Where no permitted change is enough, the columns are those of the closest row that was
    found; if none is known, there is no reason. A column that follows from others by itself is no reason. A plan is not a
    reason: whether these are the principal reasons of a decision is for the lender to judge.

    >>> import butfor as bf
    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> explainer = bf.Explainer(loans.pipeline().fit(X, y), data=X)
    >>> answer = explainer.explain(X.iloc[[206]], target="approved")
    >>> bf.reasons(answer, {"income": "R07", "amount": "R11", "months": "R12"})
    (R12: months 24 → 21, R07: income 19800 → 22150, R11: amount 12800 → 11750)
    """
    one = answer.only if isinstance(answer, Explanations) else answer
    if not isinstance(one, Explanation):
        raise InputTypeError(f"{type(answer).__name__} was given.", "The answer of an explainer is needed.")
    if not isinstance(codes, Mapping):
        raise InputTypeError(f"codes={codes!r} was given.", 'A dict is needed, such as {"income": "R07"}.')
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_REASONS:
        raise InputError(f"most={most!r} was given.", f"At most {MOST_REASONS} reasons are given, and at least one.")
    names = one.space.names
    for name in codes:
        if name not in names:
            raise InputError(
                f"a code was given for {name!r}, which the model does not read.", *choice("It reads", name, names)
            )
    points = one.point_codes if one.found else one.closest_codes
    if points is None:
        return ()
    return _coded(one, points, codes)[:most]


def _coded(one: Explanation, points: Any, codes: Mapping[str, Any]) -> tuple[ReasonCode, ...]:
    """A reason for each column that is changed by an action, the dearest first."""
    prices = prices_of(one.question, one.space)
    if prices is None:
        raise InputError("the answer does not hold its cost as data.", "The order of reasons depends on it.")
    start = one.factual_codes
    own = acted_alone(one.question, one.space, start, points)
    parts = cost_parts(prices, start[None], own[0][None])[0]
    whole = float(parts.sum()) or 1.0
    by_name = dict(zip(one.space.names, parts.tolist(), strict=True))
    rows = change_rows(one.space, start, points, one.words, acted=own)
    changed = [row for row in rows if row.changed and not row.by_itself]
    bare = [row.name for row in changed if row.name not in codes]
    if bare:
        raise InputError(
            f"the answer changes {', '.join(map(repr, bare))}, for which no code was given.",
            f"There are codes for {', '.join(map(repr, codes)) or 'nothing'}.",
            f"Add a code, or fix the column: bf.fixed({bare[0]!r}).",
        )
    found = [ReasonCode(row.name, codes[row.name], row.before, row.after, by_name[row.name] / whole) for row in changed]
    order = np.argsort([-one.share for one in found], kind="stable")
    return tuple(found[k] for k in order.tolist())
