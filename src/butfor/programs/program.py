"""A small mixed-integer program."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.programs.branching import lowest_cost
from butfor.programs.cost_claim import CostClaim
from butfor.programs.highs import (
    FEASIBILITY,
    LOOKS_FOR_POINTS,
    SMALL,
    WHOLE_TOLERANCE,
    Said,
    convex_bound,
    inequalities,
    read,
    run,
    with_model,
)
from butfor.programs.quiet import work

OF_HIGHS = 0.75
"""The share of the time for a program with whole numbers that HiGHS has. The rest is for a bound of our own."""

OWN_STEPS, STEPS_OF_HIGHS = 10_000, 20
"""How many steps of the simplex method a bound of our own may take at least, and for each step that HiGHS took."""


@dataclass(frozen=True)
class Solved:
    """A solved program.

    - `status`: whether HiGHS says that it is optimal or infeasible, or why it ended before;
    - `x`: the values of the variables, if there is a point;
    - `claim`: what is claimed of the objective.
    """

    status: Literal["optimal", "infeasible", "limit", "time"]
    x: FloatArray | None
    claim: CostClaim


@dataclass
class Sum:
    """A linear expression: a coefficient for each variable, and a constant."""

    terms: dict[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def __add__(self, other: Sum | float) -> Sum:
        if not isinstance(other, Sum):
            return Sum(dict(self.terms), self.constant + other)
        terms = dict(self.terms)
        for variable, weight in other.terms.items():
            terms[variable] = terms.get(variable, 0.0) + weight
        return Sum(terms, self.constant + other.constant)

    def __sub__(self, other: Sum | float) -> Sum:
        return self + (-1.0) * other

    def __rmul__(self, weight: float) -> Sum:
        return Sum({variable: weight * old for variable, old in self.terms.items()}, weight * self.constant)

    def at(self, x: FloatArray) -> float:
        """The value of the expression at `x`."""
        return self.constant + float(sum(weight * x[variable] for variable, weight in self.terms.items()))


def mixtures(weights: FloatArray, parts: Sequence[Sum], constants: FloatArray) -> list[Sum]:
    """Weighted sums of the same expressions, plus a constant each. `weights` (sums, parts)."""
    place: dict[int, int] = {}
    for part in parts:
        for variable in part.terms:
            place.setdefault(variable, len(place))
    dense = np.zeros((len(parts), len(place)))
    for at, part in enumerate(parts):
        dense[at, [place[variable] for variable in part.terms]] = list(part.terms.values())
    rows, variables = weights @ dense, np.array(list(place), dtype=np.intp)
    total = constants + weights @ np.array([part.constant for part in parts])
    out = []
    for row, constant in zip(rows, total.tolist(), strict=True):
        read = np.flatnonzero(row)
        out.append(Sum(dict(zip(variables[read].tolist(), row[read].tolist(), strict=True)), constant))
    return out


@dataclass(frozen=True, eq=False)
class Curve:
    """A convex term of the objective, `d' M d` over some expressions `of`.

    `stand_in` is the variable that replaces the term in a mixed-integer linear program.
    """

    of: tuple[Sum, ...]
    M: FloatArray
    stand_in: int

    def at(self, x: FloatArray) -> float:
        """The value of the term at `x`."""
        d = np.array([part.at(x) for part in self.of])
        return float(d @ self.M @ d)

    def tangent(self, x: FloatArray) -> Sum:
        """An expression that is at least 0 iff the stand-in is above the tangent at `x`."""
        d = np.array([part.at(x) for part in self.of])
        gradient = 2 * self.M @ d
        cut = Sum({self.stand_in: 1.0}, float(d @ self.M @ d))
        for weight, part in zip(gradient, self.of, strict=True):
            cut = cut - float(weight) * part
        return cut


class Program:
    """A program: variables, rows and convex terms. HiGHS minimises it.

    Each row is scaled by its largest coefficient. Where a good point is known (`answered`), HiGHS looks for none beside its
    search.
    """

    def __init__(self) -> None:
        self.answered = False
        self.low: list[float] = []
        self.high: list[float] = []
        self.cost: list[float] = []
        self.integer: list[bool] = []
        self.rows: list[tuple[Sum, float, float]] = []
        self.firm: dict[int, float] = {}
        self.curves: list[Curve] = []
        self.objective = Sum()

    def variable(self, low: float, high: float, *, integer: bool = False) -> Sum:
        """A new variable."""
        self.low.append(low)
        self.high.append(high)
        self.integer.append(integer)
        return Sum({len(self.low) - 1: 1.0})

    def binary(self) -> Sum:
        """A new variable that is 0 or 1."""
        return self.variable(0.0, 1.0, integer=True)

    def at_least(self, expression: Sum, bound: float = 0.0, *, firm: float | None = None) -> None:
        """Add the row `expression >= bound`. `firm` is, for a score, the bound from which on there is no doubt."""
        if firm is not None:
            self.firm[len(self.rows)] = firm - expression.constant
        self.rows.append((expression, bound - expression.constant, np.inf))

    def equal(self, expression: Sum, value: float = 0.0) -> None:
        """Add the row `expression == value`."""
        self.rows.append((expression, value - expression.constant, value - expression.constant))

    def least(self, expression: Sum) -> float:
        """The smallest value of an expression within the bounds of its variables."""
        ends = ((weight * self.low[v], weight * self.high[v]) for v, weight in expression.terms.items() if weight)
        return expression.constant + sum(min(pair) for pair in ends)

    def minimise(self, expression: Sum) -> None:
        """Add to the objective."""
        self.objective = self.objective + expression

    def minimise_square(self, of: tuple[Sum, ...], M: FloatArray) -> None:
        """Add `d' M d` to the objective. M must be positive semidefinite."""
        stand_in = self.variable(0.0, np.inf)
        self.curves.append(Curve(of, M, next(iter(stand_in.terms))))

    def aimed_at(self, objective: Sum) -> Program:
        """The same rows, with something else to minimise and without convex terms."""
        other = copy(self)
        other.objective, other.curves = objective, []
        return other

    def guarded(self, guard: float) -> list[tuple[Sum, float, float]]:
        """The rows of scores again, with firm bounds that are raised by a share of their terms' size."""
        out = []
        for index, firm in self.firm.items() if guard else ():
            expression, _, high = self.rows[index]
            size = abs(firm)
            for variable, weight in expression.terms.items():
                ends = np.abs([self.low[variable], self.high[variable]])
                size += abs(weight) * float(ends[np.isfinite(ends)].max(initial=0.0))
            out.append((expression, firm + guard * size, high))
        return out

    @property
    def has_reals(self) -> bool:
        """Whether some variable is not an integer."""
        return not all(self.integer)

    def solve(
        self,
        seconds: float,
        extra: list[tuple[Sum, float, float]],
        *,
        exact: bool,
        fixed: FloatArray | None = None,
        whole: bool = True,
        derived: float | None = None,
    ) -> Solved:
        """Minimise the program.

        - `seconds`: the time limit;
        - `extra`: additional rows;
        - `exact`: whether to use the convex terms themselves, not their stand-ins;
        - `fixed`: a point at whose values the integers are fixed;
        - `whole`: whether integers must be whole. Without it, the optimum is a lower bound;
        - `derived`: the time by which what HiGHS claims must be derived again (default: after the seconds). Its steps are
          limited, too.
        """
        import highspy

        for expression, low, high in (*self.rows, *extra):
            if not any(expression.terms.values()) and (low > FEASIBILITY or high < -FEASIBILITY):
                return Solved("infeasible", None, CostClaim.of(np.inf))
        mip = whole and fixed is None and any(self.integer)
        until, model = now() + seconds, self._model(highspy, extra, fixed, curves=exact, whole=whole)
        options = dict.fromkeys(LOOKS_FOR_POINTS, not self.answered)
        solver = run(highspy, model, OF_HIGHS * seconds if mip else seconds, options)
        found = read(highspy, solver, self.objective.constant, mip=mip)
        if found.status == "infeasible" and mip:
            # it once said so of a point on the edge: nothing may lie near it either
            model.lp_.row_lower_ = np.array(model.lp_.row_lower_) - WHOLE_TOLERANCE
            model.lp_.row_upper_ = np.array(model.lp_.row_upper_) + WHOLE_TOLERANCE
            solver = run(highspy, model, OF_HIGHS * max(0.0, until - now()), options)
            found = read(highspy, solver, self.objective.constant, mip=mip)
        claim = self._claim(highspy, model, solver, found, until if derived is None else derived, whole=whole)
        return Solved(found.status, found.x, claim)

    def _claim(self, highspy: Any, model: Any, solver: Any, said: Said, until: float, *, whole: bool) -> CostClaim:
        """What HiGHS said of the cost, and how it is derived again: from multipliers, with whole numbers by our branching."""
        if solver is None:
            return CostClaim.of(-np.inf)
        held = np.flatnonzero(self.integer) if whole else np.zeros(0, dtype=np.intp)
        constant, goal = self.objective.constant, said.bound
        if said.status == "optimal" and not len(held):
            return CostClaim.of(min(said.bound, convex_bound(model, solver) + constant))
        if goal == -np.inf and said.x is not None:
            goal = self.objective.at(said.x)
        steps = OWN_STEPS + STEPS_OF_HIGHS * solver.getInfo().simplex_iteration_count
        goal = np.inf if goal == -np.inf else goal - constant
        return CostClaim(said.bound, lambda: lowest_cost(highspy, model, held, goal, until, steps) + constant, until)

    def extremes(self, expressions: Sequence[Sum], until: float) -> tuple[FloatArray, FloatArray]:
        """What each expression is at least and at most, without whole numbers. Infinite where the time ended.

        They are what the multipliers of the rows prove: HiGHS is not believed.
        """
        import highspy

        low, high = np.full(len(expressions), -np.inf), np.full(len(expressions), np.inf)
        count, model = len(self.low), self._model(highspy, [], None, curves=False, whole=False)
        solver, known = with_model(highspy, model, np.inf, {}), inequalities(model)
        for at, expression in enumerate(expressions if solver is not None else []):
            cost = np.zeros(count)
            cost[list(expression.terms)] = list(expression.terms.values())
            for ends, sign in ((low, 1.0), (high, -1.0)):
                if now() > until:
                    return low, high
                solver.changeColsCost(count, np.arange(count, dtype=np.int32), sign * cost)
                work(solver)
                if solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                    price = np.array(solver.getSolution().row_dual)
                    ends[at] = expression.constant + sign * known.lowest(sign * cost, price)
        return low, high

    def _model(
        self,
        highspy: Any,
        extra: list[tuple[Sum, float, float]],
        fixed: FloatArray | None,
        *,
        curves: bool,
        whole: bool,
    ) -> Any:
        lp = highspy.HighsLp()
        count, rows = len(self.low), [*self.rows, *extra]
        cost = np.zeros(count)
        for variable, weight in self.objective.terms.items():
            cost[variable] += weight
        low, high, integer = np.array(self.low), np.array(self.high), np.array(self.integer)
        if fixed is not None:
            held = np.round(fixed[integer])
            low[integer], high[integer] = held, held
        if not curves:
            cost[[curve.stand_in for curve in self.curves]] = 1.0
        lp.num_col_, lp.num_row_ = count, len(rows)
        for variable in np.flatnonzero(np.isinf(high)).tolist():
            high[variable] = self._needed(variable, rows)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, low, high
        terms = [expression.terms for expression, _, _ in rows]
        start = np.concatenate([[0], np.cumsum([len(term) for term in terms])]).astype(np.int32)
        index = np.fromiter(chain.from_iterable(terms), dtype=np.int32, count=int(start[-1]))
        value = np.fromiter(
            chain.from_iterable(term.values() for term in terms), dtype=np.float64, count=int(start[-1])
        )
        row = np.repeat(np.arange(len(rows)), np.diff(start))
        scale = np.zeros(len(rows))
        np.maximum.at(scale, row, np.abs(value))
        scale[scale == 0] = 1.0
        kept = np.abs(value) >= SMALL * scale[row]
        lower, upper = (np.array([ends[side] for ends in rows]) for side in (1, 2))
        for at in np.unique(row[~kept & (value != 0)]).tolist():
            least, most = self._left_out(rows[at][0], float(scale[at]))
            lower[at], upper[at] = lower[at] - most, upper[at] - least
        lp.row_lower_, lp.row_upper_ = lower / scale, upper / scale
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        counts = np.bincount(row[kept], minlength=len(rows))
        lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        lp.a_matrix_.index_, lp.a_matrix_.value_ = index[kept], value[kept] / scale[row[kept]]
        if whole and fixed is None and integer.any():
            kinds = highspy.HighsVarType
            lp.integrality_ = [kinds.kInteger if whole else kinds.kContinuous for whole in integer]
        model = highspy.HighsModel()
        model.lp_ = lp
        if curves and self.curves:
            self._add_hessian(highspy, model, cost, count)
        return model

    def _needed(self, variable: int, rows: list[tuple[Sum, float, float]]) -> float:
        """The largest value that the rows may ask of a variable that costs something and has no upper bound.

        HiGHS 1.15 may cut off an optimum if a variable has none.
        """
        most = self.low[variable]
        for expression, low, _ in rows:
            weight = expression.terms.get(variable, 0.0)
            if weight > 0 and np.isfinite(low):
                rest = Sum({v: w for v, w in expression.terms.items() if v != variable})
                most = max(most, (low - self.least(rest)) / weight)
        return most

    def _left_out(self, expression: Sum, scale: float) -> tuple[float, float]:
        """The smallest and the largest sum of the terms that are too small for HiGHS. Its row is widened by them."""
        least = most = 0.0
        for variable, weight in expression.terms.items():
            if 0 < abs(weight) < SMALL * scale:
                ends = weight * self.low[variable], weight * self.high[variable]
                least, most = least + min(ends), most + max(ends)
        return least, most

    def _add_hessian(self, highspy: Any, model: Any, cost: FloatArray, count: int) -> None:
        entries: dict[tuple[int, int], float] = {}
        constant = 0.0
        for curve in self.curves:
            for a, left in enumerate(curve.of):
                for b, right in enumerate(curve.of):
                    weight = float(curve.M[a, b])
                    if not weight:
                        continue
                    constant += weight * left.constant * right.constant
                    for v, p in left.terms.items():
                        cost[v] += weight * p * right.constant
                        for w, q in right.terms.items():
                            if v >= w:
                                entries[v, w] = entries.get((v, w), 0.0) + 2.0 * weight * p * q
                    for w, q in right.terms.items():
                        cost[w] += weight * q * left.constant
        columns: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        for (v, w), weight in sorted(entries.items()):
            columns[w].append((v, weight))
        hessian = highspy.HighsHessian()
        hessian.dim_ = count
        hessian.format_ = highspy.HessianFormat.kTriangular
        hessian.start_ = np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int32)
        hessian.index_ = np.array([v for column in columns for v, _ in column], dtype=np.int32)
        hessian.value_ = np.array([weight for column in columns for _, weight in column], dtype=np.float64)
        model.lp_.col_cost_ = cost
        model.lp_.offset_ = constant
        model.hessian_ = hessian
