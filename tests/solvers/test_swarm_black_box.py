"""Black boxes explained, the whole way: functions and estimators that no importer reads, and what they may do wrong."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import butfor as bf
from butfor import Status
from butfor.compiled.clock import now
from butfor.datasets import loans
from butfor.errors import InputError, InputTypeError, UnknownColumnError, UnsupportedProblemError
from butfor.importers.libraries.sklearn_isolation import PathLengths
from butfor.solvers.swarm.appraiser import Appraiser
from tests.shorter import first

X, Y = loans.load()
NUMBERS = ["age", "income", "amount", "months", "late_payments"]
TREE = loans.pipeline().fit(X, Y)
"""Of a function around it, only predictions are known; butfor reads the tree itself, and knows the optimum."""

ROWS = np.flatnonzero(TREE.predict(X) == "rejected")[:4]
QUICK = bf.Swarm(particles=20, iterations=15)

LOGIT = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[NUMBERS], Y)
REJECTED = X[NUMBERS].iloc[np.flatnonzero(LOGIT.predict(X[NUMBERS]) == "rejected")[:10]]
ONE = REJECTED.iloc[[0]]


class Counted:
    """A function of rows that remembers how it was asked."""

    def __init__(self, function) -> None:
        self.function, self.sizes = function, []

    def __call__(self, rows):
        self.sizes.append(len(rows))
        return self.function(rows)


def probabilities(rows):
    return LOGIT.predict_proba(rows)


def boxed(function=probabilities, data=X[NUMBERS], **settings):
    return bf.Explainer(bf.black_box(function, classes=LOGIT.classes_, **settings), data)


CONSTRAINTS = {
    "fixed": [bf.fixed("amount", "late_payments")],
    "direction": [bf.only_up("income", "age"), bf.only_down("amount")],
    "between": [bf.between("income", 0, 40_000)],
    "within": [bf.within("income", 0.3), bf.within("amount", 0.5)],
    "step": [bf.step("amount", 500), bf.whole("months")],
    "at most": [bf.at_most_changes(2)],
    "linear": [bf.linear({"amount": 1.0, "income": -0.3}, "<=", 0.0)],
    "implies": [bf.implies(bf.rises("income"), bf.rises("age", by=2))],
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_answers_keep_every_kind_of_constraint(kind) -> None:
    explainer = boxed()
    rows = REJECTED.iloc[:2]
    answers = explainer.explain(rows, target="approved", constraints=CONSTRAINTS[kind], solver=QUICK)
    assert answers.found.all()
    for answer in answers[answers.found]:
        assert answer.certificate.status is Status.VALID
        assert all(passed for _, passed in answer.certificate.checks)
        assert LOGIT.predict(answer.point)[0] == "approved"
        for constraint in CONSTRAINTS[kind]:
            assert constraint.holds_between(explainer.space, answer.factual_codes[None], answer.point_codes[None])[0]


def test_categories_and_missing_values() -> None:
    """Every answer is a row of the user's own kind: one category each, whole numbers whole, missing as it was."""
    explainer = bf.Explainer(bf.black_box(TREE.predict_proba, classes=TREE.classes_), X)
    limits = [bf.moves("job", {"unemployed": ["temporary"]}), bf.allowed("housing", ["rents", "owns"]), bf.fixed("sex")]
    lost = np.flatnonzero(X["savings"].isna() & (TREE.predict(X) == "rejected"))[:3]
    answers = explainer.explain(X.iloc[lost], target="approved", constraints=limits, solver=QUICK)
    assert answers.found.any()
    found = answers.points
    assert (TREE.predict(found) == "approved").all()
    assert found.dtypes.equals(X.dtypes)
    assert set(found["job"]) <= set(X["job"])
    assert (found["sex"].to_numpy() == X.iloc[lost[answers.found]]["sex"].to_numpy()).all()


