"""The way of an answer through a decision tree, and which splits it crosses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from butfor.explanation.explanation import Explanation
from butfor.explanation.render import rendered
from butfor.space import frames


@dataclass(frozen=True)
class CrossedSplit:
    """A question of the tree on the way of the answer.

    - `question`: what is asked, such as "income <= 21000";
    - `column`: the column that is asked about, with its values `before` and `after`;
    - `was`, `now`: whether it is true of the row, and of the answer.
    """

    question: str
    column: str
    before: Any
    after: Any
    was: bool
    now: bool

    @property
    def crossed(self) -> bool:
        """Whether the answer is on the other side."""
        return self.was != self.now


@dataclass(frozen=True, eq=False, repr=False)
class TreePath:
    """The way of an answer through a decision tree, from the root to its leaf.

    The row itself leaves this way at the first split that is crossed. Print it, or use `to_frame` or `plot`.
    """

    answer: Explanation
    splits: tuple[CrossedSplit, ...]

    @property
    def crossed(self) -> tuple[CrossedSplit, ...]:
        """The splits of which the answer is on the other side."""
        return tuple(split for split in self.splits if split.crossed)

    def to_frame(self) -> Any:
        """One row per split: question, column, before, after, was, now, crossed. For arrays it is a dict of columns."""
        columns: dict[str, list[Any]] = {
            "question": [split.question for split in self.splits],
            "column": [split.column for split in self.splits],
            "before": [None if split.before is None else str(split.before) for split in self.splits],
            "after": [None if split.after is None else str(split.after) for split in self.splits],
            "was": [split.was for split in self.splits],
            "now": [split.now for split in self.splits],
            "crossed": [split.crossed for split in self.splits],
        }
        return frames.framed(self.answer.factual, columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the path, with matplotlib. Returns the axes."""
        return rendered(self, "tree path drawn", ax)

    def __repr__(self) -> str:
        return str(rendered(self, "tree path"))
