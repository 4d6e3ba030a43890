"""Levels that may be taken for others: what estimators predict for them, what is said of them, and what cannot be meant."""

from __future__ import annotations

import itertools
import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.spec import from_spec, to_spec
from butfor.solvers.outcome import Status
from butfor.trees import TAOClassifier
from tests.shorter import diagonal

JOBS, RATINGS = ("clerk", "sales", "nurse", "doctor"), ("bad", "fair", "good", "best")
SLIPS = {"job": [["clerk", "sales"], ["nurse", "doctor"]], "rating": 1, "idle": "any"}


def people(seed: int, rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "job": rng.choice(JOBS, rows),
            "rating": pd.Categorical(rng.choice(RATINGS, rows), categories=RATINGS, ordered=True),
            "years": rng.integers(0, 6, rows),
            "idle": rng.choice(["x", "y", "z"], rows),
        }
    )
    score = X.job.map(dict(zip(JOBS, (0.0, 1.0, 0.5, 2.0), strict=True))) + X.rating.cat.codes + 0.5 * X.years
    return X, np.digitize(score, [1.5, 5.5])


def pipeline(model: object) -> object:
    """The column `idle` is read by none."""
    columns = ColumnTransformer(
        [
            ("job", OneHotEncoder(), ["job"]),
            ("rating", OrdinalEncoder(categories=[list(RATINGS)]), ["rating"]),
            ("n", "passthrough", ["years"]),
        ]
    )
    return make_pipeline(columns, clone(model))


FITTED = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(8, max_depth=4, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0),
    "network": MLPClassifier((4,), solver="lbfgs", alpha=0.1, max_iter=2000, random_state=0),
}


def networks_later(cases: list[Any]) -> list[Any]:
    """The cases, with those of networks left to the long run: `tests/solvers/test_slips.py` enumerates some for them."""
    return [pytest.param(*case.values, marks=pytest.mark.long) if "network" in case.values else case for case in cases]


def seen_as(job: str, rating: str) -> list[tuple[str, str]]:
    """What a person may be seen as by `SLIPS`."""
    jobs = next(group for group in SLIPS["job"] if job in group)
    at = RATINGS.index(rating)
    return list(itertools.product(jobs, RATINGS[max(0, at - 1) : at + 2]))


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("name", "off"), networks_later(diagonal(FITTED, [0, 1])))
def test_no_cheaper_row_is_predicted_as_wanted_with_all_its_levels(name: str, off: int) -> None:
    """Three classes, and every admissible row and each of its neighbours is predicted by the estimator itself."""
    X, y = people(0)
    model = pipeline(FITTED[name]).fit(X, y)
    every = pd.DataFrame(
        list(itertools.product(JOBS, RATINGS, range(-off, 6 + off))), columns=["job", "rating", "years"]
    )
    said = dict(zip(every.itertuples(index=False, name=None), model.predict(every.assign(idle="x")), strict=True))
    explainer = bf.Explainer(model, X)
    rule = bf.robust({"years": off} if off else 0, slips=SLIPS)
    met = [
        row
        for row in every.itertuples(index=False, name=None)
        if 0 <= row[2] <= 5
        and {said[*seen, row[2] + way] for seen in seen_as(*row[:2]) for way in range(-off, off + 1)} == {1}
    ]
    rows = X[model.predict(X) != 1].iloc[:6]
    answers, plain = explainer.explain(rows, target=1, constraints=[rule]), explainer.explain(rows, target=1)
    assert met
    for row, answer in zip(rows.itertuples(index=False), answers, strict=True):
        costs = [
            (row.job != job) + abs(RATINGS.index(row.rating) - RATINGS.index(rating)) / 3 + abs(row.years - years) / 5
            for job, rating, years in met
        ]
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        gone = tuple(answer.point[["job", "rating", "years"]].iloc[0])
        assert gone in met
        assert answer.cost == pytest.approx(min(costs))
        assert ("all constraints hold", True) in answer.certificate.checks
        assert answer.certificate.evidence.around.predicted >= 1
    assert sum(found.cost for found in answers) > sum(found.cost for found in plain)


