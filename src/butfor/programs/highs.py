"""How HiGHS solves a program: its options, and what is read from it."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array

from butfor.arrays import FloatArray
from butfor.programs.inequalities import BOUND_ROUNDING, Inequalities
from butfor.programs.quiet import quiet_highs, work

FEASIBILITY = 1e-9
"""How far HiGHS may miss a row of a linear or quadratic program."""

SMALL = 1e-9
"""Coefficients below this share of the largest one of their row are left out, and their row is widened by them."""

WHOLE_TOLERANCE = 1e-8
"""How far HiGHS may miss a row of a program with whole numbers.

At 1e-9 it once cut off an optimum (in one of about 3,000 ensembles).
"""

BOUND_SPARE = 1e-7
"""By how much bounds of HiGHS are lowered, relative to 1 + bound: it keeps rows only up to its tolerances.

Bounds of networks were too high by 2e-9. This is a tenth of what an optimal answer may cost above its bound.
"""

LOOKS_FOR_POINTS = (
    "mip_heuristic_run_feasibility_jump",
    "mip_heuristic_run_rens",
    "mip_heuristic_run_rins",
    "mip_heuristic_run_root_reduced_cost",
)
"""By what HiGHS looks for points beside its search. Of programs of networks these took two thirds of the time."""

QP_ITERATIONS = 100
"""How many iterations a quadratic program may take, for each of its columns and rows. It takes about one."""


@dataclass(frozen=True)
class Said:
    """What HiGHS said.

    - `status`: whether it is optimal, infeasible, or ended by the time or by another limit;
    - `x`: the values of the variables, if there is a point;
    - `bound`: a bound on the objective.
    """

    status: Literal["optimal", "infeasible", "limit", "time"]
    x: FloatArray | None
    bound: float


def run(highspy: Any, model: Any, seconds: float, options: dict[str, bool]) -> Any:
    """HiGHS after it worked on a model; None if it broke down, or did not take the model."""
    solver = with_model(highspy, model, seconds, options)
    if solver is None:
        return None
    try:
        _work(highspy, solver)
    except ValueError:  # its quadratic programs may end so if all columns are held
        return None
    return solver if solver.getNumCol() == model.lp_.num_col_ else None  # it calls an empty program optimal


def _work(highspy: Any, solver: Any) -> None:
    """Let HiGHS work, and end it at Ctrl-C."""
    enough = Event()

    def asked(kind: Any, message: Any, known: Any, answer: Any, data: Any) -> None:
        if enough.is_set():
            answer.user_interrupt = True

    solver.setCallback(asked, None)
    solver.startCallback(highspy.cb.HighsCallbackType.kCallbackMipInterrupt)
    work(solver, enough)


def with_model(highspy: Any, model: Any, seconds: float, options: dict[str, bool]) -> Any:
    """HiGHS with a model; None if it did not take it."""
    solver = quiet_highs()
    solver.setOptionValue("threads", 1)
    for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(name, FEASIBILITY)
    solver.setOptionValue("mip_feasibility_tolerance", WHOLE_TOLERANCE)
    solver.setOptionValue("small_matrix_value", SMALL)
    solver.setOptionValue("mip_allow_restart", False)  # after a restart, version 1.15 lost an optimum
    solver.setOptionValue("presolve", "off")  # it lost optima of whole numbers, and saves our programs no time
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.setOptionValue("mip_rel_gap", 1e-8)
    solver.setOptionValue("mip_abs_gap", 1e-9)
    size = model.lp_.num_col_ + model.lp_.num_row_
    solver.setOptionValue("qp_iteration_limit", QP_ITERATIONS * size)  # on a vertex it once went round for ever
    if np.isfinite(seconds):
        solver.setOptionValue("time_limit", max(seconds, 1e-3))
    return None if solver.passModel(model) == highspy.HighsStatus.kError else solver


def read(highspy: Any, solver: Any, constant: float, *, mip: bool) -> Said:
    """What it returned."""
    if solver is None:
        return Said("limit", None, -np.inf)
    status = solver.getModelStatus()
    kinds = highspy.HighsModelStatus
    info = solver.getInfo()
    if status in (kinds.kInfeasible, kinds.kUnboundedOrInfeasible):
        return Said("infeasible", None, np.inf)
    if status == kinds.kIterationLimit:
        return Said("limit", None, -np.inf)
    has_point = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    x = np.array(solver.getSolution().col_value) if has_point else None
    if x is not None and (len(x) != solver.getNumCol() or np.isnan(x).any()):
        return Said("limit", None, -np.inf)  # on some processors, where a quadratic program broke down
    if status == kinds.kModelEmpty:
        return Said("optimal", np.empty(0), constant)
    if status == kinds.kOptimal:
        bound = info.mip_dual_bound if mip else info.objective_function_value
        return Said("optimal", x, _lowered(bound + constant))
    bound = _lowered(info.mip_dual_bound + constant) if mip and np.isfinite(info.mip_dual_bound) else -np.inf
    return Said("time" if status == kinds.kTimeLimit else "limit", x, bound)


def _lowered(bound: float) -> float:
    """A bound, less what HiGHS may be wrong about it."""
    return bound - BOUND_SPARE * (1 + abs(bound))


def inequalities(model: Any) -> Inequalities[csr_array]:
    """What a model of HiGHS asks of its variables."""
    lp = model.lp_ if hasattr(model, "lp_") else model
    ends = (np.array(end) for end in (lp.row_lower_, lp.row_upper_, lp.col_lower_, lp.col_upper_))
    matrix = lp.a_matrix_
    parts = np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_)
    return Inequalities(csr_array(parts, shape=(len(lp.row_lower_), len(lp.col_lower_))), *ends)


def convex_bound(model: Any, solver: Any) -> float:
    """What multipliers prove of a solved program without whole numbers.

    A convex cost lies above its tangent at any x: c'v + v'Hv / 2 >= (c + Hx)'v - x'Hx / 2.
    """
    solution = solver.getSolution()
    x, price = np.array(solution.col_value), np.array(solution.row_dual)
    curve = hessian(model)
    slope = curve @ x
    lowest = inequalities(model).lowest(np.array(model.lp_.col_cost_) + slope, price)
    rounded = BOUND_ROUNDING * (np.abs(x) @ (abs(curve) @ np.abs(x)))
    return float(model.lp_.offset_ - x @ slope / 2 - rounded + lowest)


def hessian(model: Any) -> csr_array:
    """The quadratic part of a model, of which HiGHS keeps the lower triangle."""
    count, kept = model.lp_.num_col_, model.hessian_
    if not len(kept.value_):
        return csr_array((count, count))
    parts = np.array(kept.value_), np.array(kept.index_), np.array(kept.start_)
    lower = csc_array(parts, shape=(count, count))
    return csr_array(lower + lower.T - diags_array(lower.diagonal()))
