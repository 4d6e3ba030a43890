"""Choose a solver: the first one, in a fixed order, that accepts the form."""

from __future__ import annotations

from collections.abc import Sequence

from butfor.errors import InputError, UnsupportedProblemError, choice
from butfor.problem.form import Form
from butfor.solvers.acted.actions import ActedColumns
from butfor.solvers.additive.knapsack import AdditiveKnapsack
from butfor.solvers.additive.piece_programs import PiecePrograms
from butfor.solvers.blend.branching import BlendBranching
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.computed.columns import ComputedColumns
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.ensemble.largest_move import LargestMove
from butfor.solvers.ensemble.separable import SeparableTrees
from butfor.solvers.enumeration import Enumeration
from butfor.solvers.linear.exact import LinearExact
from butfor.solvers.linear.interior_point import InteriorPoint
from butfor.solvers.linear.knapsack import LinearKnapsack
from butfor.solvers.merged.columns import MergedColumns
from butfor.solvers.milp.milp import Milp
from butfor.solvers.mixed.branch_bound import MixedBranchBound
from butfor.solvers.network.exact import NetworkExact
from butfor.solvers.oblique.exact import ObliqueExact
from butfor.solvers.outcome import Credit
from butfor.solvers.parted.far import FarApart
from butfor.solvers.parted.implied import ImpliedParts
from butfor.solvers.reduction import first
from butfor.solvers.robust.exact import RobustExact
from butfor.solvers.robust.linear import RobustLinear
from butfor.solvers.rows.row_search import RowSearch
from butfor.solvers.solver import AbstractSolver, Support
from butfor.solvers.swarm.swarm import Swarm
from butfor.solvers.tree.exact import TreeExact

_OF_COLUMNS: tuple[AbstractSolver, ...] = (
    TreeExact(), LinearExact(), LinearKnapsack(), InteriorPoint(), AdditiveKnapsack(), PiecePrograms(), ObliqueExact(),
    EnsembleBranchBound(), LargestMove(), MixedBranchBound(), NetworkExact(),
)  # fmt: skip
"""Those that prove the optimum without a program of the whole model."""

PROVING: tuple[AbstractSolver, ...] = (
    *_OF_COLUMNS,
    ImpliedParts(_OF_COLUMNS),
    Milp(),
)
"""Those that prove the optimum of a model. Others may use them for parts of a problem."""

OF_ANY_ANSWER: tuple[AbstractSolver, ...] = (
    SeparableTrees(), *PROVING, RobustLinear((LinearExact(), LinearKnapsack())), RobustExact(PROVING),
    BlendBranching(PROVING), Enumeration(),
)  # fmt: skip
"""Those that prove the optimum of a question with whatever it asks of an answer, column by column."""

OF_LINKED: tuple[AbstractSolver, ...] = (MergedColumns(OF_ANY_ANSWER), *OF_ANY_ANSWER)
"""The same, and where columns belong together."""

EXACT_SOLVERS: tuple[AbstractSolver, ...] = (ActedColumns(OF_LINKED), ComputedColumns(OF_LINKED), *OF_LINKED)
"""The same, and where columns follow from others or are computed from them."""

SOLVERS: tuple[AbstractSolver, ...] = (RowSearch(), *EXACT_SOLVERS, FarApart(EXACT_SOLVERS), Swarm(), BruteForce())
"""The solvers, in the order in which they are tried."""


def names() -> tuple[str, ...]:
    """The names of all solvers."""
    return tuple(solver.name for solver in SOLVERS)


def supports(form: Form) -> list[tuple[AbstractSolver, Support]]:
    """Every solver with its yes or no, and the reason."""
    return [(solver, solver.accepts(form)) for solver in SOLVERS]


def exact(form: Form) -> AbstractSolver | None:
    """The first solver that takes the form and proves its answers."""
    found = first((solver for solver in SOLVERS if solver.exact), form)
    return found and found[0]


def choose(form: Form, wanted: str | AbstractSolver = "auto") -> tuple[AbstractSolver, Credit]:
    """The solver for a form, and the credit for what it will find.

    If no solver takes the form, the error lists the reasons of all solvers.
    """
    if wanted == "auto":
        chosen = first(SOLVERS, form)
        if chosen is not None:
            solver, support = chosen
            return solver, solver.credit(support.why)
        unread = f" {form.unread}" if form.unread else ""
        raise UnsupportedProblemError(
            f"no solver takes this problem (a {form.model} model).{unread}",
            "; ".join(f"{solver.name}: {yes.why}" for solver, yes in supports(form)) + ".",
            "Change the cost, the constraints or the model.",
        )
    found = wanted if isinstance(wanted, AbstractSolver) else _named(wanted, SOLVERS)
    answer = found.accepts(form)
    if not answer:
        able = [solver.name for solver, yes in supports(form) if yes]
        remedy = f"Use solver='auto' or {', '.join(able)}." if able else "No other solver takes it either."
        raise UnsupportedProblemError(f"solver {found.name!r} does not take this problem:", f"{answer.why}.", remedy)
    return found, found.credit(f"named by the user; {answer.why}")


def _named(name: str, solvers: Sequence[AbstractSolver]) -> AbstractSolver:
    found = next((solver for solver in solvers if solver.name == name), None)
    if found is None:
        raise InputError(f"solver={name!r} was given.", *choice("The solvers are", name, ("auto", *names()), repr))
    return found
