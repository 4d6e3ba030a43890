"""Hardly any time: every solver ends with an outcome, whatever the model is, and never with an error."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.solvers.choose import names
from tests.shorter import first

LIMITS = (1e-6, 1e-4, 1e-2)
ROWS = (1, 8, 60)


@cache
def whole() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 30, 200), "b": rng.integers(0, 30, 200)})
    return X.assign(s=X.a + 2 * X.b), (X.a * X.b > 200).to_numpy().astype(int)


@cache
def real() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    return X.assign(s=X.a + 2 * X.b), (X.a + X.b**2 > 0.5).to_numpy().astype(int)


def product(X: Any) -> np.ndarray:
    """A black box without scores."""
    return (np.asarray(X)[:, 0] * np.asarray(X)[:, 1] > 200).astype(int)


MODELS: dict[str, tuple[Any, Any]] = {
    "black box of whole numbers": (SVC, whole),
    "black box of real numbers": (SVC, real),
    "tree": (lambda: DecisionTreeClassifier(max_depth=4, random_state=0), real),
    "forest": (lambda: RandomForestClassifier(8, max_depth=4, random_state=0), whole),
    "stumps": (lambda: GradientBoostingClassifier(n_estimators=8, max_depth=1, random_state=0), real),
    "linear": (LogisticRegression, real),
    "linear of whole numbers": (LogisticRegression, whole),
    "network": (lambda: MLPClassifier((4,), max_iter=60, random_state=0), real),
    "naive Bayes": (GaussianNB, real),
    "oblique tree": (lambda: bf.trees.TAOClassifier(max_depth=2, random_state=0), real),
}


@cache
def explainer(kind: str) -> tuple[Any, bf.Explainer, pd.DataFrame]:
    make, data = MODELS[kind]
    X, y = data()
    with np.errstate(all="ignore"):
        model = make().fit(X, y)
    rows = X[model.predict(X) == 0]
    return model, bf.Explainer(model, data=X), rows


def outcome_is_sound(model: Any, answers: Any) -> None:
    assert len(answers.points) == answers.found.sum()
    assert not answers.found.any() or (model.predict(answers.points) == 1).all()
    for status in np.array(answers.statuses)[~answers.found]:
        assert status in (bf.Status.NOT_FOUND, bf.Status.PROVEN_INFEASIBLE)
    assert (answers.costs[~answers.found] == np.inf).all()


QUESTIONS: dict[str, dict[str, Any]] = {
    "row_search": {"constraints": [bf.candidates(real()[0])]},
    "interior_point": {"cost": bf.Quadratic(np.eye(2), columns=("a", "b"))},
    "largest_move": {"cost": "linf"},
    "acted_columns": {"constraints": [bf.follows("a", 0.5, "b")]},
    "enumeration": {"constraints": [bf.fixed("s")]},
    "computed_columns": {"constraints": [bf.computed("s", "a + 2 * b")]},
    "merged_columns": {"constraints": [bf.combinations("a", "b")]},
    "implied_parts": {"constraints": [bf.implies(bf.rises("a"), bf.rises("b", by=0.1))]},
    "robust_linear": {"constraints": [bf.robust(0.01)]},
    "robust_exact": {"constraints": [bf.robust(0.01, "l1")]},
}
"""What must be asked so that a solver takes it for some of the models."""

NEVER_ASKED_ALONE = ("mixed_branch_bound", "blend_branching", "far_apart")
"""They solve what none of these models is, or what only comes of a question for several answers."""


@pytest.mark.shorter(3)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("limits", first(1, [LIMITS[::2], LIMITS[1::2]]), ids=str)
@pytest.mark.parametrize("counts", first(1, [(1, 8), (60,)]))
@pytest.mark.parametrize("solver", ["auto", *names()])
def test_every_solver_ends_with_an_outcome(solver: str, counts: tuple[int, ...], limits: tuple[float, ...]) -> None:
    taken = 0
    for kind in MODELS:
        model, explains, rows = explainer(kind)
        for limit in limits:
            for count in counts:
                try:
                    answers = explains.explain(
                        rows[:count],
                        target=1,
                        solver=solver,
                        time_limit=limit,
                        progress=False,
                        **QUESTIONS.get(solver, {}),
                    )
                except (bf.errors.UnsupportedProblemError, bf.errors.InputError):
                    break
                taken += 1
                assert len(answers) == len(rows[:count])
                outcome_is_sound(model, answers)
    assert taken or solver in NEVER_ASKED_ALONE


@pytest.mark.shorter(1)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("limits", first(1, [LIMITS[1:2], LIMITS[::2]]), ids=str)
@pytest.mark.parametrize("kind", MODELS)
def test_several_answers_and_constraints_in_no_time(kind: str, limits: tuple[float, ...]) -> None:
    model, explains, rows = explainer(kind)
    questions: list[dict[str, Any]] = [
        {"k": 3},
        {"constraints": [bf.candidates(whole()[0] if "whole" in kind or kind == "forest" else real()[0])]},
        {"constraints": [bf.at_most_changes(1)], "cost": "L1+0.1*L0"},
        {"cost": "linf"},
        {"k": 2, "different": 0.1},
    ]
    for question in questions:
        for limit in limits:
            try:
                answers = explains.explain(rows[:8], target=1, time_limit=limit, progress=False, **question)
            except (bf.errors.UnsupportedProblemError, bf.errors.InputError):
                continue
            outcome_is_sound(model, answers)


def test_a_black_box_without_scores_and_few_combinations() -> None:
    X, _ = whole()
    explains = bf.Explainer(bf.black_box(product, classes=[0, 1]), data=X)
    for count in (1, 100):
        rows = X[product(X) == 0][:count]
        answers = explains.explain(rows, target=1, time_limit=1e-6, progress=False)
        statuses = {one.certificate.status for one in answers}
        assert statuses <= {bf.Status.NOT_FOUND, bf.Status.PROVEN_OPTIMAL, bf.Status.VALID, bf.Status.WITHIN_GAP}
