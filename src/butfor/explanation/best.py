"""A few of several answers, each the best of them in some respect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from butfor.errors import InputError
from butfor.experimental import experimental
from butfor.explanation.answer_list import AnswerList
from butfor.explanation.changes import in_words
from butfor.explanation.explanation import Explanation
from butfor.space import frames


@experimental
@dataclass(frozen=True, eq=False, repr=False)
class Best(AnswerList):
    """The answers that are best in some respect among those that were compared, cheapest first.

    - `answers`: the answers;
    - `places`: for each respect, the place of its best answer among them;
    - `marks`: for each respect, how well each answer does;
    - `compared`: how many answers there were;
    - `target`: what is wanted, in words.
    """

    way: ClassVar[str] = "best"

    answers: tuple[Explanation, ...]
    places: Mapping[str, int]
    marks: Mapping[str, tuple[float, ...]]
    compared: int
    target: str

    def _place(self, name: str) -> int:
        """The place of the answer that is best in a respect."""
        if name not in self.places:
            raise InputError(
                f"the respect {name!r} was given.", f"The respects are {', '.join(map(repr, self.places))}."
            )
        return self.places[name]

    def best_in(self, place: int) -> str:
        """The respects in which one of the answers is the best."""
        return ", ".join(respect for respect, winner in self.places.items() if winner == place)

    def to_frame(self) -> Any:
        """One row per answer: what it is best in, its marks in all respects, changes.

        The result is a table of the same kind as the row that was given (for arrays, a dict of columns).
        """
        columns: dict[str, list[Any]] = {
            "best in": [self.best_in(place) for place in range(len(self))],
            **{respect: list(marks) for respect, marks in self.marks.items()},
            "changes": [in_words(one.changes) for one in self],
        }
        return frames.framed(self.answers[0].factual, columns)