@cache
def fitted(name: str) -> tuple[bf.Explainer, Any, pd.DataFrame]:
    """An explainer, its model, and rows of another class."""
    X, y = people(0)
    model = pipeline(FITTED[name]).fit(X, y)
    return bf.Explainer(model, X), model, X[model.predict(X) != 1]


def asked(slips: object, name: str = "tree", radius: object = 0) -> bf.Explanation:
    explainer, _, rows = fitted(name)
    return explainer.explain(rows.iloc[[0]], target=1, constraints=[bf.robust(radius, slips=slips)]).only


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"job": "any"}, {"job": [list(JOBS)]}),
        ({"job": [["clerk", "sales"], ["sales", "nurse"]]},
         {"job": {"clerk": ["sales"], "sales": ["clerk", "nurse"], "nurse": ["sales"]}}),
        ({"rating": 1}, {"rating": [["bad", "fair"], ["fair", "good"], ["good", "best"]]}),
        ({"rating": 3}, {"rating": "any"}),
        ({"rating": np.int64(9)}, {"rating": "any"}),
    ],
)  # fmt: skip
def test_ways_to_say_the_same(one: dict[str, object], other: dict[str, object]) -> None:
    space = fitted("tree")[0].reading.held("idle").space
    first_way, second_way = (bf.robust(0, slips=way).ball(space).slips for way in (one, other))
    assert first_way == second_way
    assert first_way != bf.robust(0, slips={"idle": "any"}).ball(space).slips


def test_a_dict_goes_one_way_only() -> None:
    space = fitted("tree")[0].space
    slips = bf.robust(0, slips={"job": {"doctor": ["nurse"]}}).ball(space).slips
    levels = space["job"].levels
    for level in JOBS:
        seen = {levels[int(code)] for code in slips.seen_as(space.index("job"), levels.index(level))}
        assert seen == ({"doctor", "nurse"} if level == "doctor" else {level})


@pytest.mark.parametrize(
    ("slips", "words"),
    [
        ({"jobs": "any"}, "no column 'jobs'.*Did you mean 'job'"),
        ({"years": 1}, "'years' slip, which is a number.*Give it a radius"),
        ({"job": [["clerk", "sale"]]}, "names 'sale', which is not a value of 'job'.*Did you mean 'sales'"),
        ({"job": {"clark": ["sales"]}}, "names 'clark'.*Did you mean 'clerk'"),
        ({"job": {"clerk": ["slaes"]}}, "names 'slaes'.*Did you mean 'sales'"),
        ({"job": 1}, "have no order.*bf.Ordinal"),
        ({"rating": 0}, "one step or more"),
        ({"rating": -1}, "one step or more"),
        ({"rating": 1.5}, 'must be "any", a number of steps, groups'),
        ({"rating": True}, 'must be "any", a number of steps, groups'),
        ({"job": None}, 'must be "any", a number of steps, groups'),
        ({"job": "all"}, 'must be "any", a number of steps, groups'),
        ({"job": ["clerk", "sales"]}, r"Levels must be listed. Write \{'job': \[\['clerk', 'sales'\]\]\}"),
        ({"job": {"clerk": "sales"}}, r"Levels must be listed. Write \{'job': \{'clerk': \['sales'\]\}\}"),
        ({"job": [["clerk"]]}, "at least two levels"),
        ({"job": []}, "at least two levels"),
        ({"job": {}}, 'must be "any", a number of steps, groups'),
        ({}, "says nothing"),
        (["job"], "must be a dict"),
        ({"job": [["clerk", None]]}, "names None, which is not a value"),
    ],
)
def test_what_cannot_be_meant_is_said(slips: object, words: str) -> None:
    with pytest.raises((ValueError, TypeError, KeyError), match=words):
        asked(slips)


