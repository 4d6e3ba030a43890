"""Which sets of columns suffice, each asked with all other columns fixed.

All sets of one size are asked together, as rows of one problem. What may change only grows with the set. So nothing is
asked of a set if the row as a whole has no answer, or if a part of the set is already as cheap as the row as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from butfor.arrays import BoolArray
from butfor.errors import InputError
from butfor.explain.arguments import count_of
from butfor.explain.plan import plan
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.menu import Menu, MenuLine, Standing
from butfor.explanation.question_record import record
from butfor.problem.constraints.restrictions import Fixed
from butfor.solvers.outcome import Status, tolerated
from butfor.solvers.solver import Budget
from butfor.verdict.case import Case

MOST_SETS = 20_000
"""A menu has no more sets than this."""

Columns = tuple[int, ...]
"""A set of columns, by their numbers."""

Certified = Callable[[Case, Budget], Explanations]
"""Solves the rows of a case within a budget. There is one answer per row."""


def menu(case: Case, most: Any, budget: Budget, certified: Certified) -> Menu:
    """The menu of the only row of a case, with sets of at most `most` columns."""
    most = count_of("most", most)
    found = _Sets(case, certified, len(case.referee.space))
    whole = next(plan(case.question, case.referee, case.factuals, case.before))
    names, follows = case.referee.space.names, case.question.following
    movable = [j for j in np.flatnonzero(whole.problem.domain.movable).tolist() if names[j] not in follows]
    sizes = range(min(most, len(movable)) + 1)
    sets = sum(math.comb(len(movable), size) for size in sizes)
    if sets > MOST_SETS:
        raise InputError(
            f"most={most} of {len(movable)} columns are {sets:,} sets.",
            f"A menu has at most {MOST_SETS:,}.",
            "Lower most, or fix columns that cannot change with bf.fixed.",
        )
    found.begin(movable, budget)
    for size in sizes[1:]:
        found.level(list(combinations(movable, size)), budget.at_most(budget.left() / (len(sizes) - size)))
    return found.menu(most)


@dataclass
class _Sets:
    """What is known about the sets of columns so far.

    - `answers`: the answer to each set that was asked;
    - `least`: for each set, the least cost of it and of all its parts;
    - `floor`: no set costs less than this. It is infinite if no set suffices.
    """

    case: Case
    certified: Certified
    width: int
    answers: dict[Columns, Explanation] = field(default_factory=dict)
    lines: dict[Columns, MenuLine] = field(default_factory=dict)
    least: dict[Columns, float] = field(default_factory=dict)
    floor: float = 0.0

    def begin(self, movable: Sequence[int], budget: Budget) -> None:
        """Ask for no change at all, and for any change of any column."""
        nothing, everything = self._asked([(), tuple(movable)], budget)
        self.floor = everything.certificate.bound
        self._note((), nothing)

    def level(self, sets: Sequence[Columns], budget: Budget) -> None:
        """Ask about sets of one size. All smaller ones are known."""
        worth = [one for one in sets if self._cheapest_part(one) > self.floor + tolerated(self.floor, self.coin)]
        if self.floor < np.inf and worth:
            for one, answer in zip(worth, self._asked(worth, budget), strict=True):
                self._note(one, answer)
        for one in sets:
            if one not in self.lines:
                standing = Standing.IMPOSSIBLE if self.floor == np.inf else Standing.NO_CHEAPER
                self.least[one] = self._cheapest_part(one)
                self.lines[one] = MenuLine(self._names(one), standing, self.least[one], self.floor)

    def menu(self, most: int) -> Menu:
        """All that was found."""
        question, referee = self.case.question, self.case.referee
        order = sorted(self.lines, key=self._place)
        offered = [one for one in order if self.lines[one].standing is Standing.OFFERED]
        return Menu(
            answers=tuple(map(self._option, offered)),
            lines=tuple(self.lines[one] for one in order),
            factual=self.case.before.table,
            before=question.target.outputs(self.case.before)[0],
            target=repr(question.target),
            most=most,
            width=len(referee.space),
        )

    @property
    def coin(self) -> float:
        """The smallest price that matters."""
        return self.case.question.prices.coin

    def _asked(self, sets: Sequence[Columns], budget: Budget) -> Explanations:
        return self.certified(self.case.freeing(self._mask(sets)), budget)

    def _mask(self, sets: Sequence[Columns]) -> BoolArray:
        mask = np.zeros((len(sets), self.width), dtype=np.bool_)
        for line, one in zip(mask, sets, strict=True):
            line[list(one)] = True
        return mask

    def _note(self, one: Columns, answer: Explanation) -> None:
        known, part = answer.certificate, self._cheapest_part(one)
        cheaper, least = self._is_cheaper(answer.cost, part), min(answer.cost, part)
        changed = tuple(sorted(map(self.case.referee.space.position, (change.name for change in answer.actions))))
        if known.status is Status.PROVEN_INFEASIBLE:
            standing = Standing.IMPOSSIBLE
        elif answer.found and cheaper and changed == one:
            standing = Standing.OFFERED
        else:
            ruled_out = least < np.inf and not self._is_cheaper(known.bound, least)
            standing = Standing.NO_CHEAPER if ruled_out else Standing.OPEN
        if answer.found and cheaper and changed in self.lines:
            self._correct(changed, answer)
        self.answers[one], self.least[one] = answer, least
        farthest = known.evidence.farthest
        reached, needed = (np.nan, np.nan) if farthest is None else (farthest.reached, farthest.needed)
        self.lines[one] = MenuLine(self._names(one), standing, self.least[one], known.bound, reached, needed)

    def _is_cheaper(self, cost: float, than: float) -> bool:
        return cost < than - tolerated(cost, self.coin)

    def _correct(self, one: Columns, answer: Explanation) -> None:
        """Take the answer to a larger set, which changes these columns alone, and costs less than what was found for them.

        So it is where nothing is proven. Sets between both are offered only as long as they cost less.
        """
        self.answers[one] = answer
        self.lines[one] = replace(self.lines[one], standing=Standing.OFFERED, cost=answer.cost)
        for other in [other for other in self.lines if set(one) <= set(other)]:
            self.least[other] = min(self.least[other], answer.cost)
            offered = self.lines[other].standing is Standing.OFFERED
            if other != one and offered and not self._is_cheaper(self.answers[other].cost, answer.cost):
                self.lines[other] = replace(self.lines[other], standing=Standing.OPEN, cost=self.least[other])

    def _cheapest_part(self, one: Columns) -> float:
        """The least cost of all parts of a set. Each of them lies in one that lacks a single column."""
        return min((self.least[part] for part in combinations(one, len(one) - 1)), default=np.inf) if one else np.inf

    def _names(self, one: Columns) -> tuple[str, ...]:
        return tuple(self.case.referee.space.names[j] for j in one)

    def _place(self, one: Columns) -> tuple[int, float, int, Columns]:
        line = self.lines[one]
        offered = line.standing is Standing.OFFERED
        return list(Standing).index(line.standing), line.cost if offered else 0.0, len(one), one

    def _option(self, one: Columns) -> Explanation:
        """The answer to a set, as one to the question that fixes all other columns."""
        question = self.case.question
        kept = {*self._names(one), *question.following}
        others = tuple(name for name in self.case.referee.space.names if name not in kept)
        asked = question.also_under(Fixed(others)) if others else question
        return replace(self.answers[one], question=record(asked), row=0)
