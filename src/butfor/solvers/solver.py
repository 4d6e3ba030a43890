"""What a solver is: it says whether it takes a form, and answers a problem with plain numbers."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import Enum
from threading import Event

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.space.space import Space

TOLERANCE = 1e-6
"""An answer within this of its bound (relative to 1 + cost) is called optimal."""

GUARDS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7)
"""Shares of the size of a score by which its threshold is raised, one after the other, until rounding no longer matters."""


class Status(Enum):
    """What is known of an answer. Each member's value says it in words."""

    PROVEN_OPTIMAL = "proven optimal: no admissible change is cheaper"
    WITHIN_GAP = "valid, and proven to be within a known gap of the optimum"
    VALID = "valid; optimality is not claimed"
    PROVEN_INFEASIBLE = "proven impossible: no admissible change meets the target"
    NOT_FOUND = "no answer was found in the budget; there may be one"

    @property
    def found(self) -> bool:
        """Whether there is a point."""
        return self is Status.PROVEN_OPTIMAL or self is Status.WITHIN_GAP or self is Status.VALID


@dataclass(frozen=True)
class Support:
    """Whether a solver takes a form, and the reason."""

    yes: bool
    why: str

    def __bool__(self) -> bool:
        return self.yes


@dataclass(frozen=True)
class Budget:
    """A time limit, counted from when the budget is made, and how many threads may be used; `stop` ends it for all of them."""

    seconds: float = np.inf
    start: float = field(default_factory=time.perf_counter)
    threads: int = 1
    stopped: Event = field(default_factory=Event)

    def stop(self) -> None:
        """Nothing is left from now on."""
        self.stopped.set()

    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.seconds - (time.perf_counter() - self.start))

    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.stopped.is_set() or self.left() <= 0.0


@dataclass(frozen=True, eq=False)
class Outcome:
    """Answers to the n rows of a problem, as plain arrays; with k answers a row, `row` says whose each is.

    A point is NaN throughout where none was found. `bound` is a proven lower bound on the cost: infinity is a proof that
    no answer exists, 0 no proof of anything. `notes` are more numbers an answer, by what they say (NaN: nothing).
    """

    row: IntArray
    points: FloatArray
    cost: FloatArray
    bound: FloatArray
    exhausted: BoolArray
    notes: dict[str, FloatArray] = field(default_factory=dict)

    def found(self) -> BoolArray:
        """Which rows have a point."""
        return np.isfinite(self.cost)

    def status(self) -> list[Status]:
        """What is known of each."""
        return statuses_of(self.cost, self.bound)


def statuses_of(cost: FloatArray, bound: FloatArray) -> list[Status]:
    """The statuses that costs and bounds come to."""
    known = np.isfinite(cost)
    with np.errstate(invalid="ignore"):
        optimal = cost - bound <= TOLERANCE * (1 + np.abs(cost))
    number = np.select([~known & (bound == np.inf), ~known, optimal, bound > 0], [3, 4, 0, 1], 2)
    members = list(Status)
    return [members[n] for n in number.tolist()]


def nothing_found(problem: Problem, bound: float = 0.0, *, exhausted: bool = False) -> Outcome:
    """An outcome without points."""
    n, d = problem.factuals.shape
    return Outcome(
        row=np.arange(n),
        points=np.full((n, d), np.nan),
        cost=np.full(n, np.inf),
        bound=np.full(n, bound),
        exhausted=np.full(n, exhausted),
    )


def joined(parts: list[Outcome]) -> Outcome:
    """Outcomes of single rows (each with `row` already set) as one, in row order."""
    order = np.argsort(np.concatenate([part.row for part in parts]), kind="stable")
    return Outcome(
        row=np.concatenate([part.row for part in parts])[order],
        points=np.concatenate([part.points for part in parts])[order],
        cost=np.concatenate([part.cost for part in parts])[order],
        bound=np.concatenate([part.bound for part in parts])[order],
        exhausted=np.concatenate([part.exhausted for part in parts])[order],
        notes={
            name: np.concatenate([part.notes.get(name, np.full(len(part.row), np.nan)) for part in parts])[order]
            for name in dict.fromkeys(name for part in parts for name in part.notes)
        },
    )


def merged(outcome: Outcome, again: Outcome) -> Outcome:
    """An outcome with the answers to some rows replaced; a bound proven before still holds for a row's first answer."""
    kept = ~np.isin(outcome.row, again.row)
    bound = again.bound.copy()
    firsts = np.flatnonzero(np.diff(again.row, prepend=-1) != 0)
    for i in firsts:
        bound[i] = min(bound[i], outcome.bound[np.searchsorted(outcome.row, again.row[i])])
    old = Outcome(
        outcome.row[kept], outcome.points[kept], outcome.cost[kept], outcome.bound[kept], outcome.exhausted[kept],
        {name: column[kept] for name, column in outcome.notes.items()},
    )  # fmt: skip
    return joined([old, replace(again, bound=bound)])


def renumbered(outcome: Outcome, rows: IntArray) -> Outcome:
    """The outcome of a part of a problem, with `row` counted in the whole."""
    return replace(outcome, row=np.asarray(rows)[outcome.row])


class AbstractSolver(ABC):
    """A method. Final classes implement it; nothing is inherited but this interface."""

    name: str
    does: str
    many = False
    """Whether it gives several answers a row by itself."""
    exact = True
    """Whether it proves its answers, given the time."""
    block = 1
    """How many rows it likes to be given at once."""
    apart = False
    """Whether these may have a set of scores each."""

    def check(self, space: Space) -> None:  # noqa: B027
        """Raise a clear error if its settings cannot be meant in this space."""

    @abstractmethod
    def accepts(self, form: Form) -> Support:
        """Whether it takes problems of this form; if not, what stands in the way and what to use instead."""

    @abstractmethod
    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        """Up to `k` answers a row, cheapest first."""