def test_never_dearer_than_the_cheapest_real_row() -> None:
    """The cheapest training row that meets target and constraints, which `candidates` finds, is the worst it returns."""
    for constraints in ([], [bf.only_up("income")]):
        explainer = boxed()
        rows = REJECTED
        real = explainer.explain(rows, target="approved", constraints=[*constraints, bf.candidates(X[NUMBERS])])
        for settings in (bf.Swarm(iterations=0, polish=False), bf.Swarm(iterations=5, choice="last", polish=False)):
            found = explainer.explain(rows, target="approved", constraints=constraints, solver=settings)
            assert (found.costs <= real.costs + 1e-12).all()


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.long
def test_how_far_from_the_optimum_on_a_tree_and_a_line(count: int) -> None:
    """The same models read give the optimum: what the swarm is above it, measured and held."""
    numbers = REJECTED.iloc[:count]
    cases = [
        (bf.Explainer(TREE, X), bf.Explainer(bf.black_box(TREE.predict_proba, TREE.classes_), X), X.iloc[ROWS[:count]]),
        (bf.Explainer(LOGIT, X[NUMBERS]), boxed(), numbers),
    ]
    for exact, box, rows in cases:
        optimum, found = exact.explain(rows, target="approved"), box.explain(rows, target="approved")
        gap = found.costs / optimum.costs - 1
        assert (gap > -1e-6).all()
        assert np.median(gap) < 0.001
        assert gap.mean() < 0.05


def test_a_function_of_labels_will_do() -> None:
    explainer = bf.Explainer(lambda rows: TREE.predict(rows), X)
    answer = explainer.explain(X.iloc[[ROWS[0]]], target="approved", solver=QUICK)
    assert answer.found
    assert answer.after == "approved"
    assert answer.before == "rejected"


@pytest.mark.parametrize("target", [bf.value(at_least=30.0), bf.value(20.0, 21.0), bf.relative_change(0.2)])
def test_values(target) -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(200, 4))
    explainer = bf.Explainer(bf.black_box(lambda rows: 10 + 5 * np.exp(rows[:, 0]) + rows[:, 1] ** 2), data)
    answer = explainer.explain(data[:1], target=target, solver=QUICK)
    assert answer.found
    assert 0 not in [change.change for change in answer.changes]


def test_rows_with_values_of_their_own_are_searched_together() -> None:
    """Each row has a value of its own to reach. Where nothing is provable, the swarm looks at the examples of all rows."""
    rng = np.random.default_rng(0)
    few = rng.choice([4.43, 5.2, 7.17], size=44).astype("float32")
    data = pd.DataFrame({"a": rng.choice([0.0, 1.0], size=44), "b": few})
    model = RandomForestRegressor(2, max_depth=3, random_state=0).fit(data, rng.normal(size=44))
    explainer, half = bf.Explainer(model, data), float(np.float32(5.2) / 2 + np.float32(7.17) / 2)
    asked = {"target": bf.relative_change(-0.3), "constraints": [bf.linear({"b": 1.0}, "==", half)]}
    together = [one.certificate.status for one in explainer.explain(data.iloc[:6], **asked)]
    assert together == [explainer.explain(data.iloc[[i]], **asked)[0].certificate.status for i in range(6)]
    assert bf.Status.NOT_FOUND in together


@pytest.mark.long
def test_an_estimator_that_no_importer_reads() -> None:
    machine = SVC().fit(X[NUMBERS] / X[NUMBERS].max(), Y)
    data = X[NUMBERS] / X[NUMBERS].max()
    row = data.iloc[np.flatnonzero(machine.predict(data) == "rejected")[[0]]]
    answer = bf.Explainer(machine, data).explain(row, target="approved", solver=QUICK)
    assert machine.predict(answer.point)[0] == "approved"
    assert "swarm: named by the user" in answer.certificate.solver


def test_probabilities_and_class_costs() -> None:
    explainer = boxed()
    sure = explainer.explain(ONE, target=bf.probability("approved", at_least=0.8), solver=QUICK)
    assert LOGIT.predict_proba(sure.point)[0, list(LOGIT.classes_).index("approved")] >= 0.8
    priced = explainer.explain(ONE, target={"approved": 0.25}, solver=QUICK)
    plain = explainer.explain(ONE, target="approved", solver=QUICK)
    assert priced.cost == pytest.approx(plain.cost + 0.25)


@pytest.mark.long
def test_the_swarm_is_chosen_where_nothing_exact_is() -> None:
    step = make_pipeline(StandardScaler(), KernelPCA(3), LogisticRegression()).fit(X[NUMBERS], Y)
    row = X[NUMBERS].iloc[np.flatnonzero(step.predict(X[NUMBERS]) == "rejected")[[0]]]
    answer = bf.Explainer(step, X[NUMBERS]).explain(row, target="approved")
    assert answer.certificate.solver.startswith(
        "swarm: only predictions are needed (the pipeline step KernelPCA cannot be folded"
    )
    odd = bf.Table({"amount": lambda before, after: np.abs(after - before) / 1000})
    strange = bf.Explainer(LOGIT, X[NUMBERS]).explain(ONE, target="approved", cost=bf.L1() + odd)
    assert strange.certificate.solver.startswith("swarm: the model is called at many points")
    assert strange.certificate.status is Status.VALID


