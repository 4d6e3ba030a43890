"""A linear program that is solved again and again, with other ends and with more rows. Each time begins from the last."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray

PRECISE_PROGRAM = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
"""How far a linear program may miss a row."""

BOUND_ROUNDING = 1e-12
"""The share of the size of its terms by which a bound is lowered, for the rounding of its sum."""


class Solution(NamedTuple):
    """What HiGHS says of a program. Nothing of it is believed, but what the multipliers prove.

    - `values`: the variables at the optimum; None if it found none;
    - `price`: the multipliers of the rows. If `impossible`, a sum of rows by these has no solution.
    """

    values: FloatArray | None
    price: FloatArray
    impossible: bool = False


class GrowingProgram:
    """Minimise `cost @ v`, where `least <= rows @ v <= most` and `low <= v <= high`."""

    def __init__(
        self,
        cost: FloatArray,
        rows: FloatArray,
        least: FloatArray,
        most: FloatArray,
        low: FloatArray,
        high: FloatArray,
    ) -> None:
        self.cost, self.low, self.high = cost, low, high
        self.rows, self.least, self.most = rows, least, most
        self.solver = self._solver()

    def _solver(self) -> Any:
        import highspy

        solver, program = highspy.Highs(), highspy.HighsLp()
        solver.silent()
        for name, value in {**PRECISE_PROGRAM, "threads": 1, "presolve": "off"}.items():
            solver.setOptionValue(name, value)
        program.num_col_, program.num_row_ = len(self.cost), len(self.rows)
        program.col_cost_, program.col_lower_, program.col_upper_ = self.cost, self.low, self.high
        program.row_lower_, program.row_upper_ = self.least, self.most
        matrix = program.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_, matrix.index_, matrix.value_ = _sparse(self.rows)
        solver.passModel(program)
        return solver

    def between(self, low: FloatArray, high: FloatArray) -> None:
        """Set the ends of all variables."""
        self.low, self.high = low, high
        self.solver.changeColsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)

    def below(self, most: FloatArray) -> None:
        """Set the upper ends of the first rows."""
        for row in np.flatnonzero(self.most[: len(most)] != most).tolist():  # HiGHS 1.12 takes them one by one
            self.solver.changeRowBounds(row, self.least[row], most[row])
        self.most[: len(most)] = most

    def add(self, rows: FloatArray, most: FloatArray) -> None:
        """Add `rows @ v <= most`."""
        least = np.full(len(most), -np.inf)
        self.rows, self.least = np.vstack([self.rows, rows]), np.append(self.least, least)
        self.most = np.append(self.most, most)
        start, index, value = _sparse(rows)
        self.solver.addRows(len(rows), least, most, len(value), start[:-1], index, value)

    def forget(self, rows: IntArray) -> None:
        """Let go of some rows."""
        self.solver.deleteRows(len(rows), rows.astype(np.int32))
        self.rows = np.delete(self.rows, rows, axis=0)
        self.least, self.most = np.delete(self.least, rows), np.delete(self.most, rows)

    def solved(self) -> Solution:
        """The optimum."""
        import highspy

        kinds = highspy.HighsModelStatus
        self.solver.run()
        if self.solver.getModelStatus() not in (kinds.kOptimal, kinds.kModelEmpty, kinds.kInfeasible):
            self.solver.clearSolver()  # it has lost its way from the last basis
            self.solver.run()
        status = self.solver.getModelStatus()
        if status in (kinds.kOptimal, kinds.kModelEmpty):
            solution = self.solver.getSolution()
            return Solution(np.array(solution.col_value), np.array(solution.row_dual))
        if status == kinds.kInfeasible:
            _, there, ray = self.solver.getDualRay()
            if there:
                return Solution(None, ray, impossible=True)
        return Solution(None, np.zeros(len(self.rows)))

    def lowest(self, price: FloatArray, cost: FloatArray) -> tuple[float, FloatArray, float]:
        """What `cost @ v` is at least, by any multipliers: a constant, and what remains of the cost of each variable.

        `constant + rest @ v` lies below it. The last number is the size of what was added up in the constant.
        """
        price = np.where(np.isinf(np.where(price > 0, self.least, self.most)), 0.0, price)
        ends = np.where(price == 0, 0.0, np.where(price > 0, self.least, self.most))
        return float(price @ ends), cost - price @ self.rows, float(np.abs(price) @ np.abs(ends))


def _sparse(rows: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows as HiGHS takes them: where each begins, the variables and the factors."""
    at, index = np.nonzero(rows)
    start = np.searchsorted(at, np.arange(len(rows) + 1))
    return start.astype(np.int32), index.astype(np.int32), rows[at, index]
