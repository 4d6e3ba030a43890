"""Robust answers against plain enumeration of the shifted cells of tiny trees, and of the neighbours in each ball."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.model.float_order import last_below
from butfor.model.questions import evaluate
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.trees.counterpart import counterpart, on_grid
from butfor.neighbours.trees.reply import reply
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.linear.exact import LinearExact
from butfor.solvers.linear.knapsack import LinearKnapsack
from butfor.solvers.outcome import Status
from butfor.solvers.robust import deep_inside
from butfor.solvers.robust.exact import RobustExact
from butfor.solvers.robust.linear import RobustLinear
from butfor.solvers.robust.network_shifts import NetworkShifts
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem, random_row
from butfor.trees import TAOClassifier
from tests.shorter import diagonal, first
from tests.solvers.balls import agrees_with_enumeration, enumerated, neighbours
from tests.solvers.further import random_ball

ROBUST = RobustExact(PROVING)
KINDS = Kinds(costs=("l1", "l2", "l0", "mix", "table"), relations=("at most",), features=2, classes=3)

REAL = replace(KINDS, whole=False, levels=False, missing=False, bins=False, features=3)


def robust_problem(seed: int, norm: BallNorm = BallNorm.LINF) -> Problem:
    problem = random_problem(seed, "ensemble", KINDS, trees=1 + seed % 4)
    return problem.with_demands(ball=random_ball(np.random.default_rng(seed), problem, norm))


@pytest.mark.parametrize("block", first(1, range(12)))
def test_agrees_with_enumeration(block: int) -> None:
    judged = 0
    for seed in range(50 * block, 50 * block + 50):
        problem = robust_problem(seed)
        if not ROBUST.accepts(problem.form()):
            continue
        agrees_with_enumeration(ROBUST, problem, seed)
        judged += 1
    assert judged > 30


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seeds", first(1, [range(40), range(40, 120)]))
@pytest.mark.parametrize("norm", [BallNorm.L2, BallNorm.L1])
def test_balls_are_valid_and_bounds_are_bounds(norm: BallNorm, seeds: range) -> None:
    for seed in seeds:
        problem = robust_problem(seed, norm)
        if not ROBUST.accepts(problem.form()):
            continue
        found = ROBUST.solve(problem, Budget())
        box = enumerated(problem.with_demands(ball=replace(problem.demands.ball, norm=BallNorm.LINF)))
        assert found.bound[0] <= box + 1e-6 * (1 + abs(box)), f"seed {seed}: the box around the ball allows {box}"
        if found.found()[0]:
            scores = evaluate(problem.model, neighbours(problem, found.points[0]))
            assert any(part.holds(scores).all() for part in problem.score_sets), f"seed {seed}"


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seeds", first(1, [range(10), range(10, 150)]))
@pytest.mark.parametrize("norm", [BallNorm.L2, BallNorm.L1])
def test_no_row_below_the_bound_survives_a_ball_of_cost(norm: BallNorm, seeds: range) -> None:
    """Rows near the answer, between it and the given row, and anywhere: the exact adversary judges each."""
    judged = proven = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, "ensemble", REAL, trees=1 + seed % 4)
        radius, nothing = rng.choice([0.1, 0.25, 0.4], len(problem.space)), np.zeros(len(problem.space))
        problem = problem.with_demands(ball=Ball(norm, radius, nothing, nothing))
        if not ROBUST.accepts(problem.form()):
            continue
        found = ROBUST.solve(problem, Budget(20.0))
        proven += found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        low, high = problem.domain.extent.low, problem.domain.extent.high
        rows = rng.uniform(low, high, (200, len(low)))
        if found.found()[0]:
            shares = rng.random((200, 1)) ** 4
            between = found.points[0] + shares * (problem.factuals[0] - found.points[0])
            rows = np.concatenate([rows, between, found.points[0] + 0.02 * rng.normal(size=(200, len(low)))])
        rows = np.where(
            problem.demands.ball.radius > 0, rows, found.points[0] if found.found()[0] else problem.factuals[0]
        )
        rows = rows[problem.admits(rows)]
        costs = problem.prices.total(problem.factuals.repeat(len(rows), 0), rows)
        bound = (1 - 1e-6) * found.bound[0] - 1e-6
        for part in problem.score_sets:
            for row in rows[costs + part.offset < bound]:
                judged += 1
                worst = worst_neighbours(problem.model, part.A, row, problem.demands.ball)
                ends = zip(worst, part.b, part.strict, strict=True)
                assert any(near.score < b or (strict and near.score == b) for near, b, strict in ends), (seed, row)
    assert judged > 7 * len(seeds)
    assert proven > 0.2 * len(seeds)


@pytest.mark.parametrize("seeds", first(1, [range(20), range(20, 60)]))
def test_the_counterpart_is_the_smallest_leaf_and_a_shift_is_a_shift(seeds: range) -> None:
    for seed in seeds:
        problem = robust_problem(seed)
        model = on_grid(problem.model, problem.demands.ball)
        assert isinstance(model, Trees)
        lacking = frozenset(j for j, feature in enumerate(problem.space) if feature.missing)
        low = counterpart(model, np.eye(model.scores), problem.demands.ball, lacking)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            row = random_row(rng, problem.space)
            near = neighbours(problem, row)
            assert low is not None
            by_tree = np.array([[_alone(model, t, each[None]) for each in near] for t in range(len(model.roots))])
            smallest = model.base + by_tree.min(axis=1).sum(axis=0)[0]
            assert (evaluate(low, row[None])[0] <= smallest + 1e-12).all()
            assert lacking or np.allclose(evaluate(low, row[None])[0], smallest)


def _alone(model: Trees, tree: int, row: np.ndarray) -> np.ndarray:
    return model.value[model.leaves_at(row[0])[tree]][None]


@pytest.mark.parametrize("seeds", first(1, [range(10), range(10, 150)]))
def test_a_reply_gives_each_row_the_scores_of_a_neighbour_and_one_row_its_worst(seeds: range) -> None:
    differ = 0
    for seed in seeds:
        problem = robust_problem(seed, BallNorm.LINF)
        model, rng = on_grid(problem.model, problem.demands.ball), np.random.default_rng(seed)
        direction = rng.normal(size=model.scores)
        point = random_row(rng, problem.space)
        (worst,) = worst_neighbours(model, direction[None], point, problem.demands.ball)
        replied = reply(model, direction, problem.demands.ball, point, worst.point)
        assert np.allclose(evaluate(replied, point[None])[0], evaluate(model, worst.point[None])[0], atol=1e-12)
        for _ in range(20):
            row = random_row(rng, problem.space)
            scores = evaluate(replied, row[None])[0]
            near = evaluate(model, neighbours(problem, row))
            assert np.isclose(near, scores, atol=1e-12).all(axis=1).any(), seed
            differ += not np.allclose(scores, evaluate(model, row[None])[0])
    assert differ > 2 * len(seeds) // 3


@pytest.mark.parametrize("seeds", first(1, [range(60), range(60, 200)]))
def test_the_adversary_is_exact(seeds: range) -> None:
    for seed in seeds:
        problem = robust_problem(seed, (BallNorm.LINF, BallNorm.L2, BallNorm.L1)[seed % 3])
        row = random_row(np.random.default_rng(seed), problem.space)
        A = np.eye(problem.model.scores)
        scores = evaluate(problem.model, neighbours(problem, row))
        worst = worst_neighbours(problem.model, A, row, problem.demands.ball)
        assert np.allclose([found.score for found in worst], scores.min(axis=0)), f"seed {seed}"
        at = evaluate(problem.model, np.array([found.point for found in worst]))
        assert np.allclose(np.diag(at), scores.min(axis=0))


MODELS = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(10, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0),
}

NETWORK = MLPClassifier((8,), solver="lbfgs", max_iter=3000, random_state=0)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
@pytest.mark.parametrize("name", [*MODELS, "network"])
def test_every_neighbour_is_predicted_as_wanted(name: str, norm: str) -> None:
    X, y = make_classification(200, 4, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = {**MODELS, "network": NETWORK}[name].fit(X, y)
    explainer = bf.Explainer(model, X)
    rows = X[model.predict(X) == 0].iloc[:5]
    plain = explainer.explain(rows, target=1)
    robust = explainer.explain(rows, target=1, constraints=[bf.robust(0.03, norm=norm)], time_limit=60.0)
    rng, width = np.random.default_rng(0), (X.max() - X.min()).to_numpy()
    for before, answer in zip(plain, robust, strict=True):
        assert answer.found
        assert answer.cost >= before.cost - 1e-9
        assert ("all constraints hold", True) in answer.certificate.checks
        shifts = rng.uniform(-1, 1, (400, 4)) * 0.03
        shifts[::3] = np.sign(shifts[::3]) * 0.03
        if norm != "linf":
            size = np.linalg.norm(shifts, ord=2 if norm == "l2" else 1, axis=1, keepdims=True)
            shifts *= np.minimum(1.0, 0.03 / size)
        near = pd.DataFrame(answer.point.to_numpy() + shifts * width, columns=list("abcd"))
        assert (model.predict(near) == 1).all()


def test_statements_about_bad_radii() -> None:
    X = pd.DataFrame({"a": [0.0, 1.1, 2.2, 3.3], "n": [1, 2, 3, 4], "c": list("xyxy")})
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[["a", "n"]], [0, 1, 0, 1])
    explainer = bf.Explainer(model, X[["a", "n"]])
    for radius, words in (
        (-0.1, "not negative"),
        (np.nan, "finite"),
        ("x", "a number"),
        ({"z": 1.0}, "no column"),
        ({}, "says nothing"),
        ({"n": 0.5}, "less than its step of 1"),
        (10**400, "finite|a number"),
    ):
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            explainer.explain(X[["a", "n"]].iloc[[0]], target=1, constraints=[bf.robust(radius)])
    with pytest.raises(ValueError, match="'linf', 'l2', 'l1'"):
        explainer.explain(X[["a", "n"]].iloc[[0]], target=1, constraints=[bf.robust(0.1, norm="l3")])
    with pytest.raises(ValueError, match="whole"):
        explainer.explain(X[["a", "n"]].iloc[[0]], target=1, constraints=[bf.robust({"n": 1}, norm="l2")])
    wide = explainer.explain(X[["a", "n"]].iloc[[0]], target=1, constraints=[bf.robust(10.0)]).only
    assert wide.certificate.status is Status.PROVEN_INFEASIBLE
    assert "robust" in str(wide.certificate.why) + repr(wide)


def test_what_is_said_about_levels_unmet_rows_norms_and_black_boxes() -> None:
    X = pd.DataFrame({"a": [0.0, 1.1, 2.2, 3.3], "c": list("xyxy")})
    columns = ColumnTransformer([("levels", OrdinalEncoder(), ["c"])], remainder="passthrough")
    model = make_pipeline(columns, DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, [0, 0, 1, 1])
    explainer = bf.Explainer(model, X)
    with pytest.raises(ValueError, match="column 'c', which has levels"):
        explainer.explain(X.iloc[[0]], target=1, constraints=[bf.robust({"c": 1})])
    with pytest.raises(ValueError, match="does not meet the target"):
        explainer.robustness(X.iloc[[0]], target=1)
    with pytest.raises(ValueError, match="'linf', 'l2', 'l1'"):
        explainer.robustness(X.iloc[[3]], target=1, norm="l0")
    numbers = X[["a"]]
    near = KNeighborsClassifier(1).fit(numbers, [0, 0, 1, 1])
    for ask in (
        lambda box: box.explain(numbers.iloc[[0]], target=1, constraints=[bf.robust(0.1)]),
        lambda box: box.region(numbers.iloc[[3]], target=1),
        lambda box: box.robustness(numbers.iloc[[3]], target=1),
    ):
        with pytest.raises(bf.errors.UnsupportedProblemError, match="black box"):
            ask(bf.Explainer(near, numbers))


def test_the_largest_radius_is_said_if_a_ball_is_too_large() -> None:
    X = np.linspace(0, 5.25, 12)[:, None]
    explainer = bf.Explainer(TAOClassifier(1, random_state=0).fit(X, (X[:, 0] > 2.2).astype(int)), X)
    answer = explainer.explain(X[[0]], target=1, constraints=[bf.robust(0.9)]).only
    assert answer.certificate.status is Status.PROVEN_INFEASIBLE
    assert "of the radius there is one" in " ".join(str(answer).split())


@pytest.mark.parametrize("name", MODELS)
def test_a_region_is_valid_and_no_side_can_move(name: str) -> None:
    X, y = make_classification(200, 4, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = MODELS[name].fit(X, y)
    explainer = bf.Explainer(model, X)
    answer = explainer.explain(X[model.predict(X) == 0].iloc[[0]], target=1, constraints=[bf.robust(0.02)]).only
    region = explainer.region(answer, target=1)
    rng = np.random.default_rng(0)
    inside = pd.DataFrame(region.low + rng.random((2000, 4)) * (region.high - region.low), columns=list("abcd"))
    corners = np.where(rng.random((500, 4)) < 0.5, region.low, region.high)
    assert (model.predict(pd.DataFrame(corners, columns=list("abcd"))) == 1).all()
    assert (model.predict(inside) == 1).all()
    assert region.contains(answer.point).all()
    assert region.contains(inside).all()
    for j, column in enumerate("abcd"):
        for side, beyond in ((region.high, np.inf), (region.low, -np.inf)):
            end = X[column].max() if beyond > 0 else X[column].min()
            if side[j] == end:
                continue
            outside = np.tile(rng.random((4000, 4)), 1) * (region.high - region.low) + region.low
            outside[::2] = np.where(rng.random((2000, 4)) < 0.5, region.low, region.high)
            outside[:, j] = np.nextafter(side[j], beyond) if name != "linear" else side[j] + np.sign(beyond) * 1e-6
            assert (model.predict(pd.DataFrame(outside, columns=list("abcd"))) == 0).any(), (column, beyond)


@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
@pytest.mark.parametrize("kind", ["tree", "forest", "boosting", "missing"])
def test_the_largest_radius_is_the_distance_to_the_nearest_cell_that_misses(norm, kind) -> None:
    X, y = make_classification(200, 3, n_redundant=0, random_state=0)
    models = {
        "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
        "forest": RandomForestClassifier(5, max_depth=3, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0),
        "missing": HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=5, min_samples_leaf=5, random_state=0),
    }
    width = X.max(axis=0) - X.min(axis=0)
    if kind == "missing":
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        width = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    model = models[kind].fit(X, y)
    explainer = bf.Explainer(model, X, space={f"x{j}": bf.Continuous() for j in range(3)})
    accepted = X[model.predict(X) == 1]
    chosen = accepted[np.isnan(accepted).any(axis=1)][:5] if kind == "missing" else accepted[:5]
    for row in chosen:
        found = explainer.robustness(row[None], target=1, norm=norm)
        ways = []
        for cells, x in zip(explainer.reading.model.cells, row, strict=True):
            ends = np.concatenate([[x], cells.edges, np.nextafter(cells.edges, np.inf)])
            ways.append(np.unique(ends))
        rows = np.array(list(itertools.product(*ways)))
        missed = rows[model.predict(rows) == 0]
        share = np.nan_to_num(np.abs(missed - row) / width)
        sizes = {"linf": share.max(axis=1), "l2": np.linalg.norm(share, axis=1), "l1": share.sum(axis=1)}[norm]
        assert found.radius == pytest.approx(min(1.0, sizes.min()), rel=2e-6)
        assert found.radius <= sizes.min()
        if found.radius < 1:
            assert model.predict(found.worst)[0] == 0


def test_the_largest_radius_is_the_largest() -> None:
    X, y = make_classification(200, 3, n_redundant=0, random_state=0)
    model = GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0).fit(X, y)
    explainer, row = bf.Explainer(model, X), X[model.predict(X) == 1][[0]]
    found = explainer.robustness(row, target=1)
    assert 0 < found.radius < 1
    assert model.predict(found.worst)[0] == 0
    shift = np.abs(found.worst - row) / (X.max(axis=0) - X.min(axis=0))
    assert shift.max() == pytest.approx(found.radius, abs=1e-9)
    shifts = np.random.default_rng(0).uniform(-1, 1, (5000, 3)) * found.radius * (X.max(axis=0) - X.min(axis=0))
    assert (model.predict(row + shifts) == 1).all()
    for norm in ("linf", "l2"):
        hurried = explainer.robustness(row, target=1, norm=norm, time_limit=1e-9)
        assert hurried.radius <= explainer.robustness(row, target=1, norm=norm).radius
    box = explainer.region(row, target=1, time_limit=1e-9)
    assert not box.widest
    assert box.contains(row).all()
    assert explainer.region(row, target=1).widest
    with pytest.raises(ValueError, match="does not meet the target"):
        explainer.region(X[model.predict(X) == 0][[0]], target=1)
    with pytest.raises(ValueError, match="One is needed"):
        explainer.region(X[:2], target=1)


def test_a_step_may_be_missed_by_rounding() -> None:
    X = pd.DataFrame({"n": [1, 2, 3, 4, 5, 6]})
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 0, 1, 1, 1]), X)
    for step in (1, 1 - 1e-12, 1.9):
        found = explainer.explain(X.iloc[[0]], target=1, constraints=[bf.robust({"n": step})]).only
        assert found.point["n"].iloc[0] == 5
        assert found["n"].stays == (4, 6)


@pytest.mark.parametrize("ask", ["explain", "region", "robustness"])
def test_a_mean_of_models_has_a_curved_boundary_and_says_so(ask: str) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4]
    model = CalibratedClassifierCV(RandomForestClassifier(3, max_depth=3, random_state=0), cv=2, ensemble=True).fit(
        X, y
    )
    explainer = bf.Explainer(model, X)
    row = X[model.predict(X) == (0 if ask == "explain" else 1)].iloc[[0]]
    asked = {"constraints": [bf.robust(0.01)]} if ask == "explain" else {}
    with pytest.raises(ValueError, match=r"soft votes, calibration.*curved"):
        getattr(explainer, ask)(row, target=1, **asked)


def test_nothing_to_perturb_is_said() -> None:
    X = pd.DataFrame({"n": [1, 2, 3, 4]})
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1]), X)
    with pytest.raises(ValueError, match="no column holds real numbers"):
        explainer.explain(X.iloc[[0]], target=1, constraints=[bf.robust(0.1)])
    with pytest.raises(ValueError, match="no column as real numbers"):
        explainer.robustness(X.iloc[[3]], target=1)
    found = explainer.explain(X.iloc[[0]], target=1, constraints=[bf.robust({"n": 1})]).only
    assert found.point["n"].iloc[0] == 4


def test_a_bound_is_a_bound_whenever_time_ends() -> None:
    X, y = make_classification(300, 5, n_redundant=0, random_state=1)
    model = RandomForestClassifier(30, max_depth=3, random_state=0).fit(X, y)
    explainer, rows = bf.Explainer(model, X), X[model.predict(X) == 0][:3]
    for row in rows:
        found = [
            explainer.explain(row[None], target=1, constraints=[bf.robust(0.05)], time_limit=seconds).only
            for seconds in (30.0, 0.03, 0.1, 0.2, 0.4)
        ]
        assert found[0].certificate.status is Status.PROVEN_OPTIMAL
        for hurried in found[1:]:
            assert hurried.certificate.bound <= found[0].cost * (1 + 1e-6)
            assert not hurried.found or hurried.cost >= found[0].cost * (1 - 1e-6)


@pytest.mark.long
def test_ties_of_pure_leaves_are_decided() -> None:
    """Half of the trees say yes and half say no: the first class wins, also if only a neighbour is tied."""
    X, y = make_classification(120, 3, n_redundant=0, n_informative=2, flip_y=0.2, random_state=3)
    model = RandomForestClassifier(4, max_depth=None, random_state=0).fit(X, y)
    rows = X[model.predict(X) == 0][:8]
    answers = bf.Explainer(model, X).explain(rows, target=1, constraints=[bf.robust(0.02)], time_limit=60.0)
    assert answers.found.all()
    assert all(status is Status.PROVEN_OPTIMAL for status in answers.statuses)


def test_a_robust_answer_among_candidates() -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 4.0]})
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1, 1]), X)
    found = explainer.explain(X.iloc[[0]], target=1, constraints=[bf.candidates(X), bf.robust({"a": 1})]).only
    assert found.point["a"].iloc[0] == 3.0
    assert found.certificate.status is Status.PROVEN_OPTIMAL


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("hidden", [(6,), (6, 5)])
def test_a_network_on_a_grid_agrees_with_enumeration(hidden: tuple[int, ...], seed: int) -> None:
    """All rows and all neighbours can be listed, because every column has steps."""
    X, y = make_classification(150, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=2)
    X = pd.DataFrame(np.round(X * 2) / 2, columns=list("abc"))
    radius = {"a": 0.5, "b": 1.0}
    grid = np.array(list(itertools.product(*(np.arange(X[c].min(), X[c].max() + 0.25, 0.5) for c in X))))
    shifts = np.array(list(itertools.product([-0.5, 0.0, 0.5], [-1.0, -0.5, 0.0, 0.5, 1.0], [0.0])))
    model = MLPClassifier(hidden, solver="lbfgs", max_iter=2000, random_state=seed).fit(X.to_numpy(), y)
    near = (grid[:, None] + shifts).reshape(-1, 3)
    fine = (model.predict(near) == 1).reshape(len(grid), -1).all(axis=1)
    explainer = bf.Explainer(model, X.to_numpy(), space={f"x{j}": bf.Step(0.5) for j in range(3)})
    rows = X.to_numpy()[model.predict(X.to_numpy()) == 0][:6]
    answers = explainer.explain(
        rows, target=1, constraints=[bf.robust({"x0": radius["a"], "x1": radius["b"]})], time_limit=60.0
    )
    width = (X.max() - X.min()).to_numpy()
    for row, answer in zip(rows, answers, strict=True):
        truth = (np.abs(grid - row) / width).sum(axis=1)[fine].min(initial=np.inf)
        assert answer.cost == pytest.approx(truth, abs=1e-6), row
        assert answer.certificate.bound <= truth + 1e-6
        assert answer.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hidden", [(2, 2), (3,), (4, 3)])
def test_a_value_that_the_worst_neighbour_just_has_is_met(hidden: tuple[int, ...]) -> None:
    """Rounding decides about the worst neighbours, so the estimator is asked about them. Some networks are constant."""
    space = {"x0": bf.Step(0.5, 0.0, 2.5), "x1": bf.Step(1.0, 0.0, 4.0)}
    grid = np.array(list(itertools.product(np.arange(0, 2.75, 0.5), np.arange(5.0))))
    near, constant = grid[:, None] + np.array([[0.0, 0.0], [-0.5, 0.0], [0.5, 0.0]]), 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = MLPRegressor(hidden_layer_sizes=hidden, solver="lbfgs", max_iter=60, random_state=seed)
        model.fit(grid, rng.normal(size=len(grid)) + grid[:, 0] * (seed > 0))
        said = np.array([[float(model.predict(one[None])[0]) for one in ball] for ball in near])
        worst, start = said.max(axis=1), int(said[:, 0].argmax())
        constant += np.ptp(said) == 0
        explainer = bf.Explainer(model, grid, space=space)
        for most in np.unique(worst)[[0, 3 % len(np.unique(worst)), -1]]:
            asked = {"target": bf.value(at_most=float(most)), "constraints": [bf.robust({"x0": 0.5})]}
            answer = explainer.explain(grid[[start]], solver="robust_exact", **asked).only
            prices = (np.abs(grid - grid[start]) / [2.5, 4.0]).sum(axis=1)
            assert answer.certificate.status is Status.PROVEN_OPTIMAL, (seed, most)
            assert answer.cost == pytest.approx(prices[worst <= most].min())
    assert constant == (len(hidden) == 2)


@pytest.mark.long
@pytest.mark.parametrize("some", [slice(4), slice(4, 8)])
def test_nothing_cheaper_than_the_bound_of_a_network_is_robust(some: slice) -> None:
    """Against the plain definition: cheaper rows are tried, and each has a neighbour on the wrong side."""
    X, y = make_classification(150, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=4)
    width, rng, judged = X.max(axis=0) - X.min(axis=0), np.random.default_rng(0), 0
    model = MLPClassifier((6,), solver="lbfgs", max_iter=3000, random_state=0).fit(X, y)
    corners = np.array(list(itertools.product([-1, 1], repeat=3))) * 0.04 * width
    shifts = np.vstack([corners, rng.uniform(-1, 1, (60, 3)) * 0.04 * width])
    explainer, rows = bf.Explainer(model, X), X[model.predict(X) == 0][some]
    answers = explainer.explain(rows, target=1, constraints=[bf.robust(0.04)])
    for row, answer in zip(rows, answers, strict=True):
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        tried = row + rng.normal(size=(20_000, 3)) * width * answer.cost * rng.choice([0.1, 0.3, 1.0], (20_000, 1))
        tried = np.clip(tried, X.min(axis=0), X.max(axis=0))
        tried = tried[(np.abs(tried - row) / width).sum(axis=1) < answer.cost - 1e-6]
        tried = tried[model.predict(tried) == 1]
        judged += len(tried)
        for shift in shifts:
            if len(tried):
                tried = tried[model.predict(tried + shift) == 1]
        assert not len(tried)
    assert judged > 12.5 * len(rows)


def test_a_network_may_have_small_scores() -> None:
    """Scores have any size: the same network in another unit gets the same answers."""
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    model = MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=2000, random_state=0)
    model.fit(X, X[:, 0] + np.sin(3 * X[:, 1]))
    row, last = X[[np.argmin(model.predict(X))]], (model.coefs_[-1], model.intercepts_[-1])
    for norm in (BallNorm.LINF, BallNorm.L2):
        found = []
        for unit in (1.0, 2.0**-30):
            model.coefs_[-1], model.intercepts_[-1] = (unit * part for part in last)
            explainer, ball = bf.Explainer(model, X), bf.robust(0.05, norm=norm)
            answer = explainer.explain(row, target=bf.value(at_least=0.8 * unit), constraints=[ball]).only
            assert answer.certificate.status is Status.PROVEN_OPTIMAL
            around = explainer.robustness(answer.point, target=bf.value(at_least=0.5 * unit), norm=norm)
            found.append([answer.cost, around.radius])
        assert found[1] == pytest.approx(found[0], rel=1e-5)


def test_the_surroundings_of_a_network() -> None:
    X, y = make_classification(150, 3, n_informative=3, n_redundant=0, random_state=4)
    model = MLPClassifier((6,), solver="lbfgs", max_iter=3000, random_state=0).fit(X, y)
    explainer, row = bf.Explainer(model, X), X[model.predict(X) == 1][[0]]
    found = explainer.robustness(row, target=1)
    assert 0 < found.radius < 1
    assert model.predict(found.worst)[0] == 0
    shifts = np.random.default_rng(0).uniform(-1, 1, (5000, 3)) * found.radius * (X.max(axis=0) - X.min(axis=0))
    assert (model.predict(row + 0.999 * shifts) == 1).all()


@pytest.mark.shorter(1)
@pytest.mark.parametrize("hidden", [(6,), (20,), (5, 4)])
def test_the_widest_box_of_a_network(hidden: tuple[int, ...]) -> None:
    """All rows inside are accepted. A side that is moved out by more than its tolerance lets a refused row in."""
    X, y = make_classification(150, 3, n_informative=3, n_redundant=0, random_state=4)
    model = MLPClassifier(hidden, solver="lbfgs", max_iter=3000, random_state=0).fit(X, y)
    explainer, rng, stopped = bf.Explainer(model, X), np.random.default_rng(0), 0
    for row in X[model.predict(X) == 1][:3]:
        box = explainer.region(row[None], target=1)
        assert ((box.low <= row) & (row <= box.high)).all()
        inside = rng.uniform(box.low, box.high, (6000, 3))
        inside[::2] = np.where(rng.random((3000, 3)) < 0.5, box.low, box.high)
        assert (model.predict(inside) == 1).all()
        for j in range(3):
            for side, end, out in ((box.high, X[:, j].max(), 1e-4), (box.low, X[:, j].min(), -1e-4)):
                if side[j] != end:
                    low, high = box.low.copy(), box.high.copy()
                    (high if out > 0 else low)[j] += out * np.ptp(X[:, j])
                    middle, half = (low + high) / 2, (high - low) / 2
                    read = explainer._reading.model
                    ball = Ball(BallNorm.LINF, half, np.zeros(3), np.zeros(3))
                    (worst,) = worst_neighbours(read, np.ones((1, 1)), middle, ball)
                    assert model.predict(worst.point[None])[0] == 0
                    stopped += 1
    assert stopped > 3
    hurried = explainer.region(row[None], target=1, time_limit=1e-6)
    assert not hurried.widest
    assert "the time ended" in str(hurried)
    assert hurried.contains(row[None]).all()


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", MODELS)
def test_an_impossible_radius_is_told_how_large_it_may_be(name: str) -> None:
    X, y = make_classification(120, 3, n_informative=3, n_redundant=0, random_state=0)
    X = pd.DataFrame(X, columns=list("abc"))
    model = MODELS[name].fit(X, y)
    explainer, row = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[[0]]
    wide = 0.5
    while explainer.explain(row, target=1, constraints=[bf.robust(wide)]).found.all():
        wide *= 2
    answer = explainer.explain(row, target=1, constraints=[bf.robust(wide)]).only
    assert answer.certificate.status is Status.PROVEN_INFEASIBLE
    assert "% of the radius there is one" in answer.certificate.why
    assert bf.Explanation.from_json(answer.to_json()).certificate == answer.certificate
    some, none = answer.certificate.evidence.radius.possible, answer.certificate.evidence.radius.impossible
    assert 0 < some < none <= 1
    assert none - some <= 0.01
    assert explainer.explain(row, target=1, constraints=[bf.robust(some * wide)]).found.all()
    assert not explainer.explain(row, target=1, constraints=[bf.robust(none * wide)]).found.any()
    assert bf.check(answer, model).passed


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seeds", first(1, [range(90, 115), range(90), range(115, 150)]))
@pytest.mark.parametrize(("norm", "form"), diagonal(BallNorm, ["linear", "network"]))
def test_a_missing_value_is_not_shifted(form: str, norm: BallNorm, seeds: range) -> None:
    """On grids of whole numbers, with values that are missing or may become missing, against enumeration."""
    kinds = Kinds(costs=("l1", "l0", "table"), relations=("at most",), features=3, continuous=False, classes=2)
    judged = agreed = missing = 0
    for seed in seeds:
        problem = random_problem(seed, form, kinds)
        ball = random_ball(np.random.default_rng(seed), problem, BallNorm.LINF)
        ball = replace(ball, radius=np.where([len(cells.edges) for cells in problem.model.cells], 0.0, ball.radius))
        problem = problem.with_demands(ball=replace(ball, norm=norm))
        if norm is not BallNorm.LINF and np.count_nonzero(ball.radius) > 1:
            continue
        if not ROBUST.accepts(problem.form()):
            continue
        truth, found = enumerated(problem), ROBUST.solve(problem, Budget())
        message = f"seed {seed}: {truth} by enumeration, {found.cost} (bound {found.bound})"
        assert found.bound[0] <= truth + 1e-6, message
        assert found.cost[0] >= truth - 1e-6, message
        equal = found.cost[0] == truth or abs(found.cost[0] - truth) <= 1e-6 * (1 + truth)
        assert equal or form == "network", message  # about ties of a network, rounding decides
        judged, agreed = judged + 1, agreed + equal
        missing += bool((np.isnan(problem.factuals[0]) & (ball.radius > 0)).any())
    assert agreed > 0.8 * judged > 0.2 * len(seeds)
    assert missing > 0.02 * len(seeds)


def test_the_estimator_is_asked_about_neighbours_and_not_whether_they_are_robust() -> None:
    """The neighbour's value is the threshold itself."""
    X = pd.DataFrame({"a": [2003, 2000, 2004, 2001, 2004, 2001, 2001, 2000, 2003, 2003, 2003, 2002, 2000, 2004]})
    y = np.array([2.36, -2.09, 2.2, 0.17, 3.32, 0.04, -0.77, 0.14, 0.51, 2.1, 2.31, -0.44, -0.54, 3.4])
    model = GradientBoostingRegressor(n_estimators=2, max_depth=2, random_state=0).fit(X, y)
    least = float(model.predict(pd.DataFrame({"a": [2003]}))[0])
    found = (
        bf.Explainer(model, X)
        .explain(X.iloc[[2]], target=bf.value(at_most=least), constraints=[bf.robust({"a": 1})])
        .only
    )
    assert found.point["a"].iloc[0] == 2002
    assert found.certificate.status is Status.PROVEN_OPTIMAL