def test_compare_adds_the_bound_of_an_exact_solver() -> None:
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X[NUMBERS], Y)
    explainer = bf.Explainer(forest, X[NUMBERS])
    rows = X[NUMBERS].iloc[np.flatnonzero(forest.predict(X[NUMBERS]) == "rejected")[:3]]
    optimum = explainer.explain(rows, target="approved")
    alone = explainer.explain(rows, target="approved", solver=QUICK)
    beside = explainer.explain(rows, target="approved", solver=QUICK, compare="exact")
    assert [c.bound for c in alone.certificates] == [0.0] * 3
    for one, best in zip(beside, optimum, strict=True):
        assert one.certificate.bound == pytest.approx(best.cost, rel=1e-5)
        assert one.certificate.status in (Status.WITHIN_GAP, Status.PROVEN_OPTIMAL)
        assert "the bound is that of ensemble_branch_bound" in one.certificate.solver
    black = boxed().explain(ONE, target="approved", solver=QUICK, compare="exact")
    assert "no exact solver takes the question" in black.certificate.solver


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 4])
def test_the_same_seed_gives_the_same_answer_and_rows_do_not_matter_to_each_other(count: int) -> None:
    explainer = boxed()
    rows = REJECTED.iloc[:count]
    one, other = (explainer.explain(rows, target="approved", solver=QUICK, seed=4) for _ in range(2))
    assert one == other
    alone = explainer.explain(rows.iloc[[-1]], target="approved", solver=QUICK, seed=4)
    assert np.array_equal(alone.only.point_codes, one[count - 1].point_codes)
    different = [
        explainer.explain(rows.iloc[[-1]], target="approved", solver=QUICK, seed=seed).cost for seed in range(count + 2)
    ]
    assert max(different) / min(different) < 1.05, "the seed is no matter of luck"


def test_rows_share_the_questions() -> None:
    ask = Counted(probabilities)
    explainer = boxed(ask)
    rows = REJECTED.iloc[:8]
    explainer.explain(rows, target="approved", solver=bf.Swarm(particles=20, iterations=10, polish=False))
    assert ask.sizes.count(8 * 20) == 11, "one question an iteration for all particles of all rows"


@pytest.mark.parametrize("calls", [1, 5, 30])
def test_calls_are_kept(calls) -> None:
    """On top: the training rows (once an explainer, a few twice, labels and probabilities), the rows and the answers."""
    ask = Counted(probabilities)
    explainer = boxed(ask)
    rows = REJECTED.iloc[:3]
    explainer.explain(rows, target="approved", solver=bf.Swarm(calls=1))
    ask.sizes.clear()
    answers = explainer.explain(rows, target="approved", solver=bf.Swarm(calls=calls))
    assert answers[0].certificate.notes["calls"] == calls
    others = len(ask.sizes) - calls
    assert 4 + 2 * 3 <= others <= 4 + 2 * 3 + 12, "rows and answers, the answers alone, and without single changes"


def test_a_time_limit_is_kept(quick_clock) -> None:
    def slow(rows):
        quick_clock.sleep(0.02)
        return probabilities(rows)

    explainer = boxed(slow)
    explainer.explain(ONE, target="approved", solver=bf.Swarm(calls=1))
    begin = now()
    answer = explainer.explain(ONE, target="approved", time_limit=0.4)
    assert now() - begin < 0.8
    assert answer.found


def test_an_interruption_keeps_what_is_known() -> None:
    """Ctrl-C in the first question of the search: the cheapest real row was known before it."""
    explainer = boxed()
    rows = REJECTED.iloc[:2]
    assert explainer.explain(rows, target="approved", solver=bf.Swarm(calls=1)).found.all()
    asked = 0

    def interrupted(given):
        nonlocal asked
        asked += 1
        if asked == 6:  # the rows twice, the training rows by label, by probability and again; then the search
            raise KeyboardInterrupt
        return probabilities(given)

    answers = boxed(interrupted).explain(rows, target="approved")
    assert asked <= 6 + 20, "the search ends at once; what follows takes changes back, and confirms the answers"
    assert answers.found.all()
    real = explainer.explain(rows, target="approved", constraints=[bf.candidates(X[NUMBERS])])
    assert (answers.costs <= real.costs).all(), "it is that row, without the changes that are not needed"


