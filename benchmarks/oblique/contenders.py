"""Every solver behind the same question: the move of one leaf's problem, from numpy arrays. None is given a warm start.

Tolerances ask each for about eight digits. What a solver cannot take (an L1 cost) is written for it: moves up and moves
down become columns of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.oblique.leaf_problems import LeafProblem, Shape
from butfor.arrays import FloatArray
from butfor.solvers.linear.interior_point import minimise
from butfor.solvers.oblique.polytope.columns import RAISE, Box, Columns, HalfSpaces
from butfor.solvers.oblique.polytope.relax import relax

TOLERANCE = 1e-8
PATIENCE = 3.0
"""Seconds for one problem where the solver can be told so, and for all problems of one shape: then no other is begun."""


class EmptyLeafError(Exception):
    """The solver says that no point fulfils the rows."""


class NotSolvedError(Exception):
    """The solver says that it has no answer."""


@dataclass(frozen=True)
class Program:
    """Minimise z'Pz / 2 + q'z over low <= z <= high, A z >= b; the move is z, or its first half less its second."""

    problem: LeafProblem

    @property
    def split(self) -> bool:
        return bool(self.problem.l1.any())

    @cached_property
    def diagonal(self) -> FloatArray:
        return 2 * (np.tile(self.problem.l2, 2) if self.split else self.problem.l2)

    @property
    def dense(self) -> FloatArray:
        return np.diag(self.diagonal) if self.problem.Q is None else 2 * self.problem.Q.dense

    @property
    def sparse(self) -> sparse.csc_matrix:
        Q = self.problem.Q
        return sparse.diags(self.diagonal, format="csc") if Q is None else 2 * Q.compact

    @cached_property
    def q(self) -> FloatArray:
        return np.tile(self.problem.l1, 2) if self.split else self.problem.l1

    @cached_property
    def A(self) -> FloatArray:
        return np.hstack([self.problem.A, -self.problem.A]) if self.split else self.problem.A

    @property
    def b(self) -> FloatArray:
        return self.problem.b

    @cached_property
    def low(self) -> FloatArray:
        return np.zeros(len(self.q)) if self.split else self.problem.down

    @cached_property
    def high(self) -> FloatArray:
        return np.concatenate([self.problem.up, -self.problem.down]) if self.split else self.problem.up

    def move(self, z: FloatArray) -> FloatArray:
        z = np.asarray(z)
        up, down = np.split(z, 2) if self.split else (z, np.zeros_like(z))
        return np.asarray(up - down)


Solve = Callable[[LeafProblem], FloatArray]


def _written(solve: Callable[[Program], FloatArray]) -> Solve:
    def whole(problem: LeafProblem) -> FloatArray:
        program = Program(problem)
        return program.move(solve(program))

    return whole


def _answer(z: Any, state: object, solved: object, empty: object) -> FloatArray:
    if state == solved:
        return np.asarray(z)
    raise EmptyLeafError if state == empty else NotSolvedError(str(state))


def _dual(p: LeafProblem) -> FloatArray:
    """As `butfor.solvers.oblique.columns` hands a leaf over: rows of unit norm, prices of at most one."""
    length, scale = np.linalg.norm(p.A, axis=1), max(p.l1.max(), p.l2.max())
    rate = p.l1 / scale
    columns = Columns(rate, rate, p.l2 / scale, np.zeros_like(rate), np.zeros(1, dtype=np.intp))
    spaces = HalfSpaces(p.A / length[:, None], p.b / length)
    box = Box(p.down, p.up, p.down, np.empty(0), np.empty(0, dtype=np.bool_))  # there are no options
    proximal = bool((p.l2 == 0).any())
    lam, d = np.zeros_like(p.b), np.zeros_like(rate)
    dearest = p.price(np.maximum(p.up, -p.down)) / scale * (1 + 1e-6)  # no point of the box costs that
    bound, settled = relax(spaces, RAISE, columns, box, proximal, lam, d, dearest)
    return _ours(d if settled else None, np.inf if bound >= dearest else bound)


def _interior_point(p: LeafProblem) -> FloatArray:
    assert p.Q is not None
    length = np.linalg.norm(p.A, axis=1)
    return _ours(*minimise(p.Q.dense, p.down, p.up, p.A / length[:, None], p.b / length))


def _ours(d: FloatArray | None, bound: float) -> FloatArray:
    if d is not None:
        return d
    raise EmptyLeafError if bound == np.inf else NotSolvedError("the steps did not settle")


def _highs(solver: str) -> Solve:
    def solve(program: Program) -> FloatArray:
        import highspy

        highs = highspy.Highs()
        options = {"output_flag": False, "threads": 1, "time_limit": PATIENCE, "solver": solver}
        for name, value in options.items():
            highs.setOptionValue(name, value)
        rows, columns = program.A.shape
        model = highspy.HighsModel()
        lp = model.lp_
        lp.num_col_, lp.num_row_ = columns, rows
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.q, program.low, program.high
        lp.row_lower_, lp.row_upper_ = program.b, np.full(rows, highspy.kHighsInf)
        A = sparse.csr_matrix(program.A)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
        if solver != "simplex":
            P = sparse.tril(program.sparse, format="csc")
            model.hessian_.dim_ = columns
            model.hessian_.format_ = highspy.HessianFormat.kTriangular
            model.hessian_.start_, model.hessian_.index_, model.hessian_.value_ = P.indptr, P.indices, P.data
        highs.passModel(model)
        highs.run()
        state = highs.getModelStatus()
        known = highspy.HighsModelStatus
        return _answer(highs.getSolution().col_value, state, known.kOptimal, known.kInfeasible)

    return _written(solve)


@_written
def _daqp(program: Program) -> FloatArray:
    import daqp

    high = np.concatenate([program.high, np.full(len(program.b), 1e30)])
    low = np.concatenate([program.low, program.b])
    sense = np.zeros(len(low), dtype=np.int32)
    A = np.ascontiguousarray(program.A)
    z, _, state, _ = daqp.solve(program.dense, program.q, A, high, low, sense, primal_tol=TOLERANCE)
    return _answer(z, state, 1, -1)


def _piqp(storage: str) -> Solve:
    def solve(program: Program) -> FloatArray:
        import piqp

        compact = storage == "sparse"
        solver = piqp.SparseSolver() if compact else piqp.DenseSolver()
        solver.settings.eps_abs = solver.settings.eps_rel = TOLERANCE
        P = program.sparse if compact else np.asfortranarray(program.dense)
        G = sparse.csc_matrix(program.A) if compact else np.asfortranarray(program.A)
        solver.setup(P, program.q, G=G, h_l=program.b, x_l=program.low, x_u=program.high)
        state = solver.solve()
        return _answer(solver.result.x, state, piqp.PIQP_SOLVED, piqp.PIQP_PRIMAL_INFEASIBLE)

    return _written(solve)


def _proxqp(storage: str) -> Solve:
    def solve(program: Program) -> FloatArray:
        from proxsuite import proxqp

        rows, columns = program.A.shape
        high = np.full(rows, 1e20)
        matrices: tuple[Any, ...]
        if storage == "dense":
            kinds = proxqp.dense.HessianType
            flat = kinds.Diagonal if program.diagonal.any() else kinds.Zero
            kind = flat if program.problem.Q is None else kinds.Dense
            solver = proxqp.dense.QP(columns, 0, rows, True, kind)
            box = (program.low, program.high)
            matrices = (program.dense, program.q, None, None, program.A, program.b, high, *box)
        else:
            C = sparse.vstack([sparse.csc_matrix(program.A), sparse.identity(columns)], format="csc")
            solver = proxqp.sparse.QP(columns, 0, rows + columns)
            low = np.concatenate([program.b, program.low])
            matrices = (program.sparse, program.q, None, None, C, low, np.concatenate([high, program.high]))
        solver.settings.eps_abs, solver.settings.eps_rel = TOLERANCE, 0.0
        solver.settings.max_iter, solver.settings.max_iter_in = 100, 500  # empty leaves take minutes otherwise
        solver.init(*matrices)
        solver.solve()
        known = proxqp.QPSolverOutput
        state = solver.results.info.status
        return _answer(solver.results.x, state, known.PROXQP_SOLVED, known.PROXQP_PRIMAL_INFEASIBLE)

    return _written(solve)


@_written
def _clarabel(program: Program) -> FloatArray:
    import clarabel

    columns = len(program.q)
    whole = sparse.identity(columns)
    A = sparse.vstack([-sparse.csc_matrix(program.A), -whole, whole], format="csc")
    b = np.concatenate([-program.b, -program.low, program.high])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    P = sparse.triu(program.sparse, format="csc")
    found = clarabel.DefaultSolver(P, program.q, A, b, [clarabel.NonnegativeConeT(len(b))], settings).solve()
    known = clarabel.SolverStatus
    return _answer(found.x, found.status, known.Solved, known.PrimalInfeasible)


@_written
def _osqp(program: Program) -> FloatArray:
    import osqp

    rows, columns = program.A.shape
    A = sparse.vstack([sparse.csc_matrix(program.A), sparse.identity(columns)], format="csc")
    low = np.concatenate([program.b, program.low])
    high = np.concatenate([np.full(rows, np.inf), program.high])
    solver = osqp.OSQP()
    exact = {"eps_abs": TOLERANCE, "eps_rel": TOLERANCE, "max_iter": 100_000, "polishing": True, "time_limit": PATIENCE}
    solver.setup(sparse.triu(program.sparse, format="csc"), program.q, A, low, high, verbose=False, **exact)
    found = solver.solve(raise_error=False)
    return _answer(found.x, found.info.status, "solved", "primal infeasible")


@_written
def _quadprog(program: Program) -> FloatArray:
    import quadprog

    whole = np.identity(len(program.q))
    C = np.hstack([program.A.T, whole, -whole])
    b = np.concatenate([program.b, program.low, -program.high])
    try:
        return np.asarray(quadprog.solve_qp(program.dense, -program.q, C, b)[0])
    except ValueError as refused:
        raise (EmptyLeafError if "inconsistent" in str(refused) else NotSolvedError)(str(refused)) from refused


@dataclass(frozen=True)
class Contender:
    """A solver, the distribution it comes in, and the costs that it takes."""

    name: str
    package: str
    solve: Solve
    costs: tuple[str, ...] = ("L2", "L1+L2", "L1", "Q")

    @property
    def missing(self) -> str:
        """Why it cannot run here; empty if it can."""
        return "" if find_spec(self.package) else f"{self.package} is not installed"

    @property
    def version(self) -> str:
        return version(self.package.replace("_", "-"))

    def prepare(self) -> None:
        """Imported before the clock starts."""
        import_module(self.package)

    def __call__(self, problem: LeafProblem) -> FloatArray:
        """The move, inside its box; raises EmptyLeafError or NotSolvedError."""
        return np.clip(self.solve(problem), problem.down, problem.up)

    def takes(self, shape: Shape) -> bool:
        return shape.cost in self.costs


CURVED = ("L2", "L1+L2", "Q")
CONTENDERS = (
    Contender("dual (ours)", "butfor", _dual, ("L2", "L1+L2", "L1")),
    Contender("interior point (ours)", "butfor", _interior_point, ("Q",)),
    Contender("HiGHS simplex", "highspy", _highs("simplex"), ("L1",)),
    Contender("HiGHS active set", "highspy", _highs("qpasm"), CURVED),
    Contender("HiGHS interior point (HiPO)", "highspy_extras", _highs("hipo")),  # without extras: the active set
    Contender("DAQP", "daqp", _daqp),
    Contender("PIQP dense", "piqp", _piqp("dense")),
    Contender("PIQP sparse", "piqp", _piqp("sparse")),
    Contender("ProxQP dense", "proxsuite", _proxqp("dense")),
    Contender("ProxQP sparse", "proxsuite", _proxqp("sparse")),
    Contender("Clarabel", "clarabel", _clarabel),
    Contender("OSQP", "osqp", _osqp),
    Contender("quadprog", "quadprog", _quadprog, CURVED),
)
