"""Which solvers take a problem, and why the others do not."""

from __future__ import annotations

from butfor.solvers.solver import AbstractSolver, Support
from butfor.views.text import plain, table


class Supports(list[tuple[AbstractSolver, Support]]):
    """Every solver, with whether it takes a problem. It prints one line per solver."""

    def __repr__(self) -> str:
        lines = [(solver.name, "yes" if support else "no", support.why) for solver, support in self]
        return plain(table(("solver", "takes it", "why"), lines))