def test_several_answers_differ_and_fewer_are_an_outcome() -> None:
    explainer = boxed()
    answers = explainer.explain(ONE, target="approved", k=5, solver=QUICK)
    assert len(answers) == 5
    assert {("income",), ("amount",), ("months",), ("age",)} < {tuple(c.name for c in one.changes) for one in answers}
    few = [bf.fixed("age", "income", "amount", "late_payments")]
    one_column = explainer.explain(ONE, target="approved", k=50, constraints=few, solver=QUICK)
    assert one_column.found.all()
    assert len(one_column) == 1, "to go farther in the only column is no other answer"


def test_how_many_were_asked_and_how_many_particles_were_dropped_is_said() -> None:
    """Coverage is found over asked; a particle without a valid point is none to choose from."""
    explainer = boxed()
    full = explainer.explain(ONE, target="approved", k=3, solver=QUICK)
    assert [one.certificate.notes["coverage"] for one in full] == [1.0] * len(full)
    assert 0 <= full[0].certificate.notes["invalid particles"] < QUICK.particles
    few = [bf.fixed("age", "income", "amount", "late_payments")]
    part = explainer.explain(ONE, target="approved", k=50, constraints=few, solver=QUICK)
    assert part.found.all()
    assert len(part) / 50 <= part[0].certificate.notes["coverage"] < 1, (
        "of the search, before needless ones are left out"
    )
    none = explainer.explain(ONE, target=bf.probability("approved", at_least=1.0), solver=QUICK)
    assert not none.found
    assert none.certificate.notes["coverage"] == 0.0
    assert none.certificate.notes["invalid particles"] == QUICK.particles


@pytest.mark.long
@pytest.mark.parametrize("count", [4, 10])
def test_the_weighted_sum_of_three_terms(count: int) -> None:
    """Distance to the target, Gower distance, changes: `pull` and the weights of a cost; heavier changes are fewer."""
    explainer = boxed()
    rows = REJECTED.iloc[:count]
    sums = [explainer.explain(rows, target="approved", cost=bf.Gower() + weight * bf.L0(), solver=bf.Swarm(pull=10.0))
            for weight in (0.0, 2.0)]  # fmt: skip
    assert all(one.found.all() for one in sums)
    changes = [np.mean([len(answer.changes) for answer in one]) for one in sums]
    assert changes[1] <= changes[0]
    for one, weight in zip(sums, (0.0, 2.0), strict=True):
        priced = explainer.explain(
            REJECTED.iloc[[0]], target="approved", cost=bf.Gower() + weight * bf.L0(), solver=QUICK
        )
        assert one[0].cost == pytest.approx(priced.cost, rel=0.05)


def test_only_the_most_telling_columns_move() -> None:
    explainer = boxed()
    answer = explainer.explain(ONE, target="approved", solver=bf.Swarm(active=2, iterations=20))
    again = explainer.explain(ONE, target="approved", k=4, solver=bf.Swarm(active=2, iterations=20))
    assert answer.found
    assert len({change.name for one in again for change in one.changes}) <= 2


def test_what_a_column_tells_may_be_said_by_the_user() -> None:
    def only_amount(values, met, feature):
        assert len(values) == len(met) == len(X)
        assert met.dtype == bool
        return float(feature.name == "amount")

    answer = boxed().explain(ONE, target="approved", solver=bf.Swarm(active=1, telling=only_amount, iterations=5))
    assert [change.name for change in answer.changes] == ["amount"]
    with pytest.raises(InputTypeError, match="returned 'much' for 'age'"):
        boxed().explain(ONE, target="approved", solver=bf.Swarm(active=1, telling=lambda *column: "much"))


