"""What a solver returns: points, costs, proven bounds, and why it stopped. Nothing of it is believed yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, IntEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.problem.problem import Problem

TOLERANCE = 1e-6
"""An answer is called optimal if its cost is this close to its bound, relative to coin + cost.

A coin is the smallest price that matters (`Prices.coin`). Solvers count in coins, so that theirs is 1.
"""

LEFT_TO_FLOAT32 = 1e-3
"""How much more a model that computes in float32 may leave open, relative to coin + cost: it has so few digits itself."""

LEFT_OPEN = "left open by rounding"
"""A note on answers that are optimal but for that: two rows whose costs differ by less, the model cannot tell apart."""


Costs = TypeVar("Costs", float, FloatArray)


class Status(Enum):
    """What is known about an answer. The value of each member says it in words."""

    PROVEN_OPTIMAL = "proven optimal: no admissible change is cheaper"
    WITHIN_GAP = "valid, and proven to be within a known gap of the optimum"
    VALID = "valid; optimality is not claimed"
    PROVEN_INFEASIBLE = "proven impossible: no admissible change meets the target"
    NOT_FOUND = "no answer was found; there may be one"

    @property
    def short(self) -> str:
        """The status in two words or one."""
        return "proven impossible" if self is Status.PROVEN_INFEASIBLE else self.name.replace("_", " ").lower()

    @property
    def found(self) -> bool:
        """Whether there is a point."""
        return self is Status.PROVEN_OPTIMAL or self is Status.WITHIN_GAP or self is Status.VALID

    @property
    def settled(self) -> bool:
        """Whether more time cannot change it."""
        return self is Status.PROVEN_OPTIMAL or self is Status.PROVEN_INFEASIBLE


class Stopped(IntEnum):
    """Why a search ended."""

    DONE = 0
    TIME = 1
    INTERRUPTED = 2
    CALLS = 3
    EFFORT = 4

    @property
    def meaning(self) -> str:
        """What ended the search."""
        return _ENDED_BY[self]

    @property
    def words(self) -> str:
        """The reason as the end of a sentence; empty if the search was done."""
        return f"stopped by {self.meaning}" if self else ""


_ENDED_BY = {
    Stopped.DONE: "nothing: the search was complete",
    Stopped.TIME: "the time limit",
    Stopped.INTERRUPTED: "Ctrl-C",
    Stopped.CALLS: "the limit on calls of the model",
    Stopped.EFFORT: "an internal limit of the solver (rounds, nodes, or attempts to be safe from rounding)",
}


@dataclass(frozen=True)
class Ran:
    """A solver that ran, and those that ran for it.

    >>> print(Ran("robust_exact", (Ran("linear_exact"), Ran("milp"))))
    robust_exact, by linear_exact and milp
    """

    name: str
    by: tuple[Ran, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}, by {' and '.join(map(str, self.by))}" if self.by else self.name


def together(ran: Iterable[Ran]) -> tuple[Ran, ...]:
    """Solvers that ran for the same row, each named once."""
    found: dict[str, tuple[Ran, ...]] = {}
    for one in ran:
        found[one.name] = found.get(one.name, ()) + one.by
    return tuple(Ran(name, together(by)) for name, by in found.items())


@dataclass(frozen=True)
class Credit:
    """The solver that gave an answer, why it was chosen, and those to which it handed parts of the row."""

    solver: str
    why: str
    none_found: str = "no admissible change meets the target"
    """What it means if the solver proved that there is no answer."""
    by: tuple[Ran, ...] = ()

    def __str__(self) -> str:
        return f"{Ran(self.solver, self.by)}: {self.why}"

    def beside(self, other: Credit | None) -> Credit:
        """The credit for an answer whose proof has this other one: one solver may have handed on something else."""
        if other is None or other.solver != self.solver or other.by == self.by:
            return self
        return replace(self, by=together((*self.by, *other.by)))


NOBODY = Credit("none", "the target is already met")
"""The credit if nothing had to change."""


BEFORE_POLISHING = "cost before polishing"
"""A note on answers of a swarm."""

COSTS_NOTED = (BEFORE_POLISHING, LEFT_OPEN)
"""Notes that are costs."""

REACHED, NEEDED, CLOSEST_ROW = "reached", "needed", "closest"
"""Notes on rows without an answer, in the terms of the target. `Farthest` says what they are."""

HIGHEST = "highest sum"
"""A note on rows without an answer: the largest sum of scores that any admissible point has, if one must be reached."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Answers to the n rows of a problem, in columns. A row may have several answers.

    - `row` (answers): the row that each answer is for;
    - `points` (answers, features): the answers; if none was found, a row that comes close, or all NaN;
    - `cost` (answers): infinite if none was found;
    - `bound` (answers): a proven lower bound on the cost. Infinity proves that there is no answer, 0 proves nothing;
    - `stopped` (answers): a `Stopped`, as a number;
    - `credit` (answers): a `Credit`, set by the code that chose the solver (before that, None);
    - `by` (answers): the solvers to which the solver handed parts of the row, a tuple of `Ran`;
    - `rest` (answers): a search for the row that ran out of time and can go on, a `Rest` (None: it would begin anew);
    - `notes`: name -> (answers): further numbers (NaN: unknown).
    """

    row: IntArray
    points: FloatArray
    cost: FloatArray
    bound: FloatArray
    stopped: IntArray
    credit: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=object))
    by: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=object))
    rest: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=object))
    notes: dict[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.credit) < len(self.row):
            object.__setattr__(self, "credit", np.full(len(self.row), None, dtype=object))
        if len(self.by) < len(self.row):
            object.__setattr__(self, "by", np.empty(len(self.row), dtype=object))
            self.by.fill(())
        if len(self.rest) < len(self.row):
            object.__setattr__(self, "rest", np.full(len(self.row), None, dtype=object))

    def __len__(self) -> int:
        return len(self.row)

    def found(self) -> BoolArray:
        """Which answers have a point."""
        return np.isfinite(self.cost)

    def times(self, coin: float) -> Outcome:
        """The outcome with costs and bounds in the user's prices, which solvers count in coins."""
        notes = {name: coin * note if name in COSTS_NOTED else note for name, note in self.notes.items()}
        return replace(self, cost=coin * self.cost, bound=coin * self.bound, notes=notes)

    def status(self) -> list[Status]:
        """What is known about each answer."""
        return statuses_of(self.cost, self.bound, left_open=self.notes.get(LEFT_OPEN))

    def settled(self) -> BoolArray:
        """Which answers are proven, or proven to be none."""
        return np.array([status.settled for status in self.status()], dtype=np.bool_)

    def take(self, at: IntArray | BoolArray) -> Outcome:
        """Some of the answers."""
        columns = {f.name: getattr(self, f.name)[at] for f in fields(self) if f.name != "notes"}
        return Outcome(**columns, notes={name: column[at] for name, column in self.notes.items()})

    def renumbered(self, rows: IntArray) -> Outcome:
        """The outcome of a part, with `row` as the number in the whole problem."""
        return replace(self, row=np.asarray(rows)[self.row])

    def credited(self, credit: Credit) -> Outcome:
        """The same outcome with a credit for all answers. It names those, too, to which the solver handed parts."""
        credits = np.full(len(self), credit, dtype=object)
        for i in np.flatnonzero(self.by.astype(np.bool_)):
            credits[i] = replace(credit, by=self.by[i])
        return replace(self, credit=credits)

    def given_by(self, name: str) -> Outcome:
        """The outcome of an inner solver of this name, as part of an outcome of whoever handed it on."""
        return replace(self, by=objects([(Ran(name, by),) for by in self.by]))

    def at_rest(self) -> Outcome:
        """The same outcome, whose searches are not to go on: what they search is only a part of a row, or kept elsewhere."""
        return replace(self, rest=np.full(len(self), None, dtype=object))

    def handed_to(self, ran: Iterable[Ran]) -> Outcome:
        """The outcome of a row of which parts were handed to these solvers."""
        return replace(self, by=objects([together(ran)] * len(self.row)))