def test_an_answer_knows_the_box_that_was_promised() -> None:
    X, y = make_classification(200, 4, n_informative=3, n_redundant=0, random_state=1)
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    explainer, row = bf.Explainer(model, X), X[model.predict(X) == 0][:1]
    answer = explainer.explain(row, target=1, constraints=[bf.robust(0.03)])
    width = X.max(axis=0) - X.min(axis=0)
    box = answer.region
    assert box is not None
    np.testing.assert_allclose([box.low, box.high], [answer.point[0] - 0.03 * width, answer.point[0] + 0.03 * width])
    inside = np.random.default_rng(0).uniform(box.low, box.high, (500, 4))
    assert box.contains(inside).all()
    assert (model.predict(inside) == 1).all()
    again = bf.Explanation.from_json(answer.to_json()).region
    assert again is not None
    np.testing.assert_array_equal(again.low, box.low)
    assert explainer.explain(row, target=1).region is None
    assert explainer.explain(row, target=1, constraints=[bf.robust(0.03, norm="l2")]).region is None


def test_a_tree_over_bins_beside_a_ball_in_whole_numbers() -> None:
    """The ball moves the cuts of one column, and the bins of the other stay what they are."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 9, 80), "b": rng.integers(0, 9, 80)})
    y = (X.a + 2 * X.b > 12).astype(int)
    bins = ColumnTransformer([("b", KBinsDiscretizer(4, encode="ordinal"), ["b"])], remainder="passthrough")
    model = make_pipeline(bins, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(X, y)
    explainer, grid = (
        bf.Explainer(model, X),
        pd.DataFrame(list(itertools.product(range(9), range(9))), columns=list("ab")),
    )
    said = [model.predict(grid.assign(a=grid.a + shift)) == 1 for shift in (-1, 0, 1)]
    met, found = np.all(said, axis=0), 0
    for at in np.flatnonzero(model.predict(X) == 0)[:12]:
        row = X.iloc[[at]]
        cost = (np.abs(grid.to_numpy() - row.to_numpy()) / 8).sum(axis=1)
        answer = explainer.explain(row, target=1, constraints=[bf.robust({"a": 1})])[0]
        truth = cost[met].min(initial=np.inf)
        assert answer.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        assert answer.cost == pytest.approx(truth, abs=1e-9) if answer.found else np.isinf(truth)
        found += answer.found
    assert found


def test_rounding_that_decides_about_a_neighbour_of_a_linear_row_is_asked_about() -> None:
    """On paper, a neighbour attains the threshold. As the estimator rounds it, it is a little less."""
    a = [0, 0, 1, 0.5, 0, 1, 0.5, 1, 1, 0.5, 0.5, 1, 1, 1, 0, 0, 0.5, 1]
    b = [0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
    c = [0.5, 0.25, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.25, 0.5, 0.5, 0, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25]
    y = [
        -2.88, 2.85, -4.17, 4.06, -0.03, -0.97, -0.06, -4.71, 2.16, -0.14, -4.12, 2.08, -4.35, -2.49, 2.87, 2.76, 1.39, -1.96
    ]  # fmt: skip
    X = pd.DataFrame({"a": a, "b": pd.Series(b, dtype="boolean"), "c": c})
    model = make_pipeline(StandardScaler(), LinearSVR(random_state=0)).fit(X, y)
    explainer = bf.Explainer(model, X, space={"a": bf.Step(0.5, 0.0, 1.0)})
    corner = pd.DataFrame({"a": [0.5], "b": pd.Series([True], dtype="boolean"), "c": [0.25]})
    least = float(np.nextafter(model.predict(corner)[0], np.inf))
    answer = explainer.explain(X.iloc[[5]], target=bf.value(at_least=least), constraints=[bf.robust({"c": 0.25})])[0]
    assert answer.certificate.bound <= 2.0  # a = 0 is accepted whatever the rounding
    if answer.found:
        near = [answer.point.assign(c=answer.point["c"] + shift) for shift in (-0.25, 0.0, 0.25)]
        assert (model.predict(pd.concat(near)) >= least).all()


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seeds", first(1, [range(65), range(65, 130), range(130, 400)]))
@pytest.mark.parametrize("norm", list(BallNorm))
def test_rows_of_a_linear_model_together_are_as_each_alone(norm: BallNorm, seeds: range) -> None:
    """The closed form for many rows against the solver that takes one after the other, over several sets of scores."""
    kinds = Kinds(costs=("l1", "l2", "l0", "linf", "table"), relations=("at most",), missing=False, features=3)
    together, judged, impossible = RobustLinear((LinearExact(), LinearKnapsack())), 0, 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, "linear", kinds)
        ball = random_ball(rng, problem, BallNorm.LINF)
        ball = replace(ball, norm=norm, radius=np.where([len(c.edges) for c in problem.model.cells], 0.0, ball.radius))
        problem = problem.with_demands(ball=ball)
        if not together.accepts(problem.form()) or (norm is not BallNorm.LINF and (ball.step > 0).any()):
            continue
        found, alone = together.solve(problem, Budget()), ROBUST.solve(problem, Budget())
        assert found.status() == alone.status(), f"seed {seed}"
        if found.found()[0]:
            assert found.cost[0] == pytest.approx(alone.cost[0], rel=1e-6, abs=1e-9), f"seed {seed}"
        judged, impossible = judged + 1, impossible + (not found.found()[0])
    assert judged > 0.2 * len(seeds)
    assert impossible > 0.025 * len(seeds)


@pytest.mark.long
def test_many_rows_of_a_linear_model_and_what_their_certificates_tell(monkeypatch) -> None:
    monkeypatch.setattr("butfor.problem.neighbours.SAMPLING_SECONDS", 1e6)  # on a busy machine, too
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    explainer, rows = bf.Explainer(model, X), X[model.predict(X) == 0]
    answers = explainer.explain(rows, target=1, constraints=[bf.robust(0.02)])
    assert {one.certificate.solver.split(":")[0] for one in answers if one.changes} == {
        "robust_linear, by linear_exact"
    }
    assert {one.certificate.status for one in answers} == {Status.PROVEN_OPTIMAL}
    few, one = answers[3], explainer.explain(rows.iloc[[3]], target=1, constraints=[bf.robust(0.02)]).only
    assert few.cost == pytest.approx(one.cost)
    around = one.certificate.evidence.around
    assert few.certificate.evidence.around.predicted == 200
    assert around.predicted == 10_000
    worst = one.point.copy()
    for name in X.columns:
        worst[name] = around.worst[name]
    assert around.score == pytest.approx(model.predict_proba(worst)[0, 1])
    assert 0.5 <= around.score < 0.5 + 1e-6
    assert "10000 neighbours were predicted; the worst has 0.5" in repr(one.certificate)
    assert "Score of the worst neighbour" in one.to_html()
    assert bf.Explanation.from_json(one.to_json()).certificate == one.certificate


@pytest.mark.shorter(1)
@pytest.mark.parametrize("some", first(1, [slice(1), slice(1, 3)]))
@pytest.mark.parametrize("blind", [False, True])
def test_a_hard_network_has_an_answer_soon(blind: bool, some: slice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear steps end beside the boundary, where the adversary takes long. Deeper inside, and among real rows, it does not."""
    X, y = make_classification(300, 12, n_informative=8, random_state=3)
    network = MLPClassifier((40,), solver="lbfgs", alpha=1.0, max_iter=5000, random_state=0).fit(X, y)
    explainer, rows = bf.Explainer(network, X), X[network.predict(X) == 0][some]
    monkeypatch.setattr(NetworkShifts, "_look", lambda *args: None)
    if blind:
        monkeypatch.setattr(deep_inside, "_deeper", lambda network, shifts, best, budget: best)
    for answer in explainer.explain(rows, target=1, constraints=[bf.robust(0.03)], time_limit_per_row=3):
        assert answer.found
        assert answer.certificate.bound <= answer.cost * (1 + 1e-6)
        near = np.asarray(answer.point) + 0.03 * np.ptp(X, axis=0) * np.random.default_rng(0).uniform(-1, 1, (500, 12))
        assert (network.predict(near) == 1).all()


