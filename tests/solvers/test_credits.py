"""Certificates name whoever ran: a spy on every solver compares the credit with who was called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from butfor.errors import UnsupportedProblemError
from butfor.neighbours.ball import BallNorm
from butfor.problem.problem import Problem
from butfor.solvers.blend import branching
from butfor.solvers.choose import SOLVERS, choose
from butfor.solvers.mixed.branch_bound import MixedBranchBound
from butfor.solvers.outcome import Ran, together
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem, random_trees
from tests.solvers.further import of_mean, with_ball, with_earlier

ENTRANCES: list[tuple[Any, str, str]] = [
    *((type(one), "solve", one.name) for one in SOLVERS),
    *((type(one), "solve_below", one.name) for one in SOLVERS if "solve_below" in vars(type(one))),
    (branching, "in_turns", MixedBranchBound.name),  # means of unlike models are searched by its boxes, and a program
]
"""Where solvers begin: a class or module, its function, and the name of the solver."""


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


SIMPLE = ("l1", "l0", "l2", "mix")

FORMS = {
    "linear": Kinds(costs=("l1", "l2", "l0", "linf", "mix", "table", "form")),
    "real": Kinds(whole=False, levels=False, missing=False, relations=("margin",)),
    "tree": Kinds(),
    "ensemble": Kinds(),
    "largest move": Kinds(missing=False, relations=(), costs=("linf",)),
    "relations": Kinds(relations=("linear", "implies"), costs=SIMPLE),
    "stumps": Kinds(costs=("l0", "l1", "l2"), relations=("at most", "linear")),
    "oblique tree": Kinds(),
    "network": Kinds(relations=("at most", "linear")),
    "mixed": Kinds(relations=("at most", "linear"), costs=("l0", "l1", "l2", "linf")),
    "mean of linear": Kinds(relations=("at most", "linear"), costs=SIMPLE),
    "mean of trees": Kinds(relations=("at most", "linear"), costs=SIMPLE),
    "mean of mixed": Kinds(relations=("at most", "linear"), costs=SIMPLE),
    "earlier tree": Kinds(whole=False, relations=("at most",), costs=SIMPLE),
    "earlier ensemble": Kinds(whole=False, relations=("at most",), costs=SIMPLE),
}
"""What is asked of each kind of model."""

MODELS = {"real": "linear", "largest": "ensemble", "relations": "ensemble", "stumps": "ensemble", "trees": "ensemble"}


def question(seed: int) -> Problem:
    """A random question: all kinds of models, costs and constraints, and every second one with a ball around the answer."""
    word = list(FORMS)[seed % len(FORMS)]
    kind = word.partition(" of ")[2] or word.removeprefix("earlier ")
    problem = random_problem(seed, MODELS.get(kind.partition(" move")[0], kind), FORMS[word], trees=2 + seed % 3)
    if word == "stumps":
        rng = np.random.default_rng(seed)
        problem = replace(problem, model=random_trees(rng, problem.space, problem.model.scores, trees=4, depth=1))
    if word.startswith("mean"):
        return of_mean(problem, seed)
    if word.startswith("earlier"):
        return with_earlier(problem, seed)
    norm = list(BallNorm)[seed % 5 % 3]
    return with_ball(problem, seed, norm) if seed // len(FORMS) % 2 else problem


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
            found = solver.solve(problem, Budget(10.0))  # a round ball with the largest move may take very long
        (ran,) = together(calls)
        (told,) = {str(one) for one in found.credited(credit).credit}
        assert told == f"{ran}: {credit.why}", f"seed {seed}"
        seen[str(ran)] = seen.get(str(ran), 0) + 1
    return seen


@pytest.mark.long
def test_the_credit_names_whoever_ran() -> None:
    seen = check(range(60))
    assert sum(" by " in name for name in seen) >= 10
    assert sum(seen.values()) > 45


@pytest.mark.long
def test_the_credit_names_whoever_ran_in_60_other_questions() -> None:
    seen = check(range(60, 120))
    assert sum(" by " in name for name in seen) >= 10
    assert sum(seen.values()) > 45


@pytest.mark.long
def test_the_credit_names_whoever_ran_in_500_questions() -> None:
    seen = check(range(1000, 1620))
    assert sum(seen.values()) >= 500
