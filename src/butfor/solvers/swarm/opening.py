"""Starting positions of particles: real rows, single changes, and random positions."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.problem.oracle import AbstractOracle
from butfor.solvers.swarm.appraiser import Appraised, Appraiser
from butfor.solvers.swarm.hypercube import Hypercube
from butfor.solvers.swarm.layout import GROUP, NUMBER
from butfor.solvers.swarm.polish import Answers


def seeds(cube: Hypercube, appraiser: Appraiser, count: int) -> Answers:
    """The cheapest examples that meet the target and are admissible as they are.

    They are valid answers before the search begins.
    """
    problem, oracle = cube.problem, appraiser.oracle
    found = Answers(cube, np.empty(0, np.intp), np.empty((0, len(problem.space))), np.empty(0))
    for n in range(len(problem) if len(oracle.examples) and not problem.demands.margin else 0):
        response = oracle.of_examples(n)
        met = np.flatnonzero(response.met)
        points, rows = oracle.examples[met], np.full(len(met), n)
        cost = appraiser.pricing(points, rows) + response.offset[met]
        near = cube.decode(cube.encode(points, rows), rows)  # another point, if it lies outside the swarm's own bounds
        cost[~np.isclose(near, points, equal_nan=True).all(axis=1)] = np.inf
        cost[~problem.domain.take(rows).admits(points) | (appraiser.broken(points, rows) > 0)] = np.inf
        best = np.argsort(cost, kind="stable")[:count]
        found = found.with_more(rows[best], points[best], cost[best])
    return found


def fitted(cube: Hypercube, oracle: AbstractOracle, count: int) -> FloatArray:
    """For each row, positions of examples that meet the target, cheapest first. They are fitted into the domain.

    If there are too few, the factual is used instead.
    """
    problem = cube.problem
    out = np.repeat(cube.home[:, None], count, axis=1)
    for n in range(len(problem) if len(oracle.examples) else 0):
        met = np.flatnonzero(oracle.of_examples(n).met)
        rows = np.full(len(met), n)
        points = cube.decode(cube.encode(oracle.examples[met], rows), rows)
        cost = problem.prices.total(np.repeat(problem.factuals[[n]], len(met), axis=0), points)
        best = np.argsort(cost, kind="stable")[:count]
        out[n, : len(best)] = cube.encode(points[best], rows[best])
    return out


def scattered(cube: Hypercube, count: int, rng: np.random.Generator) -> FloatArray:
    """Random positions. Each particle moves a random share of the features (at least one) to random places."""
    n, features = len(cube.home), len(cube.kind)
    eager = rng.random((count, features))
    share = rng.random(count) ** 2
    anywhere = rng.random((count, cube.size))
    out = np.repeat(cube.home[:, None], count, axis=1)
    for row in range(n):
        going = np.where(cube.free[row], eager, -1.0)
        chosen = (going > 1 - share[:, None]) | (going == going.max(axis=1, keepdims=True))
        there = cube.lower[row] + anywhere * (cube.upper[row] - cube.lower[row])
        out[row] = np.where((chosen & cube.free[row])[:, cube.owner], there, out[row])
    return out


def single_changes(cube: Hypercube, most: int, rng: np.random.Generator) -> FloatArray:
    """Positions in which one feature alone has moved, at most `most` per row.

    A number moves to four values, a rank or category to each of its values.
    """
    made = []
    for j in range(len(cube.kind)):
        at = slice(int(cube.first[j]), int(cube.first[j + 1]))
        wide = int(cube.first[j + 1] - cube.first[j])
        if cube.kind[j] == GROUP:
            shares = np.eye(wide)
        else:
            count = 4 if cube.kind[j] == NUMBER else int(cube.width[j]) + 1
            shares = np.zeros((count, wide))
            shares[:, 0] = np.linspace(0.0, 1.0, count)
        for share in shares:
            position = cube.home.copy()
            position[:, at] = cube.lower[:, at] + share * (cube.upper - cube.lower)[:, at]
            made.append(position)
    if len(made) > most:
        made = [made[i] for i in rng.choice(len(made), most, replace=False)]
    return np.stack(made, axis=1)


def best_of(appraised: Appraised, rows: int, count: int) -> IntArray:
    """The positions of the `count` best points of each row. All rows have equally many points."""
    first, second = appraised.first.reshape(rows, -1), appraised.second.reshape(rows, -1)
    return np.asarray(np.lexsort((second, first), axis=1)[:, :count])
