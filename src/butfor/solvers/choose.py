"""Which solver: the first of a fixed order that accepts the form; the whole table can be asked for."""

from __future__ import annotations

from butfor.errors import InputError, UnsupportedProblemError
from butfor.problem.form import Form
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.linear.exact import LinearExact
from butfor.solvers.linear.interior_point import InteriorPoint
from butfor.solvers.milp.milp import Milp
from butfor.solvers.oblique.exact import ObliqueExact
from butfor.solvers.rows.row_search import RowSearch
from butfor.solvers.solver import AbstractSolver, Support
from butfor.solvers.swarm.swarm import Swarm
from butfor.solvers.tree.exact import TreeExact

SOLVERS: tuple[AbstractSolver, ...] = (
    RowSearch(), TreeExact(), LinearExact(), InteriorPoint(), ObliqueExact(), EnsembleBranchBound(), Milp(), Swarm(),
    BruteForce(),
)  # fmt: skip
"""In the order in which they are tried; the last is only taken when named."""


def names() -> tuple[str, ...]:
    """The names of all solvers."""
    return tuple(solver.name for solver in SOLVERS)


def supports(form: Form) -> list[tuple[AbstractSolver, Support]]:
    """Every solver with its yes or no and the reason."""
    return [(solver, solver.accepts(form)) for solver in SOLVERS]


def exact(form: Form) -> AbstractSolver | None:
    """The first solver that takes the form and proves its answers."""
    able = (solver for solver, yes in supports(form) if yes and solver.exact)
    return next((solver for solver in able if not isinstance(solver, BruteForce)), None)


def choose(form: Form, name: str | AbstractSolver = "auto") -> tuple[AbstractSolver, str]:
    """The solver and the reason for it; if none takes the form, an error with every reason."""
    if name == "auto":
        for solver, support in supports(form):
            if support and not isinstance(solver, BruteForce):
                return solver, support.why
        reasons = "; ".join(f"{solver.name}: {support.why}" for solver, support in supports(form))
        unread = f" {form.unread}" if form.unread else ""
        raise UnsupportedProblemError(
            f"no solver takes this problem (a {form.model} model).{unread}",
            reasons + ".",
            "Change the cost, the constraints or the model.",
        )
    found = name if isinstance(name, AbstractSolver) else next((one for one in SOLVERS if one.name == name), None)
    if found is None:
        raise InputError(f"solver={name!r} was given.", f"Solvers are 'auto', {', '.join(map(repr, names()))}.")
    support = found.accepts(form)
    if not support:
        able = [solver.name for solver, yes in supports(form) if yes]
        remedy = f"Use solver='auto' or {', '.join(able)}." if able else "No other solver takes it either."
        raise UnsupportedProblemError(f"solver {found.name!r} does not take this problem:", f"{support.why}.", remedy)
    return found, f"named by the user; {support.why}"
