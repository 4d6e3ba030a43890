"""Every solver against brute force or an independent judge: 2,000 and more random problems each."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from butfor.arrays import FloatArray
from butfor.formulation.half_spaces import goals, of_leaf
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import everything
from butfor.problem.form import ConstraintKind, CostTerm
from butfor.problem.problem import Problem
from butfor.solvers.additive.knapsack import AdditiveKnapsack
from butfor.solvers.additive.piece_programs import PiecePrograms
from butfor.solvers.blend.branching import BlendBranching
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.choose import PROVING, SOLVERS
from butfor.solvers.ensemble import effort
from butfor.solvers.ensemble.boxes import BoxSearch
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.ensemble.largest_move import LargestMove
from butfor.solvers.enumeration import Enumeration
from butfor.solvers.linear import knapsack
from butfor.solvers.linear.exact import LinearExact
from butfor.solvers.linear.interior_point import InteriorPoint
from butfor.solvers.linear.knapsack import LinearKnapsack
from butfor.solvers.milp.milp import Milp
from butfor.solvers.network.exact import NetworkExact
from butfor.solvers.oblique.exact import ObliqueExact
from butfor.solvers.outcome import HIGHEST, Status, Stopped
from butfor.solvers.robust.exact import RobustExact
from butfor.solvers.robust.linear import RobustLinear
from butfor.solvers.rows.row_search import RowSearch
from butfor.solvers.solver import Budget
from butfor.solvers.tree.exact import TreeExact
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.shorter import first
from tests.solvers import network_patterns
from tests.solvers.continuous_oracle import cheapest, supported
from tests.solvers.further import among_rows, of_mean, with_ball


class Continuous(SolverContract):
    form = "linear"

    def judge(self, problem: Problem) -> float | None:
        return cheapest(problem) if supported(problem) else None


class TestTreeExact(SolverContract):
    solver = TreeExact()
    form = "tree"
    seeds = range(2700)


DECIMAL = Kinds(continuous=False, steps=(0.3, 0.1, 0.7))
"""Steps that floats miss: three times 0.1 is 0.3, and three times 0.3 is 0.9."""


class TestTreeExactOnDecimalSteps(SolverContract):
    solver = TreeExact()
    form = "tree"
    kinds = DECIMAL
    seeds = range(20_000, 20_600)


class TestLinearKnapsackOnDecimalSteps(SolverContract):
    solver = LinearKnapsack()
    form = "linear"
    kinds = DECIMAL
    seeds = range(20_000, 20_400)


class TestMilpOnTrees(SolverContract):
    solver = Milp()
    form = "tree"
    seeds = range(700)


class TestMilpOnTreesWithRelations(SolverContract):
    solver = Milp()
    form = "tree"
    kinds = Kinds(continuous=False)
    seeds = range(10_000, 10_600)


class TestMilpOnEnsembles(SolverContract):
    """The tight order formulation with several trees."""

    solver = Milp()
    form = "ensemble"
    kinds = Kinds(continuous=False, relations=("at most", "linear"))
    seeds = range(300)

    def problem(self, seed):
        return random_problem(seed, self.form, self.kinds, trees=2 + seed % 4)


class TestEnsembleBranchBound(SolverContract):
    """Sums of two to six trees over numbers, categories and missing values, one or several inequalities, margins, counts."""

    solver = EnsembleBranchBound()
    form = "ensemble"
    seeds = range(2800)

    def problem(self, seed):
        return random_problem(seed, self.form, self.kinds, trees=2 + seed % 5)


class TestEnsembleBranchBoundOnDecimalSteps(TestEnsembleBranchBound):
    kinds = DECIMAL
    seeds = range(20_000, 20_400)


class TestEnsembleByBoxes(TestEnsembleBranchBound):
    """Boxes of cells to the end."""

    seeds = range(10_000, 11_000)

    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch):
        for start in ("LONG_START", "MIDDLE_START", "SHORT_START"):
            monkeypatch.setattr(effort, start, 10**15)

    @pytest.mark.parametrize("asked", first(1, [range(12_000, 12_150), range(12_150, 12_600)]))
    def test_how_far_scores_reach_where_there_is_no_answer(self, asked: range) -> None:
        told = near = 0
        for seed, problem in self.problems(asked):
            found = self.solver.solve(problem, Budget())
            judge = replace(problem, score_sets=(everything(problem.model.scores),))
            if HIGHEST in found.notes and not problem.demands.margin and BruteForce().accepts(judge.form()):
                (score_set,) = problem.score_sets
                every = BruteForce().solve(judge, Budget(), k=100_000)
                best = (evaluate(problem.model, every.points[every.found()]) @ score_set.A[0]).max(initial=-np.inf)
                assert best <= found.notes[HIGHEST][0] + 1e-9, seed
                assert found.notes[HIGHEST][0] <= score_set.b[0] + 1e-9, seed
                told += 1
                if not np.isnan(found.points).all():
                    assert problem.admits(found.points)[0], seed
                    assert (evaluate(problem.model, found.points) @ score_set.A[0])[0] <= best + 1e-9, seed
                    near += 1
        assert told > 0.033 * len(asked)
        assert near > 0.9 * told


class TestEnsembleByMessages(TestEnsembleBranchBound):
    """Bounds by messages to the end."""

    seeds = range(14_000, 15_000)

    @pytest.fixture(autouse=True)
    def alone(self, monkeypatch):
        monkeypatch.setattr(BoxSearch, "steps", lambda boxes, size: iter(()))


@pytest.fixture
def large(monkeypatch):
    """Every ensemble is searched as large ones are: from the cheapest cells on."""
    monkeypatch.setattr(effort, "NEAR_LEAVES", 0)


@pytest.mark.usefixtures("large")
class TestLargeEnsembles(TestEnsembleBranchBound):
    seeds = range(16_000, 17_000)


class TestLargestMove(SolverContract):
    """Sums of trees over numbers under L-infinity."""

    solver = LargestMove()
    form = "ensemble"
    kinds = Kinds(missing=False, relations=(), costs=("linf",))
    seeds = range(800)

    def problem(self, seed):
        return random_problem(seed, self.form, self.kinds, trees=2 + seed % 5)


class TestLargestMoveOnDecimalSteps(TestLargestMove):
    kinds = replace(DECIMAL, costs=("linf",), relations=(), missing=False)
    seeds = range(20_000, 20_600)


class TestMilpOnFiniteLinear(SolverContract):
    solver = Milp()
    form = "linear"
    kinds = Kinds(continuous=False)
    seeds = range(700)


class TestMilpOnContinuousLinear(Continuous):
    solver = Milp()
    kinds = Kinds(relations=("margin", "at most", "linear"), costs=("l1", "l0", "linf", "table"))
    seeds = range(700)


class TestMilpOnSquares(Continuous):
    solver = Milp()
    kinds = Kinds(relations=("margin", "at most", "linear"), costs=("l2", "mix"))
    seeds = range(500)


REAL = Kinds(
    whole=False,
    levels=False,
    missing=False,
    relations=("margin",),
    costs=("l1", "l2", "linf", "l0", "l1+l2"),
)


class TestLinearExact(Continuous):
    solver = LinearExact()
    kinds = replace(REAL, classes=1)
    seeds = range(3200)


class TestLinearExactWide(Continuous):
    solver = LinearExact()
    kinds = replace(REAL, features=6)
    seeds = range(2000)


SUMS = ("l1", "l2", "l0", "mix", "table", "l1+l2")


class TestLinearKnapsackOnFinite(SolverContract):
    """Whole numbers, steps, categories, bins and missing values, with limits on the number of changes and margins."""

    solver = LinearKnapsack()
    form = "linear"
    kinds = Kinds(continuous=False, costs=SUMS, relations=("at most", "margin"), classes=1, features=4)
    seeds = range(1500)


class TestAdditiveKnapsack(SolverContract):
    """Shapes that turn, bend, jump, and of which nothing is known but that they rise, over whole numbers and categories."""

    solver = AdditiveKnapsack()
    form = "additive"
    kinds = Kinds(continuous=False, costs=SUMS, relations=("at most",), features=4)
    seeds = range(300)


class TestPieceProgramsOfTrees(SolverContract):
    """Oblique trees of bent columns, over whole numbers and categories."""

    solver = PiecePrograms()
    form = "bent tree"
    kinds = Kinds(continuous=False, costs=SUMS, relations=("at most",), features=4)
    seeds = range(300)


class TestPieceProgramsOfSums(SolverContract):
    """Several inequalities about sums of functions of single columns."""

    solver = PiecePrograms()
    form = "additive"
    kinds = Kinds(continuous=False, costs=SUMS, relations=("at most",), features=4, classes=3)
    seeds = range(200)


class TestLinearKnapsackOnSeveralSets(SolverContract):
    """Several score sets, each with one inequality."""

    solver = LinearKnapsack()
    form = "linear"
    kinds = Kinds(continuous=False, costs=SUMS, relations=("at most", "margin"))
    seeds = range(5000, 6500)


class TestLinearKnapsackOnMixed(Continuous):
    """Continuous numbers among the others."""

    solver = LinearKnapsack()
    kinds = Kinds(costs=SUMS, relations=("at most", "margin"), classes=1)
    seeds = range(1000)


class TestObliqueExactOnFinite(SolverContract):
    """Trees of up to eight leaves over grids and categories, with ties, missing values and every constraint."""

    solver = ObliqueExact()
    form = "oblique tree"
    kinds = Kinds(continuous=False)
    seeds = range(900)


class TestObliqueExactByDuals(SolverContract):
    """What the compiled duals take: separable prices, no missing values."""

    solver = ObliqueExact()
    form = "oblique tree"
    kinds = Kinds(
        continuous=False, missing=False, features=4, costs=("l1", "l2", "l1+l2", "table"), relations=("margin",)
    )
    seeds = range(20_000, 20_900)


class TestObliqueExactOnReals(SolverContract):
    """Real numbers: every leaf by the independent judge of linear models."""

    solver = ObliqueExact()
    form = "oblique tree"
    kinds = Kinds(missing=False, costs=("l1", "l2", "l1+l2"), relations=("margin",))
    seeds = range(30_000, 30_350)

    def judge(self, problem: Problem) -> float | None:
        """None too where rounding decides: a leaf that is a single point, which a threshold raised by 1e-8 empties."""
        if not isinstance(problem.model, ObliqueTree):
            return cheapest(problem)
        leaves = [of_leaf(problem, goal) for goal in goals(problem)]
        if not all(map(supported, leaves)):
            return None
        truth, raised = (min((cheapest(leaf, by) for leaf in leaves), default=np.inf) for by in (0.0, 1e-8))
        return truth if truth == raised or raised - truth <= 1e-5 * (1 + truth) else None


class TestMilpOnObliqueTrees(SolverContract):
    """One program with a binary a leaf: the second solver."""

    solver = Milp()
    form = "oblique tree"
    kinds = Kinds(continuous=False)
    seeds = range(40_000, 40_250)


def grafted(forest: ObliqueForest) -> ObliqueTree:
    """The forest as one oblique tree: below each leaf of a tree stands a copy of the next, and values add up."""
    gate: list[int] = []
    left: list[int] = []
    right: list[int] = []
    value: list[FloatArray] = []

    def grow(number: int, at: int, so_far: FloatArray) -> int:
        tree = forest.trees[number]
        if tree.gate[at] < 0 and number + 1 < len(forest.trees):
            return grow(number + 1, 0, so_far + tree.value[at])
        node = len(gate)
        for column in (gate, left, right):
            column.append(-1)
        value.append(so_far + tree.value[at])
        if tree.gate[at] >= 0:
            gate[node] = int(tree.gate[at])
            left[node] = grow(number, int(tree.left[at]), so_far)
            right[node] = grow(number, int(tree.right[at]), so_far)
        return node

    grow(0, 0, np.zeros(forest.scores))
    return ObliqueTree(forest.gates, np.array(gate), np.array(left), np.array(right), np.array(value))


class OnObliqueForests(SolverContract):
    """Two oblique trees, added up. The judge sees one tree, in which one hangs below each leaf of the other."""

    solver = Milp()
    form = "oblique forest"

    def one_tree(self, problem: Problem) -> Problem:
        assert isinstance(problem.model, ObliqueForest)
        return replace(problem, model=grafted(problem.model))

    def lowest(self, problem: Problem) -> float:
        return super().lowest(self.one_tree(problem))


class TestMilpOnObliqueForests(OnObliqueForests):
    """Grids and categories, each combination tried."""

    kinds = Kinds(continuous=False)
    seeds = range(50_000, 50_250)

    def judge(self, problem: Problem) -> float | None:
        return super().judge(self.one_tree(problem) if isinstance(problem.model, ObliqueForest) else problem)


class TestMilpOnObliqueForestsAndLines(SolverContract):
    """The same beside a linear model."""

    solver = Milp()
    form = "oblique mixed"
    kinds = Kinds(continuous=False, relations=("at most", "linear", "implies"))
    seeds = range(70_000, 70_200)


class TestMilpOnObliqueForestsOfReals(OnObliqueForests):
    """Real numbers, by the exact solver of oblique trees."""

    kinds = Kinds(missing=False, costs=("l1", "l2", "l1+l2"), relations=("margin",))
    seeds = range(60_000, 60_120)

    def judge(self, problem: Problem) -> float | None:
        """None where rounding decides: if the judge does not settle it, or decisions raised by 1e-8 make it dearer."""
        given = self.one_tree(problem) if isinstance(problem.model, ObliqueForest) else problem
        if not isinstance(given.model, ObliqueTree):
            return cheapest(given)
        found = ObliqueExact().solve(given, Budget())
        inside = given.with_demands(margin=given.demands.margin + 1e-8)
        raised = float(ObliqueExact().solve(inside, Budget()).cost[0])
        if found.status()[0] not in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE):
            return None
        truth = float(found.cost[0])
        return truth if truth == raised or raised - truth <= 1e-5 * (1 + truth) else None


class OnNetworks(SolverContract):
    """Real numbers among the others: every pattern of units, with a linear program each."""

    form = "network"
    kinds = Kinds(relations=("at most", "linear"), costs=("l1", "l0", "linf", "table"))

    def judge(self, problem: Problem) -> float | None:
        """None too where rounding decides: where thresholds raised a little make the answer much dearer."""
        if not network_patterns.supported(problem):
            return None
        truth, raised = network_patterns.cheapest(problem), network_patterns.cheapest(problem, 1e-5)
        return truth if truth == raised or raised - truth <= 1e-3 * (1 + truth) else None

    def lowest(self, problem: Problem) -> float:
        return network_patterns.cheapest(problem, -1e-9)


class TestNetworkExactOnReals(OnNetworks):
    solver = NetworkExact()
    seeds = range(200)


class TestMilpOnNetworksOfReals(OnNetworks):
    solver = Milp()
    seeds = range(10_000, 10_060)


class TestNetworkExactOnFinite(SolverContract):
    """Whole numbers, steps, categories, bins and missing values, with every cost and constraint."""

    solver = NetworkExact()
    form = "network"
    kinds = Kinds(continuous=False, relations=("at most", "linear", "implies"))
    seeds = range(20_000, 20_250)


class TestMilpOnNetworks(SolverContract):
    solver = Milp()
    form = "network"
    kinds = Kinds(continuous=False, relations=("at most", "linear", "implies"))
    seeds = range(30_000, 30_100)


class TestInteriorPoint(SolverContract):
    """Quadratic forms over real numbers. The judge is the program of the second solver."""

    solver = InteriorPoint()
    form = "linear"
    kinds = replace(REAL, features=5, costs=("form",))
    seeds = range(300)

    def judge(self, problem: Problem) -> float | None:
        return float(Milp().solve(problem, Budget()).cost[0])


class TestEnumeration(SolverContract):
    solver = Enumeration()
    form = "tree"
    kinds = Kinds(continuous=False, relations=("at most", "linear", "implies"))
    seeds = range(400)

    def test_refusal_has_a_reason(self) -> None:
        """It takes a black box, but no margin."""
        form = self.problem(0).form()
        assert self.solver.accepts(replace(form, model=ModelKind.BLACK_BOX, constraints=frozenset()))
        refused = self.solver.accepts(replace(form, constraints=frozenset({ConstraintKind.MARGIN})))
        assert not refused
        assert "margin" in refused.why


class Robust(SolverContract):
    """The judge asks about every row and all of its neighbours, which must lie in the same set of scores."""

    kinds = Kinds(continuous=False, relations=("at most", "linear"), costs=("l1", "l0", "l2", "mix"))

    def problem(self, seed):
        return with_ball(random_problem(seed, self.form, self.kinds, trees=1 + seed % 4), seed)

    def judge(self, problem: Problem) -> float | None:
        alone = (replace(problem, score_sets=(replace(part, offset=0.0),)) for part in problem.score_sets)
        costs = [Enumeration().solve(one, Budget()).cost[0] for one in alone]
        return min((cost + part.offset for cost, part in zip(costs, problem.score_sets, strict=True)), default=np.inf)


class TestRobustExactOnSumsOfTrees(Robust):
    solver = RobustExact(PROVING)
    form = "ensemble"
    seeds = range(200)


class TestRobustExactOnLinearModels(Robust):
    solver = RobustExact(PROVING)
    form = "linear"
    seeds = range(200)


class TestRobustLinear(Robust):
    solver = RobustLinear((LinearExact(), LinearKnapsack()))
    form = "linear"
    kinds = replace(Robust.kinds, missing=False, relations=("at most",), classes=1)
    seeds = range(300)


class Means(SolverContract):
    solver = BlendBranching(PROVING)
    kinds = Kinds(continuous=False, relations=("at most", "linear"), costs=("l1", "l0", "l2", "mix"))

    def problem(self, seed):
        return of_mean(random_problem(seed, self.form, self.kinds, trees=2 + seed % 3), seed)


class TestBlendBranchingOnSumsOfTrees(Means):
    form = "ensemble"
    seeds = range(200)


@pytest.mark.usefixtures("large")
class TestBlendBranchingOnLargeSumsOfTrees(TestBlendBranchingOnSumsOfTrees):
    seeds = range(1000, 1200)


class TestBlendBranchingOnLinearModels(Means):
    form = "linear"
    seeds = range(150)


class TestBlendBranchingOnBoth(Means):
    form = "mixed"
    seeds = range(60)


class TestBlendBranchingOnObliqueForests(Means):
    form = "oblique forest"
    seeds = range(60)


@pytest.mark.long
class TestBlendBranchingOnObliqueForestsAndLines(Means):
    form = "oblique mixed"
    seeds = range(60)


class TestRowSearch(SolverContract):
    """A list of rows, each of which the judge looks at."""

    solver = RowSearch()
    form = "tree"
    kinds = Kinds(relations=("at most", "linear", "implies"))
    seeds = range(300)

    def problem(self, seed):
        return among_rows(random_problem(seed, self.form, self.kinds), seed)

    def judge(self, problem: Problem) -> float | None:
        assert problem.demands.pool is not None
        costs = [np.inf]
        for point in problem.demands.pool.points:
            if problem.admits(point[None])[0]:
                price = problem.prices.total(problem.factuals, point[None])[0]
                scores = evaluate(problem.model, point[None])
                costs += [price + part.offset for part in problem.score_sets if part.holds(scores)[0]]
        return float(min(costs))


class TestBruteForce(SolverContract):
    """The judge itself, for everything but its own judgement."""

    solver = BruteForce()
    form = "tree"
    seeds = range(200)


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(60_000, 60_050), range(60_050, 60_150)])
def test_oblique_exact_and_milp_agree(seeds: range) -> None:
    compared, tied = 0, []
    for seed in seeds:
        problem = random_problem(seed, "oblique tree", Kinds(features=4))
        if ObliqueExact().accepts(problem.form()):
            ours, theirs = ObliqueExact().solve(problem, Budget()), Milp().solve(problem, Budget())
            a, b = ours.cost[0], theirs.cost[0]
            if Status.WITHIN_GAP in (*ours.status(), *theirs.status()):
                assert ours.bound[0] == pytest.approx(theirs.bound[0]), f"seed {seed}"
                tied.append(seed)
            assert a == b or a == pytest.approx(b, rel=2e-6, abs=2e-6), f"seed {seed}"
            compared += 1
    assert compared > 0.66 * len(seeds)
    assert tied in ([], [60_092])  # a leaf with a point whose score is exactly the threshold


@pytest.mark.parametrize("seeds", first(1, [range(50_000, 50_100), range(50_100, 50_300)]))
def test_linear_exact_and_milp_agree_where_both_accept(seeds: range) -> None:
    kinds = replace(REAL, features=6)
    compared = 0
    for seed in seeds:
        problem = random_problem(seed, "linear", kinds)
        if LinearExact().accepts(problem.form()):
            a, b = LinearExact().solve(problem, Budget()).cost[0], Milp().solve(problem, Budget()).cost[0]
            assert np.isinf(a) == np.isinf(b)
            assert np.isinf(a) or a == pytest.approx(b, rel=2e-6, abs=2e-6)
            compared += 1
    assert compared > 0.26 * len(seeds)


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(70_000, 70_080), range(70_080, 70_250)])
def test_linear_knapsack_and_milp_agree_on_larger_problems(seeds: range) -> None:
    kinds = Kinds(costs=("l1", "l0", "mix", "table"), relations=("at most", "margin"), features=10, classes=1)
    compared = 0
    for seed in seeds:
        problem = random_problem(seed, "linear", kinds)
        if LinearKnapsack().accepts(problem.form()):
            ours, theirs = LinearKnapsack().solve(problem, Budget()), Milp().solve(problem, Budget())
            a, b = ours.cost[0], theirs.cost[0]
            assert ours.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE), f"seed {seed}"
            if theirs.status()[0] in (Status.WITHIN_GAP, Status.VALID):  # on the edge of a bin
                assert theirs.bound[0] - 2e-6 <= a <= b, f"seed {seed}"
                continue
            assert a == b or a == pytest.approx(b, rel=2e-6, abs=2e-6), f"seed {seed}"
            compared += 1
    assert compared > 0.6 * len(seeds)


def test_linear_knapsack_refuses_what_is_no_knapsack() -> None:
    solver, form = LinearKnapsack(), random_problem(0, "linear", Kinds(classes=1, costs=("l1",), relations=())).form()
    assert solver.accepts(form)
    for refused in (
        replace(form, model=ModelKind.TREE),
        replace(form, inequalities=2),
        replace(form, curved=True),
        *(replace(form, cost=form.cost | {term}) for term in (CostTerm.LINF, CostTerm.QUADRATIC, CostTerm.CALLABLE)),
        *(replace(form, constraints=frozenset({kind})) for kind in (ConstraintKind.LINEAR, ConstraintKind.IMPLIES)),
        *(replace(form, constraints=frozenset({kind})) for kind in (ConstraintKind.FRESH, ConstraintKind.JUDGED)),
    ):
        assert not solver.accepts(refused)


def test_linear_knapsack_that_stops_early_proves_a_bound(monkeypatch) -> None:
    problems = [
        random_problem(seed, "linear", Kinds(classes=1, features=8, costs=("mix",), relations=())) for seed in range(60)
    ]
    whole = [LinearKnapsack().solve(problem, Budget()) for problem in problems]
    monkeypatch.setattr(knapsack, "EFFORT", 0)
    monkeypatch.setattr(knapsack, "MORE_EFFORT", 0)
    early = [LinearKnapsack().solve(problem, Budget()) for problem in problems]
    assert any(found.stopped[0] == Stopped.EFFORT for found in early)
    for full, short in zip(whole, early, strict=True):
        assert short.bound[0] <= full.cost[0] <= short.cost[0] + 1e-6 or np.isinf(full.cost[0])


def test_linear_knapsack_takes_rows_with_their_own_thresholds() -> None:
    problem = random_problem(1, "linear", Kinds(classes=1, features=6, costs=("l1",), relations=(), missing=False))
    assert len(problem.score_sets[0].A)
    many = problem.take(np.zeros(4, dtype=np.intp))
    b = problem.score_sets[0].b + np.linspace(0.0, 1.0, 4)
    own = replace(many, score_sets=(replace(problem.score_sets[0], b=b[:, None]),))
    together = LinearKnapsack().solve(own, Budget())
    alone = [LinearKnapsack().solve(own.take(np.array([row])), Budget()).cost[0] for row in range(4)]
    assert together.cost.tolist() == alone


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(80_000, 80_150), range(80_150, 80_400)])
def test_linear_knapsack_answers_with_float32_where_the_columns_are_float32(seeds: range) -> None:
    kinds, judged, lost = Kinds(costs=("l1", "l0"), relations=("at most",), classes=1), 0, 0
    for seed in seeds:
        problem = random_problem(seed, "linear", kinds)
        number = np.array([feature.levels is None for feature in problem.space.features])
        if not LinearKnapsack().accepts(problem.form()):
            continue
        rounded = problem.factuals.astype(np.float32).astype(np.float64)
        domain = replace(problem.domain, factuals=rounded, single=number)
        single = replace(problem, factuals=rounded, domain=domain)
        found, truth = LinearKnapsack().solve(single, Budget()), cheapest(replace(problem, factuals=rounded))
        assert found.cost[0] == truth or found.cost[0] == pytest.approx(truth, rel=1e-5, abs=1e-5), f"seed {seed}"
        if found.found()[0]:
            point = found.points[0]
            real = number & (problem.domain.step == 0) & (point != rounded[0])
            assert np.array_equal(point[real], point[real].astype(np.float32), equal_nan=True), f"seed {seed}"
            lost += int(np.isnan(rounded[0]).any())
        judged += 1
    assert judged > 0.5 * len(seeds)
    assert lost > 0.075 * len(seeds)


def test_every_solver_in_the_list_runs_the_contract() -> None:
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        import_module(f"tests.solvers.{path.stem}")
    kits = [SolverContract]
    for kit in kits:
        kits += kit.__subclasses__()
    run = {type(kit.solver) for kit in kits if kit.__name__.startswith("Test")}
    assert {type(solver).__name__ for solver in SOLVERS} - {solver.__name__ for solver in run} == set()
