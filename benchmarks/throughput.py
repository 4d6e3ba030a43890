"""Many rows at once: the whole path, and the solver alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

import butfor as bf
from benchmarks.harness import Number, seconds
from butfor.problem.target import Prediction
from butfor.solvers.choose import choose
from butfor.solvers.solver import Budget


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


def _solver_alone(explainer: bf.Explainer, X: pd.DataFrame, cost: Any, constraints: Any = ()) -> Any:
    asked = explainer._ask("other", cost, constraints, 1, "auto", 0)
    before = Prediction(explainer._reading.source, X)
    problems = [problem for _, problem in explainer._problems(asked, explainer.space.encode(X), before)]
    chosen = [choose(problem.form())[0] for problem in problems]
    return lambda: [solver.solve(problem, Budget()) for solver, problem in zip(chosen, problems, strict=True)]
