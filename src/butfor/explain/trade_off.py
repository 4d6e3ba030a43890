"""Cost against something else, one cheapest answer after the other.

A demand is a number: a score to reach, how many changes there may be, or the radius of a ball in which the answer stays
valid. The harder the demand, the higher the least cost. So if the cheapest answer to one demand fulfils a harder one,
too, it is the cheapest for all demands between them. What lies between two answers is bounded by their costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, choice, number
from butfor.estimator.prediction import Prediction
from butfor.explain.arguments import count_of
from butfor.explain.asking import Asking
from butfor.explain.ladder import shares
from butfor.explanation.explanation import Explanation
from butfor.explanation.trade_off import Stretch, TradeOff
from butfor.problem.constraints.constraint import Changes
from butfor.problem.constraints.linked import counting, number_counted
from butfor.problem.constraints.relations import AtMost
from butfor.problem.constraints.robust import Robust
from butfor.problem.targets.scale import AbstractScale, scale_of
from butfor.solvers.outcome import Status, tolerated
from butfor.solvers.solver import Budget
from butfor.verdict.case import Case

CLOSEST = 1e-3
"""Demands closer than this share of their whole range are not told apart by further questions."""

RADII = (0.0, 0.01, 0.02, 0.05, 0.1)
"""The radii that are asked about, in ranges."""

QUESTIONS = 20
"""How many scores are asked about, at most."""

OPTIONS: dict[str, tuple[str, ...]] = {"changes": (), "radius": ("radii", "norm"), "score": ("up_to", "questions")}
"""What cost is traded off against, and the options of each."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A demand, the cheapest answer to it, and the hardest demand that this answer fulfils.

    `bound` is proven for the demand. The answer may be one that was found for a harder demand.
    """

    demand: float
    answer: Explanation
    number: float
    bound: float

    @property
    def cost(self) -> float:
        """What the answer costs; infinite if there is none."""
        return self.answer.cost

    def no_cheaper_than(self, other: Asked) -> bool:
        """Whether the other one costs as much or less. Where no answer is known, as much must be proven of both."""
        if self.cost == other.cost == np.inf:
            return self.bound == other.bound
        coin = self.answer.certificate.coin
        return self.cost == other.cost or other.cost - self.cost <= 2 * tolerated(self.cost, coin)


def trade_off(asking: Asking, case: Case, against: str, options: Mapping[str, Any], budget: Budget) -> TradeOff:
    """The cheapest answers to harder and harder demands. Each kind of demand has options of its own."""
    if against not in OPTIONS:
        raise InputError(f"against={against!r} was given.", *choice("It must be one of", against, OPTIONS, repr))
    given = {name: value for name, value in options.items() if value is not None}
    strange = [name for name in given if name not in OPTIONS[against]]
    if strange:
        kind = next(kind for kind, names in OPTIONS.items() if strange[0] in names)
        raise InputError(
            f"{strange[0]}={given[strange[0]]!r} was given with against={against!r}.",
            f"It belongs to against={kind!r}.",
        )
    if against == "changes":
        return _against_changes(asking, case, budget)
    if against == "radius":
        return _against_radius(asking, case, given.get("radii", RADII), given.get("norm", "linf"), budget)
    questions = count_of("questions", given.get("questions", QUESTIONS))
    return _against_score(asking, case, given.get("up_to"), questions, budget)


def _against_changes(asking: Asking, case: Case, budget: Budget) -> TradeOff:
    """From the cheapest answer on, one change less than the answer before has."""
    question, asked, most = case.question, list[Asked](), len(case.referee.space)
    while not asked or (asked[-1].answer.found and most > 0):
        limited = question.also_under(AtMost(most)) if asked else question
        answer = asking.solved(replace(case, question=limited), budget.at_most(budget.left() / (most + 1))).only
        changed = number_counted((change.name for change in answer.actions), counting(question.constraints))
        asked.append(_asked(most, answer, changed if answer.found else np.nan))
        most = changed - 1
    return _trade_off(case, "changes", asked, lambda demand: demand - 1.0)


def _against_score(asking: Asking, case: Case, up_to: Any, questions: int, budget: Budget) -> TradeOff:
    """First both ends, and then always into the widest gap."""
    scale, first = scale_of(case.question.target)
    last = _hardest(scale, first, case) if up_to is None else _checked_end(up_to, scale, first, case)

    def ask(demand: float, left: int) -> Asked:
        question = replace(case.question, target=scale.goal(demand))
        referee = asking.referee(question.target, case.referee.reading)
        again = replace(case, question=question, referee=referee)
        answer = asking.solved(again, budget.at_most(budget.left() / left)).only
        return _asked(
            demand, answer, float(scale.numbers(asking.predicted(answer.point))[0]) if answer.found else np.nan
        )

    asked = [ask(first, questions)]
    if questions > 1 and asked[0].answer.found and scale.closer(asked[0].number, last):
        asked.append(ask(last, questions - 1))
    for left in range(questions - len(asked), 0, -1):
        demand = _widest_gap(asked, scale)
        if demand is None or budget.spent():
            break
        asked = sorted([*asked, ask(demand, left)], key=lambda one: one.demand, reverse=not scale.up)
    return _trade_off(case, scale.words, asked, scale.beyond)


def _against_radius(asking: Asking, case: Case, radii: Any, norm: str, budget: Budget) -> TradeOff:
    """From the smallest radius on. An answer that stays valid at the next radius is the cheapest there, too."""
    lengths = _ascending(radii)
    for length in lengths:
        Robust(length, norm).validate(case.referee.space)
    asked: list[Asked] = []
    for radius, part in zip(lengths, shares(budget, len(lengths)), strict=True):
        ball = Robust(radius, norm) if radius else None
        if asked and asked[-1].answer.certificate.status is Status.PROVEN_INFEASIBLE:
            asked.append(replace(asked[-1], demand=radius))
        elif asked and ball is not None and _stays_valid(asked[-1].answer, ball, case):
            asked[-1] = replace(asked[-1], number=radius)
        else:
            firm = case if ball is None else replace(case, question=case.question.also_under(ball))
            answer = asking.solved(firm, part).only
            asked.append(_asked(radius, answer, radius if answer.found else np.nan))
    return _trade_off(case, "radius", asked, lambda radius: float(np.nextafter(radius, np.inf)))


def _stays_valid(answer: Explanation, ball: Robust, case: Case) -> bool:
    """Whether the cheapest answer at a smaller radius is provably one at a larger radius, too."""
    if answer.certificate.status is not Status.PROVEN_OPTIMAL or answer.point_codes is None:
        return False
    after = Prediction(case.referee.reading.source, answer.point)
    changes = Changes(answer.factual_codes[None], answer.point_codes[None], case.before, after)
    return bool(ball.holds(changes, case.referee)[0])


def _ascending(radii: Any) -> list[float]:
    message = (
        f"radii={radii!r} was given.",
        "A list of numbers is needed.",
        "Give shares of the ranges: [0, 0.01, 0.05].",
    )
    if not isinstance(radii, Iterable):
        raise InputTypeError(*message)
    given = [number(one, *message[:2]) for one in radii]
    if not given or not all(np.isfinite(one) and one >= 0 for one in given):
        raise InputError(f"radii={radii!r} was given.", "At least one is needed, all finite and not negative.")
    return sorted(set(given))


def _asked(demand: float, answer: Explanation, number: float) -> Asked:
    """What one question found."""
    return Asked(demand, answer, number, min(answer.cost, answer.certificate.bound))


def _checked_end(up_to: Any, scale: AbstractScale, first: float, case: Case) -> float:
    """The hardest demand that the user gave."""
    given = f"up_to={up_to!r} was given."
    end = number(up_to, given, "It must be a number.")
    if not scale.closer(first, end):
        raise InputError(given, f"It must go beyond the target, {first:g}.")
    scale.goal(end).validate(case.referee.reading.source)
    return end


def _hardest(scale: AbstractScale, first: float, case: Case) -> float:
    """The best number that any row of the data has, if it is harder to reach than the first demand."""
    numbers = [first, *scale.numbers(case.referee.training.prediction).tolist()]
    return float(max(numbers) if scale.up else min(numbers))


def _widest_gap(asked: Sequence[Asked], scale: AbstractScale) -> float | None:
    """A demand in the gap between two answers where most is unknown; None if no gap is left.

    The demand lies in the middle of the gap. If that was answered at the cost of the far end already, it is the first
    demand that the near answer does not fulfil: where costs jump, this closes the gap.
    """
    whole = abs(asked[-1].demand - asked[0].demand) or 1.0
    costs = [one.cost for one in asked if one.answer.found]
    rise = max(costs, default=0.0) - min(costs, default=0.0) or 1.0
    best, chosen = 0.0, None
    for place, (near, far) in enumerate(pairwise(asked)):
        beyond = scale.beyond(near.number)
        if not scale.closer(near.number, far.demand) or near.no_cheaper_than(far) or far.demand == beyond:
            continue
        width = abs(far.demand - near.number) / whole
        size = width * (min(far.cost - near.cost, rise) / rise)
        halved = place + 2 < len(asked) and far.no_cheaper_than(asked[place + 2])
        if size > best and (width > CLOSEST or halved):
            best, chosen = size, beyond if halved else (near.number + far.demand) / 2
    return chosen


def _trade_off(case: Case, against: str, asked: Sequence[Asked], beyond: Callable[[float], float]) -> TradeOff:
    """The answers that no other one dominates, and what is proven between them."""
    asked = _passed_on(asked)
    found = [one for one in asked if one.answer.found]
    kept = [
        one for place, one in enumerate(found) if not any(one.no_cheaper_than(harder) for harder in found[place + 1 :])
    ]
    return TradeOff(
        against=against,
        numbers=tuple(one.number for one in kept),
        answers=tuple(one.answer for one in kept),
        stretches=tuple(_stretches(asked, beyond)),
        factual=case.before.table,
        before=case.question.target.outputs(case.before)[0],
        target=repr(case.question.target),
    )


def _passed_on(asked: Sequence[Asked]) -> list[Asked]:
    """What one demand says about another: an answer is one to all easier demands, and a bound holds for all harder ones."""
    made = list(asked)
    for at in range(len(made) - 2, -1, -1):
        if made[at + 1].cost < made[at].cost:
            made[at] = replace(made[at], answer=made[at + 1].answer, number=made[at + 1].number)
    for at in range(1, len(made)):
        made[at] = replace(made[at], bound=max(made[at].bound, min(made[at - 1].bound, made[at].cost)))
    return made


def _stretches(asked: Sequence[Asked], beyond: Callable[[float], float]) -> list[Stretch]:
    """Demands of one cost, and between them and the next demand what follows from both."""
    made = list[Stretch]()
    groups = [[asked[0]]]
    for one in asked[1:]:
        if groups[-1][-1].no_cheaper_than(one):
            groups[-1].append(one)
        else:
            groups.append([one])
    for group, following in pairwise([*groups, None]):
        assert group is not None
        first, last = group[0], group[-1]
        low = min(first.cost, first.bound)
        end = last.number if last.answer.found else last.demand
        made.append(Stretch(first.demand, end, low, last.cost))
        if following is not None and following[0].demand not in (end, beyond(end)):
            made.append(Stretch(end, following[0].demand, low, following[0].cost, open_start=True))
    return made
