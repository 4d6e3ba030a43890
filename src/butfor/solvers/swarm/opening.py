"""Starting positions of particles: real rows, single changes, and random positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.problem.oracle import AbstractOracle
from butfor.solvers.swarm.appraiser import Appraised, Appraiser
from butfor.solvers.swarm.hypercube import Hypercube
from butfor.solvers.swarm.layout import GROUP, NUMBER
from butfor.solvers.swarm.polish import Answers


@dataclass(frozen=True, eq=False)
class Opening:
    """Positions to choose from: for each row some real rows, and single changes, in which one feature alone has moved.

    - `real` (rows, examples, size): positions of real rows;
    - `coordinate`, `share` (changes): the coordinate that a change moves, and where to between its bounds.

    A category has a coordinate for each of its levels, and a change to each of them. So changes are made when they are asked for.
    """

    cube: Hypercube
    real: FloatArray
    coordinate: IntArray
    share: FloatArray

    def positions(self, which: IntArray, rows: IntArray) -> FloatArray:
        """Some positions (m, size) of these rows. Real rows are numbered first."""
        cube, examples = self.cube, self.real.shape[1]
        real, change = np.flatnonzero(which < examples), np.flatnonzero(which >= examples)
        its, at = rows[change], self.coordinate[which[change] - examples]
        out = np.empty((len(which), cube.size))
        out[real] = self.real[rows[real], which[real]]
        out[change] = np.where(cube.owner == cube.owner[at][:, None], cube.lower[its], cube.home[its])
        there = self.share[which[change] - examples] * (cube.upper[its, at] - cube.lower[its, at])
        out[change, at] = cube.lower[its, at] + there
        return out

    def points(self) -> tuple[FloatArray, IntArray]:
        """The points of all positions, row by row, and their rows."""
        rows, which = np.divmod(np.arange(len(self.real) * self.count), self.count)
        parts = [self.cube.decode(self.positions(which[at], rows[at]), rows[at]) for at in self.cube.batches(len(rows))]
        return np.concatenate(parts), rows

    @property
    def count(self) -> int:
        """How many positions each row has."""
        return int(self.real.shape[1]) + len(self.coordinate)


def opening(cube: Hypercube, oracle: AbstractOracle, examples: int, most: int, rng: np.random.Generator) -> Opening:
    """The cheapest examples of each row that meet the target, and at most so many single changes.

    A number moves to four values, a rank or category to each of its values.
    """
    coordinate, share = [], []
    for j, kind in enumerate(cube.kind.tolist()):
        first, after = int(cube.first[j]), int(cube.first[j + 1])
        count = after - first if kind == GROUP else 4 if kind == NUMBER else int(cube.width[j]) + 1
        coordinate.append(np.arange(first, after) if kind == GROUP else np.full(count, first))
        share.append(np.ones(count) if kind == GROUP else np.linspace(0.0, 1.0, count))
    coordinates, shares = np.concatenate(coordinate), np.concatenate(share)
    if len(shares) > most:
        drawn = rng.choice(len(shares), most, replace=False)
        coordinates, shares = coordinates[drawn], shares[drawn]
    return Opening(cube, _fitted(cube, oracle, examples), coordinates, shares)


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
        near = cube.nearest(points, rows)  # another point, if it lies outside the swarm's own bounds
        cost[~np.isclose(near, points, equal_nan=True).all(axis=1)] = np.inf
        cost[~problem.domain.take(rows).admits(points) | (appraiser.broken(points, rows) > 0)] = np.inf
        best = np.argsort(cost, kind="stable")[:count]
        found = found.with_more(rows[best], points[best], cost[best])
    return found


def _fitted(cube: Hypercube, oracle: AbstractOracle, count: int) -> FloatArray:
    """For each row, positions of examples that meet the target, cheapest first. They are fitted into the domain.

    If there are too few, the factual is used instead.
    """
    problem = cube.problem
    out = np.repeat(cube.home[:, None], count, axis=1)
    for n in range(len(problem) if len(oracle.examples) else 0):
        met = np.flatnonzero(oracle.of_examples(n).met)
        rows = np.full(len(met), n)
        points = cube.nearest(oracle.examples[met], rows)
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


def best_of(appraised: Appraised, rows: int, count: int) -> IntArray:
    """The positions of the `count` best points of each row. All rows have equally many points."""
    first, second = appraised.first.reshape(rows, -1), appraised.second.reshape(rows, -1)
    return np.asarray(np.lexsort((second, first), axis=1)[:, :count])
