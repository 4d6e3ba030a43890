"""What a change costs, against something else that is wanted of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from butfor.experimental import experimental
from butfor.explanation.answer_list import DrawnAnswers
from butfor.explanation.changes import in_words
from butfor.explanation.explanation import Explanation
from butfor.solvers.outcome import tolerated
from butfor.space import frames


@dataclass(frozen=True)
class Stretch:
    """Some demands, and between which numbers the least cost of each is proven to lie.

    `start` is the easier end. If it is not `open_start`, it belongs to the stretch, as `end` does. An infinite `high`
    says that no answer is known, and an infinite `low` that there is none.
    """

    start: float
    end: float
    low: float
    high: float
    open_start: bool = False


@experimental
@dataclass(frozen=True, eq=False, repr=False)
class TradeOff(DrawnAnswers):
    """The answers of which none is both cheaper than another and better in what else is wanted, cheapest first.

    - `against`: what else is wanted, in words: few changes, a score, or the radius of a ball in which it stays valid;
    - `numbers`: how much of that each answer has;
    - `answers`: the answers;
    - `stretches`: what is proven of the cost of each demand, from the easiest to the hardest;
    - `factual`: the row, as a table;
    - `before`: what the model predicts for it;
    - `target`: what is wanted first, in words.
    """

    way: ClassVar[str] = "trade-off"

    against: str
    numbers: tuple[float, ...]
    answers: tuple[Explanation, ...]
    stretches: tuple[Stretch, ...]
    factual: Any
    before: Any
    target: str

    @property
    def complete(self) -> bool:
        """Whether the least cost of every demand is known, as exactly as that of an optimal answer."""
        coin = max((one.certificate.coin for one in self.answers), default=1.0)
        return all(one.low == one.high or one.high - one.low <= 4 * tolerated(one.high, coin) for one in self.stretches)

    def to_frame(self) -> Any:
        """One row per answer: what else is wanted (`against`), cost, bound, status, changed, changes.

        The result is a table of the same kind as the row that was given (for arrays, a dict of columns).
        """
        columns: dict[str, list[Any]] = {
            self.against: list(self.numbers),
            "cost": [one.cost for one in self],
            "bound": [one.certificate.bound for one in self],
            "status": [one.certificate.status.name for one in self],
            "changed": [len(one.actions) for one in self],
            "changes": [in_words(one.changes) for one in self],
        }
        return frames.framed(self.factual, columns)

    def cost_of(self, demand: float) -> tuple[float, float]:
        """Between which numbers the least cost of a demand is proven to lie. (0, inf) if nothing was asked about it."""
        low, high = 0.0, np.inf
        for one in self.stretches:  # where one ends and the next begins, both know something
            first, last = min(one.start, one.end), max(one.start, one.end)
            if first <= demand <= last and not (one.open_start and demand == one.start):
                low, high = max(low, one.low), min(high, one.high)
        return low, high
