"""What is read from HiGHS, and what the multipliers of its rows prove."""

from __future__ import annotations

from types import SimpleNamespace

import highspy
import numpy as np
import pytest
from scipy.optimize import linprog

from butfor.programs.highs import Said, inequalities, read, run


@pytest.mark.parametrize("left", [[], [0.0, np.nan, 1.0]], ids=["empty", "not numbers"])
def test_a_point_without_all_columns_is_none(left: list[float]) -> None:
    """On some processors, a quadratic program broke down and left an empty one, or one that holds no numbers."""
    info = SimpleNamespace(
        primal_solution_status=highspy.SolutionStatus.kSolutionStatusFeasible, objective_function_value=1.0
    )
    broken = SimpleNamespace(
        getModelStatus=lambda: highspy.HighsModelStatus.kOptimal,
        getInfo=lambda: info,
        getSolution=lambda: SimpleNamespace(col_value=left),
        getNumCol=lambda: 3,
    )
    assert read(highspy, broken, 0.0, mip=False) == Said("limit", None, -np.inf)


def test_a_program_that_highs_does_not_take_has_no_optimum() -> None:
    """What is left then is empty, and HiGHS calls that optimal."""
    model = highspy.HighsModel()
    model.lp_ = program(np.random.default_rng(0))
    count = model.lp_.num_col_
    model.hessian_.dim_, model.hessian_.value_ = count, np.array([1.0, np.inf, 1.0, 1.0])
    model.hessian_.start_, model.hessian_.index_ = (
        np.arange(count + 1, dtype=np.int32),
        np.arange(count, dtype=np.int32),
    )
    solver = run(highspy, model, 10.0, {})
    assert read(highspy, solver, 0.0, mip=False) == Said("limit", None, -np.inf)


def program(rng: np.random.Generator) -> highspy.HighsLp:
    lp, columns, rows = highspy.HighsLp(), 4, 3
    lp.num_col_, lp.num_row_ = columns, rows
    lp.col_cost_, lp.col_lower_ = rng.normal(size=columns), -rng.random(columns)
    lp.col_upper_ = rng.random(columns)
    matrix, middle = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    lp.row_lower_ = np.where(rng.random(rows) < 0.3, -np.inf, middle - 0.1)
    lp.row_upper_ = middle + 0.1
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = (columns * np.arange(rows + 1)).astype(np.int32)
    lp.a_matrix_.index_ = np.tile(np.arange(columns, dtype=np.int32), rows)
    lp.a_matrix_.value_ = matrix.ravel()
    return lp


def test_multipliers_never_prove_too_much_and_those_of_the_optimum_prove_it() -> None:
    optima = impossible = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        lp, solver = program(rng), highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("presolve", "off")
        solver.passModel(lp)
        solver.run()
        proof, cost = inequalities(lp), np.array(lp.col_cost_)
        A = np.array(lp.a_matrix_.value_).reshape(3, 4)
        lower, upper = np.array(lp.row_lower_), np.array(lp.row_upper_)
        known = np.isfinite(lower)
        sides = np.vstack([A, -A[known]]), np.append(upper, -lower[known])
        truth = linprog(cost, *sides, bounds=np.c_[lp.col_lower_, lp.col_upper_])
        if truth.status == 2:
            _, there, ray = solver.getDualRay()
            assert there, f"seed {seed}"
            assert proof.refuted(np.array(ray)), f"seed {seed}"
            impossible += 1
            continue
        assert all(proof.lowest(cost, rng.normal(size=3)) <= truth.fun + 1e-9 for _ in range(20)), f"seed {seed}"
        price = np.array(solver.getSolution().row_dual)
        assert proof.lowest(cost, price) == pytest.approx(truth.fun, abs=1e-7), f"seed {seed}"
        assert max(proof.lowest(0 * cost, sign * price) for sign in (1, -1)) <= 1e-9, f"seed {seed}"
        optima += 1
    assert min(optima, impossible) > 20
