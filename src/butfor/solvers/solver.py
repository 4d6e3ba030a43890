"""What a solver is. It says whether it takes a form, and answers a problem with plain numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from butfor.compiled.clock import now
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
    """A flag that is raised for everybody who shares it. Threads share it, processes do not."""

    raised: bool = False


@dataclass(frozen=True)
class Budget:
    """A time limit and a number of threads. The time starts when the budget is made.
    It stands still while kernels are compiled.

    Within a call, a row may take `per_row` seconds. `interrupt` ends the budget at once.
    """

    seconds: float = np.inf
    start: float = field(default_factory=now)
    threads: int = 1
    flag: _Flag = field(default_factory=_Flag)
    per_row: float = np.inf

    @property
    def limited(self) -> bool:
        """Whether there is any limit on the time."""
        return bool(np.isfinite(min(self.seconds, self.per_row)))

    @property
    def until(self) -> float:
        """When the time ends, on the clock of `butfor.compiled.clock`."""
        return self.start + self.seconds

    def interrupt(self) -> None:
        """End the budget now, because of Ctrl-C."""
        self.flag.raised = True

    @contextmanager
    def ended_by_interrupt(self) -> Iterator[None]:
        """Ctrl-C ends what runs within, and the budget. What is known by then is kept."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupt()

    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self.seconds - (now() - self.start))

    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.flag.raised or self.left() <= 0.0

    @property
    def stopped(self) -> Stopped:
        """Why nothing is left; `DONE` if something is."""
        if self.flag.raised:
            return Stopped.INTERRUPTED
        return Stopped.TIME if self.left() <= 0.0 else Stopped.DONE

    def at_most(self, seconds: float) -> Budget:
        """A part of this budget: `seconds` from now, or less if less is left. Both are interrupted together."""
        return Budget(min(self.left(), seconds), threads=self.threads, flag=self.flag, per_row=self.per_row)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """In another process, the budget continues with what is left. Clocks of processes differ."""
        return _resumed, (self.left(), self.threads, self.flag.raised, self.per_row)


def _resumed(seconds: float, threads: int, raised: bool, per_row: float) -> Budget:
    return Budget(seconds, threads=threads, flag=_Flag(raised), per_row=per_row)


class Rest(ABC):
    """A search for a single row that ran out of time. Whoever keeps it may let it go on."""

    @abstractmethod
    def go_on(self, budget: Budget) -> Outcome:
        """The answer to the row, and what is proven of it, after some more time."""


class AbstractSolver(ABC):
    """A method that solves problems. Final classes implement this interface and inherit nothing else."""

    name: str
    does: str
    many = False
    """Whether it gives several answers per row by itself."""
    by_leaf = False
    """Whether each of these answers lies in another leaf of a tree."""
    exact = True
    """Whether it proves its answers, if it has enough time."""
    only_named = False
    """Whether it is used only if the user names it."""
    block = 1
    """How many rows it should be given at once."""
    row_by_row = False
    """Whether a row may take long, and so use up the time of others that are solved with it."""
    takes_per_row = False
    """Whether each of these rows may have its own set of scores."""
    by_programs = False
    """Whether it solves programs with whole numbers, which take long."""
    none_found = Credit.none_found
    """What it means if it proves that there is no answer."""

    def validate(self, space: Space) -> None:  # noqa: B027
        """Raise a clear error if its settings make no sense in this space."""

    def credit(self, why: str) -> Credit:
        """The credit for what it will find, given the reason why it was chosen."""
        return Credit(self.name, why, self.none_found)

    def in_coins(self, coin: float) -> AbstractSolver:
        """The same solver, for costs that are counted in coins."""
        return self

    @abstractmethod
    def accepts(self, form: Form) -> Support:
        """Whether it takes problems of this form, and the reason."""

    @abstractmethod
    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        """Up to `k` answers per row, cheapest first."""

    def solve_below(self, problem: Problem, upper: float, budget: Budget) -> Outcome:
        """An answer to the only row, if one costs less than `upper`.

        An infinite bound says that none does. A solver that gains nothing by that solves the problem.
        """
        return self.solve(problem, budget)