def test_a_cut_that_only_missing_values_are_beyond() -> None:
    """Such a cut is beyond all numbers, and stays there under every shift."""
    X = pd.DataFrame({"a": [0.0, 0.0, 0.1, 0.1, np.nan, np.nan] * 4, "b": [0.0, 1.0] * 12})
    y = np.where(X.a.isna(), 2.0, X.b)
    model = RandomForestRegressor(3, bootstrap=False, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, X, space={"a": bf.Step(0.1)})
    robust = bf.robust({"a": 0.1})
    found = explainer.explain(X.iloc[[0]], target=bf.value(at_least=0.5, at_most=1.5), constraints=[robust]).only
    assert found.certificate.status is Status.PROVEN_OPTIMAL
    assert found.cost == pytest.approx(1.0)


def test_a_shifted_cut_is_the_last_float_that_does_not_pass_it() -> None:
    """Near 0 it once was some floats too early, and a ball that touched a failing leaf counted as valid."""
    rng = np.random.default_rng(0)
    near_zero = 0
    for _ in range(2_000):
        cut = rng.choice([rng.integers(-20, 20) / 10, rng.normal(), 1e-3 * rng.normal()], 5)
        shift = rng.choice([-1, 1], 5) * rng.choice([0.0, 0.1, 0.3, rng.random(), abs(cut[0])], 5)
        last = last_below(cut, shift)
        assert (last + shift <= cut).all()
        assert (np.nextafter(last, np.inf) + shift > cut).all()
        near_zero += int((np.abs(last) < 1e-15).sum())
    assert near_zero > 500


