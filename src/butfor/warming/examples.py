"""A small problem for each search, solved such that all of its kernels are called.

Kernels that this process does not compile run as plain Python, so the problems are as small as can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.model.nodes import Nodes, leaves_added
from butfor.model.questions import evaluate, score_count
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.worst import worst_neighbours
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.testing.problems import Kinds, random_problem

PLAIN = Kinds(whole=False, levels=False, missing=False, relations=(), costs=("l1",))
"""Numbers only, and nothing else that a solver may not take."""


def predictions() -> None:
    """Trees with and without sets and missing values, and one leaf that is added up in float32."""
    none = np.full(1, -1)
    leaf = Nodes(np.zeros(1, np.intp), none, np.zeros(1), none > 0, none, none, np.ones((1, 1)), single=True)
    leaves_added(leaf, np.zeros((1, 1)), np.zeros(1, dtype=np.float32))
    for kinds in (PLAIN, Kinds()):
        for seed in range(6):
            problem = random_problem(seed, "trees", kinds, trees=2)
            evaluate(problem.model, problem.factuals)


def worst_rows() -> None:
    """The worst row near a row. Even these few trees are merged."""
    from butfor.neighbours.trees import search

    search.FEW_BOXES = 1
    for seed in range(6):
        problem = random_problem(seed, "trees", PLAIN, trees=8)
        ball = Ball(BallNorm.LINF, np.ones(len(problem.space)), *np.zeros((2, len(problem.space))))
        worst_neighbours(problem.model, np.eye(score_count(problem.model)), problem.factuals[0], ball)


def trees() -> None:
    """One tree."""
    from butfor.solvers.tree.exact import TreeExact

    _solve(TreeExact(), "trees", Kinds(relations=("at most",)), 8, trees=1)


def linear_models() -> None:
    """A half-space with each kind of price: by moves, by their squares, by the largest, and by their number.

    Then one over whole numbers and levels.
    """
    from butfor.solvers.linear.exact import LinearExact
    from butfor.solvers.linear.knapsack import LinearKnapsack

    for cost in ("l1", "l2", "linf", "l0"):
        _solve(LinearExact(), "linear", replace(PLAIN, costs=(cost,)), 6)
    _solve(LinearKnapsack(), "linear", Kinds(classes=1, costs=("l1",), relations=()), 6)


def oblique_trees() -> None:
    """Trees that ask for sums of columns. A price that couples columns is solved leaf by leaf, by other kernels."""
    from butfor.solvers.oblique.exact import ObliqueExact

    _solve(ObliqueExact(), "oblique tree", Kinds(relations=()), 6)
    _solve(ObliqueExact(), "oblique tree", replace(PLAIN, costs=("linf",)), 6)


def black_boxes() -> None:
    """A swarm of few particles."""
    from butfor.solvers.swarm.swarm import Swarm

    _solve(Swarm(particles=6, iterations=4), "linear", PLAIN, 3)


def sums_of_trees() -> None:
    """Sums of few trees: first by boxes, which a first answer waits for, and then by messages.

    What messages do in large ones only, a search within a node, is done at once. Last, trees beside a linear model.
    """
    from butfor.solvers.ensemble import effort
    from butfor.solvers.ensemble.boxes import BoxSearch
    from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
    from butfor.solvers.mixed.branch_bound import MixedBranchBound

    _solve(EnsembleBranchBound(), "ensemble", PLAIN, 12)
    effort.ZOOM_SHARE, effort.ZOOM_LEAVES = 1.0, 0
    setattr(BoxSearch, "steps", lambda boxes, size: iter(()))  # noqa: B010 - no box is looked at any more
    _solve(EnsembleBranchBound(), "ensemble", PLAIN, 12)
    _solve(EnsembleBranchBound(), "ensemble", Kinds(relations=()), 6)
    _solve(MixedBranchBound(), "mixed", PLAIN, 3)


def proofs() -> None:
    """A box of a tree of two leaves: what is left of it, and its bound."""
    from types import SimpleNamespace

    from butfor.proof.arrays import Arrays, Taxed, Worth

    tree = SimpleNamespace(
        blocks={0: [(0, 1, [(0, 1)]), (1, 2, [(1, 2)])]},
        entries=[(0, 1, [0]), (0, 2, [1])],
        leaves=[([[0]], [0]), ([[1]], [1])],
    )
    arrays = Arrays(
        SimpleNamespace(
            columns=[SimpleNamespace(levels=None, lost=False)], trees=[tree], price=[[0, 1]], home=[1], alive=[3], goals=[[1]],
            counted=False, bound=2, limit=1, never=[], slopes=[{}], wanted=SimpleNamespace(mean=None),
        ),
        lambda bits: [(0, 1)] if bits == 1 else [(1, 2)],
    )  # fmt: skip
    alive, leaf = np.ones(2, dtype=np.bool_), np.ones(2, dtype=np.bool_)
    arrays.narrowed(alive, leaf)
    arrays.misses(0, alive, leaf)
    untaxed = Taxed((), arrays.asked.price, 0)
    arrays.drop(alive, leaf, arrays.paid(0, alive, leaf, np.zeros(2, dtype=np.int64), Worth((1,), 0), 0, untaxed))


def learned_trees() -> None:
    """The learner of oblique trees, on a few rows."""
    from butfor.trees import TAOClassifier

    X = np.random.default_rng(0).normal(size=(40, 3))
    TAOClassifier(2, alpha=1.5, max_iter=2, random_state=0).fit(X, X[:, 0] > X[:, 1]).predict(X)


SMALL_PROBLEMS: dict[str, Callable[[], None]] = {
    "butfor.neighbours.trees": worst_rows,
    "butfor.model": predictions,
    "butfor.solvers.tree": trees,
    "butfor.solvers.linear": linear_models,
    "butfor.solvers.oblique": oblique_trees,
    "butfor.solvers.swarm": black_boxes,
    "butfor.solvers.ensemble": sums_of_trees,
    "butfor.proof": proofs,
    "butfor.trees.tao": learned_trees,
}
"""The example of each search in `butfor.compiled.searches`."""


def _solve(solver: AbstractSolver, form: str, kinds: Kinds, seeds: int, trees: int = 3) -> None:
    """Solve small problems that a solver takes."""
    for seed in range(seeds):
        problem = random_problem(seed, form, kinds, trees)
        if solver.accepts(problem.form()):
            evaluate(problem.model, problem.factuals)
            solver.solve(problem, Budget())