def test_an_oblique_tree_says_that_levels_may_not_slip() -> None:
    X, y = people(0)
    oblique = pipeline(TAOClassifier(max_depth=2, random_state=0)).fit(X, y)
    explainer, row = bf.Explainer(oblique, X), X[oblique.predict(X) != 1].iloc[[0]]
    for rule in (bf.robust(0, slips=SLIPS), bf.robust({"years": 1}, slips={"job": "any"})):
        with pytest.raises(bf.errors.UnsupportedProblemError, match=r"levels that may slip.*networks.*Leave slips out"):
            explainer.explain(row, target=1, constraints=[rule])
    assert explainer.explain(row, target=1, constraints=[bf.robust({"years": 1})]).only.certificate.status


@pytest.mark.long
@pytest.mark.parametrize(("name", "off"), networks_later(diagonal(FITTED, [1, 0])))
def test_the_judge_says_of_any_row_whether_it_is_met_with_all_its_levels(name: str, off: int) -> None:
    (explainer, model, rows), (X, _) = fitted(name), people(0)
    rule = bf.robust({"years": off} if off else 0, slips=SLIPS)
    every = pd.DataFrame(list(itertools.product(JOBS, RATINGS, range(6), "xy")), columns=X.columns[[0, 1, 2, 3]])
    every = every.astype({"rating": X["rating"].dtype}).sample(40 - 20 * off, random_state=off)
    case = explainer._asking.case(rows.iloc[[0]], 1, None, [rule])
    changes = case.changes(np.zeros(len(every), dtype=int), explainer.space.encode(every))
    truth = []
    for row in every.itertuples(index=False):
        near = [(*seen, row.years + way, "x") for seen in seen_as(row.job, row.rating) for way in range(-off, off + 1)]
        truth.append(bool((model.predict(pd.DataFrame(near, columns=X.columns)) == 1).all()))
    np.testing.assert_array_equal(rule.holds(changes, case.referee), truth)
    assert 0 < sum(truth) < len(truth)