def test_a_row_without_an_answer_is_searched_again_with_more_columns() -> None:
    """Three columns must rise together. Two of them never suffice, whichever they are."""
    table = pd.DataFrame(np.random.default_rng(0).random((300, 6)), columns=list("abcdef"))

    def all_high(rows) -> np.ndarray:
        return np.asarray(rows, dtype=float)[:, [1, 3, 4]].min(axis=1)

    explainer, row = bf.Explainer(bf.black_box(all_high), table), table.iloc[[int(all_high(table).argmin())]]
    row = row.assign(b=0.1, d=0.1, e=0.1)
    asked = {"target": bf.value(at_least=0.8), "cost": bf.L1(scale="range")}
    narrow = explainer.explain(row, **asked, solver=bf.Swarm(20, 20, active=1)).only
    assert narrow.cost == pytest.approx(3 * 0.7, rel=0.05)
    assert narrow.certificate.notes["coverage"] == 1.0
    few = explainer.explain(row, **asked, solver=bf.Swarm(20, 20, active=1, calls=10)).only
    assert few.certificate.notes["calls"] <= 10
    unheard_of = {**asked, "target": bf.value(at_least=2.0)}  # no row of the data tells which columns matter
    calls = [
        explainer.explain(row, **unheard_of, solver=bf.Swarm(20, 20, active=active)).only.certificate.notes["calls"]
        for active in (1, None)
    ]
    assert calls[0] == calls[1], "all columns moved at once, and nothing was searched again"


@pytest.mark.parametrize("seed", range(3))
def test_the_algorithm_of_survival_counterfactuals_as_it_is_written(seed) -> None:
    """Start in the ball, pull back into it, penalty 1e6, nothing polished: on a plane, the projection is found."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(300, 3))
    weights = rng.normal(size=3)
    row = data[[int(np.argmin(data @ weights))]] * 0.5
    goal = float(np.quantile(data @ weights, 0.7))
    explainer = bf.Explainer(bf.black_box(lambda rows: rows @ weights), data)
    written = bf.Swarm(300, 200, ball=True, pull=1e6, polish=False, weights=(0.729, 1.4945, 1.4945, 0.0))
    found = explainer.explain(
        row, bf.value(at_least=goal), cost=bf.L2(scale="none"), solver=written, seed=seed, progress=False
    ).only
    lacking = goal - float((row @ weights)[0])
    nearest = explainer.explain(row, bf.value(at_least=goal), cost=bf.L2(scale="none"), solver=bf.Swarm()).only
    assert lacking**2 / (weights @ weights) <= found.cost <= 1.001 * nearest.cost
    with pytest.raises(UnsupportedProblemError, match=r"by bf\.L2"):
        explainer.explain(row, bf.value(at_least=goal), cost=bf.L1(), solver=written)
    with pytest.raises(UnsupportedProblemError, match="moves numbers alone"):
        bf.Explainer(TREE, X).explain(X.iloc[ROWS[:1]], cost=bf.L2(), solver=written)


@pytest.mark.parametrize("seeds", first(1, [range(1), range(3)]))
def test_a_random_one_of_each_cluster_is_as_valid(seeds: range) -> None:
    drawn, cheapest = (bf.Swarm(choice=choice, polish=False) for choice in ("random", "clusters"))
    begun = {swarm: [boxed().explain(ONE, target="approved", solver=swarm, seed=seed) for seed in seeds]
             for swarm in (drawn, cheapest)}  # fmt: skip
    assert all(answers.found.all() for answers in begun[drawn])
    of = {swarm: np.mean([answers.costs for answers in some]) for swarm, some in begun.items()}
    assert of[drawn] > of[cheapest]


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    "swarm", [QUICK, replace(QUICK, choice="own"), replace(QUICK, choice="own", polish=False)], ids=repr
)
@pytest.mark.parametrize("count", first(1, [2, 4]))
def test_as_many_answers_as_asked_for_are_found(swarm, count: int) -> None:
    """Taking back what is not needed makes some of them one; others take their place."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    explainer = bf.Explainer(bf.black_box(forest.predict_proba, classes=forest.classes_), X)
    found = explainer.explain(X[y == 0].iloc[:count], target=1, k=5, solver=swarm)
    assert np.bincount([one.row for one in found]).tolist() == [5] * count
    assert len({tuple(row) for row in found.points.to_numpy()}) == 5 * count
    assert (forest.predict(found.points) == 1).all()


@pytest.mark.long
@pytest.mark.parametrize("count", [5, 10])
def test_a_forest_says_what_is_plausible(count: int) -> None:
    """It is asked about every point: the answer looks like the data, also where the cheapest one does not."""
    forest = IsolationForest(n_estimators=40, random_state=0).fit(X[NUMBERS])
    lengths, explainer = PathLengths(forest), boxed()
    rows = REJECTED.iloc[:count]
    free = explainer.explain(rows, target="approved", solver=QUICK)
    least = float(np.quantile(lengths.predict(X[NUMBERS]), 0.5))
    assert (lengths.predict(free.points) < least).any()
    like = [bf.plausible(forest, path_length=least)]
    kept = explainer.explain(rows, target="approved", constraints=like, solver=QUICK)
    assert kept.found.all()
    assert (lengths.predict(kept.points) >= least - 1e-9).all()
    assert all(passed for answer in kept for _, passed in answer.certificate.checks)
    assert kept.costs.sum() > free.costs.sum()
    real = explainer.explain(rows, target="approved", constraints=[*like, bf.candidates(X[NUMBERS])])
    assert (kept.costs <= real.costs + 1e-12).all()


