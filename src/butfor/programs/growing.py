"""A linear program that is solved again and again, with other ends and with more rows. Each time begins from the last."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.programs.inequalities import Inequalities
from butfor.programs.quiet import quiet_highs, work

PRECISE_PROGRAM = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
"""How far a linear program may miss a row."""


class Solution(NamedTuple):
    """What HiGHS says of a program. Nothing of it is believed, but what the multipliers prove.

    - `values`: the variables at the optimum; None if it found none;
    - `price`: the multipliers of the rows. If `impossible`, a sum of rows by these has no solution.
    """

    values: FloatArray | None
    price: FloatArray
    impossible: bool = False


class GrowingProgram:
    """Minimise `cost @ v` under inequalities."""

    def __init__(self, cost: FloatArray, inequalities: Inequalities[FloatArray]) -> None:
        self.cost, self.inequalities = cost, inequalities
        self.solver = self._solver()

    def _solver(self) -> Any:
        import highspy

        solver, program = quiet_highs(), highspy.HighsLp()
        for name, value in {**PRECISE_PROGRAM, "threads": 1, "presolve": "off"}.items():
            solver.setOptionValue(name, value)
        rows, least, most, low, high = self.inequalities
        program.num_col_, program.num_row_ = len(self.cost), len(least)
        program.col_cost_, program.col_lower_, program.col_upper_ = self.cost, low, high
        program.row_lower_, program.row_upper_ = least, most
        matrix = program.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_, matrix.index_, matrix.value_ = _sparse(rows)
        solver.passModel(program)
        return solver

    def between(self, low: FloatArray, high: FloatArray) -> None:
        """Set the ends of all variables."""
        self.inequalities = self.inequalities._replace(low=low, high=high)
        self.solver.changeColsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)

    def below(self, most: FloatArray) -> None:
        """Set the upper ends of the first rows."""
        known = self.inequalities
        for row in np.flatnonzero(known.most[: len(most)] != most).tolist():  # HiGHS 1.12 takes them one by one
            self.solver.changeRowBounds(row, known.least[row], most[row])
        self.inequalities = known._replace(most=np.append(most, known.most[len(most) :]))

    def add(self, rows: FloatArray, most: FloatArray) -> None:
        """Add `rows @ v <= most`."""
        known, least = self.inequalities, np.full(len(most), -np.inf)
        self.inequalities = known._replace(
            rows=np.vstack([known.rows, rows]), least=np.append(known.least, least), most=np.append(known.most, most)
        )
        start, index, value = _sparse(rows)
        self.solver.addRows(len(rows), least, most, len(value), start[:-1], index, value)

    def forget(self, rows: IntArray) -> None:
        """Let go of some rows."""
        self.solver.deleteRows(len(rows), rows.astype(np.int32))
        known = self.inequalities
        self.inequalities = known._replace(
            rows=np.delete(known.rows, rows, axis=0),
            least=np.delete(known.least, rows),
            most=np.delete(known.most, rows),
        )

    def solved(self) -> Solution:
        """The optimum."""
        import highspy

        kinds = highspy.HighsModelStatus
        work(self.solver)
        if self.solver.getModelStatus() not in (kinds.kOptimal, kinds.kModelEmpty, kinds.kInfeasible):
            self.solver.clearSolver()  # it has lost its way from the last basis
            work(self.solver)
        status = self.solver.getModelStatus()
        if status in (kinds.kOptimal, kinds.kModelEmpty):
            solution = self.solver.getSolution()
            return Solution(np.array(solution.col_value), np.array(solution.row_dual))
        if status == kinds.kInfeasible:
            _, there, ray = self.solver.getDualRay()
            if there:
                return Solution(None, ray, impossible=True)
        return Solution(None, np.zeros(len(self.inequalities.least)))


def _sparse(rows: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows as HiGHS takes them: where each begins, the variables and the factors."""
    at, index = np.nonzero(rows)
    start = np.searchsorted(at, np.arange(len(rows) + 1))
    return start.astype(np.int32), index.astype(np.int32), rows[at, index]
