"""Certificates name whoever ran: a spy on every solver compares the credit with who was called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from butfor.errors import UnsupportedProblemError
from butfor.neighbours.ball import Ball, BallNorm
from butfor.problem.problem import Problem
from butfor.solvers.choose import SOLVERS, choose
from butfor.solvers.mixed.branch_bound import CellSearch, MixedBranchBound
from butfor.solvers.network.exact import NetworkExact, NetworkSearch
from butfor.solvers.outcome import Ran, together
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem, random_trees

ENTRANCES: list[tuple[type, str, str]] = [
    *((type(one), "solve", one.name) for one in SOLVERS),
    *((type(one), "solve_below", one.name) for one in SOLVERS if "solve_below" in vars(type(one))),
    (NetworkSearch, "run", NetworkExact.name),  # robust networks are searched by it
    (CellSearch, "run", MixedBranchBound.name),  # and means of unlike models by this one
]
"""Where solvers begin: a class, its method, and the name of the solver."""


@contextmanager
def spied_on() -> Iterator[list[Ran]]:
    """Every solver that is called meanwhile, with those that it calls itself."""
    calls: list[tuple[str, list[Ran]]] = [("", [])]

    def watched(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            if calls[-1][0] == name:
                return method(*args, **kwargs)
            calls.append((name, []))
            try:
                return method(*args, **kwargs)
            finally:
                _, by = calls.pop()
                calls[-1][1].append(Ran(name, together(by)))

        return run

    with pytest.MonkeyPatch.context() as patch:
        for owner, method, name in ENTRANCES:
            patch.setattr(owner, method, watched(name, getattr(owner, method)))
        yield calls[0][1]


FORMS = {
    "linear": Kinds(costs=("l1", "l2", "l0", "linf", "mix", "table", "form")),
    "real numbers": Kinds(whole=False, levels=False, missing=False, relations=("margin",)),
    "tree": Kinds(),
    "ensemble": Kinds(),
    "L-infinity": Kinds(missing=False, relations=(), costs=("linf",)),
    "stumps": Kinds(costs=("l0", "l1", "l2"), relations=("at most", "linear")),
    "oblique tree": Kinds(),
    "network": Kinds(relations=("at most", "linear")),
    "mixed": Kinds(relations=("at most", "linear"), costs=("l0", "l1", "l2", "linf")),
}
"""What is asked of each kind of model."""


def question(seed: int) -> Problem:
    """A random question: all kinds of models, costs and constraints, and every second with a ball around the answer."""
    word = list(FORMS)[seed % len(FORMS)]
    form = {"real numbers": "linear", "L-infinity": "ensemble", "stumps": "ensemble"}.get(word, word)
    problem = random_problem(seed, form, FORMS[word], trees=2 + seed % 3)
    rng = np.random.default_rng(seed)
    if word == "stumps":
        problem = replace(problem, model=random_trees(rng, problem.space, problem.model.scores, trees=4, depth=1))
    if seed // len(FORMS) % 2:
        d = len(problem.space)
        norm = BallNorm(rng.choice(["linf", "linf", "l1", "l2"]))
        radius = np.where([one.levels is None for one in problem.space.features], 0.25, 0.0)
        step = np.where(radius > 0, problem.domain.step, 0.0)
        ball = Ball(norm, np.maximum(radius, step), step, np.zeros(d))
        problem = problem.with_demands(margin=0.0, ball=ball)
    return problem


def check(seeds: range) -> dict[str, int]:
    """Ask the questions of some seeds. How often each credit was seen, without its reason."""
    seen: dict[str, int] = {}
    for seed in seeds:
        try:
            problem = question(seed)
            solver, credit = choose(problem.form())
        except UnsupportedProblemError:
            continue
        with spied_on() as calls:
            found = solver.solve(problem, Budget())
        (ran,) = together(calls)
        (told,) = {str(one) for one in found.credited(credit).credit}
        assert told == f"{ran}: {credit.why}", f"seed {seed}"
        seen[str(ran)] = seen.get(str(ran), 0) + 1
    return seen


def test_the_credit_names_whoever_ran() -> None:
    seen = check(range(90))
    assert sum(" by " in name for name in seen) >= 6
    assert sum(seen.values()) > 70


@pytest.mark.slow
def test_the_credit_names_whoever_ran_in_500_questions() -> None:
    seen = check(range(1000, 1600))
    assert sum(seen.values()) >= 500