def test_a_box_around_the_factual() -> None:
    data = np.random.default_rng(0).random((300, 3))
    explainer = bf.Explainer(bf.black_box(lambda rows: rows.sum(axis=1)), data)
    row = np.array([[0.5, 0.4, 0.2]])
    inside = explainer.explain(row, target=bf.value(at_least=1.2), solver=bf.Swarm(box=0.2))
    low, width = data.min(axis=0), np.ptp(data, axis=0)
    scaled, moved = (row - low) / width, (inside.point - low) / width
    assert (np.abs(moved - scaled) <= 0.2 * scaled + 1e-9).all()
    beyond = explainer.explain(row, target=bf.value(at_least=1.4), solver=bf.Swarm(box=0.2, iterations=5))
    assert beyond.certificate.status is Status.NOT_FOUND
    one = explainer.explain(row, target=bf.value(at_least=1.4), solver=bf.Swarm(box={"x0": 0.0, "x1": 0.0}))
    assert [change.name for change in one.changes] == ["x2"]


def test_constant_columns_stay() -> None:
    data = np.column_stack([np.random.default_rng(0).random(100), np.ones(100)])
    explainer = bf.Explainer(bf.black_box(lambda rows: rows[:, 0]), data)
    answer = explainer.explain(data[:1], target=bf.value(at_least=0.9), solver=QUICK)
    assert [change.name for change in answer.changes] == ["x0"]


DATA = np.random.default_rng(1).random((60, 3))


def asked(function, target=None, **settings):
    wanted = bf.value(at_least=0.9) if target is None else target
    return bf.Explainer(bf.black_box(function, **settings), DATA).explain(DATA[:1], target=wanted, solver=QUICK)


def half_way(rows):
    if len(rows) == QUICK.particles:
        raise RuntimeError("the licence server is gone")
    return rows[:, 0]