def objects(values: Sequence[object]) -> NDArray[Any]:
    """An array of objects, which may be tuples."""
    return np.array([*values, None], dtype=object)[:-1]


def one_answer(point: FloatArray, cost: float, bound: float, stopped: Stopped = Stopped.DONE) -> Outcome:
    """The outcome of a single row that has one answer."""
    return Outcome(
        row=np.zeros(1, dtype=np.intp),
        points=point[None],
        cost=np.array([cost]),
        bound=np.array([bound]),
        stopped=np.array([stopped], dtype=np.intp),
    )


def answers_of(row: IntArray, points: FloatArray, cost: FloatArray, bound: FloatArray) -> Outcome:
    """The outcome of a search that was complete."""
    return Outcome(row, points, cost, bound, np.zeros(len(row), dtype=np.intp))


def nothing_found(problem: Problem, bound: float = 0.0, stopped: Stopped = Stopped.DONE) -> Outcome:
    """An outcome without points."""
    n, d = problem.factuals.shape
    return Outcome(
        row=np.arange(n),
        points=np.full((n, d), np.nan),
        cost=np.full(n, np.inf),
        bound=np.full(n, bound),
        stopped=np.full(n, stopped, dtype=np.intp),
    )


def joined(parts: Sequence[Outcome]) -> Outcome:
    """Several outcomes as one, ordered by row. Their `row` must count in the whole problem."""
    order = np.argsort(np.concatenate([part.row for part in parts]), kind="stable")
    columns = {
        f.name: np.concatenate([getattr(part, f.name) for part in parts])[order]
        for f in fields(Outcome)
        if f.name != "notes"
    }
    names = dict.fromkeys(name for part in parts for name in part.notes)
    notes = {
        name: np.concatenate([part.notes.get(name, np.full(len(part), np.nan)) for part in parts])[order]
        for name in names
    }
    return Outcome(**columns, notes=notes)


