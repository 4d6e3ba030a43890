"""Solvers that hand a problem on: a part of it is theirs, and what is left is for the first solver that takes it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from butfor.model.scores import ScoreSet
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Outcome, Ran, Stopped, objects, together
from butfor.solvers.solver import AbstractSolver, Budget, Rest, Support


def first(solvers: Iterable[AbstractSolver], form: Form) -> tuple[AbstractSolver, Support] | None:
    """The first of some solvers that takes a form, and why. Those that a user must name are left out."""
    supports = ((solver, solver.accepts(form)) for solver in solvers if not solver.only_named)
    return next(((solver, support) for solver, support in supports if support), None)


class AbstractReduction(AbstractSolver):
    """A solver that hands on what is left of a problem, and makes answers of what comes back.

    - `inner`: the solvers to which it may hand on, in the order in which they are tried;
    - `left`: what it hands on, in words.
    """

    inner: tuple[AbstractSolver, ...]
    left: str

    @abstractmethod
    def takes(self, form: Form) -> Support:
        """Whether its own part of the problem is there, and can be done, with the reason."""

    @abstractmethod
    def parts(self, form: Form) -> tuple[Form, ...]:
        """The forms of what it hands on."""

    def accepts(self, form: Form) -> Support:
        own = self.takes(form)
        for part in self.parts(form) if own else ():
            if first(self.inner, part) is None:
                last = self.inner[-1]
                return Support(False, f"no exact solver takes {self.left} ({last.name}: {last.accepts(part).why})")
        return own


@dataclass
class Handing:
    """What a reduction hands on for some rows: to the first inner solver that takes it. It remembers who ran."""

    inner: tuple[AbstractSolver, ...]
    ran: tuple[Ran, ...] = ()

    def taker(self, form: Form) -> AbstractSolver:
        """The solver that gets what has a form."""
        found = first(self.inner, form)
        assert found is not None, f"no inner solver takes {form}"
        return found[0]

    def solve(self, problem: Problem, budget: Budget, upper: float = np.inf) -> Outcome:
        """The cheapest rows of a problem; of a single row, if one costs less than `upper`."""
        return self.ask(self.taker(problem.form()), problem, budget, upper)

    def ask(self, solver: AbstractSolver, problem: Problem, budget: Budget, upper: float = np.inf) -> Outcome:
        """The same by a certain solver."""
        below = np.isfinite(upper)
        return self.given(
            solver, solver.solve_below(problem, upper, budget) if below else solver.solve(problem, budget)
        )

    def given(self, solver: AbstractSolver, found: Outcome) -> Outcome:
        """What a solver has found. Its searches are not to go on: they are only about a part of what the reduction was asked."""
        found = found.given_by(solver.name).at_rest()
        self.note(one for by in found.by for one in by)
        return found

    def kept(self, solver: AbstractSolver, found: Outcome) -> Outcome:
        """The same, where searches that were cut short can go on."""
        rest = [left and _Handed(self, solver, left) for left in found.rest]
        return replace(self.given(solver, found), rest=objects(rest))

    def note(self, ran: Iterable[Ran]) -> None:
        """Remember solvers that ran for these rows in another way."""
        self.ran = together((*self.ran, *ran))

    def cheapest(
        self,
        problem: Problem,
        score_set: ScoreSet,
        upper: float,
        budget: Budget,
        solver: AbstractSolver | None = None,
    ) -> SetAnswer:
        """The cheapest row of one score set, if one costs less than `upper`; by a certain solver, if one is given."""
        one = replace(problem, score_sets=(replace(score_set, offset=0.0),))
        return first_answer(self.solve(one, budget, upper) if solver is None else self.ask(solver, one, budget, upper))


@dataclass(frozen=True, eq=False)
class _Handed(Rest):
    """A search that an inner solver had to cut short."""

    handing: Handing
    solver: AbstractSolver
    rest: Rest

    def go_on(self, budget: Budget) -> Outcome:
        return self.handing.kept(self.solver, self.rest.go_on(budget))


def first_answer(found: Outcome) -> SetAnswer:
    """The first answer of an outcome, as the answer of a score set."""
    point = found.points[0] if found.found()[0] else None
    return SetAnswer(point, float(found.cost[0]), float(found.bound[0]), Stopped(int(found.stopped[0])))
