"""What each change of an answer contributes to its score and its cost: the numbers behind a waterfall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.explanation.explanation import Explanation
from butfor.explanation.render import rendered
from butfor.space import frames


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    """What each change contributes to the score and the cost of an answer, independent of any order.

    - `score`: for each of `answer.changes`, its part in `answer.score.after - answer.score.before` (None: no score);
    - `cost`: its part in the cost of the changes (None: the cost is a function, which an answer does not keep);
    - `rule`: how the score was divided, in words;
    - `points`: about how many rows the model was asked, all in one call.

    The parts of the score are Shapley values. Print them, or use `to_frame` or `plot`.
    """

    answer: Explanation
    score: FloatArray | None
    cost: FloatArray | None
    rule: str
    points: int

    def to_frame(self) -> Any:
        """One row per change: column, before, after, score, cost. For arrays it is a dict of columns.

        A part that is not known is missing.
        """
        changes = self.answer.changes
        columns: dict[str, list[Any]] = {
            "column": [change.name for change in changes],
            "before": [None if change.before is None else str(change.before) for change in changes],
            "after": [None if change.after is None else str(change.after) for change in changes],
            "score": _listed(self.score, len(changes)),
            "cost": _listed(self.cost, len(changes)),
        }
        return frames.framed(self.answer.factual, columns)

    def plot(self, ax: Any = None, of: Literal["score", "cost"] = "score") -> Any:
        """Draw the parts of the score (or the cost) as a waterfall, with matplotlib. Returns the axes."""
        return rendered(self, "waterfall", ax, of)

    def __repr__(self) -> str:
        return str(rendered(self, "contributions"))


def _listed(parts: FloatArray | None, count: int) -> list[float | None]:
    return [None] * count if parts is None else np.asarray(parts, dtype=np.float64).tolist()
