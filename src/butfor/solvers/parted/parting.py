"""Relations that are kept by parting: they are left out, and what is left around an answer that breaks one is parted.

Each part is a narrower domain, which any exact solver takes. The part with the lowest bound comes first, and is parted again
only if its cheapest row breaks a relation, too (Lawler, "A procedure for computing the k best solutions", Management Science
18, 1972).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, Generic, NamedTuple, TypeVar, cast

import numpy as np

from butfor.arrays import FloatArray
from butfor.frontier import Frontier
from butfor.problem.constraints.constraint import Relation
from butfor.problem.domain import Domain
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.outcome import Outcome, Status, Stopped, better_of, nothing_found, objects, to_beat
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import AbstractSolver, Budget, Rest

R = TypeVar("R", bound=Relation)


class AbstractParting(AbstractReduction, Generic[R]):
    """Relations that are left out at first, and kept by parting where an answer breaks one.

    - `relation`: the class of these relations.
    """

    row_by_row = True
    takes_per_row = True
    relation: ClassVar[type[Relation]]

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner

    @abstractmethod
    def ways(self, problem: Problem, relation: R, point: FloatArray) -> Iterable[Domain]:
        """The ways to keep a relation that a point (1, columns) breaks, which is the answer of a part without it.

        `problem` is that part with all relations. No way holds the point.
        """

    def parts(self, form: Form) -> tuple[Form, ...]:
        """In a part, a column may have to move."""
        return (replace(form, constraints=form.constraints - {self.relation.kind}, forced=True),)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        (form,) = self.parts(problem.form())
        return row_by_row(problem, budget, lambda one: _PartedRow(one, self, form, budget).go_on(budget))


class _SolvedPart(NamedTuple):
    """A part of what is left, and its cheapest row.

    - `due`: the search for this row was cut short, and may go on now.
    """

    problem: Problem
    found: Outcome
    due: bool = False

    @property
    def stopped(self) -> Stopped:
        """Why no more is known of its cheapest row."""
        proven = self.found.status()[0] is Status.PROVEN_OPTIMAL
        return Stopped.DONE if proven else Stopped(int(self.found.stopped[0]))

    def bounded(self, bound: float) -> _SolvedPart:
        """The part of another one in which no row costs less than a bound."""
        return self._replace(found=replace(self.found, bound=np.maximum(self.found.bound, bound)))


class _PartedRow(Rest, Generic[R]):
    """The search for one row.

    - `best`: the cheapest row so far that keeps all relations;
    - `left`: the parts for which there was no time: their cheapest row breaks a relation, or was not proven;
    - `lowest`: the lowest bound of the other parts.
    """

    def __init__(self, problem: Problem, parting: AbstractParting[R], form: Form, budget: Budget) -> None:
        self.problem, self.parting, self.handing = problem, parting, Handing(parting.inner)
        self.solver, self.best, self.lowest = self.handing.taker(form), nothing_found(problem, np.inf), np.inf
        self.left = [self._solved(problem.without_relations_of(parting.relation), budget)]

    def go_on(self, budget: Budget) -> Outcome:
        """The cheapest row that keeps all relations."""
        waiting = Frontier[_SolvedPart](lambda: to_beat(float(self.best.cost[0])), newest_first=True)
        stopped, left, self.left = Stopped.DONE, self.left, []

        def put(part: _SolvedPart) -> None:
            if part.found.bound[0] < np.inf:
                waiting.put(float(part.found.bound[0]), part)

        for part in left:
            put(part._replace(due=part.stopped is Stopped.TIME))
        while waiting.is_open:
            bound, part = waiting.pop()
            broken = self._broken(part.found)
            if part.due and not budget.spent():
                put(self._longer(part, budget))
                continue
            if broken is not None and not budget.spent():
                for inside in self._ways(part, broken, budget):
                    put(inside.bounded(bound))
                continue
            waiting.settle(bound)  # if the part has no cheaper row, this is no loss
            why = part.stopped if broken is None else budget.stopped
            stopped = max(stopped, why)
            if broken is None and part.found.cost[0] < self.best.cost[0]:
                self.best = part.found
            if why is not Stopped.TIME and broken is None:
                self.lowest = min(self.lowest, bound)
            else:
                self.left.append(part)
        return replace(
            self.best,
            bound=np.array([min(waiting.lowest, self.lowest, float(self.best.cost[0]))]),
            stopped=np.array([stopped], dtype=np.intp),
            rest=objects([self if self.left else None]),
            notes={},
        ).handed_to(self.handing.ran)

    def _ways(self, part: _SolvedPart, broken: R, budget: Budget) -> Iterator[_SolvedPart]:
        """The parts of a part, in which a relation is kept that its cheapest row breaks."""
        whole = replace(self.problem, domain=part.problem.domain)
        for domain in self.parting.ways(whole, broken, part.found.points):
            yield self._solved(replace(part.problem, domain=domain), budget)

    def _solved(self, part: Problem, budget: Budget) -> _SolvedPart:
        return _SolvedPart(part, self.handing.kept(self.solver, self.solver.solve(part, budget)))

    def _longer(self, part: _SolvedPart, budget: Budget) -> _SolvedPart:
        """The part after a search that goes on, or begins anew if it was not kept."""
        (rest,) = part.found.rest
        more = self._solved(part.problem, budget).found if rest is None else rest.go_on(budget)
        best = replace(better_of(part.found, more), stopped=more.stopped, rest=more.rest)
        return part._replace(found=best, due=False)

    def _broken(self, found: Outcome) -> R | None:
        """The first of the relations that an answer breaks; None if it breaks none, or there is no answer."""
        if not found.found()[0]:
            return None
        space, start = self.problem.space, self.problem.factuals
        relations = cast(tuple[R, ...], self.problem.relations_of(self.parting.relation))
        return next((one for one in relations if not one.holds_between(space, start, found.points)[0]), None)
