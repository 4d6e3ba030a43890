"""Consequences, from the estimator to the certificate: against all actions that there are."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.solvers.outcome import Status
from tests.shorter import diagonal

ROWS = 300
SCHOOLS = ["none", "school", "degree"]
SPACE = {"school": bf.Ordinal(SCHOOLS)}
COLUMNS = ["income", "savings", "age", "school"]


def table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Small whole numbers, and a column of levels."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "income": rng.integers(0, 9, ROWS),
            "savings": rng.integers(0, 7, ROWS),
            "age": rng.integers(20, 26, ROWS),
            "school": rng.choice(SCHOOLS, ROWS),
        }
    )
    rank = data.school.map(SCHOOLS.index)
    score = data.income + 1.5 * data.savings + 0.8 * (data.age - 20) + rank + rng.normal(0, 1.5, ROWS)
    return data, np.digitize(score, np.quantile(score, [0.4, 0.75]))


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(6, max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
    "linear": lambda: LogisticRegression(max_iter=2000),
    "network": lambda: MLPClassifier((4,), max_iter=300, random_state=0),
    "neighbours": lambda: DecisionTreeClassifier(max_depth=6, random_state=1),
}

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)

QUESTIONS = {
    "along": ([bf.follows("savings", 0.5, "income")], {"savings": [(HALF, "income")]}, []),
    "along, and nothing else": (
        [bf.follows("savings", 0.1, "income"), bf.fixed("savings")],
        {"savings": [(TENTH, "income")]},
        ["savings"],
    ),
    "against": (
        [bf.follows("savings", -0.5, "income"), bf.fixed("savings", "age")],
        {"savings": [(-HALF, "income")]},
        ["savings", "age"],
    ),
    "years": (
        [bf.follows("age", 2, bf.rises("school")), bf.fixed("age")],
        {"age": [(Fraction(2), ("rises", "school"))]},
        ["age"],
    ),
    "a chain": (
        [
            bf.follows("savings", 0.1, "income"),
            bf.follows("income", 3, bf.becomes("school", "degree")),
            bf.follows("age", 1, bf.rises("school")),
            bf.fixed("savings", "age"),
        ],
        {
            "income": [(Fraction(3), ("becomes", "school"))],
            "savings": [(TENTH, "income")],
            "age": [(Fraction(1), ("rises", "school"))],
        },
        ["savings", "age"],
    ),
    "two causes": (
        [bf.follows("savings", 0.5, "income"), bf.follows("savings", 0.5, "age"), bf.at_most_changes(2)],
        {"savings": [(HALF, "income"), (HALF, "age")]},
        [],
    ),
}
"""Consequences as constraints, as plain data, and the columns that one does not act on."""


def values(x: dict, y: dict, rules: dict) -> dict:
    """What follows, in fractions. The rules are in an order in which causes come first."""
    out = {name: Fraction(value) if name != "school" else value for name, value in y.items()}
    for name, its in rules.items():
        for by, cause in its:
            if isinstance(cause, str):
                out[name] += by * (out[cause] - x[cause])
            else:
                was, now = SCHOOLS.index(x["school"]), SCHOOLS.index(y["school"])
                out[name] += by * (now > was if cause[0] == "rises" else now == 2 and was != 2)
    return out


@cache
def actions(asked: str, seed: int, at: int) -> tuple[pd.DataFrame, np.ndarray]:
    """What follows from each action that there is for a row, and its price: L1 over ranges. No model is needed for it."""
    (_, rules, kept), (data, _), most = QUESTIONS[asked], table(seed), 2 if asked == "two causes" else 4
    x = {name: data.iloc[[at]][name].item() for name in COLUMNS}
    low, high = data[COLUMNS[:3]].min(), data[COLUMNS[:3]].max()
    open_to = [
        [x[name]]
        if name in kept
        else range(int(low[name]) - 20 * (name in rules), int(high[name]) + 1 + 20 * (name in rules))
        for name in COLUMNS[:3]
    ]
    found, prices = [], []
    for one in product(*open_to, SCHOOLS):
        y = dict(zip(COLUMNS, one, strict=True))
        ranks = abs(SCHOOLS.index(y["school"]) - SCHOOLS.index(x["school"]))
        price = sum(abs(y[n] - x[n]) / (high[n] - low[n]) for n in COLUMNS[:3]) + ranks / 2
        ends = values(x, y, rules)
        inside = all(low[name] <= ends[name] <= high[name] for name in COLUMNS[:3])
        if inside and sum(y[name] != x[name] for name in COLUMNS) <= most:
            found.append([*(float(ends[name]) for name in COLUMNS[:3]), ends["school"]])
            prices.append(price)
    return pd.DataFrame(found, columns=COLUMNS), np.array(prices)


@cache
def fitted(kind: str, seed: int):
    data, y = table(seed)
    encode = make_column_transformer((OrdinalEncoder(categories=[SCHOOLS]), ["school"]), remainder="passthrough")
    return make_pipeline(encode, MODELS[kind]()).fit(data, y), data


@pytest.mark.shorter(1)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kind", "asked", "seed"), diagonal([one for one in MODELS if one != "neighbours"], QUESTIONS, range(5))
)
def test_the_cheapest_actions_of_all(kind, asked, seed) -> None:
    model, data = fitted(kind, seed)
    constraints, _, _ = QUESTIONS[asked]
    explainer = bf.Explainer(model, data, space=SPACE)
    rng = np.random.default_rng(seed)
    for at in rng.choice(ROWS, 3, replace=False):
        row = data.iloc[[at]]
        target = int(rng.choice(np.setdiff1d([0, 1, 2], model.predict(row))))
        answer = explainer.explain(row, target, constraints=constraints, cost="L1").only
        ends, prices = actions(asked, seed, int(at))
        best = float(prices[model.predict(ends) == target].min(initial=np.inf))
        assert answer.certificate.status is (Status.PROVEN_OPTIMAL if np.isfinite(best) else Status.PROVEN_INFEASIBLE)
        assert answer.cost == pytest.approx(best)
        assert all(fine for _, fine in answer.certificate.checks)
