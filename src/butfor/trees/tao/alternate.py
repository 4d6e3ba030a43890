"""Tree alternating optimisation (Carreira-Perpinan and Tavallali, NeurIPS 2018).

The objective is the loss of the rows plus `alpha` times the size of all decisions (`Split.size`). While all other nodes
are held fixed, the objective of one decision depends only on its care points: the rows that reach it and have different
losses in its two subtrees. So nodes of the same depth are independent, and every accepted change lowers the objective.

The objective has many poor local optima near the start. Therefore the first sweeps take every decision as it is learnt,
whether or not it lowers the objective: a random tree finds its shape there. All later sweeps lower the objective.

A decision whose rows all get the same label has nothing to learn from, although its rows may be of several classes. If
both of its children are leaves, it is learnt between two of these classes, and its leaves get their labels (`wake`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed

from butfor.arrays import FloatArray, IntArray
from butfor.trees.tao.loss import Loss
from butfor.trees.tao.split import Decision, Split
from butfor.trees.tree import Tree, sides

Returned = TypeVar("Returned")

GAIN_ROUNDING = 1e-10
"""Gains below this share of the objective are taken for rounding."""
FRUITLESS = 15
"""Free sweeps end after so many that found no better tree."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of the optimisation.

    - `tree`: the tree;
    - `objective`: the objective after the free sweeps and after each careful sweep;
    - `converged`: whether the last sweep changed next to nothing.
    """

    tree: Tree
    objective: FloatArray
    converged: bool


@dataclass(frozen=True, eq=False)
class Alternation:
    """The alternating optimisation, with everything that stays the same while it runs."""

    X: FloatArray
    loss: Loss
    split: Split
    alpha: float
    workers: Parallel

    def run(self, tree: Tree, warm_up: int, max_iter: int, tol: float, tell: Callable[[int, float], None]) -> Fitted:
        """Run free sweeps, then careful ones. The last lowers the objective by at most the share `tol`."""
        tree.value = self.loss.refit(tree.value, tree.leaves(self.X))
        self.wander(tree, warm_up, tol)
        objective = [self.objective(tree)]
        least = GAIN_ROUNDING * objective[0]
        converged = False
        while not converged and len(objective) <= max_iter:
            self.sweep(tree, partial(self.improved, least=least))
            self.wake(tree, least)
            objective.append(self.objective(tree))
            tell(len(objective) - 1, objective[-1])
            converged = objective[-2] - objective[-1] <= tol * objective[-2]
        reached = np.zeros(len(tree.left), dtype=np.bool_)
        seen = tree.paths(self.X)
        reached[seen[seen >= 0]] = True
        return Fitted(tree.pruned(reached), np.array(objective), converged)

    def wander(self, tree: Tree, most: int, tol: float) -> None:
        """Free sweeps, until they have found no tree for long that is better by the share `tol`.

        The last tree goes on. The one with the least objective is often an early one, which a careful sweep cannot
        leave: its decisions are small because they are not yet learnt.
        """
        lowest, patience = self.objective(tree), FRUITLESS
        for _ in range(most):
            self.sweep(tree, self.learnt)
            now = self.objective(tree)
            better = now < (1 - tol) * lowest
            lowest, patience = (now, FRUITLESS) if better else (lowest, patience - 1)
            if not patience:
                break

    def objective(self, tree: Tree) -> float:
        """The loss and the penalty of a tree."""
        size = self.split.size(tree.weights[tree.inner]).sum()
        return float(self.loss.each(tree.value, tree.leaves(self.X)).sum() + self.alpha * size)

    def sweep(self, tree: Tree, decide: Callable[[Decision, IntArray, FloatArray], Decision]) -> None:
        """Decide again at every node, from the deepest up, and then set the leaves.

        A change below a node does not change which rows reach the node, so the rows are sent down only once.
        """
        paths = tree.paths(self.X)
        depth = tree.depth
        for level in reversed(range(int(depth.max()))):
            at = paths[:, level] if level < paths.shape[1] else np.full(len(self.X), -1)
            gain = self.gain(tree, at)
            nodes = tree.inner[depth[tree.inner] == level]
            groups = _rows_of(at, nodes)
            jobs = [partial(decide, (tree.weights[i], float(tree.bias[i])), rows, gain[rows]) for i, rows in groups]
            for (i, _), (weights, bias) in zip(groups, self._each(jobs), strict=True):
                tree.weights[i], tree.bias[i] = weights, bias
        tree.value = self.loss.refit(tree.value, tree.leaves(self.X))

    def _each(self, jobs: Sequence[Callable[[], Returned]]) -> list[Returned]:
        """What jobs return. Threads are worth it only where two have work."""
        alone = len(jobs) < 2 or self.workers.n_jobs == 1
        return [job() for job in jobs] if alone else list(self.workers(delayed(job)() for job in jobs))

    def gain(self, tree: Tree, at: IntArray) -> FloatArray:
        """What each row gains by going right and not left at its node.

        It is not 0 for care points.
        """
        inner = (at >= 0) & (tree.left[at] >= 0)
        go_left = tree.leaves(self.X, np.where(inner, tree.left[at], -1))
        go_right = tree.leaves(self.X, np.where(inner, tree.right[at], -1))
        return self.loss.each(tree.value, go_left) - self.loss.each(tree.value, go_right)

    def learnt(self, now: Decision, rows: IntArray, gain: FloatArray) -> Decision:
        """The decision learnt from the care points of some rows; the present one if there are none."""
        care = gain != 0
        return self.split.learn(self.X[rows[care]], gain[care], now, self.alpha) if care.any() else now

    def improved(self, now: Decision, rows: IntArray, gain: FloatArray, least: float) -> Decision:
        """The best of the learnt decision and those that send all rows to one side.

        The present decision is kept unless the best one beats it.
        """
        care = gain != 0
        X, won, nothing = self.X[rows[care]], gain[care], np.zeros_like(now[0])
        tried = [now, (nothing, 0.0), (nothing, -1.0), self.learnt(now, rows, gain)]
        costs = [self.alpha * self.split.size(w) - won[sides(X, w, b)].sum() for w, b in tried]
        best = int(np.argmin(costs))
        return tried[best] if costs[best] < costs[0] - least else now

    def wake(self, tree: Tree, least: float) -> None:
        """Learn every fork that is asleep again, with labels of its own for its leaves, where the objective falls.

        A fork is a decision above two leaves. It is asleep if all its rows get the same label.
        """
        leaf = tree.leaves(self.X)
        above = np.full(len(tree.left), -1, dtype=np.intp)
        forks = tree.inner[(tree.left[tree.left[tree.inner]] < 0) & (tree.left[tree.right[tree.inner]] < 0)]
        above[tree.left[forks]] = above[tree.right[forks]] = forks
        gain = self.gain(tree, above[leaf])
        asleep = [
            (fork, rows)
            for fork, rows in _rows_of(above[leaf], forks)
            if len(rows) > 1 and ((leaf[rows] == leaf[rows[0]]).all() or not gain[rows].any())
        ]
        jobs = [partial(self.woken, tree.weights[fork], tree.value, rows, leaf[rows], least) for fork, rows in asleep]
        for (fork, _), woken in zip(asleep, self._each(jobs), strict=True):
            if woken is not None:
                (tree.weights[fork], tree.bias[fork]), tree.value[[tree.left[fork], tree.right[fork]]] = woken
        tree.value = self.loss.refit(tree.value, tree.leaves(self.X))

    def woken(
        self, weights: FloatArray, value: FloatArray, rows: IntArray, leaf: IntArray, least: float
    ) -> tuple[Decision, FloatArray] | None:
        """The best decision of a fork between two labels that its rows suggest, with the values of its leaves.

        It is None if no such decision lowers the objective by more than `least`.
        """
        loss, nothing, on_left = self.loss.only(rows), np.zeros_like(weights), np.zeros(len(rows), dtype=np.intp)
        lowest = float(loss.each(value, leaf).sum() + self.alpha * self.split.size(weights)) - least
        found = None
        for pair in loss.rivals(value.shape[1]):
            gain = loss.each(pair, on_left) - loss.each(pair, on_left + 1)
            learnt = self.learnt((nothing, 0.0), rows, gain)
            goes_right = sides(self.X[rows], *learnt).astype(np.intp)
            cost = float(loss.each(pair, goes_right).sum() + self.alpha * self.split.size(learnt[0]))
            if cost < lowest:
                lowest, found = cost, (learnt, pair)
        return found


def _rows_of(at: IntArray, nodes: IntArray) -> list[tuple[int, IntArray]]:
    """Each of some nodes with the rows that reach it."""
    order = np.argsort(at, kind="stable")
    first, last = np.searchsorted(at[order], nodes), np.searchsorted(at[order], nodes, side="right")
    return [(int(node), order[a:b]) for node, a, b in zip(nodes, first, last, strict=True)]
