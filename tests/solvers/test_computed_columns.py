"""Columns that are computed from others: every kind of function against all combinations of free values, tried one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from butfor.model.questions import evaluate
from butfor.problem.constraints.computed import ComputedColumn
from butfor.problem.constraints.constraint import among_each_other
from butfor.problem.constraints.linked_names import computed
from butfor.problem.pricing import price_beside
from butfor.problem.problem import Problem, state
from butfor.solvers.choose import OF_LINKED
from butfor.solvers.computed.columns import ComputedColumns
from butfor.solvers.outcome import Status
from butfor.solvers.solver import Budget
from butfor.space.feature import Feature
from butfor.space.space import Space
from butfor.testing.problems import (
    Kinds,
    random_constraints,
    random_linear,
    random_readout,
    random_row,
    random_space,
    random_target,
    random_trees,
)
from butfor.testing.random_costs import random_cost
from butfor.testing.solver_contract import SolverContract
from tests.shorter import first

QUOTIENTS = (
    "{a} / ({b} + 6)", "(2 * {a} + 1) / ({b} + 9)", "{a} + {b}", "{a} - 2 * {b}", "({a} - {b}) / ({a} + {b} + 20)",
    "10 - {b} / ({a} + 5)", "0.1 * {a} + 0.3 * {b}", "3 * {a} - 1",
)  # fmt: skip
OTHERS = ("{a} * {b}", "round({a} / ({b} + 6), 1)", "{a} * {a} - {b}")


def number(name: str, low: float, high: float, step: float, *, missing: bool, single: bool = False) -> Feature:
    return Feature(
        name, low=low, high=high, step=step, missing=missing, single=single, typical=low + 1.0, mad=0.5, std=1.0
    )


def with_computed(
    seed: int, formulas: tuple[str, ...], kinds: Kinds, *, form: str = "trees", trees: int = 3
) -> Problem:
    """A random problem in which a column or two are computed from two or three others."""
    rng = np.random.default_rng(seed)
    step = [0.0 if kinds.continuous and rng.random() < 0.6 else float(rng.choice([1.0, 0.5])) for _ in range(3)]
    single = bool(kinds.continuous and rng.random() < 0.3)
    free = [
        number(f"n{k}", low := float(rng.integers(-4, 1)), low + float(rng.integers(2, 6)), step[k],
               missing=bool(kinds.missing and rng.random() < 0.3), single=single and not step[k])
        for k in range(2 + (rng.random() < 0.3))
    ]  # fmt: skip
    rules = []
    for k in range(1 + (len(free) > 2 or rng.random() < 0.3)):
        first, hub = ("n0", "n1") if k == 0 or len(free) == 2 else ("n2", "n1")
        rules.append(computed(f"g{k}", str(rng.choice(formulas)).format(a=first, b=hub)))
    made = [number(rule.name, -6.0, 6.0, 0.0, missing=True, single=single) for rule in rules]
    others = random_space(rng, replace(kinds, features=1)).features
    space = Space((*free, *made, *others))
    factuals = random_row(rng, space)[None]
    for rule in rules:
        factuals[:, space.index(rule.name)] = rule.values(space, factuals)
    scores = int(rng.integers(1, kinds.classes + 1))
    readout = random_readout(rng, kinds, scores)
    model = random_linear(rng, space, scores) if form == "linear" else random_trees(rng, space, scores, trees)
    listed = among_each_other([*random_constraints(rng, space, kinds), *rules])
    prices = price_beside(random_cost(rng, space, kinds.costs), space, [rule.name for rule in rules]).in_coins
    return state(space, model, factuals, random_target(rng, readout), prices, listed)


def every_value(problem: Problem, j: int) -> np.ndarray:
    """All values that a free column could have, admissible or not."""
    feature, own = problem.space.features[j], problem.factuals[0, j]
    if feature.levels is not None:
        values = np.arange(len(feature.levels), dtype=np.float64)
    else:
        assert feature.step
        values = np.arange(feature.low, feature.high + feature.step / 2, feature.step)
    return np.unique(np.append(values, [own, np.nan]))


def by_enumeration(problem: Problem) -> float:
    """The least cost of all combinations of free values, each with what is computed from it."""
    rules = problem.relations_of(ComputedColumn)
    names = {rule.name for rule in rules}
    free = [j for j, name in enumerate(problem.space.names) if name not in names]
    return cheapest_of(problem, free, np.array(list(product(*(every_value(problem, j) for j in free)))))


def cheapest_of(problem: Problem, free: list[int], grid: np.ndarray) -> float:
    """The least cost of some values of the free columns, each with what is computed from them."""
    rules = problem.relations_of(ComputedColumn)
    points = np.repeat(problem.factuals, len(grid), axis=0)
    points[:, free] = grid
    for rule in rules:
        points[:, problem.space.index(rule.name)] = rule.values(problem.space, points)
    many = problem.take(np.zeros(len(points), dtype=np.intp))
    scores, fine = evaluate(problem.model, points), many.admits(points)
    offset = np.min([np.where(part.holds(scores), part.offset, np.inf) for part in problem.score_sets], axis=0)
    return float(np.where(fine, many.prices.total(many.factuals, points) + offset, np.inf).min(initial=np.inf))


COSTS = ("l1", "l2", "l0", "mix")


class Computed(SolverContract):
    solver = ComputedColumns(OF_LINKED)
    kinds = Kinds(continuous=False, relations=("at most",), costs=COSTS)
    formulas = QUOTIENTS
    form = "trees"

    def problem(self, seed):
        return with_computed(seed, self.formulas, self.kinds, form=self.form)

    def judge(self, problem: Problem) -> float | None:
        return by_enumeration(problem)


class TestQuotientsOfWholeNumbers(Computed):
    seeds = range(300)


class TestOtherFunctionsOfWholeNumbers(Computed):
    formulas = OTHERS
    seeds = range(100)


class TestLinearModelsOfComputedColumns(Computed):
    form = "linear"
    formulas = ("{a} + {b}", "{a} - 2 * {b}", "{a} * {b}", "{a} * {a} - {b}", "3 * {a} - 1")
    seeds = range(100)


class TestComputedColumnsUnderImplications(Computed):
    kinds = Kinds(continuous=False, relations=("implies",), costs=COSTS)
    seeds = range(1_000, 1_100)


def corners(problem: Problem) -> np.ndarray:
    """Values of the free columns among which is the cheapest row, if prices are rates and fees: where lines cross."""
    rules = problem.relations_of(ComputedColumn)
    at = {name: j for j, name in enumerate(problem.space.names)}
    cuts = {name: problem.model.cells[j].edges for name, j in at.items()}
    free = [j for name, j in at.items() if name not in {rule.name for rule in rules}]
    values = {j: plain_values(problem, j) for j in free}
    hub, found = at["n1"], []
    lines = [(rule, float(cut)) for rule in rules for cut in cuts[rule.name]]
    beside = [*values[hub], *(b for rule, cut in lines for b in crossings(rule, cut, "n1", values, at))]
    beside += [b for one, other in product(lines, lines) for b in meeting(one, other)]
    for b in np.unique(beside):
        spokes = []
        for j in free:
            name = problem.space.names[j]
            own = [x for rule, cut in lines if name in rule.inputs for x in root(rule, cut, name, {"n1": float(b)})]
            spokes.append([b] if j == hub else [*values[j], *own])
        found += list(product(*spokes))
    return np.array(found)


def plain_values(problem: Problem, j: int) -> list[float]:
    """The ends of the cells and of the range of a column, its own value, and the floats beside them."""
    feature, own = problem.space.features[j], float(problem.factuals[0, j])
    if feature.levels is not None or feature.step:
        return every_value(problem, j).tolist()
    ends = [feature.low, feature.high, own, *problem.model.cells[j].edges.tolist()]
    return [*(x for end in ends for x in near(end, feature.single)), np.nan]


def near(x: float, single: bool = False) -> list[float]:
    kind = np.float32 if single else np.float64
    return [float(y) for y in (kind(x), np.nextafter(kind(x), kind(-np.inf)), np.nextafter(kind(x), kind(np.inf)))]


def crossings(rule, cut, name, values, at):
    """Where a column crosses a threshold beside values of the others."""
    others = [other for other in rule.inputs if other != name]
    if name not in rule.inputs:
        return
    for beside in product(*(values[at[other]] for other in others)):
        yield from root(rule, cut, name, dict(zip(others, beside, strict=True)))


def root(rule, cut, name, beside):
    """A column at a threshold, by the slope of the numerator, which is linear: a few floats around it."""
    if name not in rule.inputs or not all(other in beside for other in rule.inputs if other != name):
        return []
    sums = rule.formula.quotient()
    full = {other: x for other, x in beside.items() if other in rule.inputs}

    def left(x: float) -> float:
        row = {**full, name: x, None: 1.0}
        return sum(f * row[k] for k, f in sums.upper.items()) - cut * sum(f * row[k] for k, f in sums.lower.items())

    slope = left(1.0) - left(0.0)
    if not slope or np.isnan(slope):
        return []
    exact = -left(0.0) / slope
    return [*near(exact), *near(exact, True), exact - 1e-15 * abs(exact), exact + 1e-15 * abs(exact)]


def meeting(one, other):
    """Where the lines of two thresholds over the same columns cross: their hub."""
    if one[0].inputs != other[0].inputs or len(one[0].inputs) != 2:
        return []
    rows, right = [], []
    for rule, cut in (one, other):
        sums = rule.formula.quotient()
        rows.append([sums.upper.get(k, 0.0) - cut * sums.lower.get(k, 0.0) for k in ("n0", "n1")])
        right.append(cut * sums.lower.get(None, 0.0) - sums.upper.get(None, 0.0))
    if abs(np.linalg.det(rows)) < 1e-9:
        return []
    return near(float(np.linalg.solve(rows, right)[1]))


@pytest.mark.parametrize("seeds", first(1, [range(4), range(4, 40)]))
def test_no_row_of_real_numbers_is_cheaper(seeds) -> None:
    """Costs are rates and fees, so the cheapest row lies where lines cross. To the last digits, several floats are tried."""
    solver, kinds, changed = (
        ComputedColumns(OF_LINKED),
        Kinds(relations=("at most",), costs=("l1", "l0"), features=1),
        0,
    )
    for seed in seeds:
        problem = with_computed(seed, QUOTIENTS, kinds)
        if not solver.accepts(problem.form()):
            continue
        found, names = solver.solve(problem, Budget()), {rule.name for rule in problem.relations_of(ComputedColumn)}
        free = [j for j, name in enumerate(problem.space.names) if name not in names]
        truth, cost = cheapest_of(problem, free, corners(problem)), float(found.cost[0])
        assert not cost > truth + 1e-6 * (1 + truth), f"seed {seed}"
        assert found.bound[0] <= truth, f"seed {seed}"
        assert found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE) or problem.domain.step.any()
        if found.found()[0]:
            assert problem.admits(found.points).all(), f"seed {seed}"
            assert any(part.holds(evaluate(problem.model, found.points))[0] for part in problem.score_sets)
        changed += 0 < cost < np.inf
    assert changed
