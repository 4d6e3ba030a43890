"""A particle swarm over mixed variables, started from real rows and polished: valid answers for any model that predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError, number
from butfor.formulation.evaluated import evaluated
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.solver import AbstractSolver, Budget, Outcome, Support, nothing_found
from butfor.solvers.swarm.appraiser import Appraiser, SpentError
from butfor.solvers.swarm.diverse import cheapest_of_clusters, distinct
from butfor.solvers.swarm.flock import Flock
from butfor.solvers.swarm.hypercube import around, hypercube
from butfor.solvers.swarm.opening import best_of, fitted, scattered, seeds, single_changes
from butfor.solvers.swarm.polish import Answers, polish
from butfor.solvers.swarm.telling import Telling, information_value, most_telling
from butfor.space.space import Space

SEEDS = 10
"""Real rows at most, for one answer, among which a swarm starts."""

SEARCH = 0.6
"""The share of a budget of calls that the swarm may spend, once there is something to polish with the rest."""


def constriction(phi1: float = 2.05, phi2: float = 2.05, k: float = 1.0) -> tuple[float, float, float]:
    """Weights with which a swarm settles: inertia eta, and eta phi1, eta phi2 for its own best point and its leader's.

    `eta = 2 k / |2 - phi - sqrt(phi^2 - 4 phi)|`, phi = phi1 + phi2 > 4 (Clerc and Kennedy, IEEE Transactions on Evolutionary
    Computation 6, 2002).

    >>> [round(weight, 4) for weight in constriction()]
    [0.7298, 1.4962, 1.4962]
    """
    phi = phi1 + phi2
    if not phi > 4:
        raise InputError(f"phi1={phi1!r} and phi2={phi2!r} were given.", "Their sum exceeds 4.")
    eta = 2 * k / abs(2 - phi - np.sqrt(phi * phi - 4 * phi))
    return float(eta), float(eta * phi1), float(eta * phi2)


@dataclass(frozen=True)
class Swarm(AbstractSolver):
    """A particle swarm, for black boxes and for whatever no exact solver takes. Guarantee: valid, and none dearer than its seed.

    `particles` and `iterations`: how many, and how often they move. `calls`: how often, at most, the model may be asked for a
    block of rows, all their particles at once (default: as often as it takes). `active`: only so many features move, those
    that tell most in the data about who meets the target, by `telling`, a function of a column's encoded values, of
    which rows meet it, and of the column (default: the usual information value). `box`: a number z, scaled to [0, 1] by its
    range, stays between z (1 - box) and z (1 + box); a dict for single columns. `pull`: compare points by `pull` times the
    distance to the target plus the cost, instead of valid before invalid. `choice`: of several answers, the cheapest of
    each cluster of the particles' best points ("clusters"), the cheapest of those points ("own"), or of the last positions
    ("last"). `polish`: whether answers are made cheaper afterwards. `weights` are c0, c1, c2, c3 of
    `V <- c0 V + c1 r1 (P - X) + c2 r2 (Pg - X) + c3 r3 Vhat`, `draws` the ranges of r1, r2, r3.

    >>> Swarm(particles=200, active=10).particles
    200
    """

    particles: int = 50
    iterations: int = 100
    calls: int | None = None
    active: int | None = None
    telling: Telling = information_value
    box: float | Mapping[str, float] | None = None
    pull: float | None = None
    choice: Literal["clusters", "own", "last"] = "clusters"
    polish: bool = True
    weights: tuple[float, float, float, float] = (*constriction(), 0.05)
    draws: tuple[tuple[float, float], ...] = ((0.0, 1.0), (0.0, 1.0), (1.0, 1.0))

    name = "swarm"
    does = "any model, black boxes too: particles and a polish; valid answers, optimality not claimed"
    many = True
    exact = False
    block = 16

    def __post_init__(self) -> None:
        for word, least in (("particles", 2), ("iterations", 0), ("calls", 1), ("active", 1)):
            value = getattr(self, word)
            if value is None and word in ("calls", "active"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InputError(
                    f"Swarm({word}={value!r}) was given.", f"A whole number of at least {least} is needed."
                )
        if not callable(self.telling):
            raise InputError(
                f"Swarm(telling={self.telling!r}) was given.", "A function of values, answers and column is needed."
            )
        if self.choice not in ("clusters", "own", "last"):
            raise InputError(f"Swarm(choice={self.choice!r}) was given.", "It is 'clusters', 'own' or 'last'.")
        if self.pull is not None:
            _amount(self.pull, f"Swarm(pull={self.pull!r}) was given.")
        for share in self.box.values() if isinstance(self.box, Mapping) else [self.box]:
            if share is not None:
                _amount(share, f"Swarm(box={self.box!r}) was given.")
        if np.shape(self.weights) != (4,) or np.shape(self.draws) != (3, 2):
            raise InputError(
                "weights or draws of a wrong shape were given.", "Four weights, and three ranges, are needed."
            )

    @classmethod
    def printed(cls) -> Swarm:
        """The update as the paper prints it: r1 from [0, c1], r2 from [0, c2], r3 from [c1, c2]. It does not settle."""
        _, c1, c2 = constriction()
        return cls(draws=((0.0, c1), (0.0, c2), (c1, c2)))

    def check(self, space: Space) -> None:
        if self.active is not None and self.active > len(space):
            raise InputError(
                f"Swarm(active={self.active}) was given.", f"There are {len(space)} columns.", "Leave it out for all."
            )
        for name in self.box if isinstance(self.box, Mapping) else ():
            if space[name].levels is not None:
                raise InputError(
                    f"Swarm(box=...) names {name!r}, which is no number.", "", "Use bf.allowed or bf.moves."
                )

    def accepts(self, form: Form) -> Support:
        if "candidates" in form.relations:
            return Support(False, "a list of candidate rows is searched by row_search")
        if "margin" in form.relations and form.model in ("black box", "ensemble"):
            return Support(False, f"a margin cannot be judged at many points of a {form.model}")
        if form.model == "black box":
            return Support(True, f"only predictions are needed ({form.unread.partition('. ')[0]})")
        return Support(True, "the model is asked at many points; nothing is proven")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        search = Search(self, problem, budget, k, seed)
        try:
            search.run()
        except SpentError:
            search.ended = True
        except KeyboardInterrupt:
            search.ended = True
            budget.stop()
        return search.outcome()


class Search:
    """One run of a swarm. It may be interrupted anywhere: `outcome` makes the best of what is known."""

    def __init__(self, swarm: Swarm, problem: Problem, budget: Budget, k: int, seed: int) -> None:
        self.swarm, self.problem, self.k, self.seed = swarm, problem, k, seed
        oracle = evaluated(problem) if problem.oracle is None else problem.oracle
        active = None if swarm.active is None else most_telling(problem, oracle, swarm.active, swarm.telling)
        self.cube = hypercube(problem, active, around(swarm.box, problem))
        self.appraiser = Appraiser(problem, oracle, budget, np.inf if swarm.calls is None else swarm.calls, swarm.pull)
        self.seen = Answers(self.cube, np.empty(0, np.intp), np.empty((0, len(problem.space))), np.empty(0))
        self.polished: Answers | None = None
        self.flock: Flock | None = None
        self.ended = False

    def run(self) -> None:
        """Seeds, swarm, polish."""
        if self.cube.impossible.all():
            return
        rng = np.random.default_rng(self.seed)
        swarm, appraiser = self.swarm, self.appraiser
        self.flock = Flock(self.cube, self._start(rng), self.k)
        self._look(self.flock)
        reserve = np.ceil(SEARCH * appraiser.calls) if swarm.polish else np.inf
        for _ in range(swarm.iterations if self.cube.free.any() else 0):
            if appraiser.asked >= reserve and np.isfinite(self.flock.cost.min(axis=1)).all():
                break
            self.flock.step(rng, np.array(swarm.weights), np.array(swarm.draws))
            self._look(self.flock)
        if swarm.polish:
            self.polished = self._chosen(self.k)
            if len(self.polished.row):
                polish(self.polished, appraiser, self.seed)

    def _start(self, rng: np.random.Generator) -> FloatArray:
        """Positions to begin with: the best of some real rows and of the single changes, and random ones."""
        cube, n = self.cube, len(self.problem)
        self.seen = seeds(cube, self.appraiser, SEEDS * self.k)
        real = fitted(cube, self.appraiser.oracle, SEEDS * self.k)
        opening = np.concatenate([real, single_changes(cube, 20 * self.swarm.particles, rng)], axis=1)
        rows = np.repeat(np.arange(n), opening.shape[1])
        points = cube.decode(opening.reshape(len(rows), -1), rows)
        said = self.appraiser(points, rows)
        self.seen = self.seen.with_more(rows, points, said.cost)
        for row in range(n):
            cost = np.sort(self.seen.cost[self.seen.row == row])
            if len(cost) >= self.k:
                cube.shrink(np.array([row]), cost[[self.k - 1]])
        best = np.take_along_axis(opening, best_of(said, n, self.swarm.particles // 2)[:, :, None], axis=1)
        return np.concatenate([best, scattered(cube, self.swarm.particles - best.shape[1], rng)], axis=1)

    def _look(self, flock: Flock) -> None:
        """Judge the particles; a single answer's ball shrinks with every cheaper one."""
        better = flock.look(self.appraiser)
        if self.k == 1 and self.swarm.pull is None and better.any():
            rows = np.flatnonzero(better)
            self.cube.shrink(rows, flock.cost[rows].min(axis=1))

    def _valid(self, row: int) -> tuple[FloatArray, FloatArray]:
        """The valid points of a row to choose from, each once, cheapest first, and their costs."""
        its = self.seen.row == row
        points, cost = self.seen.points[its], self.seen.cost[its]
        if self.flock is not None:
            last = self.swarm.choice == "last"
            points = np.concatenate([points, (self.flock.last_points if last else self.flock.points)[row]])
            cost = np.concatenate([cost, (self.flock.last_cost if last else self.flock.cost)[row]])
        order = distinct(points, cost)
        return points[order], cost[order]

    def _chosen(self, count: int) -> Answers:
        """For each row up to `count` valid points by the swarm's choice."""
        row, points, cost = [], [], []
        for n in range(len(self.problem)):
            known, price = self._valid(n)
            best = self._choice(n, known, price, count)
            row += [n] * len(best)
            points.append(known[best])
            cost.append(price[best])
        return Answers(self.cube, np.array(row, dtype=np.intp), np.concatenate(points), np.concatenate(cost))

    def _choice(self, n: int, points: FloatArray, cost: FloatArray, count: int) -> IntArray:
        """Which of some valid points of a row, cheapest first, are taken."""
        if self.swarm.choice != "clusters":
            return np.arange(min(count, len(cost)))
        positions = self.cube.scaled(self.cube.encode(points, np.full(len(points), n)))
        return cheapest_of_clusters(positions, cost, count, self.seed)

    def outcome(self) -> Outcome:
        """Up to k answers a row, cheapest first, and what there is to say of them."""
        problem = self.problem
        row, points, cost, before = [], [], [], []
        for n in range(len(problem)):
            found, price, first = self._returned(n)
            if not len(found):
                found, price, first = np.full((1, len(problem.space)), np.nan), np.array([np.inf]), np.array([np.nan])
            row += [n] * len(found)
            points.append(found)
            cost.append(price)
            before.append(first)
        out = nothing_found(problem)
        costs = np.concatenate(cost)
        bound = np.where(self.cube.impossible[np.array(row)], np.inf, 0.0)
        answers = np.bincount(np.array(row)[np.isfinite(costs)], minlength=len(problem))
        notes = {
            "cost before polishing": np.concatenate(before),
            "calls": np.full(len(row), float(self.appraiser.asked)),
            "coverage": answers[row] / self.k,
            "invalid particles": self._invalid()[row],
        }
        return replace(
            out, row=np.array(row), points=np.concatenate(points), cost=costs, bound=bound,
            exhausted=np.full(len(row), self.ended), notes=notes,
        )  # fmt: skip

    def _invalid(self) -> FloatArray:
        """How many particles of each row had no valid point to choose from; nobody knows if none was judged."""
        if self.flock is None:
            return np.full(len(self.problem), np.nan)
        cost = self.flock.last_cost if self.swarm.choice == "last" else self.flock.cost
        return np.asarray(np.isinf(cost).sum(axis=1), dtype=np.float64)

    def _returned(self, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The answers to one row: polished ones by choice, then others if those are too few; their costs after and before."""
        points, cost = self._valid(n)
        first = cost
        if self.polished is not None:
            its = self.polished.row == n
            points = np.concatenate([self.polished.points[its], points])
            first = np.concatenate([self.polished.before[its], first])
            cost = np.concatenate([self.polished.cost[its], cost])
        liked = len(points) if self.polished is None else int(its.sum())
        order = distinct(points[:liked], cost[:liked])
        best = order[self._choice(n, points[order], cost[order], self.k)]
        rest = np.setdiff1d(distinct(points, cost), best)
        rest = rest[self._choice(n, points[rest], cost[rest], self.k)]
        every = np.concatenate([best, rest, distinct(points, cost)])
        kept = every[np.sort(_firsts(points[every]))][: self.k]
        kept = kept[np.argsort(cost[kept], kind="stable")]
        return points[kept], cost[kept], first[kept]


def _firsts(points: FloatArray) -> IntArray:
    """Where each point stands first."""
    return np.asarray(np.unique(np.nan_to_num(points, nan=np.inf), axis=0, return_index=True)[1])


def _amount(value: object, said: str) -> None:
    if not 0 <= number(value, said, "A number of at least 0 is needed.") < np.inf:
        raise InputError(said, "A number of at least 0 is needed.")
