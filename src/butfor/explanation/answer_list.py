"""Answers that belong together: what a menu, a ladder, a trade-off and the best of many have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, overload

from butfor.errors import InputTypeError
from butfor.explanation.alternatives import Alternatives, alternatives
from butfor.explanation.explanation import Explanation
from butfor.explanation.render import rendered


class AnswerList(Sequence[Explanation]):
    """A sequence of answers that prints as a table.

    `way` is what its views are called.
    """

    way: ClassVar[str]
    answers: tuple[Explanation, ...]

    def _place(self, name: str) -> int:
        """The place of the answer with a name, if answers have names here."""
        raise InputTypeError(f"{name!r} was given.", "These answers have no names.", "Choose one by its number.")

    def __len__(self) -> int:
        return len(self.answers)

    @overload
    def __getitem__(self, index: int | str) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Explanation, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Explanation | tuple[Explanation, ...]:
        return self.answers[self._place(index) if isinstance(index, str) else index]

    def alternatives(self) -> Alternatives:
        """The answers side by side: what changes in each, and what it costs."""
        return alternatives(self)

    def __repr__(self) -> str:
        return str(rendered(rendered(self, self.way), "listing"))

    def _repr_html_(self) -> str:
        return str(rendered(rendered(self, self.way), "listing fragment"))


class DrawnAnswers(AnswerList):
    """A sequence of answers that is also a picture."""

    def plot(self, ax: Any = None) -> Any:
        """Draw what was found, with matplotlib. Returns the axes."""
        return rendered(self, f"{self.way} drawn", ax)

    @property
    def alt_text(self) -> str:
        """The picture in words, for those who cannot see it."""
        return str(rendered(self, f"{self.way} in words"))
