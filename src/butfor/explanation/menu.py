"""The sets of columns whose change suffices, and those whose change does not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from butfor.explanation.answer_list import DrawnAnswers
from butfor.explanation.changes import in_words
from butfor.explanation.explanation import Explanation
from butfor.space import frames


class Standing(Enum):
    """What is known about a set of columns. The value of each member says it in words."""

    OFFERED = "suffices"
    NO_CHEAPER = "suffices, but a part of it does so at the same cost"
    IMPOSSIBLE = "proven not to suffice"
    OPEN = "not known: nothing cheaper than its parts was found, and nothing is ruled out"


@dataclass(frozen=True)
class MenuLine:
    """A set of columns, and what is known if no other column may change.

    - `cost`: the least cost that was found (infinite: none);
    - `bound`: a proven lower bound on it;
    - `reached`, `needed`: if it does not suffice, what its score does not get beyond, and what is needed (NaN: unknown).
    """

    columns: tuple[str, ...]
    standing: Standing
    cost: float
    bound: float
    reached: float = np.nan
    needed: float = np.nan

    @property
    def lack(self) -> float:
        """How far the best score stays behind what is needed; infinite if that is not known."""
        return np.inf if np.isnan(self.reached) else abs(self.needed - self.reached)


@dataclass(frozen=True, eq=False, repr=False)
class Menu(DrawnAnswers):
    """Every set of columns that is worth changing, with its cheapest answer, cheapest first.

    A set is worth changing if it suffices, and if each part of it either does not suffice or costs more. So no answer
    on the menu changes a column without need, and the cheapest answer with so few changes is the first. Each answer has
    a certificate for its own set: its question fixes all other columns.

    - `answers`: the options;
    - `lines`: all sets of at most `most` columns, those of the options first and in their order;
    - `factual`: the row, as a table;
    - `before`: what the model predicts for it;
    - `target`: what is wanted, in words;
    - `width`: how many columns there are.
    """

    way: ClassVar[str] = "menu"

    answers: tuple[Explanation, ...]
    lines: tuple[MenuLine, ...]
    factual: Any
    before: Any
    target: str
    most: int
    width: int

    def standing(self, standing: Standing) -> tuple[MenuLine, ...]:
        """The sets of one standing."""
        return tuple(line for line in self.lines if line.standing is standing)

    @property
    def impossible(self) -> tuple[MenuLine, ...]:
        """The sets that provably do not suffice, those that lack least first."""
        return tuple(sorted(self.standing(Standing.IMPOSSIBLE), key=lambda line: line.lack))

    def to_frame(self) -> Any:
        """One row per set: columns, size, standing, cost, bound, score, reached, needed, changes.

        `score` is that of the answer, if the model has one.

        The result is a table of the same kind as the row that was given (for arrays, a dict of columns).
        """
        answers = [*self.answers, *[None] * (len(self.lines) - len(self))]
        columns: dict[str, list[Any]] = {
            "columns": [", ".join(line.columns) for line in self.lines],
            "size": [len(line.columns) for line in self.lines],
            "standing": [line.standing.name for line in self.lines],
            "cost": [_known(line.cost) for line in self.lines],
            "bound": [_known(line.bound) for line in self.lines],
            "score": [None if answer is None or answer.score is None else answer.score.after for answer in answers],
            "reached": [_known(line.reached) for line in self.lines],
            "needed": [_known(line.needed) for line in self.lines],
            "changes": ["" if answer is None else in_words(answer.changes) for answer in answers],
        }
        return frames.framed(self.factual, columns)


def _known(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
