"""A smallest set of constraints to blame, for rows that have no answer.

What is blamed does not depend on the time it takes. The search may ask a fixed number of questions, and each of them
may take a fixed number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.explain.plan import plan
from butfor.problem.constraints.constraint import AbstractConstraint, CodedConstraint
from butfor.problem.constraints.restrictions import Restriction, moves_at_a_price, narrowing_and_others
from butfor.problem.problem import Problem
from butfor.solvers.choose import choose
from butfor.solvers.conflict import MODEL, RANGES, OpenQuestionError, smallest_conflict, widened
from butfor.solvers.ensemble.within_reach import WithinReach
from butfor.solvers.outcome import Outcome, Status, Stopped
from butfor.solvers.solver import Budget
from butfor.verdict.case import Case

CONFLICT_ROWS = 10
"""In how many impossible rows a conflict is looked for by default."""

WORK = 300.0
"""How much may be asked for each row if conflicts are asked for. What is found does not depend on the other rows.

A question counts 1, and 1 more per `NODES` of the model.
"""

WORK_BY_DEFAULT = 100.0
"""The same if they are not asked for: about as much as a few answers take. Nobody who waits for one waits long."""

NODES = 500
"""A tree of this many nodes takes about as long as the rest of a question."""

PROGRAM = 10
"""How much more a program with whole numbers counts than another question."""

BOXES = 5
"""So many boxes are asked about in the time of one question: 4 to 7 were, for forests of 30 to 100 trees and boosting."""

HEAVIEST = 100.0
"""A question that counts more than this is not asked: so few could be asked that no conflict would be found."""

STEPS = 2000
"""How many steps of a solver one question may take."""

STEPS_OF_A_QUESTION = 50
"""So many steps count as much as one question."""

PROGRAM_SECONDS = 5.0
"""How long a program may take that has no other limit. If one takes longer, nothing is blamed."""


@dataclass(frozen=True)
class BlameLimits:
    """How far a call looks for conflicts: in how many impossible rows, and with how much work for each."""

    rows: float = CONFLICT_ROWS
    work: float = WORK_BY_DEFAULT


NO_BLAME = BlameLimits(rows=0)
"""The limits of a call that looks for no conflict."""


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

    @property
    def until(self) -> float:
        """When the call ends. What is limited by steps needs no other time."""
        return self.call.until

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
    """The search for what the answers to the only row of a case are impossible with.

    - `most`, `work`: how much may be asked for it, and how much was asked so far;
    - `stated`: the problem without constraints, in the ranges of the data and in wider ones.
    """

    case: Case
    call: Budget
    most: float = WORK
    work: float = 0.0
    reach: WithinReach = field(default_factory=WithinReach)
    stated: dict[bool, Problem] = field(default_factory=dict)

    def smallest(self) -> tuple[tuple[str, ...], bool]:
        """A smallest set of constraints that makes the row impossible, and whether all of it is known to be needed.

        Raises `OpenQuestionError` if the call has no time left.
        """
        atoms = atoms_of(self.case)

        def kept_by_answer(chosen: Sequence[AbstractConstraint], widen: bool) -> frozenset[int] | None:
            found = self.asked(chosen, widen)
            if found.status()[0] is Status.PROVEN_INFEASIBLE:
                return None
            return _kept(atoms, self.case, found.points) if found.found()[0] else frozenset()

        return smallest_conflict(atoms, kept_by_answer)

    def impossible(self, chosen: Sequence[AbstractConstraint], widen: bool = False) -> bool:
        """Whether the row is impossible with these constraints alone, in the ranges of the data or in wider ones.

        Raises `OpenQuestionError` if neither that nor an answer was found.
        """
        (status,) = self.asked(chosen, widen).status()
        if status is Status.NOT_FOUND:
            raise OpenQuestionError(Stopped.EFFORT)
        return status is Status.PROVEN_INFEASIBLE

    def asked(self, chosen: Sequence[AbstractConstraint], widen: bool) -> Outcome:
        """Any answer to the row with these constraints alone, or the proof that there is none.

        Raises `OpenQuestionError` if that cannot be told. Most questions differ in restrictions alone. They are asked of one
        problem, if it is a box.
        """
        if self.work > self.most:  # no question is even stated
            raise OpenQuestionError(Stopped.EFFORT)
        narrowing, others = narrowing_and_others(chosen)
        if others or not self._is_box(self._open(widen), narrowing):
            problem = self._problem(chosen, widen)
            told = self._told(problem) if self._by_boxes(problem) else None
            return self._solved(problem) if told is None else told
        told = self._told(self._open(widen), narrowing)
        return self._solved(self._problem(chosen, widen)) if told is None else told

    def _open(self, widen: bool) -> Problem:
        """The problem of the row without any constraint that can be blamed, stated once."""
        if widen not in self.stated:
            self.stated[widen] = self._problem([], widen)
        return self.stated[widen]

    def _is_box(self, problem: Problem, under: Sequence[Restriction]) -> bool:
        """Whether all that restrictions leave of a problem is a box that is asked about."""
        return self._by_boxes(problem) and self.reach.is_box(problem, under)

    def _problem(self, chosen: Sequence[AbstractConstraint], widen: bool) -> Problem:
        """The problem of the row with these constraints alone."""
        referee, case = self.case.referee, self.case
        space = widened(referee.space) if widen else referee.space
        question = case.question.under([*(one for one in case.question.constraints if one.alters), *chosen])
        question = replace(question, prices=question.prices.forbidding_nothing)
        return next(plan(question, referee, case.factuals, case.before, space=space)).problem

    @staticmethod
    def _by_boxes(problem: Problem) -> bool:
        """Whether boxes are quicker than what solves the problem. Others are as quick, and compiled by now."""
        solver, _ = choose(problem.form())
        return solver.exact and solver.row_by_row

    def _told(self, problem: Problem, under: Sequence[Restriction] = ()) -> Outcome | None:
        """What a box tells of a problem under restrictions; None if it is asked otherwise, and paid for then."""
        weight = self._paid(problem, BOXES)
        told = self.reach.tells(problem, under)
        self.work -= weight if told is None else 0.0
        return told

    def _solved(self, problem: Problem) -> Outcome:
        """What the solver of a problem finds."""
        weight, (solver, _) = self._paid(problem), choose(problem.form())
        if not solver.exact:  # it proves nothing, but it sees at once whether no value is left
            return solver.solve(problem, Budget(0.0))
        steps = Steps(call=self.call)
        found = solver.solve(free(problem) if solver.row_by_row else problem, steps)
        self.work += weight * len(steps.taken) / STEPS_OF_A_QUESTION
        if found.status()[0] is Status.NOT_FOUND:
            if self.call.spent():
                raise OpenQuestionError(self.call.stopped)
            if found.stopped[0] == Stopped.TIME:
                raise OpenQuestionError(Stopped.TIME)
            if len(steps.taken) > STEPS:
                raise OpenQuestionError(Stopped.EFFORT)
        return found

    def _paid(self, problem: Problem, as_many: int = 1) -> float:
        """What one of `as_many` questions counts. Raises `OpenQuestionError` if so much is not left."""
        solver, _ = choose(problem.form())
        weight = (1.0 + len(getattr(problem.model, "feature", ())) / NODES) * (PROGRAM if solver.by_programs else 1)
        weight /= as_many
        self.work += weight
        if self.call.spent():
            raise OpenQuestionError(self.call.stopped)
        if self.work > self.most or weight > HEAVIEST:
            raise OpenQuestionError(Stopped.EFFORT)
        return weight


def _kept(atoms: Sequence[AbstractConstraint], case: Case, point: FloatArray) -> frozenset[int]:
    """The constraints that a point keeps, of those that the encoded row decides."""
    space, start = case.referee.space, case.factuals
    coded = [(i, atom) for i, atom in enumerate(atoms) if isinstance(atom, CodedConstraint)]
    return frozenset(i for i, atom in coded if atom.holds_between(space, start, point)[0])


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


def atoms_of(case: Case) -> list[AbstractConstraint]:
    """The pieces of a question's constraints that can be blamed. A table of prices that leaves moves out is one of them."""
    atoms = [atom for constraint in case.question.constraints for atom in constraint.atoms()]
    return [*atoms, *moves_at_a_price(case.question.prices, case.referee.space, case.factuals[0])]