@pytest.mark.parametrize("step", [0.1, 0.3, 0.7])
def test_decimal_steps_have_all_neighbours_and_regions_hold_no_refused_row(step: float) -> None:
    rng = np.random.default_rng(0)
    side = np.array([float(f"{k * step:.12g}") for k in range(20)])
    grid = pd.DataFrame(np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2), columns=["x", "y"])
    y = (grid.x > 6 * step) ^ (grid.y > 9 * step) ^ (rng.random(len(grid)) < 0.05)
    model = RandomForestClassifier(5, max_depth=8, random_state=0).fit(grid, y)
    fine = pd.Series(model.predict(grid)).to_numpy().reshape(20, 20)  # y, x
    explainer = bf.Explainer(model, grid, space={"x": bf.Step(step), "y": bf.Step(step)})
    around = np.array(
        [[fine[max(j - 1, 0) : j + 2, max(i - 1, 0) : i + 2].all() for i in range(20)] for j in range(20)]
    )
    inside = (
        (grid.x > 0) & (grid.x < side[-1]) & (grid.y > 0) & (grid.y < side[-1])
    )  # of which all neighbours are known
    firm = grid[around.ravel() & inside]
    rows = grid[~model.predict(grid)].sample(6, random_state=1)
    limits = [f"x >= {side[1]}", f"x <= {side[-2]}", f"y >= {side[1]}", f"y <= {side[-2]}"]
    for answer, row in zip(
        explainer.explain(rows, target=True, constraints=[bf.robust({"x": step, "y": step}), *limits]),
        rows.to_numpy(),
        strict=True,
    ):
        best = (np.abs(firm.to_numpy() - row) / (side[-1] - side[0])).sum(axis=1).min()
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(best, rel=1e-9)
        region = explainer.region(answer.point, target=True)
        assert model.predict(grid[region.contains(grid)]).all()


