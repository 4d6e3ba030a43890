"""Many rows at once: the whole path, and the solver alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import pandas as pd

import butfor as bf
from benchmarks.harness import Number, seconds
from butfor.explain.turns import Job
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome
from butfor.solvers.solver import AbstractSolver, Budget


def rates(
    name: str,
    explainer: bf.Explainer,
    X: pd.DataFrame,
    repeats: int,
    against: Mapping[str, float],
    data: str,
    **asked: Any,
) -> Iterator[Number]:
    """Explanations a second of `explain`, certificates included; and of the solver, the problem being made."""
    about = {"data": data, "rows": len(X), "features": X.shape[1]}
    found = explainer.explain(X, **asked)
    proven = {bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE}
    assert set(found.statuses) <= proven, "a rate of answers that are not exact was measured"
    whole = seconds(lambda: explainer.explain(X, **asked), repeats)
    yield Number(f"{name}, whole path", [len(X) / time for time in whole], "1/s", against, about)
    alone = seconds(_solver_alone(explainer, X, **asked), repeats)
    yield Number(f"{name}, solver alone", [len(X) / time for time in alone], "1/s", against, about)


def _solver_alone(explainer: bf.Explainer, X: pd.DataFrame, **asked: Any) -> Any:
    work = handed(lambda: explainer.explain(X, **asked))
    return lambda: [solver.solve(problem, Budget()) for solver, problem in work]


def handed(ask: Callable[[], object]) -> list[tuple[AbstractSolver, Problem]]:
    """The problems that `ask` hands to solvers, with the solver that each goes to."""
    found: list[tuple[AbstractSolver, Problem]] = []

    def recorded(job: Job, budget: Budget, *others: Any) -> Outcome:
        found.append((job.solver, job.problem))
        return done(job, budget, *others)

    done = Job.done
    with mock.patch.object(Job, "done", recorded):
        ask()
    return found