def merged(outcome: Outcome, again: Outcome) -> Outcome:
    """An outcome in which the answers in `again` replace those to the same rows.

    A row's first answer keeps the bound that was proven before, if the new one is larger.
    """
    bound = again.bound.copy()
    firsts = np.flatnonzero(np.diff(again.row, prepend=-1) != 0)
    for i in firsts:
        bound[i] = min(bound[i], outcome.bound[np.searchsorted(outcome.row, again.row[i])])
    return joined([outcome.take(~np.isin(outcome.row, again.row)), replace(again, bound=bound)])


def better_of(known: Outcome, found: Outcome) -> Outcome:
    """The better answers and bounds of two outcomes. `found` has one answer for some or all rows of `known`.

    A bound above the cost of an answer is refuted, and nothing is proven.
    """
    at = np.searchsorted(known.row, found.row)
    old = known.take(at)
    tighter = found.bound > old.bound
    bound = np.where(tighter, found.bound, old.bound)
    stopped = np.where(tighter | (found.bound == old.bound), found.stopped, old.stopped)
    cheaper = found.cost <= old.cost
    best = joined([found.take(cheaper), old.take(~cheaper)])
    credit = best.credit.copy()
    for i in np.flatnonzero(
        np.array([a is not b for a, b in zip(old.credit, found.credit, strict=True)], dtype=np.bool_)
    ):
        credit[i] = _credit(best.credit[i], old.credit[i], found.credit[i])
    best = replace(best, bound=np.where(refuted(bound, best.cost), 0.0, bound), stopped=stopped, credit=credit)
    return best if len(best) == len(known) else joined([best, known.take(~np.isin(known.row, found.row))])


def better_of_several(known: Outcome, found: Outcome) -> Outcome:
    """The better answers of two outcomes that may have several to a row, the best first: for each row all of one of them.

    These are the ones whose first costs less; at the same cost, the more. The first keeps the higher bound.
    """
    rows, old, olds = np.unique(known.row, return_index=True, return_counts=True)
    again, new, news = np.unique(found.row, return_index=True, return_counts=True)
    at = np.searchsorted(rows, again)
    before, after = known.cost[old[at]], found.cost[new]
    takes = again[(after < before) | ((after == before) & (news >= olds[at]))]
    best = joined([known.take(~np.isin(known.row, takes)), found.take(np.isin(found.row, takes))])
    bound, stopped = best.bound.copy(), best.stopped.copy()
    firsts = np.searchsorted(best.row, again)
    for one in (known.take(old[at]), found.take(new)):
        higher = (one.bound > bound[firsts]) & ~refuted(one.bound, best.cost[firsts])
        bound[firsts[higher]], stopped[firsts[higher]] = one.bound[higher], one.stopped[higher]
    return replace(best, bound=bound, stopped=stopped)


def _credit(own: Credit | None, *others: Credit | None) -> Credit | None:
    """The credit for an answer of one of two outcomes of a solver, in which it may have handed on different things."""
    for other in others:
        own = own and own.beside(other)
    return own


def whichever_company(problem: Problem, outcome: Outcome) -> Outcome:
    """The outcome with bounds that hold for the rows, too, that the estimator refused alone and may take beside others."""
    refusals = problem.witnesses.refusals
    if refusals is None:
        return outcome
    return replace(outcome, bound=np.minimum(outcome.bound, refusals.least(problem.factuals)[outcome.row]))


def tolerated(cost: Costs, coin: float = 1.0) -> Costs:
    """By how much costs of about this size may differ and still count as the same."""
    return TOLERANCE * (coin + abs(cost))


def refuted(bound: FloatArray, cost: FloatArray) -> BoolArray:
    """Where an answer of this cost, which is there, shows that the bound is false."""
    return np.asarray(bound > cost + tolerated(cost))


def to_beat(cost: float, share: float = 1.0) -> float:
    """What an answer must cost less than to be worth a search, if one of this cost is known (infinite: none is).

    A search that ends here has proven no more than that: nothing costs less than *this*.
    """
    return cost - share * tolerated(cost) if np.isfinite(cost) else np.inf


def statuses_of(
    cost: FloatArray, bound: FloatArray, coin: float = 1.0, left_open: FloatArray | None = None
) -> list[Status]:
    """The statuses that follow from costs and bounds, in prices with this coin.

    `left_open` is what the rounding of the model leaves open (NaN: nothing).
    """
    known = np.isfinite(cost)
    spare = 0.0 if left_open is None else np.minimum(np.nan_to_num(left_open), LEFT_TO_FLOAT32 * (coin + np.abs(cost)))
    with np.errstate(invalid="ignore"):
        optimal = cost - bound <= tolerated(cost, coin) + spare
    number = np.select([~known & (bound == np.inf), ~known, optimal, bound > 0], [3, 4, 0, 1], 2)
    members = list(Status)
    return [members[n] for n in number.tolist()]