BAD = [
    ("too few rows", lambda: asked(lambda rows: rows[:-1, 0]), InputError, r"shape \(0,\) for 1 rows.*one row for each"),
    ("a column too many", lambda: asked(lambda rows: rows), InputError, r"shape \(1, 3\).*1 columns"),
    ("a table for a scalar", lambda: asked(lambda rows: 3.0), InputError, r"shape \(\)"),
    ("NaN", lambda: asked(lambda rows: np.where(rows[:, 0] > 0.2, rows[:, 0], np.nan)), InputError, "NaN for"),
    ("labels", lambda: asked(lambda rows: np.full(len(rows), "yes")), InputTypeError, "'yes', which is not a number"),
    ("complex numbers", lambda: asked(lambda rows: 1j * rows[:, 0]), InputTypeError, "not a number"),
    ("labels for probabilities", lambda: asked(lambda rows: np.full(len(rows), "yes"), "yes", classes=["no", "yes"]),
     InputTypeError, "'yes', which is not a number.*as it is"),
    ("labels for values", lambda: bf.Explainer(lambda rows: np.full(len(rows), "yes"), DATA).explain(
        DATA[:1], target=bf.value(at_least=1.0)), InputTypeError, "'yes'.*needs numbers"),
    ("no probabilities", lambda: asked(lambda rows: 5 * rows[:, 0], 1, classes=[0, 1]), InputError, "add up to 1.*scores"),
    ("columns for other classes", lambda: asked(lambda rows: rows[:, :2], "a", classes=["a", "b", "c"]), InputError,
     "3 columns"),
    ("raises", lambda: asked(half_way), InputError, "RuntimeError.*licence server"),
    ("needs named columns", lambda: asked(lambda rows: rows["income"]), InputError, "IndexError.*as a data frame"),
    ("no function", lambda: bf.black_box(3), InputTypeError, "A function"),
    ("one class", lambda: bf.black_box(len, classes=["a"]), InputError, "Two or more"),
    ("a word for classes", lambda: bf.black_box(len, classes="ab"), InputError, "Two or more"),
    ("None for classes", lambda: bf.black_box(len, None), InputError, "classes=None was given.*Two or more.*leave it out"),
    ("a number of classes", lambda: bf.black_box(len, 2), InputError, "classes=2 was given.*in the order"),
    ("classes without an order", lambda: bf.black_box(len, {"no", "yes"}), InputError, "in the order of the columns"),
    ("classes of two types", lambda: bf.black_box(len, ["no", 1]), InputError, "labels of one type"),
    ("pairs for classes", lambda: bf.black_box(len, [("a",), ("b", "c")]), InputError, "Two or more"),
    ("lists of classes", lambda: bf.black_box(len, [["no"], ["yes"]]), InputError, "Two or more"),
    ("an array for returns", lambda: bf.black_box(len, [0, 1], returns=np.array(["a", "b"])), InputError, "'probabilities'"),
    ("returns without its name", lambda: bf.black_box(len, [0, 1], "scores"), InputTypeError, "Its arguments are.*returns"),
    ("words for times", lambda: bf.survival.black_box(len, "abc"), InputError, "times='abc' was given.*positive and rise"),
    ("a list of columns", lambda: bf.Explainer(TREE, X, space=["age"]), InputTypeError, r"space=\['age'\].*A dict from column"),
    ("a dict of words", lambda: bf.Explainer(TREE, X, words={"age": "Age"}), InputTypeError, "words=.*bf.describe"),
    ("scores of nothing", lambda: bf.black_box(len, returns="scores"), InputError, "with 0 classes"),
    ("unknown returns", lambda: bf.black_box(len, classes=[0, 1], returns="odds"), InputError, "'probabilities' or 'scores'"),
    ("more active than columns", lambda: boxed().explain(X[NUMBERS].iloc[[0]], solver=bf.Swarm(active=9)), InputError,
     "There are 5 columns"),
    ("a box around a category", lambda: bf.Explainer(TREE, X).explain(X.iloc[[0]], solver=bf.Swarm(box={"job": 0.1})),
     InputError, "'job', which is not a number"),
    ("a box around nothing", lambda: boxed().explain(X[NUMBERS].iloc[[0]], solver=bf.Swarm(box={"jobs": 0.1})),
     UnknownColumnError, "'jobs'"),
    ("a margin", lambda: boxed().explain(ONE, target="approved", constraints=[bf.margin(0.1)]),
     UnsupportedProblemError, "margin cannot be judged"),
    ("another comparison", lambda: boxed().explain(X[NUMBERS].iloc[[0]], compare="best"), InputError, "'exact'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), [pytest.param(*case[1:], id=case[0]) for case in BAD])
def test_what_a_model_may_do_wrong(call, error, words) -> None:
    with pytest.raises(error, match=f"(?s){words}") as caught:
        call()
    assert caught.value.needed or caught.value.remedy


def test_the_cause_is_chained() -> None:
    with pytest.raises(InputError) as caught:
        asked(half_way)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_model_that_says_something_else_each_time_is_warned_of() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(RuntimeWarning, match="not deterministic"):
        asked(lambda rows: rows[:, 0] + 0.01 * rng.normal(size=len(rows)))
    with pytest.warns(RuntimeWarning, match="not deterministic"):
        bf.Explainer(lambda rows: rng.choice(["a", "b"], len(rows)), DATA).explain(DATA[:1], target="c", solver=QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(lambda rows: rows[:, 0])


def test_scores_of_which_the_largest_wins() -> None:
    model = bf.black_box(lambda rows: 10 * rows, classes=["a", "b", "c"], returns="scores")
    row = DATA[np.argmax(DATA, axis=1) == 0][:1]
    answer = bf.Explainer(model, DATA).explain(row, target="b", solver=QUICK)
    assert np.argmax(answer.point) == 1
    two = bf.black_box(lambda rows: rows[:, 0] - 0.5, classes=[0, 1], returns="scores")
    assert two.predict(np.array([[0.2], [0.9]])).tolist() == [0, 1]


def test_a_regressor_behind_a_step_that_cannot_be_folded() -> None:
    values = LinearRegression().fit(X[NUMBERS], X["income"])
    model = make_pipeline(StandardScaler(), KernelPCA(3), LinearRegression()).fit(
        X[NUMBERS], values.predict(X[NUMBERS])
    )
    answer = bf.Explainer(model, X[NUMBERS]).explain(X[NUMBERS].iloc[[0]], target=bf.relative_change(0.1), solver=QUICK)
    assert model.predict(answer.point)[0] >= 1.1 * model.predict(X[NUMBERS].iloc[[0]])[0]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", ["polars", "pyarrow", "array"])
def test_every_kind_of_table(kind) -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    plain = X[NUMBERS].astype(float)
    made = {"polars": polars.from_pandas, "pyarrow": pyarrow.Table.from_pandas, "array": lambda t: t.to_numpy()}[kind]
    seen = []

    def model(rows):
        seen.append(type(rows))
        table = rows if isinstance(rows, np.ndarray) else pd.DataFrame(np.asarray(rows), columns=NUMBERS)
        return LOGIT.predict_proba(pd.DataFrame(np.asarray(table), columns=NUMBERS))

    data, row = made(plain), made(ONE.astype(float))
    answer = bf.Explainer(bf.black_box(model, classes=LOGIT.classes_), data).explain(
        row, target="approved", solver=QUICK
    )
    reference = boxed(data=plain).explain(ONE.astype(float), target="approved", solver=QUICK)
    assert answer.cost == pytest.approx(reference.cost)
    assert type(answer.point) is type(row)


@pytest.mark.parametrize("seed", range(5))
def test_a_large_penalty_finds_what_valid_points_first_find(seed) -> None:
    """Eq. 18 of Kovalev and Utkin, C = 1e6, with values in the thousands: every miss must count what it lacks."""
    table = pd.DataFrame(np.random.default_rng(1).random((300, 10)), columns=[f"c{i}" for i in range(10)])
    explainer = bf.Explainer(bf.black_box(lambda rows: 1000 * np.asarray(rows, dtype=float).sum(axis=1)), data=table)
    wanted = {"target": bf.value(at_least=9000.0), "cost": bf.L1(), "seed": seed}
    first, penalised = (
        explainer.explain(table.iloc[[0]], solver=bf.Swarm(50, 100, pull=pull, polish=False), **wanted).only
        for pull in (None, 1e6)
    )
    assert penalised.found
    assert penalised.cost == pytest.approx(first.cost, rel=0.01)


THREE = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[NUMBERS], np.arange(len(X)) % 3)
LACKING = {
    "two classes": (LOGIT, "approved", lambda p: np.maximum(0.5 - p[:, 0], 0.0)),
    "probability": (LOGIT, bf.probability("approved", at_least=0.8), lambda p: np.maximum(0.8 - p[:, 0], 0.0)),
    "three classes": (THREE, [1, 2], lambda p: (p.max(axis=1) - p[:, 1:].max(axis=1)) / 2),
    "value": (
        LinearRegression().fit(X[NUMBERS], X["income"]),
        bf.value(at_least=30_000.0, at_most=31_000.0),
        lambda v: np.maximum(np.maximum(30_000 - v, v - 31_000), 0.0),
    ),
}


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("kind", LACKING)
def test_points_are_compared_by_the_printed_sum(kind, read, monkeypatch) -> None:
    """Eq. 3 of Shekhar et al.: what the estimator itself lacks to the target, times `pull`, plus the cost."""
    model, target, lacks = LACKING[kind]
    outputs = getattr(model, "predict_proba", model.predict)
    asked = []

    class Watched(Appraiser):
        def __call__(self, points, rows):
            asked.append((points, super().__call__(points, rows)))
            return asked[-1][-1]

    monkeypatch.setattr("butfor.solvers.swarm.run.Appraiser", Watched)
    boxed = model if read else bf.black_box(outputs, classes=getattr(model, "classes_", ()))
    explainer = bf.Explainer(boxed, X[NUMBERS])
    row = X[NUMBERS].iloc[[int(np.argmax(lacks(outputs(X[NUMBERS]))))]]
    found = explainer.explain(row, target, cost=bf.L1(scale="range"), solver=bf.Swarm(10, 5, pull=7.0, polish=False))
    width = np.ptp(X[NUMBERS].to_numpy(dtype=float), axis=0)
    for points, appraised in asked:
        table = explainer.space.decode(points, row.iloc[np.zeros(len(points), dtype=int)])
        moved = (np.abs(points - row.to_numpy(dtype=float)) / width).sum(axis=1)
        printed = 7.0 * lacks(outputs(table)) + moved
        assert np.allclose(found[0].certificate.coin * appraised.second, printed, rtol=1e-6, atol=1e-9)
    assert asked