def test_more_neighbours_than_are_all_asked_about_are_drawn_with_their_levels() -> None:
    """A tree that a single combination of levels refuses: all 1,000 are too many to ask about, and the adversary finds it."""
    X = pd.DataFrame(list(itertools.product("abcdefghij", repeat=3)), columns=list("uvw"))
    y = ~((X.u == "a") & (X.v == "b") & (X.w == "c"))
    columns = ColumnTransformer([("all", OneHotEncoder(), list("uvw"))])
    model = make_pipeline(columns, DecisionTreeClassifier(random_state=0)).fit(X, y)
    row = X[~y]
    for slips, status in (
        ({"u": "any", "v": "any", "w": "any"}, Status.PROVEN_INFEASIBLE),
        ({"u": "any", "v": "any", "w": {"d": ["c"]}}, Status.PROVEN_OPTIMAL),
    ):
        explainer = bf.Explainer(model, X)
        answer = explainer.explain(row, target=True, constraints=[bf.robust(0, slips=slips)]).only
        assert answer.certificate.status is status
        assert not answer.found or answer.point["w"].iloc[0] not in "cd"


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    ("name", "norm"), networks_later(diagonal(["linear", "forest", "network"], ["l1", "l2", "linf"]))
)
def test_real_numbers_are_shifted_beside_levels_that_slip(name: str, norm: str) -> None:
    rng = np.random.default_rng(0)
    X, _ = people(1)
    X = X.assign(years=rng.uniform(0, 5, len(X)), hours=rng.uniform(0, 5, len(X)))
    y = X.job.map(dict(zip(JOBS, (0.0, 0.5, 0.0, 0.5), strict=True))) + 0.4 * X.years + 0.4 * X.hours > 2.4
    columns = ColumnTransformer([("job", OneHotEncoder(), ["job"]), ("n", "passthrough", ["years", "hours"])])
    model = make_pipeline(columns, clone(FITTED[name])).fit(X, y)
    explainer, rows = bf.Explainer(model, X), X[~model.predict(X)].iloc[:5]
    bare, ball, both = (
        explainer.explain(rows, target=True, constraints=kept, time_limit=60.0)
        for kept in ([], [bf.robust(0.05, norm=norm)], [bf.robust(0.05, norm=norm, slips={"job": SLIPS["job"]})])
    )
    width = np.ptp(X[["years", "hours"]].to_numpy(), axis=0)
    for plain, shifted, answer in zip(bare, ball, both, strict=True):
        assert plain.cost <= shifted.cost + 1e-9
        assert shifted.cost <= answer.cost + 1e-9
        assert ("all constraints hold", True) in answer.certificate.checks
        way = rng.uniform(-1, 1, (300, 2))
        way /= np.maximum(1.0, np.linalg.norm(way, ord={"linf": np.inf, "l2": 2, "l1": 1}[norm], axis=1))[:, None]
        for job, _ in seen_as(answer.point["job"].iloc[0], "bad"):
            near = pd.concat([answer.point.assign(job=job)] * 300)
            near[["years", "hours"]] += 0.05 * width * way
            assert model.predict(near).all()
    assert sum(one.cost for one in both) > sum(one.cost for one in ball) + 0.01


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", FITTED)
def test_levels_slip_beside_columns_that_are_linked(name: str) -> None:
    """A rating and its rank stay together, and the job may slip. Merged columns come last, so others change their places."""
    X, y = people(0)
    X.insert(0, "rank", X.rating.cat.codes.astype(int))
    inner = pipeline(FITTED[name])
    inner[0].transformers.append(("rank", "passthrough", ["rank"]))
    model = inner.fit(X, y)
    explainer, rows = bf.Explainer(model, X), X[model.predict(X) != 1].iloc[:4]
    kept, slips = bf.linked("rating", "rank"), {"job": SLIPS["job"]}
    every = pd.DataFrame(list(itertools.product(range(4), JOBS, range(6))), columns=["rank", "job", "years"])
    every["rating"] = pd.Categorical.from_codes(every["rank"], categories=RATINGS, ordered=True)
    said = dict(
        zip(every[["job", "rank", "years"]].itertuples(index=False, name=None), model.predict(every), strict=True)
    )
    met = [at for at in said if all(said[job, *at[1:]] == 1 for job, _ in seen_as(at[0], "bad"))]
    for row, answer in zip(
        rows.itertuples(index=False),
        explainer.explain(rows, target=1, constraints=[kept, bf.robust(0, slips=slips)]),
        strict=True,
    ):
        costs = [
            (row.job != job) + 2 * abs(row.rank - rank) / 3 + abs(row.years - years) / 5 for job, rank, years in met
        ]
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(min(costs))
    more = bf.Explainer(model, X, space={"idle": bf.Categorical(["x", "y", "z"])})  # then they are too many to try all
    with pytest.raises(bf.errors.UnsupportedProblemError, match="levels of columns that are linked may slip"):
        more.explain(rows, target=1, constraints=[kept, bf.robust(0, slips={"rating": 1})])


def test_what_is_said_of_levels_that_slip() -> None:
    """In text, in every language, and after saving."""
    answer = asked({"rating": 1, "job": [["clerk", "sales"]], "idle": {"x": ["y", "z"]}}, "forest", {"years": 1})
    said = (
        "it stays valid if years is off by up to 1, rating is off by one level, job is mistaken for another value "
        "(clerk or sales) and idle slips to another value (x to y or z)"
    )
    assert said in " ".join(str(answer).split())
    assert "rating um eine Stufe abweicht" in " ".join(answer.to_html(language="de").split())
    again = bf.Explanation.from_json(answer.to_json())
    assert str(again) == str(answer)
    assert again.certificate == answer.certificate
    assert bf.check(again, fitted("forest")[1]).passed
    assert "it stays valid if job takes any other value and rating is off by up to 2 levels" in " ".join(
        str(asked({"job": "any", "rating": 2})).split()
    )


