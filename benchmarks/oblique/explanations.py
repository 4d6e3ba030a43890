"""Oblique trees: milliseconds an explanation, on the paper's six data sets, against the paper's own times.

`python -m benchmarks.oblique.explanations` learns a tree of the paper's kind on each (TAO, with fixed parameters), and asks
one question a row. The paper's numbers are real, so they are declared real here; "whole" lines keep whole numbers whole,
which makes each leaf a mixed-integer program. Measured are the solver alone, and the whole path for single rows and for all
rows together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import butfor as bf
from benchmarks.data import adult_like, read, without_copies
from benchmarks.harness import SEED, Number, main
from benchmarks.throughput import handed
from butfor.solvers.solver import Budget
from butfor.trees import TAOClassifier

COSTS: Mapping[str, Any] = {"L1": bf.L1(), "L2": bf.L2()}


@dataclass(frozen=True)
class Plan:
    """One data set: its file, how TAO learns it, what the paper needs an explanation (the lower end, in seconds)."""

    name: str
    file: str
    tao: Mapping[str, Any]
    paper: Mapping[str, float]
    scaler: Any = StandardScaler
    kinds: tuple[str, ...] = ("real", "whole")
    rows: int = 40


PLANS = (
    Plan("Breast-Cancer", "breast_cancer_wisconsin.csv", {"max_depth": 3}, {"L1": 0.002, "L2": 0.002}),
    Plan("Spambase", "spambase.csv.gz", {"max_depth": 4}, {"L1": 0.006, "L2": 0.006}),
    Plan(
        "Letter", "letter.csv", {"init": "random", "max_depth": 12, "alpha": 0.2, "warm_up": 40}, {"L1": 0.016, "L2": 0.016}
    ),
    Plan("German Credit", "german_credit.csv", {"max_depth": 5}, {"L1": 0.05, "L2": 0.05}),
    Plan(
        "MNIST (10k)", "mnist_test10k.csv.gz", {"init": "random", "max_depth": 9, "alpha": 0.5}, {"L1": 0.55, "L2": 0.04},
        scaler=MinMaxScaler, kinds=("real",),
    ),
    Plan("Adult", "adult.csv.gz", {"max_depth": 8, "warm_up": 0}, {"L1": 0.57, "L2": 0.57}),
)  # fmt: skip
LIMIT = 0.1
"""Seconds that the median explanation may take, the whole path."""


def measure(smoke: bool) -> Iterator[Number]:
    """Every data set, cost and kind of numbers."""
    plans = (Plan("generated like Adult", "", {"max_depth": 3, "tol": 0.1}, {}, rows=4),) if smoke else PLANS
    for plan in plans:
        yield from _data_set(plan)


def _data_set(plan: Plan) -> Iterator[Number]:
    if plan.file:
        X, y, _ = read(plan.file)
    else:
        X, y, _ = adult_like(500)
    X = without_copies(X) if plan.name == "Adult" else X
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=SEED)
    model = _learnt(plan, train, y_train)
    about = {
        "data": plan.name, "leaves": model[-1].get_n_leaves(), "depth": model[-1].get_depth(), "features": X.shape[1],
        "test_error": round(1 - model.score(test, y_test), 4),
    }  # fmt: skip
    numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]
    for kind in plan.kinds:
        space = {name: bf.Continuous() for name in numbers} if kind == "real" else {}
        explainer = bf.Explainer(model, data=X, space=space)
        for cost in COSTS:
            yield from _questions(plan, explainer, model, test.iloc[: plan.rows], cost, kind, about)


def _learnt(plan: Plan, X: pd.DataFrame, y: pd.Series[Any]) -> Pipeline:
    """TAO's tree on scaled numbers and one-hot categories."""
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer([("levels", encoder, texts)], remainder=plan.scaler())
    return Pipeline([("columns", columns), ("model", TAOClassifier(random_state=SEED, **plan.tao))]).fit(X, y)


def _questions(
    plan: Plan,
    explainer: bf.Explainer,
    model: Pipeline,
    rows: pd.DataFrame,
    cost: str,
    kind: str,
    about: Mapping[str, Any],
) -> Iterator[Number]:
    """One row and one other class a question: the solver alone, then the whole path."""
    rng = np.random.default_rng(SEED)
    said = model.predict(rows)
    targets = [rng.choice([label for label in model.classes_ if label != now]) for now in said]
    alone, path, statuses = [], [], []
    for i, target in enumerate(targets):
        ask = partial(explainer.explain, rows.iloc[[i]], target=target, cost=COSTS[cost])
        work = handed(ask)  # also warms up
        answer = ask()
        path.append(_seconds(ask))
        statuses.append(answer.certificate.status.name)
        alone.append(sum(_seconds(partial(solver.solve, problem, Budget())) for solver, problem in work))
    about = {
        **about, "cost": cost, "numbers": kind, "rows": len(rows),
        "statuses": {name: statuses.count(name) for name in sorted(set(statuses))}, "solver": answer.certificate.solver,
    }  # fmt: skip
    paper = {f"the paper (Gurobi 9), {plan.name} {cost}": plan.paper[cost]} if plan.paper else {}
    label = f"{plan.name}, {cost}, {kind} numbers"
    yield Number(f"{label}, solver alone", alone, "s", paper, about)
    yield Number(f"{label}, whole path, one row", path, "s", {**paper, "limit": LIMIT}, about)
    ask = partial(explainer.explain, rows, target="other", cost=COSTS[cost])
    work = handed(ask)
    together = _seconds(lambda: [solver.solve(problem, Budget()) for solver, problem in work])
    yield Number(
        f"{label}, solver alone, all rows together, any other class", [together / len(rows)], "s", paper, about
    )
    yield Number(
        f"{label}, whole path, all rows together, any other class", [_seconds(ask) / len(rows)], "s", {}, about
    )


def _seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main({"oblique_explanations": measure}, __doc__ or "")
