"""Processor seconds an iteration of 2,000 particles over 20 columns, where the model is free (others use the machine too)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import butfor as bf
from benchmarks.harness import SEED, Number
from butfor.arrays import FloatArray, IntArray
from butfor.problem.constraints.admissible import admissible
from butfor.problem.costs import L1, price
from butfor.problem.oracle import AbstractOracle, Response
from butfor.problem.problem import Problem
from butfor.solvers.solver import Budget
from butfor.space.feature import Feature
from butfor.space.space import Space

PARTICLES, COLUMNS, LIMIT = 2000, 20, 1e-3


def measure(smoke: bool) -> Iterator[Number]:
    """The whole way around a function that returns its first column; and the solver alone, over columns of all kinds."""
    particles, repeats = (50, 2) if smoke else (PARTICLES, 9)
    about = {"particles": particles, "columns": COLUMNS}
    kinds = {
        "a function of numbers, the whole way": _whole_way(particles),
        "numbers, whole numbers and categories, the solver alone": _alone(particles),
    }
    for name, run in kinds.items():
        yield Number(name, _an_iteration(run, smoke, repeats), "s", {"limit": LIMIT}, about)


def _an_iteration(run: Callable[[int], object], smoke: bool, repeats: int) -> list[float]:
    """Seconds that one more iteration takes, each repeat."""
    few, many = (2, 60) if smoke else (50, 250)
    run(few)
    return [(_seconds(run, many) - _seconds(run, few)) / (many - few) for _ in range(repeats)]


def _seconds(run: Callable[[int], object], iterations: int) -> float:
    begin = time.process_time()
    run(iterations)
    return time.process_time() - begin


def _whole_way(particles: int) -> Callable[[int], object]:
    X = np.random.default_rng(SEED).normal(size=(500, COLUMNS))
    explainer = bf.Explainer(bf.black_box(lambda rows: rows[:, 0]), X)
    target = bf.value(at_least=float(X[0, 0] + 1))
    return lambda iterations: explainer.explain(
        X[:1], target=target, solver=bf.Swarm(particles=particles, iterations=iterations, polish=False)
    )


def _alone(particles: int) -> Callable[[int], object]:
    features = [Feature(f"n{j}", low=0.0, high=1.0) for j in range(10)]
    features += [Feature(f"w{j}", low=0.0, high=50.0, step=1.0) for j in range(5)]
    features += [Feature(f"c{j}", levels=("a", "b", "c", "d")) for j in range(5)]
    space = Space(tuple(features))
    factuals = np.zeros((1, COLUMNS))
    problem = bf.Explainer(bf.black_box(lambda rows: rows[:, 0]), np.zeros((2, 1))).reading.model
    asked = Problem(space, problem, factuals, (), price(L1(), space), admissible(space, factuals, ()))
    asked = asked.with_witnesses(oracle=Free(factuals[:0]))
    return lambda iterations: bf.Swarm(particles=particles, iterations=iterations, polish=False).solve(asked, Budget())


class Free(AbstractOracle):
    """Says at once whether the first column reaches a half."""

    def __init__(self, examples: FloatArray) -> None:
        self.examples = examples

    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        met = points[:, 0] >= 0.5
        return Response(met, np.where(met, 0.0, 0.5 - points[:, 0]), np.zeros(len(points)))

    def of_examples(self, row: int) -> Response:
        return self.ask(self.examples, np.empty(0, dtype=np.intp))

    def take(self, rows: IntArray | slice | NDArray[np.bool_]) -> AbstractOracle:
        return self
