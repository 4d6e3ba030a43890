"""Columns that belong together, from the estimator to the certificate: against all rows that there can be."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.solvers.outcome import Status
from tests.shorter import first

ROWS = 400
COLUMNS = ["level", "number", "a", "b"]


def table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Whole numbers. `number` follows from `level`, and not all pairs of `a` and `b` exist."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 5, ROWS)
    a = rng.integers(0, 4, ROWS)
    data = pd.DataFrame(
        {
            "level": level,
            "number": np.array([9, 2, 5, 5, 7])[level],
            "a": a,
            "b": (a * 2 + rng.integers(0, 3, ROWS)) % 6,
        }
    )
    score = data.number + 2 * data.a - data.b + rng.normal(0, 1.0, ROWS)
    y = np.digitize(score, np.quantile(score, [1 / 3, 2 / 3]))
    return data, np.asarray(y)


def pairs(data: pd.DataFrame, *names: str) -> set[tuple[int, ...]]:
    return set(map(tuple, data[list(names)].to_numpy().tolist()))


def cheapest(model, data, row, target, allowed) -> float:
    """The cheapest of all rows that are allowed, by L1 over ranges: the estimator is asked about each."""
    values = [range(int(data[name].min()), int(data[name].max()) + 1) for name in data]
    every = np.array([one for one in product(*values) if allowed(dict(zip(data, one, strict=True)))])
    fine = every[model.predict(pd.DataFrame(every, columns=data.columns)) == target]
    width = (data.max() - data.min()).to_numpy()
    return float((np.abs(fine - row.to_numpy()) / width).sum(axis=1).min(initial=np.inf))


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(8, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0),
    "bins": lambda: HistGradientBoostingClassifier(max_iter=5, max_depth=3, random_state=0),
    "linear": lambda: LogisticRegression(max_iter=2000),
    "network": lambda: MLPClassifier((5,), max_iter=300, random_state=0),
}


@pytest.mark.shorter(2)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("seed", first(1, range(6)))
def test_the_cheapest_row_of_all(kind, seed) -> None:
    data, y = table(seed)
    model = MODELS[kind]().fit(data, y)
    explainer, links, both = bf.Explainer(model, data), pairs(data, "level", "number"), pairs(data, "a", "b")
    rng = np.random.default_rng(seed)
    judged = 0
    for at in rng.choice(ROWS, 5, replace=False):
        row = data.iloc[[at]]
        target = int(rng.choice(np.setdiff1d(model.classes_, model.predict(row))))
        answer = explainer.explain(row, target, constraints=[bf.linked("level", "number"), bf.combinations("a", "b")])
        best = cheapest(
            model, data, data.iloc[at], target,
            lambda one: (one["level"], one["number"]) in links and (one["a"], one["b"]) in both,
        )  # fmt: skip
        certificate = answer.only.certificate
        assert certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        assert answer.only.cost == pytest.approx(best)
        assert "merged_columns, by " in certificate.solver
        judged += bool(np.isfinite(best))
    assert judged


def test_a_row_keeps_what_it_has_itself() -> None:
    """Its own pair is in no row of the data. It may stay, and every other one must exist."""
    data, y = table(1)
    model = RandomForestClassifier(8, max_depth=4, random_state=0).fit(data, y)
    links = pairs(data, "level", "number")
    odd = pd.DataFrame({"level": [0], "number": [3], "a": [0], "b": [0]})
    answer = bf.Explainer(model, data).explain(odd, 2, constraints=[bf.linked("level", "number")]).only
    best = cheapest(model, data, odd.iloc[0], 2, lambda one: (one["level"], one["number"]) in links | {(0, 3)})
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx(best)


def forest(seed: int = 2) -> tuple[pd.DataFrame, RandomForestClassifier, bf.Explainer, pd.DataFrame]:
    """A table, a forest, its explainer, and rows that are not of class 2."""
    data, y = table(seed)
    model = RandomForestClassifier(8, max_depth=4, random_state=0).fit(data, y)
    return data, model, bf.Explainer(model, data), data[model.predict(data) != 2].iloc[:6]


LINKS = [bf.linked("level", "number"), bf.combinations("a", "b")]


def keeps(data: pd.DataFrame, answer: bf.Explanation) -> bool:
    """Whether all pairs of an answer are in the data."""
    point = answer.point.iloc[0]
    links, both = pairs(data, "level", "number"), pairs(data, "a", "b")
    return (point["level"], point["number"]) in links and (point["a"], point["b"]) in both


def test_members_may_be_limited_by_themselves() -> None:
    data, model, explainer, rows = forest()
    links = pairs(data, "level", "number")
    moved = 0
    for i in range(len(rows)):
        row = rows.iloc[i]
        limits = [bf.only_up("number"), bf.between("level", high=3), bf.fixed("b")]
        answer = explainer.explain(rows.iloc[[i]], 2, constraints=[LINKS[0], *limits]).only
        best = cheapest(
            model, data, row, 2,
            lambda one: (one["level"], one["number"]) in links and one["number"] >= row["number"]  # noqa: B023
            and one["level"] <= 3 and one["b"] == row["b"],  # noqa: B023
        )  # fmt: skip
        assert answer.cost == pytest.approx(best)
        assert answer.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        moved += bool(answer.changes and {"level", "number"} & {change.name for change in answer.changes})
    assert moved


def test_groups_that_share_a_column_are_joined() -> None:
    data, model, explainer, rows = forest()
    one, other = pairs(data, "level", "number"), pairs(data, "number", "a")
    for i in range(len(rows)):
        answer = explainer.explain(
            rows.iloc[[i]], 2, constraints=[LINKS[0], bf.combinations("number", "a", table=data[:9])]
        )
        few = pairs(data[:9], "number", "a") | {(rows.iloc[i]["number"], rows.iloc[i]["a"])}
        best = cheapest(
            model, data, rows.iloc[i], 2,
            lambda at: (at["level"], at["number"]) in one and (at["number"], at["a"]) in few,  # noqa: B023
        )  # fmt: skip
        assert answer.only.cost == pytest.approx(best)
    assert few < other | few


def test_a_group_is_one_change() -> None:
    """For the limit on changes, for the next answers, and in a trade-off."""
    data, _, explainer, rows = forest()
    several = 0
    for i in range(len(rows)):
        row = rows.iloc[[i]]
        one = explainer.explain(row, 2, constraints=[*LINKS, bf.at_most_changes(1)]).only
        if one.certificate.status.found:
            names = {change.name for change in one.changes}
            assert names <= {"level", "number"} or names <= {"a", "b"}
            several += len(names) > 1
        answers = explainer.explain(row, 2, constraints=LINKS, k=3)
        groups = [frozenset(name in ("level", "number") for name in {c.name for c in one.changes}) for one in answers]
        assert all(keeps(data, one) for one in answers)
        assert len(set(groups)) == len(groups)
        assert all(one.certificate.status is Status.PROVEN_OPTIMAL for one in answers)
        by_changes = explainer.trade_off(row, 2, against="changes", constraints=LINKS)
        assert all(keeps(data, answer) for answer in by_changes.answers)
        counts = [
            len({name in ("level", "number") for name in {c.name for c in one.changes}}) for one in by_changes.answers
        ]
        assert [int(number) for number in by_changes.numbers] == counts
    assert several


def test_answers_at_a_distance_keep_it() -> None:
    data, explainer, row = with_real()
    answers = explainer.explain(row, True, constraints=[LINKS[0]], k=3, different=0.3)
    assert len(answers) == 2
    assert all((point["level"], point["number"]) in pairs(data, "level", "number") for point in points(answers))
    assert all(answer.certificate.status is Status.PROVEN_OPTIMAL for answer in answers)
    assert answers[1].certificate.solver.startswith("far_apart, by merged_columns, by ensemble_branch_bound")


@pytest.mark.long
def test_a_swarm_moves_whole_combinations() -> None:
    data, model, explainer, rows = forest()
    proven = explainer.explain(rows, 2, constraints=LINKS)
    searched = explainer.explain(rows, 2, constraints=LINKS, solver="swarm", seed=1)
    black = bf.Explainer(bf.black_box(model.predict_proba, classes=[0, 1, 2]), data)
    unread = black.explain(rows, 2, constraints=LINKS, solver="swarm", seed=1)
    for found in (searched, unread):
        assert all(keeps(data, answer) for answer in found)
        assert all(b.cost <= 1.2 * a.cost + 0.1 for a, b in zip(proven, found, strict=True))
    assert all(
        keeps(data, answer) for answer in explainer.explain(rows, 2, cost=bf.Quadratic(np.eye(4)), constraints=LINKS)
    )


def with_real() -> tuple[pd.DataFrame, bf.Explainer, pd.DataFrame]:
    """A table in which the level is a text and a column is a real number, an explainer, and a row that is refused."""
    data, _ = table(3)
    data = data.assign(level=pd.Categorical(data["level"].astype(str)), x=np.random.default_rng(3).random(ROWS))
    model = HistGradientBoostingClassifier(max_iter=10, max_depth=3, categorical_features="from_dtype")
    model.fit(data, data.number + 8 * data.x > 9)
    return data, bf.Explainer(model, data), data[~model.predict(data)].iloc[[0]]


def points(answers) -> list[pd.Series]:
    return [answer.point.iloc[0] for answer in answers]


@pytest.mark.parametrize(
    ("constraint", "solver"),
    [
        (bf.robust({"x": 0.05}), "merged_columns, by robust_exact, by "),
        (bf.linear({"x": 1.0, "a": 1.0}, "<=", 3.0), "merged_columns, by "),
        (
            bf.implies(bf.allowed("level", ["0", "1"]), bf.between("x", high=0.5)),
            "merged_columns, by ",
        ),
        (bf.candidates, "row_search"),
    ],
)
def test_beside_other_constraints(constraint, solver) -> None:
    data, explainer, row = with_real()
    constraint = constraint(data[::3]) if callable(constraint) else constraint
    answer = explainer.explain(row, True, constraints=[bf.linked("level", "number"), constraint]).only
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert all(fine for _, fine in answer.certificate.checks)
    assert (answer.point.iloc[0]["level"], answer.point.iloc[0]["number"]) in pairs(data, "level", "number")
    assert answer.certificate.solver.startswith(solver)


def test_an_answer_is_saved_and_checked_without_the_data(tmp_path) -> None:
    _, model, explainer, rows = forest()
    answers = explainer.explain(rows, 2, constraints=LINKS)
    answers.to_jsonl(tmp_path / "answers.jsonl")
    loaded = bf.load(tmp_path / "answers.jsonl")
    checked = bf.check(loaded, model)
    assert checked.passed
    assert loaded[0].question.constraints == answers[0].question.constraints


def test_two_impossible_constraints_are_blamed_in_words() -> None:
    data, _, explainer, rows = forest()
    row = rows.iloc[[0]]
    limits = [
        bf.fixed("number", "a"),
        bf.linked("number", "level", table=data[["number", "level"]].drop_duplicates("number")),
    ]
    blocked = explainer.explain(row, 2, constraints=[*limits, bf.fixed("b")]).only
    assert blocked.certificate.status is Status.PROVEN_INFEASIBLE
    assert blocked.certificate.conflict
