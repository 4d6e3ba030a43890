"""The answers to several goals, each harder than the one before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from butfor.errors import InputError
from butfor.explanation.answer_list import DrawnAnswers
from butfor.explanation.changes import in_words
from butfor.explanation.explanation import Explanation
from butfor.space import frames


@dataclass(frozen=True, eq=False, repr=False)
class Ladder(DrawnAnswers):
    """What each of several goals costs one row, from the first goal to the last.

    - `names`: the names of the goals;
    - `answers`: the answer to each of them;
    - `factual`: the row, as a table;
    - `before`: what the model predicts for it.
    """

    way: ClassVar[str] = "ladder"

    names: tuple[str, ...]
    answers: tuple[Explanation, ...]
    factual: Any
    before: Any

    def _place(self, name: str) -> int:
        """The place of the answer to a goal."""
        if name not in self.names:
            raise InputError(f"the goal {name!r} was given.", f"The goals are {', '.join(map(repr, self.names))}.")
        return self.names.index(name)

    @property
    def met(self) -> tuple[bool, ...]:
        """Which goals are met without any change."""
        return tuple(rung.found and not rung.changes for rung in self)

    @property
    def next(self) -> str | None:
        """The name of the cheapest goal after the last one that is met; None if no such goal has an answer."""
        first = max((place + 1 for place, met in enumerate(self.met) if met), default=0)
        ahead = [place for place in range(first, len(self)) if self[place].found]
        return self.names[min(ahead, key=lambda place: self[place].cost)] if ahead else None

    def to_frame(self) -> Any:
        """One row per goal: goal, status, cost, bound, score, changed, changes.

        The result is a table of the same kind as the row that was given (for arrays, a dict of columns).
        """
        columns: dict[str, list[Any]] = {
            "goal": list(self.names),
            "status": [rung.certificate.status.name for rung in self],
            "cost": [rung.cost if rung.found else None for rung in self],
            "bound": [rung.certificate.bound if rung.found else None for rung in self],
            "score": [None if rung.score is None else rung.score.after for rung in self],
            "changed": [len(rung.actions) if rung.found else None for rung in self],
            "changes": [in_words(rung.changes) for rung in self],
        }
        return frames.framed(self.factual, columns)
