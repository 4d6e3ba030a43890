"""The answers to several goals, one harder than the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from butfor.explanation.changes import in_words
from butfor.explanation.explanation import Explanation
from butfor.explanation.render import rendered
from butfor.space import frames


@dataclass(frozen=True, eq=False, repr=False)
class Ladder(Sequence[Explanation]):
    """What each of several goals costs one row, from the first goal to the last.

    - `names`: the names of the goals;
    - `rungs`: the answer to each of them;
    - `factual`: the row, as a table;
    - `before`: what the model predicts for it.
    """

    names: tuple[str, ...]
    rungs: tuple[Explanation, ...]
    factual: Any
    before: Any

    def __len__(self) -> int:
        return len(self.rungs)

    @overload
    def __getitem__(self, index: int | str) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Explanation, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Explanation | tuple[Explanation, ...]:
        return self.rungs[self.names.index(index) if isinstance(index, str) else index]

    @property
    def met(self) -> tuple[bool, ...]:
        """Which goals are met without any change."""
        return tuple(rung.found and not rung.changes for rung in self.rungs)

    @property
    def next(self) -> str | None:
        """The name of the cheapest goal behind the last one that is met; None if there is none with an answer."""
        first = max((place + 1 for place, met in enumerate(self.met) if met), default=0)
        ahead = [place for place in range(first, len(self)) if self.rungs[place].found]
        return self.names[min(ahead, key=lambda place: self.rungs[place].cost)] if ahead else None

    def to_frame(self) -> Any:
        """One row per goal: goal, status, cost, bound, score, changed, changes.

        The result is a table of the same kind as the row that was given (for arrays, a dict of columns).
        """
        columns: dict[str, list[Any]] = {
            "goal": list(self.names),
            "status": [rung.certificate.status.name for rung in self.rungs],
            "cost": [rung.cost if rung.found else None for rung in self.rungs],
            "bound": [rung.certificate.bound if rung.found else None for rung in self.rungs],
            "score": [None if rung.score is None else rung.score.after for rung in self.rungs],
            "changed": [len(rung.changes) if rung.found else None for rung in self.rungs],
            "changes": [in_words(rung.changes) for rung in self.rungs],
        }
        return columns if frames.is_array(self.factual) else frames.like(self.factual, columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the goals as a ladder of costs, with matplotlib. Returns the axes."""
        return rendered(self, "ladder drawn", ax)

    @property
    def alt_text(self) -> str:
        """The picture in words, for those who cannot see it."""
        return str(rendered(self, "ladder in words"))

    def __repr__(self) -> str:
        return str(rendered(self, "ladder"))

    def _repr_html_(self) -> str:
        return str(rendered(self, "ladder fragment"))