def doubted(conflict: tuple[str, ...], case: Case, call: Budget, whole: bool = True) -> str | None:
    """Why a conflict is none for the only row of a case; empty if it is one. None if that cannot be told.

    With it, the row must be impossible. If it is `whole`, the row must be possible without any one of its parts.
    """
    atoms = {repr(atom): atom for atom in atoms_of(case)}
    unknown = [text for text in conflict if text not in (*atoms, RANGES, MODEL)]
    if unknown:
        return f"{unknown[0]} is not part of the question"
    if MODEL in conflict and len(conflict) > 1:
        return f"{MODEL} alone would make it impossible"
    chosen, blame = [atoms[text] for text in conflict if text in atoms], Blame(case, call)
    try:
        if not blame.impossible(chosen, widen=MODEL in conflict):
            return "there is one if only that is asked"
        for needless in chosen if whole else ():
            rest = [one for one in chosen if one is not needless]
            if blame.impossible(rest):
                return f"{' and '.join(map(repr, rest)) or 'no constraint'} alone makes it impossible"
        if whole and RANGES in conflict and blame.impossible(chosen, widen=True):
            return f"{RANGES} are not needed for that"
    except OpenQuestionError:
        return None
    return ""


def conflicts(
    outcome: Outcome, case: Case, budget: Budget, limits: BlameLimits
) -> tuple[dict[int, tuple[str, ...]], IntArray]:
    """The constraints that make answers impossible, for the first of them within the limits.

    The keys are positions in the outcome. Also returns why the search ended for each answer. For these, that is what
    ended the blaming. Nothing is blamed if rows were chosen, or what each row may change.
    """
    stopped = outcome.stopped.copy()
    if case.question.candidates or case.free is not None:
        return {}, stopped
    impossible = np.flatnonzero(~outcome.found() & (outcome.bound == np.inf))
    found = dict[int, tuple[str, ...]]()
    first, left = dict[bytes, int](), limits.rows
    for i in impossible.tolist():
        row = outcome.row[[i]]
        same = first.setdefault(case.factuals[row].tobytes(), i)
        if same in found:  # the question about an equal row is the same one
            found[i], stopped[i] = found[same], stopped[same]
        elif same == i and left > 0:
            left -= 1
            try:
                found[i], sure = Blame(case.take(row), budget.at_most(budget.per_row), limits.work).smallest()
                stopped[i] = Stopped.DONE if sure else Stopped.EFFORT
            except OpenQuestionError as left_open:
                stopped[i] = left_open.stopped
            except KeyboardInterrupt:
                budget.interrupt()
                stopped[i] = Stopped.INTERRUPTED
    return found, stopped
