"""Answers that hold for the true coefficients: against enumeration, against a second solver, and by the verdict's own rule."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import InputError, InputTypeError, UnsupportedProblemError
from butfor.model.cone import Cone
from butfor.problem.constraints.confident import Confident
from butfor.problem.spec import from_spec, to_spec
from tests.shorter import first

GRID = {"a": range(5), "b": range(4), "town": "xyz"}
EVERY = pd.DataFrame(list(product(*GRID.values())), columns=list(GRID))
COSTS = (bf.L1(), bf.L0(), bf.L1() + 0.3 * bf.L0(), bf.L2(), bf.LInf())
CONSTRAINTS = (
    (),
    (bf.at_most_changes(2),),
    (bf.linear({"a": 1.0, "b": 1.0}, "<=", 5.0),),
    (bf.implies(bf.rises("a"), bf.becomes("town", "z")),),
    (bf.fixed("town"), bf.only_up("a")),
)


def people(rng: np.random.Generator, rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.DataFrame({name: rng.choice(list(values), rows) for name, values in GRID.items()})
    score = table.a - rng.normal() * table.b + rng.normal() * (table.town == "y") - 2 + rng.logistic(size=rows)
    return table, (score > 0).astype(int).to_numpy()


def design(table: pd.DataFrame) -> np.ndarray:
    """The rows that the coefficients of `pipeline` belong to: the intercept, the towns, the numbers."""
    towns = [(table.town == town).to_numpy(float) for town in "xyz"]
    return np.column_stack([np.ones(len(table)), *towns, table[["a", "b"]].to_numpy(float)])


def pipeline(X: pd.DataFrame, y: np.ndarray):
    return make_pipeline(
        make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough"), LogisticRegression()
    ).fit(X, y)


def covariance_of(rng: np.random.Generator, size: int, scale: float) -> np.ndarray:
    parts = rng.normal(size=(size, size)) * scale
    return parts @ parts.T


@pytest.mark.parametrize("seed", first(5, range(150)))
def test_agrees_with_enumeration(seed):
    """The rows that keep it are found here by the formula, and the cheapest of them by a search of given rows."""
    rng = np.random.default_rng(seed)
    X, y = people(rng)
    model, C = pipeline(X, y), covariance_of(rng, 6, rng.choice([0.03, 0.1, 0.3]))
    level = float(rng.choice([0.5, 0.8, 0.95, 0.999]))
    end = model[-1]
    x, w = design(EVERY), np.append(end.intercept_, end.coef_[0])
    away = norm.ppf(level) * np.sqrt(np.einsum("ij,jk,ik->i", x, C, x))
    label = int(rng.integers(2))
    kept = EVERY[(2 * label - 1) * (x @ w) - away >= 0]
    explainer, row = bf.Explainer(model, X), X.iloc[[0]]
    question = {"cost": COSTS[seed % len(COSTS)], "target": label}
    others = list(CONSTRAINTS[(seed // 2) % len(CONSTRAINTS)])
    answer = explainer.explain(row, constraints=[*others, bf.confident(level, covariance=C)], **question).only
    if not len(kept):
        assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE
        return
    best = explainer.explain(row, constraints=[*others, bf.candidates(kept)], **question).only
    assert answer.found == best.found
    assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)
    if best.found:
        assert answer.cost == pytest.approx(best.cost, abs=1e-7)
        at = design(answer.point)[0]
        spread = norm.ppf(level) * float(np.sqrt(at @ C @ at))
        assert (2 * label - 1) * float(at @ w) - spread >= -1e-9


@pytest.mark.parametrize("seed", first(2, range(60)))
@pytest.mark.parametrize("squares", [False, True])
def test_agrees_with_a_second_solver_for_real_numbers(seed, squares):
    """Sequential quadratic programming (SLSQP). Moves up and down are numbers of their own, so that L1 is smooth."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(200, 3)) * [1, 5, 0.2] + [0, 3, 1], columns=list("abc"))
    model = LinearRegression().fit(X, X @ [1.0, -0.3, 4.0] + rng.normal(size=200))
    C = covariance_of(rng, 4, 0.05)
    w, z = np.append(model.intercept_, model.coef_), norm.ppf(0.9)
    wanted = float(np.quantile(model.predict(X), 0.8))
    row = X.iloc[[int(np.argmin(model.predict(X)))]]
    x0, low, high = row.to_numpy()[0], X.min().to_numpy(), X.max().to_numpy()
    cost = bf.L2() if squares else bf.L1()
    answer = (
        bf.Explainer(model, X)
        .explain(row, target=bf.value(at_least=wanted), cost=cost, constraints=[bf.confident(0.9, covariance=C)])
        .only
    )

    def short(moves: np.ndarray) -> float:
        x = np.append(1.0, x0 + (moves[:3] - moves[3:]) * (high - low))
        return float(w @ x - z * np.sqrt(x @ C @ x) - wanted)

    price = (
        (lambda moves: float(((moves[:3] - moves[3:]) ** 2).sum())) if squares else (lambda moves: float(moves.sum()))
    )
    room = np.concatenate([high - x0, x0 - low]) / np.tile(high - low, 2)
    tried = [
        minimize(
            price, start * room, bounds=[(0, most) for most in room], method="SLSQP",
            constraints={"type": "ineq", "fun": short}, options={"maxiter": 500, "ftol": 1e-12},
        )
        for start in (0.1, 0.5, 0.9)
    ]  # fmt: skip
    reached = [found.fun for found in tried if found.success and short(found.x) >= -1e-9]
    assert answer.found == bool(reached)
    if reached:
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(min(reached), abs=1e-5)