@pytest.mark.parametrize("trees", [1, 5])
def test_a_number_beside_its_grid_has_neighbours_of_its_own(trees: int) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"k": rng.integers(0, 10, 300), "x": rng.normal(size=300).round(2)})
    y = (X.k <= 2) & (X.x > 0)
    model = RandomForestClassifier(trees, max_depth=4, bootstrap=False, max_features=2, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, X)
    for own in (1.3, 1.7, 2.6):
        row = pd.DataFrame({"k": [own], "x": [-1.0]})
        values, best = np.unique(np.append(X.x, X.x + 0.01)), dict[float, float]()
        far = np.abs(values + 1) / (X.x.max() - X.x.min())
        for k in (own, *range(10)):
            near = pd.DataFrame({"k": np.repeat([k - 1.0, k, k + 1], len(values)), "x": np.tile(values, 3)})
            best[k] = abs(k - own) / 9 + far[model.predict(near).reshape(3, -1).all(axis=0)].min(initial=np.inf)
        for kept in ([], [bf.fixed("k")]):
            answer = explainer.explain(row, target=True, constraints=[bf.robust({"k": 1}), *kept]).only
            least = best[own] if kept else min(best.values())
            if np.isinf(least):
                assert answer.certificate.status is Status.PROVEN_INFEASIBLE
                continue
            assert answer.certificate.status is Status.PROVEN_OPTIMAL
            assert answer.cost <= least
            near = pd.concat([answer.point] * 3).assign(k=answer.point.k.iloc[0] + np.array([-1.0, 0, 1]))
            assert model.predict(near).all()
        region = explainer.region(row.assign(x=1.0), target=True) if own < 2.5 else None
        assert region is None or region.contains(row.assign(x=1.0)).all()