@pytest.mark.parametrize("name", ["linear", "forest"])
def test_the_worst_neighbour_is_told_with_its_levels(name: str) -> None:
    (explainer, model, rows), told = fitted(name), 0
    for answer in explainer.explain(rows.iloc[:6], target=1, constraints=[bf.robust(0, slips=SLIPS)]):
        around = answer.certificate.evidence.around
        worst = answer.point.assign(**around.worst)
        assert (worst["job"].iloc[0], worst["rating"].iloc[0]) in seen_as(*answer.point[["job", "rating"]].iloc[0])
        assert around.score == pytest.approx(model.predict_proba(worst)[0, 1])
        assert around.predicted == 3 * len(seen_as(*answer.point[["job", "rating"]].iloc[0]))
        assert bf.Explanation.from_json(answer.to_json()).certificate.evidence.around == around
        told += around.worst.keys() <= {"job", "rating"} and bool(around.worst)
    assert told > 2


def test_impossible_slips_have_no_radius_to_tell_of() -> None:
    answer = asked({"job": "any", "rating": "any"})
    assert answer.certificate.status is Status.PROVEN_INFEASIBLE
    assert answer.certificate.evidence.radius is None
    assert "slips={'job': 'any', 'rating': 'any'}" in answer.certificate.why
    beside = asked({"job": "any", "rating": "any"}, radius={"years": 1})
    assert beside.certificate.status is Status.PROVEN_INFEASIBLE


def test_a_rule_is_written_as_it_prints() -> None:
    rule = bf.robust(0.1, "l2", slips={"job": [("clerk", "sales")], "rating": np.int64(1), "idle": {"x": ("y",)}})
    assert (
        repr(rule) == "robust(0.1, norm='l2', slips={'job': [['clerk', 'sales']], 'rating': 1, 'idle': {'x': ['y']}})"
    )
    again = from_spec(json.loads(json.dumps(to_spec(rule))))
    assert again == rule
    assert repr(again) == repr(rule)
    assert repr(bf.robust(0.1)) == "robust(0.1, norm='linf')"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "norm"),
    [
        *diagonal(["linear", "tree", "forest"], ["linf", "l2"]),
        pytest.param("network", "linf", marks=pytest.mark.long),
    ],
)
def test_the_largest_radius_is_the_smallest_of_all_that_the_row_may_be_seen_as(name: str, norm: str) -> None:
    rng = np.random.default_rng(1)
    X, _ = people(1)
    X = X.assign(years=rng.uniform(0, 5, len(X)))
    y = X.job.map(dict(zip(JOBS, (0.0, 0.3, 0.1, 0.6), strict=True))) + 0.2 * X.rating.cat.codes + 0.4 * X.years > 1.5
    model = pipeline(FITTED[name]).fit(X, y)
    explainer, told, fallen = bf.Explainer(model, X), 0, 0
    for at in np.flatnonzero(model.predict(X))[:8]:
        row = X.iloc[[at]]
        rows = [
            row.assign(job=job, rating=rating) for job, rating in seen_as(row["job"].iloc[0], row["rating"].iloc[0])
        ]
        rows = [one.astype(X.dtypes.to_dict()) for one in rows]
        radii = [explainer.robustness(one, True, norm=norm).radius if model.predict(one)[0] else 0.0 for one in rows]
        found = explainer.robustness(row, True, norm=norm, slips=SLIPS)
        assert found.radius == pytest.approx(min(radii), abs=1e-6)
        if found.radius < 1:
            assert not model.predict(found.worst)[0]
        told, fallen = told + (0 < found.radius < 1), fallen + (found.radius == 0)
    assert told
    assert fallen
