"""Predicates of PMML: true, false, or unknown where a value is missing. And what to ask if that is not settled yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Among = frozenset[int]
"""Positions of levels."""


@dataclass(frozen=True)
class Cut:
    """Whether a read number is at most the last one."""

    read: int
    last: float


@dataclass(frozen=True)
class OneOf:
    """Whether a read level is one of these. `count` levels are known; the position behind them stands for any other."""

    read: int
    levels: Among
    count: int


@dataclass(frozen=True)
class Lost:
    """Whether what is read is missing."""

    read: int


Question = Cut | OneOf | Lost


@dataclass(frozen=True)
class AlwaysSo:
    """A predicate that is always true, or never."""

    holds: bool


@dataclass(frozen=True)
class Answered:
    """A predicate that is true if the answer to a question is yes, or no. It is unknown where the value is missing."""

    question: Cut | OneOf
    wanted: bool = True


@dataclass(frozen=True)
class IsMissing:
    """A predicate that is true if what is read is missing, or not."""

    read: int
    wanted: bool = True


@dataclass(frozen=True)
class Compound:
    """Several predicates together."""

    how: Literal["and", "or", "xor", "surrogate"]
    parts: tuple[Predicate, ...]


Predicate = AlwaysSo | Answered | IsMissing | Compound


@dataclass(frozen=True)
class Known:
    """What is known of one value: whether it is missing (None: perhaps), its interval, and the levels that it may have."""

    lost: bool | None = None
    above: float = -np.inf
    most: float = np.inf
    levels: Among | None = None

    def settles(self, question: Cut | OneOf) -> bool | None:
        """The answer, if the value is not missing; None if it may be either."""
        if isinstance(question, Cut):
            return True if self.most <= question.last else False if self.above >= question.last else None
        mine = self._levels(question)
        return True if mine <= question.levels else False if not mine & question.levels else None

    def told(self, question: Question, answer: bool) -> Known:
        """What is known after an answer. A value that was asked for is not missing."""
        if isinstance(question, Lost):
            return replace(self, lost=answer)
        if isinstance(question, Cut):
            here = replace(self, most=question.last) if answer else replace(self, above=question.last)
            return replace(here, lost=False)
        mine = self._levels(question)
        return replace(self, lost=False, levels=mine & question.levels if answer else mine - question.levels)

    def _levels(self, question: OneOf) -> Among:
        return frozenset(range(question.count + 1)) if self.levels is None else self.levels


State = Mapping[int, Known]
"""What is known of each value that is read."""

Truth = bool | None
"""None: unknown."""


def truth(predicate: Predicate, state: State) -> Truth | Question:
    """Whether a predicate is true; what to ask first, if that is not settled."""
    match predicate:
        case AlwaysSo(holds):
            return holds
        case IsMissing(read, wanted):
            lost = state[read].lost
            return Lost(read) if lost is None else lost == wanted
        case Answered(question, wanted):
            known = state[question.read]
            if known.lost:
                return None
            answer = known.settles(question)
            if answer is None:
                return question
            return Lost(question.read) if known.lost is None else answer == wanted
        case Compound():
            return _together(predicate, state)


def _together(predicate: Compound, state: State) -> Truth | Question:
    found: list[Truth] = []
    for part in predicate.parts:
        one = truth(part, state)
        if not isinstance(one, bool | None):
            return one
        if predicate.how == "surrogate" and one is not None:
            return one
        if (predicate.how, one) in (("and", False), ("or", True)):
            return one
        found.append(one)
    if None in found or predicate.how == "surrogate":
        return None
    return sum(map(bool, found)) % 2 == 1 if predicate.how == "xor" else predicate.how == "and"
