"""What a solver is: it says whether it takes a form, and answers a problem with plain numbers."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Credit, Outcome, Stopped
from butfor.space.space import Space


@dataclass(frozen=True)
class Support:
    """Whether a solver takes a form, and the reason."""

    yes: bool
    why: str

    def __bool__(self) -> bool:
        return self.yes


@dataclass
class _Flag:
    """Raised for everybody who shares it (threads do, processes do not)."""

    raised: bool = False


@dataclass(frozen=True)
class Budget:
    """A time limit, counted from when the budget is made, and how many threads may be used; `interrupt` ends it at once."""

    seconds: float = np.inf
    start: float = field(default_factory=time.perf_counter)
    threads: int = 1
    flag: _Flag = field(default_factory=_Flag)

    def interrupt(self) -> None:
        """Nothing is left from now on: Ctrl-C."""
        self.flag.raised = True

    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.seconds - (time.perf_counter() - self.start))

    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.flag.raised or self.left() <= 0.0

    @property
    def stopped(self) -> Stopped:
        """Why nothing is left, if so."""
        if self.flag.raised:
            return Stopped.INTERRUPTED
        return Stopped.TIME if self.left() <= 0.0 else Stopped.DONE

    def at_most(self, seconds: float) -> Budget:
        """A part of it: that many seconds from now, if so many are left; interrupted together."""
        return Budget(min(self.left(), seconds), threads=self.threads, flag=self.flag)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """In another process it goes on with what is left; clocks of processes do not agree."""
        return _resumed, (self.left(), self.threads, self.flag.raised)


def _resumed(seconds: float, threads: int, raised: bool) -> Budget:
    return Budget(seconds, threads=threads, flag=_Flag(raised))


class AbstractSolver(ABC):
    """A method. Final classes implement it; nothing is inherited but this interface."""

    name: str
    does: str
    many = False
    """Whether it gives several answers per row by itself."""
    exact = True
    """Whether it proves its answers, given the time."""
    only_named = False
    """Whether it is taken only when the user names it."""
    block = 1
    """How many rows it likes to be given at once."""
    takes_per_row = False
    """Whether these may have a set of scores each."""
    none_found = Credit.none_found
    """What it means where it proves that there is no answer."""

    def validate(self, space: Space) -> None:  # noqa: B027
        """Raise a clear error if its settings cannot be meant in this space."""

    def credit(self, why: str) -> Credit:
        """The credit for what it will find, given the reason why it was chosen."""
        return Credit(self.name, why, self.none_found)

    @abstractmethod
    def accepts(self, form: Form) -> Support:
        """Whether it takes problems of this form; if not, what stands in the way and what to use instead."""

    @abstractmethod
    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        """Up to `k` answers per row, cheapest first."""
