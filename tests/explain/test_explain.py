"""The whole path, from fitted estimators to certified answers, through the public interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.audit.recheck import check
from butfor.solvers.outcome import NOBODY, Stopped
from tests.shorter import diagonal

Status = bf.Status


def people(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": rng.normal(30_000, 9_000, rows).round(2),
            "job": rng.choice(["clerk", "nurse", "pilot"], rows),
            "school": rng.choice(["low", "mid", "high"], rows),
            "owns": rng.random(rows) < 0.4,
        }
    )
    X.loc[rng.random(rows) < 0.08, "income"] = np.nan
    score = X["income"].fillna(25_000) / 10_000 + X["age"] / 60 + (X["job"] == "pilot") + 0.5 * X["owns"]
    return X, np.where(score + rng.normal(0, 0.4, rows) > 4.2, "yes", "no")


def preparation() -> object:
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
        (OneHotEncoder(), ["job"]),
        (OrdinalEncoder(categories=[["low", "mid", "high"]]), ["school"]),
        remainder="passthrough",
    )


@pytest.fixture(scope="module", params=["logistic", "tree", "binned"])
def explainer(request) -> tuple[bf.Explainer, pd.DataFrame]:
    X, y = people()
    binned = make_column_transformer(
        (KBinsDiscretizer(5), ["age"]), (OneHotEncoder(drop="first"), ["job", "school"]), ("passthrough", ["owns"])
    )
    model = {
        "logistic": make_pipeline(preparation(), LogisticRegression()),
        "tree": make_pipeline(preparation(), DecisionTreeClassifier(max_depth=6, random_state=0)),
        "binned": make_pipeline(binned, LogisticRegression()),
    }[request.param]
    return bf.Explainer(model.fit(X, y), X, space={"school": bf.Ordinal(["low", "mid", "high"])}), X


COSTS = [bf.L1(), bf.L2(), bf.LInf(), bf.L0(), bf.L1() + 0.5 * bf.L0() + 0.25 * bf.L2(), bf.Gower(), bf.MAD()]
WISHES = [
    [],
    [bf.fixed("job"), bf.only_up("age", "school")],
    [bf.at_most_changes(2), bf.between("age", 20, 60), bf.step("income", 500)],
    [bf.implies(bf.rises("school"), bf.rises("age", by=3)), bf.linear({"income": 1.0, "age": -100.0}, "<=", 40_000)],
    [bf.margin(0.02), bf.within("income", 0.5), bf.moves("job", {"clerk": ["nurse"], "nurse": ["pilot"]})],
]


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("cost", "wish"), diagonal(COSTS, range(len(WISHES))), ids=repr)
def test_every_answer_is_certified_and_solvers_agree(explainer, cost, wish) -> None:
    bound, X = explainer
    rows = X.iloc[5:11]
    found = bound.explain(rows, cost=cost, constraints=WISHES[wish])
    again = bound.explain(rows, cost=cost, constraints=WISHES[wish], solver="milp")
    for one, other in zip(found, again, strict=True):
        assert one.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE), one
        assert one.certificate.status is other.certificate.status
        if not one.found:
            assert one.certificate.conflict
            continue
        assert one.cost == pytest.approx(other.cost, rel=3e-6, abs=3e-6)
        assert bound.model.predict(one.point)[0] == one.after != one.before
        assert all(passed for _, passed in one.certificate.checks)
        known = one.certificate
        assert known.cost - known.bound <= 2e-6 * (known.coin + known.cost)


def test_softmax_probability_matches_a_convex_solver() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    bound = bf.Explainer(model, X, space={f"x{j}": bf.Continuous() for j in range(4)})
    answer = bound.explain(X[:1], target=bf.probability(2, at_least=0.8), cost=bf.L2())
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert model.predict_proba(answer.point)[0, 2] >= 0.8
    width = np.ptp(X, axis=0)
    rival = minimize(
        lambda x: (((x - X[0]) / width) ** 2).sum(), X[110], method="SLSQP", options={"ftol": 1e-12, "maxiter": 500},
        bounds=list(zip(X.min(axis=0), X.max(axis=0), strict=True)),
        constraints={"type": "ineq", "fun": lambda x: model.predict_log_proba(x[None])[0, 2] - np.log(0.8)},
    )  # fmt: skip
    assert answer.cost == pytest.approx(rival.fun, rel=1e-4)


def test_classes_costs_of_classes_and_other() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    bound = bf.Explainer(DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y), X)
    row = X.iloc[[0]]
    single = {label: bound.explain(row, target=label).cost for label in (1, 2)}
    assert bound.explain(row, target=[1, 2]).cost == pytest.approx(min(single.values()))
    assert bound.explain(row).cost == pytest.approx(min(single.values()))
    weighed = bound.explain(row, target={1: 0.5, 2: 0.0})
    assert weighed.cost == pytest.approx(min(single[1] + 0.5, single[2]))
    stay = bound.explain(row, target={0: 0.001, 2: 0.0})
    assert stay.cost == pytest.approx(0.001)
    assert stay.changes == ()


def test_regression_targets() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    for model in (LinearRegression(), Ridge(), DecisionTreeRegressor(max_depth=5, random_state=0)):
        bound = bf.Explainer(model.fit(X, y), X)
        rows = X.iloc[:5]
        before = model.predict(rows)
        lifted = bound.explain(rows, target=bf.relative_change(0.1))
        assert (model.predict(lifted.points) >= 1.1 * before[lifted.found] - 1e-9).all()
        inside = bound.explain(rows, target=bf.value(100, 160))
        assert all(100 - 1e-9 <= value <= 160 + 1e-9 for value in model.predict(inside.points))
        assert lifted.found.any()
        assert inside.found.any()


def test_thresholds_other_than_one_half() -> None:
    X, y = people()
    inner = make_pipeline(preparation(), LogisticRegression()).fit(X, y)
    strict = FixedThresholdClassifier(inner, threshold=0.9, pos_label="yes").fit(X, y)
    bound = bf.Explainer(strict, X)
    row = X[strict.predict(X) == "no"].iloc[[0]]
    answer = bound.explain(row, target="yes")
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert strict.estimator_.predict_proba(answer.point)[0, 1] >= 0.9
    assert answer.cost > bf.Explainer(inner, X).explain(row, target=bf.probability("yes", at_least=0.5)).cost - 1e-9


def test_ties_on_the_boundary_are_decided_by_the_estimator() -> None:
    """Whole weights and whole features: scores of exactly 0 belong to the first class, and the cheapest answer is a tie."""
    X = np.array([[i, j] for i in range(-3, 4) for j in range(-3, 4)], dtype=np.int64)
    y = (X.sum(axis=1) > 0).astype(int)
    model = Perceptron(random_state=0).fit(X, y)
    model.coef_, model.intercept_ = np.array([[2.0, 1.0]]), np.array([-2.0])
    bound = bf.Explainer(model, X)
    for row in X:
        labels = model.predict(X)
        answer = bound.explain(row[None])
        others = X[labels != model.predict(row[None])[0]]
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx((np.abs(others - row) / 6).sum(axis=1).min())


def test_already_met_costs_nothing_and_says_so() -> None:
    X, y = people()
    bound = bf.Explainer(make_pipeline(preparation(), DecisionTreeClassifier(max_depth=3)).fit(X, y), X)
    row = X.iloc[[0]]
    answer = bound.explain(row, target=bound.model.predict(row)[0])
    assert (answer.cost, answer.changes) == (0.0, ())
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert "already met" in answer.certificate.why
    assert answer.certificate.solver == str(NOBODY)
    moved = bound.explain(
        row, target=bound.model.predict(row)[0], constraints=[bf.between("age", row["age"].item() + 1, 90)]
    )
    assert [change.name for change in moved.changes] == ["age"]


def test_impossible_names_a_smallest_conflict() -> None:
    X, y = people()
    bound = bf.Explainer(make_pipeline(preparation(), LogisticRegression()).fit(X, y), X)
    row = X[bound.model.predict(X) == "no"].dropna().iloc[[0]]
    wishes = [bf.fixed("job", "owns", "school"), bf.within("income", 0.0), bf.only_down("age"), bf.at_most_changes(4)]
    answer = bound.explain(row, target="yes", constraints=wishes)
    assert answer.certificate.status is Status.PROVEN_INFEASIBLE
    assert answer.point is None
    assert set(answer.certificate.conflict) <= {
        "fixed('job')", "fixed('owns')", "fixed('school')", "within('income', 0.0)", "only_down('age')",
        "the ranges of the data",
    }  # fmt: skip
    names = set(answer.certificate.conflict) - {"the ranges of the data"}
    atoms = [atom for wish in wishes for atom in wish.atoms()]
    assert not bound.explain(row, target="yes", constraints=[a for a in atoms if repr(a) in names]).found
    for name in names:
        kept = [atom for atom in atoms if repr(atom) in names and repr(atom) != name]
        assert bound.explain(row, target="yes", constraints=kept).found


def test_a_class_out_of_reach_blames_ranges_or_model() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    never = bf.Explainer(tree, X).explain(X.iloc[[0]], target=bf.value(at_least=99))
    assert never.certificate.conflict == ("the model itself",)
    narrow = bf.Explainer(LinearRegression().fit(X, y), X).explain(X.iloc[[0]], target=bf.value(at_least=99))
    assert narrow.certificate.conflict == ("the ranges of the data",)


def test_each_of_several_answers_names_the_solver_that_gave_it() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    bound = bf.Explainer(LinearRegression().fit(X, y), X)
    answers = bound.explain(X.iloc[[60]], target=bf.value(at_least=1.5), k=3)
    names = [one.certificate.solver.partition(":")[0] for one in answers]
    assert len(names) > 1
    assert names == ["linear_exact", *["milp"] * (len(names) - 1)]
    assert all(check(one, bound.model).passed for one in answers)


def test_several_answers_are_different_and_sorted(explainer) -> None:
    bound, X = explainer
    answers = bound.explain(X.iloc[[7]], k=4)
    costs = [one.cost for one in answers if one.found]
    assert costs == sorted(costs)
    assert len(costs) >= 2
    points = [tuple(change.after if change.changed else "same" for change in one.columns()) for one in answers]
    assert len(set(points)) == len(points)


def test_candidates_serve_any_model() -> None:
    X, y = load_iris(return_X_y=True)
    net = MLPClassifier(max_iter=800, random_state=0).fit(X, y)
    bound = bf.Explainer(net, X)
    answer = bound.explain(X[:1], target=2, constraints=[bf.candidates(X)])
    others = X[net.predict(X) == 2]
    assert answer.cost == pytest.approx((np.abs(others - X[0]) / np.ptp(X, axis=0)).sum(axis=1).min())
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    function = bf.Explainer(lambda rows: net.predict(rows), X).explain(X[:1], target=2, constraints=[bf.candidates(X)])
    assert function.cost == pytest.approx(answer.cost)
    none = bound.explain(X[:1], target=2, constraints=[bf.candidates(X[:50])])
    assert none.certificate.status is Status.PROVEN_INFEASIBLE


def test_time_limit_is_an_outcome() -> None:
    X, y = people()
    bound = bf.Explainer(make_pipeline(preparation(), LogisticRegression()).fit(X, y), X)
    found = bound.explain(X.iloc[:50], solver="milp", time_limit=0.05)
    assert len(found) == 50
    assert set(found.statuses) <= {
        Status.PROVEN_OPTIMAL,
        Status.NOT_FOUND,
        Status.WITHIN_GAP,
        Status.VALID,
    }
    assert Status.NOT_FOUND in found.statuses


def test_interrupt_keeps_what_was_found(monkeypatch) -> None:
    X, y = people()
    bound = bf.Explainer(make_pipeline(preparation(), LogisticRegression()).fit(X, y), X)
    from butfor.solvers.milp.milp import Milp

    solve, calls = Milp.solve, []

    def stopping(self, *args, **kwargs):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return solve(self, *args, **kwargs)

    monkeypatch.setattr(Milp, "solve", stopping)
    found = bound.explain(X.iloc[:10], solver="milp")
    assert 1 <= found.found.sum() <= 3 + sum(status is Status.PROVEN_OPTIMAL for status in found.statuses[3:])
    assert Status.NOT_FOUND in found.statuses


@pytest.mark.parametrize("at", ["how far impossible rows get", "the bounds of an exact solver"])
def test_interrupt_keeps_what_was_found_before(at: str, monkeypatch) -> None:
    X, y = people()
    bound = bf.Explainer(make_pipeline(preparation(), LogisticRegression()).fit(X, y), X)

    def stopping(*args, **kwargs):
        raise KeyboardInterrupt

    if at == "how far impossible rows get":
        monkeypatch.setattr("butfor.explain.solve.farthest", stopping)
        asked = {"target": bf.probability("yes", 0.999999), "constraints": ["at_most_changes 1"]}
    else:
        monkeypatch.setattr("butfor.explain.solve.exact", lambda form: Stopping(stopping))
        asked = {"target": "yes", "solver": bf.Swarm(particles=8, iterations=5), "compare": "exact"}
    answers = bound.explain(X.iloc[:10], **asked)
    assert len(answers) == 10
    assert {one.stopped for one in answers.certificates} >= {Stopped.DONE}


@dataclass
class Stopping:
    """A solver that is interrupted."""

    solve: Any
    name: str = "stopping"


def test_prices_of_ones_own() -> None:
    X, y = people()
    X = X.dropna()
    bound = bf.Explainer(
        make_pipeline(preparation(), DecisionTreeClassifier(max_depth=5, random_state=0)).fit(X, y[X.index]), X
    )
    row = X[bound.model.predict(X) == "no"].iloc[[2]]
    steep = bf.Table(
        {
            "income": lambda before, after: np.where(after > before, (after - before) / 1000, 0.1),
            "job": {("clerk", "nurse"): 0.5, ("nurse", "pilot"): 2.0, ("clerk", "pilot"): 9.0},
        }
    ) + bf.L1(weights={"income": 0.0, "job": 0.0})
    answer = bound.explain(row, target="yes", cost=steep)
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    with pytest.raises(bf.errors.InputError, match="falls while the value moves away"):
        bound.explain(row, cost=bf.Table({"income": lambda before, after: 1e9 - np.abs(after - before)}))


def test_quadratic_form_matches_its_diagonal() -> None:
    X, y = load_iris(return_X_y=True)
    y = (y == 2).astype(int)
    bound = bf.Explainer(LogisticRegression().fit(X, y), X, space={f"x{j}": bf.Continuous() for j in range(4)})
    widths = np.ptp(X, axis=0)
    row = X[:1]
    squares = bound.explain(row, cost=bf.L2())
    form = bound.explain(row, cost=bf.Quadratic(np.diag(1 / widths**2)))
    assert form.cost == pytest.approx(squares.cost, rel=1e-5)
    assert form.certificate.status is Status.PROVEN_OPTIMAL
    coupled = bound.explain(row, cost=bf.Quadratic(np.diag(1 / widths**2) + 0.2))
    assert coupled.cost > squares.cost


def test_same_question_same_answer_and_inputs_untouched(explainer) -> None:
    bound, X = explainer
    rows, before = X.iloc[3:9], X.copy()
    first, second = bound.explain(rows, seed=3), bound.explain(rows, seed=3)
    assert list(first) == list(second)
    pd.testing.assert_frame_equal(X, before)


def test_a_whole_number_just_above_a_cut_is_not_lost_in_a_wide_range() -> None:
    X = np.array([[0.0], [99.999], [100.0], [100_000.0]])
    tree = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    explainer = bf.Explainer(tree, data=X, space={"x0": bf.Integer()})
    answer = explainer.explain(X[:1], target=1, cost=bf.Quadratic(np.array([[1e-4]])))
    assert answer.point[0, 0] == 100.0
    assert answer.cost == pytest.approx(1.0)
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_a_split_that_parts_missing_values_only() -> None:
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    tree = DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    answer = bf.Explainer(tree, data=X).explain(X[:1], target=1, constraints=[bf.may_be_missing("x0")])
    assert np.isnan(answer.point[0, 0])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
