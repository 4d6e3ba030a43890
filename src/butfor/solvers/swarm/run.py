"""One run of a swarm: seeds from real rows, moving particles, and a polish."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.oracles import InTerms, model_oracle
from butfor.problem.constraints.relations import Fresh
from butfor.problem.oracle import AbstractOracle
from butfor.problem.problem import Problem
from butfor.solvers.outcome import BEFORE_POLISHING, Outcome, Stopped, nothing_found
from butfor.solvers.solver import Budget
from butfor.solvers.swarm.appraiser import Appraiser, SpentError
from butfor.solvers.swarm.ball_of_cost import BallOfCost
from butfor.solvers.swarm.climb import Climb
from butfor.solvers.swarm.diverse import cheapest_of_clusters, distinct, random_of_clusters
from butfor.solvers.swarm.flock import Flock
from butfor.solvers.swarm.hypercube import around, hypercube
from butfor.solvers.swarm.opening import best_of, opening, scattered, seeds
from butfor.solvers.swarm.polish import STEPS_OF_A_CLIMB, Answers, polish, pull_back, take_back
from butfor.solvers.swarm.settings import SwarmSettings
from butfor.solvers.swarm.telling import most_telling

SEEDS = 10
"""The largest number of real rows, per answer, from which a swarm starts."""

AT_THE_END = ("last", "random")
"""The choices that look at where the particles end, and not at the best that they saw."""

SEARCH = 0.6
"""The share of a budget of calls after which the search ends if there is something to polish with the rest."""

REPLACEMENTS = 10
"""How often points are selected at most. What becomes of some is no different answer, and others take their place."""


class SwarmRun:
    """One run of a swarm. It may be interrupted anywhere; `outcome` uses what is known by then."""

    def __init__(self, swarm: SwarmSettings, problem: Problem, budget: Budget, k: int, seed: int) -> None:
        self.swarm, self.problem, self.budget, self.k, self.seed = swarm, problem, budget, k, seed
        oracle = _oracle(problem, swarm.pull)
        active = None if swarm.active is None else most_telling(problem, oracle, swarm.active, swarm.telling)
        every = np.ones((len(problem), 1), dtype=np.bool_) if active is None else active
        self.narrow: BoolArray = np.any(~every, axis=1)
        self.cube = hypercube(problem, active, around(swarm.box, problem))
        self.appraiser = Appraiser(problem, oracle, budget, np.inf if swarm.calls is None else swarm.calls, swarm.pull)
        self.seen = Answers(self.cube, np.empty(0, np.intp), np.empty((0, len(problem.space))), np.empty(0))
        self.answers = self.seen
        self.climbed: set[int] = set()
        self.flock: Flock | None = None
        self.ball: BallOfCost | None = None
        self.stopped = Stopped.DONE

    def until_stopped(self) -> None:
        """Run to the end, or until the budget is spent or somebody interrupts."""
        try:
            self.run()
        except SpentError as spent:
            self.stopped = spent.why
        except KeyboardInterrupt:
            self.budget.interrupt()
            self.stopped = Stopped.INTERRUPTED

    def run(self) -> None:
        """Run the seeds, the swarm and the polish."""
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
            self.flock.step(rng, np.array(swarm.weights), np.array(swarm.draws), self.ball)
            self._look(self.flock)
        for number in range(REPLACEMENTS):
            known = self.answers.different()
            self._climb_on(known, number)
            more, fresh = self._more(known)
            if not len(more.row):
                break
            self.answers = known.with_more(more.row, more.points, more.cost)
            new = len(known.row) + np.arange(len(more.row))
            if not swarm.polish:
                take_back(self.answers, appraiser, new)
            else:
                polish(self.answers, appraiser, self.seed, new[fresh])
                pull_back(self.answers, appraiser, new[~fresh])

    def _start(self, rng: np.random.Generator) -> FloatArray:
        """The starting positions: the best real rows and single changes, and random positions."""
        cube, n = self.cube, len(self.problem)
        self.seen = seeds(cube, self.appraiser, SEEDS * self.k)
        if self.swarm.ball:
            return self._start_in_ball(rng)
        begin = opening(cube, self.appraiser.oracle, SEEDS * self.k, 20 * self.swarm.particles, rng)
        points, rows = begin.points()
        appraised = self.appraiser(points, rows)
        best = best_of(appraised, n, self.swarm.particles // 2)
        positions = begin.positions(best.ravel(), np.repeat(np.arange(n), best.shape[1]))
        self.seen = self.seen.with_more(rows, points, appraised.cost)
        for row in range(n):
            cost = np.sort(self.seen.cost[self.seen.row == row])
            if len(cost) >= self.k:
                cube.shrink(np.array([row]), cost[[self.k - 1]])
        positions = positions.reshape(*best.shape, cube.size)
        return np.concatenate([positions, scattered(cube, self.swarm.particles - best.shape[1], rng)], axis=1)

    def _start_in_ball(self, rng: np.random.Generator) -> FloatArray:
        """The starting positions in the ball through the cheapest real row: this row, and positions drawn evenly."""
        cube, n = self.cube, len(self.problem)
        most, first = np.full(n, np.inf), cube.home.copy()
        for row in range(n):
            its = np.flatnonzero((self.seen.row == row) & np.isfinite(self.seen.cost))
            if len(its):
                best = its[np.argmin(self.seen.cost[its])]
                most[row], first[row] = self.seen.cost[best], cube.encode(self.seen.points[[best]], np.array([row]))[0]
        self.ball = BallOfCost(cube, most)
        return np.concatenate([first[:, None], self.ball.drawn(self.swarm.particles - 1, rng)], axis=1)

    def _look(self, flock: Flock) -> None:
        """Appraise the particles. If one answer is wanted, its ball shrinks with every cheaper one."""
        better = flock.look(self.appraiser)
        if self.k == 1 and self.swarm.pull is None and self.ball is None and better.any():
            rows = np.flatnonzero(better)
            self.cube.shrink(rows, flock.cost[rows].min(axis=1))

    def _valid(self, row: int) -> tuple[FloatArray, FloatArray]:
        """The valid points of a row, each once, cheapest first, and their costs."""
        its = self.seen.row == row
        points, cost = self.seen.points[its], self.seen.cost[its]
        if self.flock is not None:
            last = self.swarm.choice in AT_THE_END
            points = np.concatenate([points, (self.flock.last_points if last else self.flock.points)[row]])
            cost = np.concatenate([cost, (self.flock.last_cost if last else self.flock.cost)[row]])
        order = distinct(points, cost)
        return points[order], cost[order]

    def _fresh(self, n: int, known: Answers) -> tuple[FloatArray, FloatArray]:
        """The valid points of a row that leave alone a column of each known answer."""
        points, cost = self._valid(n)
        space, start, fresh = self.problem.space, self.problem.factuals[n], np.ones(len(cost), dtype=np.bool_)
        for answer in known.points[known.row == n]:
            fresh &= Fresh.from_answer(space, start, answer, self.problem.together).holds_between(
                space, start[None], points
            )
        return points[fresh], cost[fresh]

    def _more(self, known: Answers) -> tuple[Answers, BoolArray]:
        """As many valid points of each row as it lacks answers, selected by the swarm's `choice`, and which are fresh.

        Where there are no fresh ones, they are points that no known answer is on the way to.
        """
        more, made = Answers(self.cube, known.row[:0], known.points[:0], known.cost[:0]), list[bool]()
        for n, has in enumerate(np.bincount(known.row, minlength=len(self.problem)).tolist()):
            if has == self.k:
                continue
            points, cost = self._fresh(n, known)
            fresh = len(cost) > 0
            if not fresh:
                points, cost = self._valid(n)
                open_ = ~known.on_the_way(n, points, np.arange(len(known.row)))
                points, cost = points[open_], cost[open_]
            best = self._choice(n, points, cost, self.k - has)
            more = more.with_more(np.full(len(best), n), points[best], cost[best])
            made += [fresh] * len(best)
        return more, np.array(made, dtype=np.bool_)

    def _climb_on(self, known: Answers, number: int) -> None:
        """Find fresh points of rows that have none and lack answers: climb from the row itself.

        Of each known answer, a column that it changes is left alone, another one in each climb.
        """
        has = np.bincount(known.row, minlength=len(self.problem))
        lacking = set(np.flatnonzero((has > 0) & (has < self.k)).tolist()) - self.climbed
        lost = [n for n in sorted(lacking) if not len(self._fresh(n, known)[0])]
        if not lost:
            return
        self.climbed.update(lost)
        rng = np.random.default_rng((self.seed, number))
        luck, changed = rng.random((self.k, len(self.problem.space))), known.changed()
        row = np.repeat(np.array(lost), self.k)
        within = np.ones((len(row), changed.shape[1]), dtype=np.bool_)
        for at, n in enumerate(row.tolist()):
            left = np.where(changed[known.row == n], luck[at % self.k], -1.0).argmax(axis=1)
            within[at, left] = False
        bar = np.array([self._valid(n)[1].max() for n in lost])
        climb = Climb(
            self.cube, self.appraiser, row, self.cube.home[row], np.repeat(bar, self.k), np.zeros(len(row)), within
        )
        climb.run(STEPS_OF_A_CLIMB, rng)
        self.seen = self.seen.with_more(row, climb.points, climb.cost)

    def _choice(self, n: int, points: FloatArray, cost: FloatArray, count: int) -> IntArray:
        """Which of a row's valid points (cheapest first) are selected."""
        if self.swarm.choice not in ("clusters", "random"):
            return np.arange(min(count, len(cost)))
        positions = self.cube.scaled(self.cube.encode(points, np.full(len(points), n)))
        of_clusters = cheapest_of_clusters if self.swarm.choice == "clusters" else random_of_clusters
        return of_clusters(positions, cost, count, self.seed)

    def outcome(self) -> Outcome:
        """Up to k answers per row, cheapest first, with notes about them."""
        problem = self.problem
        known = self.answers.different()
        more, _ = self._more(known)
        every = known.with_more(more.row, more.points, more.cost)
        lost = np.setdiff1d(np.arange(len(problem)), every.row)
        row = np.concatenate([every.row, lost])
        points = np.concatenate([every.points, np.full((len(lost), len(problem.space)), np.nan)])
        cost = np.concatenate([every.cost, np.full(len(lost), np.inf)])
        before = np.concatenate([every.before, np.full(len(lost), np.nan)])
        order = np.lexsort((cost, row))
        row, cost = row[order], cost[order]
        answers = np.bincount(every.row, minlength=len(problem))
        notes = {
            BEFORE_POLISHING: before[order],
            "calls": np.full(len(row), float(self.appraiser.asked)),
            "coverage": answers[row] / self.k,
            "invalid particles": self._invalid()[row],
        }
        return replace(
            nothing_found(problem), row=row, points=points[order], cost=cost,
            bound=np.where(self.cube.impossible, np.inf, 0.0)[row],
            stopped=np.full(len(row), self.stopped, dtype=np.intp), notes=notes,
        )  # fmt: skip

    def _invalid(self) -> FloatArray:
        """How many particles of each row had no valid point; NaN if none was appraised."""
        if self.flock is None:
            return np.full(len(self.problem), np.nan)
        cost = self.flock.last_cost if self.swarm.choice in AT_THE_END else self.flock.cost
        return np.asarray(np.isinf(cost).sum(axis=1), dtype=np.float64)


def _oracle(problem: Problem, pull: float | None) -> AbstractOracle:
    """Who is asked about points. With `pull`, what they lack is weighed against their cost, in the user's terms."""
    known, estimator = problem.witnesses.oracle, problem.witnesses.examples
    if known is not None:
        return known
    return model_oracle(problem) if pull is None or estimator is None else InTerms(model_oracle(problem), estimator)
