"""A smallest set of constraints to blame, for rows that have no answer.

What is blamed does not depend on the time it takes. The search may ask a fixed number of questions, and each of them
may take a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from butfor.arrays import IntArray
from butfor.explain.plan import plan
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.problem import Problem
from butfor.solvers.choose import choose
from butfor.solvers.conflict import OpenQuestionError, smallest_conflict, widened
from butfor.solvers.ensemble.within_reach import WithinReach
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Outcome, Status, Stopped
from butfor.solvers.solver import Budget
from butfor.verdict.verify import Verifier

CONFLICT_ROWS = 10
"""A smallest conflict is looked for in at most this many impossible rows per call."""

WORK = 300.0
"""How much may be asked for each of these rows. What is found does not depend on the other rows.

A question counts 1, and 1 more per `NODES` of the model.
"""

NODES = 500
"""A tree of this many nodes takes about as long as the rest of a question."""

PROGRAM = 10
"""How much more a program with whole numbers counts than another question."""

HEAVIEST = 100.0
"""A question that counts more than this is not asked: so few could be asked that no conflict would be found."""

STEPS = 2000
"""How many steps of a solver one question may take."""

STEPS_OF_A_QUESTION = 50
"""So many steps count as much as one question."""

PROGRAM_SECONDS = 5.0
"""How long a program may take that has no other limit. If one takes longer, nothing is blamed."""


@dataclass(frozen=True)
class Steps(Budget):
    """A budget of steps in place of seconds: solvers look at it once per step.

    - `call`: the budget of the whole call, which ends this one, too;
    - `taken`: the steps so far, as the length of a list.
    """

    call: Budget = field(default_factory=Budget)
    taken: list[None] = field(default_factory=list)

    def spent(self) -> bool:
        """Whether nothing is left. It counts a step."""
        self.taken.append(None)
        return self.call.spent() or len(self.taken) > STEPS

    def left(self) -> float:
        """The seconds that a program may take."""
        return min(self.call.left(), PROGRAM_SECONDS)

    def at_most(self, seconds: float) -> Budget:
        """This budget itself, because seconds must not matter."""
        return self

    def interrupt(self) -> None:
        """End the whole call."""
        self.call.interrupt()

    @property
    def stopped(self) -> Stopped:
        """Why nothing is left."""
        return self.call.stopped or Stopped.EFFORT


@dataclass
class Blame:
    """The search for what one row's answers are impossible with, and how much was asked for it so far."""

    call: Budget
    work: float = 0.0
    reach: WithinReach = field(default_factory=WithinReach)

    def of(self, verifier: Verifier) -> tuple[tuple[str, ...], bool]:
        """A smallest set of constraints that makes one row impossible, and whether all of it is known to be needed.

        Raises `OpenQuestionError` if the call has no time left.
        """
        question, referee = verifier.question, verifier.referee
        atoms = [atom for constraint in question.constraints for atom in constraint.atoms()]
        wide = widened(referee.space)

        def impossible(chosen: Sequence[AbstractConstraint], widen: bool) -> bool:
            space = wide if widen else referee.space
            part = next(plan(question.under(chosen), referee, verifier.factuals, verifier.before, space=space))
            return self._impossible(part.problem)

        return smallest_conflict(atoms, impossible)

    def _impossible(self, problem: Problem) -> bool:
        solver, _ = choose(problem.form())
        weight = (1.0 + len(getattr(problem.model, "feature", ())) / NODES) * (
            PROGRAM if solver.name == Milp.name else 1
        )
        self.work += weight
        if self.call.spent():
            raise OpenQuestionError(self.call.stopped)
        if self.work > WORK or weight > HEAVIEST:
            raise OpenQuestionError(Stopped.EFFORT)
        if not solver.exact:  # it proves nothing, but it sees at once whether no value is left
            return solver.solve(problem, Budget(0.0)).status()[0] is Status.PROVEN_INFEASIBLE
        told = self.reach.tells(problem) if solver.row_by_row else None  # others are as quick, and compiled by now
        if told is not None:
            return not told
        steps = Steps(call=self.call)
        found = solver.solve(free(problem) if solver.row_by_row else problem, steps)
        self.work += weight * len(steps.taken) / STEPS_OF_A_QUESTION
        status = found.status()[0]
        if status is Status.NOT_FOUND and self.call.spent():
            raise OpenQuestionError(self.call.stopped)
        if status is Status.NOT_FOUND and found.stopped[0] == Stopped.TIME:
            raise OpenQuestionError(Stopped.TIME)
        if status is Status.NOT_FOUND and len(steps.taken) > STEPS:
            raise OpenQuestionError(Stopped.EFFORT)
        return status is Status.PROVEN_INFEASIBLE


def free(problem: Problem) -> Problem:
    """The same problem without prices, if each of them is finite. Whether there is an answer does not depend on them.

    A search is done with the first point it finds, if nothing has a price.
    """
    prices = problem.prices
    rates = {name: getattr(prices, name) for name in ("l0", "l1", "l2", "linf", "missing", "linf_missing")}
    tables = [*prices.tables.values(), *prices.linf_tables.values()]
    if prices.calls or not all(np.isfinite(one).all() for one in (*rates.values(), *tables)):
        return problem
    nothing = {name: np.zeros_like(rate) for name, rate in rates.items()}
    blank = {j: np.zeros_like(table) for j, table in prices.tables.items()}
    return replace(problem, prices=replace(prices, **nothing, tables=blank, linf_tables={}, Q=None))


def conflicts(outcome: Outcome, verifier: Verifier, budget: Budget) -> tuple[dict[int, tuple[str, ...]], IntArray]:
    """The constraints that make answers impossible, for the first `CONFLICT_ROWS` of them.

    The keys are positions in the outcome. Also returns why the search ended for each answer. For these, that is what
    ended the blaming. Nothing is blamed if rows were chosen, or what each row may change.
    """
    stopped = outcome.stopped.copy()
    if verifier.question.candidates or verifier.free is not None:
        return {}, stopped
    impossible = np.flatnonzero(~outcome.found() & (outcome.bound == np.inf))
    found = {}
    for i in islice(impossible.tolist(), CONFLICT_ROWS):
        try:
            found[i], sure = Blame(budget).of(verifier.take(outcome.row[[i]]))
            stopped[i] = Stopped.DONE if sure else Stopped.EFFORT
        except OpenQuestionError as left_open:
            stopped[i] = left_open.stopped
        except KeyboardInterrupt:
            budget.interrupt()
            stopped[i] = Stopped.INTERRUPTED
    return found, stopped
