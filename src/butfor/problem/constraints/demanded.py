"""Judged constraints that enter a problem, so that exact solvers keep them."""

from __future__ import annotations

from abc import abstractmethod

from butfor.problem.constraints.constraint import JudgedConstraint, Searched
from butfor.problem.problem import Problem
from butfor.problem.referee import Referee


class Demanded(JudgedConstraint):
    """A judged constraint that becomes a part of the problem."""

    @abstractmethod
    def enter(self, problem: Problem, referee: Referee) -> Problem:
        """The problem with the constraint built in exactly. One that is searched, too, may say `with_judged` instead."""


def entered(problem: Problem, constraint: JudgedConstraint, referee: Referee) -> Problem:
    """The problem with a judged constraint: built in, if it can be, or else listed for searches to ask."""
    if isinstance(constraint, Demanded):
        return constraint.enter(problem, referee)
    if isinstance(constraint, Searched):
        return problem.with_judged(constraint)
    raise TypeError(f"{constraint!r} is neither demanded nor searched, so nobody could keep it")