def test_statsmodels_knows_its_own_covariance():
    sm = pytest.importorskip("statsmodels.api")
    smf = pytest.importorskip("statsmodels.formula.api")
    X, y = people(np.random.default_rng(1), 300)
    by_formula = smf.logit("y ~ a + b + C(town)", data=X.assign(y=y)).fit(disp=0)
    row = X.iloc[[int(np.argmin(by_formula.predict(X)))]]
    numbers = sm.add_constant(X[["a", "b"]].astype(float))
    by_frame = sm.GLM(y, numbers, family=sm.families.Binomial()).fit()
    for results, data, one in ((by_formula, X, row), (by_frame, numbers, numbers.loc[row.index])):
        answer = bf.Explainer(results, data).explain(
            one, target=bf.value(at_least=0.5), constraints=[bf.confident(0.95)]
        ).only  # fmt: skip
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        said = results.get_prediction(answer.point).summary_frame(alpha=0.1)
        lower = next(column for column in said if "lower" in column)
        assert float(said[lower].iloc[0]) >= 0.5 - 1e-9  # statsmodels' own interval, of which one side is 95 %
        assert bf.check(answer, results).passed


def test_columns_of_very_different_sizes_are_proven():
    """The variances of the coefficients differ by many orders, and nearly cancel in the variance of a score."""
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(2)
    size = 10.0 ** rng.integers(-2, 4, 12)
    X = pd.DataFrame(rng.normal(size=(400, 12)) * size + 100 * rng.normal(size=12)).add_prefix("x")
    X["year"] = rng.integers(1950, 2020, 400)
    y = 2e5 + 5e4 * ((X - X.mean()) / X.std()).to_numpy() @ rng.normal(size=13) + 2e4 * rng.normal(size=400)
    rows = sm.add_constant(X)
    results = sm.OLS(y, rows).fit()
    low = rows.iloc[[int(np.argmin(results.predict(rows)))]]
    target, rule = bf.value(at_least=float(np.quantile(y, 0.6))), bf.confident(0.95)
    answer = bf.Explainer(results, rows).explain(low, target=target, constraints=[rule]).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.certificate.evidence.confidence == pytest.approx(0.95, abs=1e-4)


def test_coefficients_that_are_sure_ask_nothing():
    X, y = people(np.random.default_rng(2))
    explainer = bf.Explainer(pipeline(X, y), X)
    plain = explainer.explain(X.iloc[[0]]).only
    for known in (np.zeros((6, 6)), 1e-12 * np.eye(6)):
        sure = explainer.explain(X.iloc[[0]], constraints=[bf.confident(0.99, covariance=known)]).only
        assert sure.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert sure.cost == pytest.approx(plain.cost, abs=1e-5)


def test_a_level_of_one_half_asks_nothing():
    X, y = people(np.random.default_rng(2))
    explainer = bf.Explainer(pipeline(X, y), X)
    plain = explainer.explain(X.iloc[[0]]).only
    half = explainer.explain(X.iloc[[0]], constraints=[bf.confident(0.5, covariance=np.eye(6))]).only
    assert half.cost == pytest.approx(plain.cost)


