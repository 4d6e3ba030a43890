"""Quick answers: valid for every kind of question, and there where plain rows or single changes know one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import butfor as bf
from butfor.explain.plan import plan
from butfor.solvers.linear.exact import LinearExact
from butfor.solvers.linear.knapsack import LinearKnapsack
from butfor.solvers.rows import quick

RNG = np.random.default_rng(0)
COUNT = 400
X = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, COUNT),
        "income": RNG.lognormal(8, 1, COUNT).round(1),
        "debts": np.where(RNG.random(COUNT) < 0.2, np.nan, RNG.normal(0, 1, COUNT)),
        "small": RNG.normal(0, 1, COUNT).astype(np.float32),
        "job": RNG.choice(["none", "clerk", "pilot"], COUNT),
    }
)
SCORE = X["income"].rank() / COUNT + (X["job"] == "pilot") - X["debts"].fillna(0) / 2 + X["small"] / 4
Y = np.where(SCORE.quantile(0.6) < SCORE, "yes", "no")
NUMBERS = ["age", "income", "debts", "small"]
IMPUTED = X.assign(debts=X["debts"].fillna(0.0))


def fitted(kind: str) -> bf.Explainer:
    texts = (OneHotEncoder(), ["job"])
    if kind == "linear":
        model = make_pipeline(make_column_transformer(texts, (StandardScaler(), NUMBERS)), LogisticRegression())
        return bf.Explainer(model.fit(IMPUTED, Y), IMPUTED)
    last = GradientBoostingRegressor if kind == "value" else GradientBoostingClassifier
    model = make_pipeline(make_column_transformer(texts, ("passthrough", NUMBERS)), last(random_state=0))
    return bf.Explainer(model.fit(IMPUTED, SCORE if kind == "value" else Y), IMPUTED)


EXPLAINERS = {kind: fitted(kind) for kind in ("linear", "boosting", "value")}
TARGETS = {"linear": "yes", "boosting": "yes", "value": bf.value(at_least=1.2)}
CONSTRAINTS: dict[str, list[object]] = {
    "none": [],
    "fixed": [bf.fixed("age", "job", "small")],
    "few": [bf.fixed("age"), bf.at_most_changes(1)],
    "up": [bf.only_up("income"), bf.fixed("job")],
    "relation": [bf.linear({"age": 1.0, "income": -0.01}, "<=", 0.0)],
}


@pytest.mark.shorter(6)
@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        pytest.param(kind, asked, marks=pytest.mark.long if asked == "relation" and kind != "linear" else ())
        for kind, asked in product(("linear", "boosting", "value"), CONSTRAINTS)
    ],
)
def test_they_are_answers(kind, asked, monkeypatch) -> None:
    """No time at all: whatever is found comes from here, but for the first row, and the verdict confirms it."""
    found = []
    original = quick.quick_answers

    def spied(problem, until):
        found.append(original(problem, until))
        return found[-1]

    monkeypatch.setattr("butfor.explain.turns.quick_answers", spied)
    monkeypatch.setattr("butfor.explain.turns._search", lambda *given: None)  # a swarm would find most of them before
    for solver in (LinearExact, LinearKnapsack):
        monkeypatch.setattr(solver, "block", 5)  # they would be done at once
    rows, asking = IMPUTED.iloc[:60], {"target": TARGETS[kind], "constraints": CONSTRAINTS[asked]}
    answers = EXPLAINERS[kind].explain(rows, time_limit=1e-9, **asking)
    claimed = sum(int(outcome.found().sum()) for outcome in found)
    assert claimed > 0
    assert answers.found.sum() >= claimed  # none that was claimed was refused
    proven = EXPLAINERS[kind].explain(rows, **asking)
    assert len(proven) == len(answers)
    quickly, best = answers.costs[answers.found], proven.costs[answers.found]
    assert proven.found[answers.found].all()
    assert (best <= quickly + 1e-6 * (1 + best)).all()


@pytest.mark.parametrize("kind", EXPLAINERS)
def test_no_row_starves_while_the_data_know_an_answer(kind) -> None:
    answers = EXPLAINERS[kind].explain(IMPUTED, target=TARGETS[kind], time_limit=1e-9)
    assert len(answers) == len(IMPUTED)
    assert answers.found.all()


@pytest.mark.parametrize("kind", ["linear", "boosting"])
def test_no_row_starves_while_one_change_is_an_answer(kind) -> None:
    explainer, model = EXPLAINERS[kind], EXPLAINERS[kind].model
    rows = IMPUTED[model.predict(IMPUTED) == "no"]
    answers = explainer.explain(rows, target="yes", constraints=CONSTRAINTS["few"], time_limit=1e-9)
    assert len(answers) == len(rows)
    for name in ("income", "small", "debts"):
        for end in (IMPUTED[name].min(), IMPUTED[name].max()):
            swept = model.predict(rows.assign(**{name: end})) == "yes"
            assert answers.found[swept].all(), (name, end)


def test_what_is_off_its_grid_in_a_row_of_the_data_stays_and_the_rest_of_it_is_tried(monkeypatch) -> None:
    monkeypatch.setattr(quick, "CHANGES_TRIED", 0)
    explainer = EXPLAINERS["boosting"]
    rows = IMPUTED[explainer.model.predict(IMPUTED) == "no"]
    case = explainer._asking.case(rows, "yes", bf.L1(), [bf.step("income", 7.3, anchor=0.01)])
    (part,) = plan(case.question, case.referee, case.factuals, case.before)
    assert quick.quick_answers(part.problem, np.inf).found().mean() > 0.5


def test_other_questions_are_left_to_their_own_searches() -> None:
    rows = IMPUTED.iloc[:5]
    answers = EXPLAINERS["boosting"].explain(
        rows, target="yes", constraints=[bf.robust(0.01), bf.fixed("age")], time_limit=1e-9
    )
    assert len(answers) == 5
