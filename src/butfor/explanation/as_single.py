"""What a batch of a single answer shares with that answer: its attributes, under the same names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

from butfor.explanation.changes import Change
from butfor.explanation.explanation import Explanation
from butfor.explanation.region import Region
from butfor.problem.targets.score import Score
from butfor.verdict.certificate import Certificate


class AsSingle(ABC):
    """The attributes of the single answer that a batch holds. With several, each is an error that says what to do."""

    @property
    @abstractmethod
    def only(self) -> Explanation:
        """The single answer."""

    @property
    def factual(self) -> Any:
        """The row as it is, before any change (single answer)."""
        return self.only.factual

    @property
    def point(self) -> Any:
        """The changed row of the single answer; None if there is none. It is of the same kind as the given row."""
        return self.only.point

    @property
    def closest(self) -> Any:
        """The closest row that was found, if the single answer is impossible. See `Explanation.closest`."""
        return self.only.closest

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changed columns of the single answer, before and after."""
        return self.only.changes

    @property
    def region(self) -> Region | None:
        """The box around the single answer that `bf.robust` promised; None if no box was asked for."""
        return self.only.region

    @property
    def cost(self) -> float:
        """What the single answer costs."""
        return self.only.cost

    @property
    def certificate(self) -> Certificate:
        """What is known about the single answer."""
        return self.only.certificate

    @property
    def before(self) -> Any:
        """What the model predicts for the row (single answer)."""
        return self.only.before

    @property
    def after(self) -> Any:
        """What the model predicts for the point (single answer)."""
        return self.only.after

    @property
    def score(self) -> Score | None:
        """The number that the target is about, before and after the single answer."""
        return self.only.score

    @property
    def row(self) -> int:
        """Which of the given rows the single answer is for."""
        return self.only.row

    @property
    def rank(self) -> int:
        """The place of the single answer among those for its row (1: the cheapest)."""
        return self.only.rank

    def columns(self) -> tuple[Change, ...]:
        """Every column of the single answer, changed or not."""
        return self.only.columns()

    def to_text(
        self,
        style: str = "letter",
        language: str = "en",
        templates: Mapping[str, Any] | str | PathLike[str] | None = None,
    ) -> str:
        """The single answer in sentences. See `Explanation.to_text`."""
        return self.only.to_text(style, language, templates)

    def to_dict(self, form: Literal["full", "brief"] = "full") -> dict[str, Any]:
        """The single answer as plain data. See `Explanation.to_dict`."""
        return self.only.to_dict(form)