def test_the_verdict_asks_by_itself(monkeypatch):
    """A solver that forgets the cone is found out by the rule, which knows the coefficients and nothing of the solver."""
    X, y = people(np.random.default_rng(3))
    explainer, row = bf.Explainer(pipeline(X, y), X), X.iloc[[0]]
    asked = {"constraints": [bf.confident(0.99, covariance=0.05 * np.eye(6))]}
    kept = explainer.explain(row, **asked).only
    monkeypatch.setattr(Confident, "enter", lambda self, problem, referee: problem)
    forgotten = explainer.explain(row, **asked).only
    assert kept.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert forgotten.certificate.status is not bf.Status.PROVEN_OPTIMAL


def test_tangents_hold_on_the_whole_cone():
    rng = np.random.default_rng(0)
    cone = Cone(np.array([[2.0, 0, 0, 0]]), np.array([0.3]), np.eye(4)[1:], 1.5)
    scores = rng.normal(size=(400, 4)) * [3, 1, 1, 1]
    inside = np.array([cone.excess(one) <= 0 for one in scores])
    assert (inside == (2 * scores[:, 0] - 2 * np.linalg.norm(scores[:, 1:], axis=1) >= 0.3)).all()
    assert 20 < inside.sum() < 380
    for outside in scores[~inside]:
        a, b = cone.tangent(outside)
        assert a @ outside < b
        assert (scores[inside] @ a >= b - 1e-9).all()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"level": 0.3}, InputError, "at least 0.5"),
        ({"level": 1.0}, InputError, "below 1"),
        ({"level": 95}, InputError, r"Did you mean 0\.95"),
        ({"level": "sure"}, InputTypeError, "must be a number"),
        ({"covariance": np.eye(2)[:1]}, InputError, "square"),
        ({"covariance": np.eye(3)}, InputError, "6"),
        ({"covariance": np.diag([1.0, 1, 1, 1, 1, np.nan])}, InputError, "finite"),
        ({"covariance": np.eye(6) + np.eye(6, k=1)}, InputError, "symmetric"),
        ({"covariance": np.diag([1.0, 1, 1, 1, 1, -1])}, InputError, "negative variance"),
        ({"covariance": "wide"}, InputTypeError, "table of numbers"),
        ({}, InputError, "knows no covariance"),
    ],
)
def test_bad_input_is_refused(given, error, words):
    X, y = people(np.random.default_rng(4))
    explainer = bf.Explainer(pipeline(X, y), X)
    with pytest.raises(error, match=words):
        explainer.explain(X.iloc[[0]], constraints=[bf.confident(**{"level": 0.9, **given})])


def test_what_it_is_not_for_is_refused_in_words():
    X = pd.DataFrame(np.random.default_rng(5).normal(size=(90, 2)), columns=list("ab"))
    sure = bf.confident(0.9, covariance=np.eye(3))
    tree = DecisionTreeClassifier(max_depth=2).fit(X, X.a > 0)
    with pytest.raises(UnsupportedProblemError, match="coefficients of DecisionTreeClassifier are not known"):
        bf.Explainer(tree, X).explain(X.iloc[[0]], constraints=[sure])
    several = LogisticRegression().fit(X, np.digitize(X.a, [-0.5, 0.5]))
    with pytest.raises(UnsupportedProblemError, match="3 scores"):
        bf.Explainer(several, X).explain(X.iloc[[0]], constraints=[sure])
    line = bf.Explainer(make_pipeline(StandardScaler(), LinearRegression()).fit(X, X.a), X)
    with pytest.raises(UnsupportedProblemError, match="A ball around the answer"):
        line.explain(X.iloc[[0]], target=bf.value(at_least=1), constraints=[sure, bf.robust(0.1)])
    with pytest.raises(UnsupportedProblemError, match="one row at a time"):
        line.explain(X.iloc[[0, 1]], target=bf.relative_change(0.5), constraints=[sure])


def test_it_is_written_kept_and_told(tmp_path):
    X, y = people(np.random.default_rng(6))
    rule = bf.confident(0.9, covariance=0.01 * np.eye(6))
    kept = from_spec(to_spec(rule))
    assert kept == rule
    answer = bf.Explainer(pipeline(X, y), X).explain(X.iloc[[0]], constraints=[rule]).only
    assert bf.check(answer, pipeline(X, y)).passed
    assert answer.certificate.evidence.confidence >= 0.9 - 1e-9
    assert "the true coefficients agree at a confidence of" in repr(answer.certificate)
    (tmp_path / "answer.json").write_text(answer.to_json())
    assert bf.load(tmp_path / "answer.json").certificate.evidence == answer.certificate.evidence
    assert repr(bf.confident(0.9)) == "confident(0.9)"
