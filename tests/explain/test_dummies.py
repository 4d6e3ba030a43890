"""Dummies are one feature: one change, one price, and the answers that the table without dummies has."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.explanation.explanations import Explanations
from tests.shorter import first

JOBS, SIZES = ("clerk", "cook", "driver", "nurse"), (0, 1, 2, 3)
RNG = np.random.default_rng(3)
RAW = pd.DataFrame({
    "pay": RNG.normal(size=300).round(2), "years": RNG.integers(0, 5, 300), "size": RNG.integers(0, 4, 300),
    "job": np.array(JOBS)[RNG.integers(0, 4, 300)],
})  # fmt: skip
WORTH = RAW["job"].map(dict(zip(JOBS, (0.0, 1.5, -1.0, 0.7), strict=True)))
Y = (RAW["pay"] + WORTH + 0.4 * RAW["years"] - 0.5 * RAW["size"] + RNG.normal(0, 0.3, 300) > 1).astype(int)


def dummies(raw: pd.DataFrame) -> pd.DataFrame:
    """The table as a user encodes it. Its columns are in no particular order."""
    made = pd.get_dummies(raw.astype({"job": pd.CategoricalDtype(JOBS)}), columns=["job"])
    for least in SIZES[1:]:
        made[f"size>={least}"] = (made["size"] >= least).astype(np.uint8)
    return made[["job_clerk", "size>=1", "pay", "job_nurse", "job_cook", "size>=2", "years", "size>=3", "job_driver"]]


DATA = dummies(RAW)

MODELS = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": RandomForestClassifier(15, max_depth=5, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=15, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=15, random_state=0),
    "network": MLPClassifier((6,), solver="lbfgs", max_iter=2000, random_state=0),
    "oblique": bf.trees.TAOClassifier(max_depth=3, random_state=0),
    "vote": VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=3))], voting="soft"),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "components": make_pipeline(StandardScaler(), PCA(4), LogisticRegression()),
    "encoder": make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job_clerk", "job_cook", "size>=2"]), remainder="passthrough"),
        RandomForestClassifier(10, max_depth=5, random_state=0),
    ),
}


def fitted(name: str) -> Any:
    return MODELS[name].fit(DATA, Y)


def every_row(raw: pd.DataFrame) -> pd.DataFrame:
    """All rows with another job, size or years."""
    ways = product(JOBS, SIZES, range(5))
    return pd.DataFrame(
        [{"pay": raw["pay"].item(), "years": years, "size": size, "job": job} for job, size, years in ways]
    )


def cheapest(model: Any, raw: pd.DataFrame, target: int) -> float:
    """The least cost of all rows that the estimator takes: 2 for a job, a third for each size, a quarter for each year."""
    rows = every_row(raw)
    cost = (
        2.0 * (rows["job"] != raw["job"].item())
        + (rows["size"] - raw["size"].item()).abs() / 3
        + (rows["years"] - raw["years"].item()).abs() / 4
    )
    return float(np.min(cost.to_numpy()[model.predict(dummies(rows)) == target], initial=np.inf))


@pytest.mark.shorter(4)
@pytest.mark.parametrize("name", MODELS)
def test_the_cheapest_of_all_levels_is_proven(name: str) -> None:
    model = fitted(name)
    explainer = bf.Explainer(model, DATA)
    assert set(explainer.space.names) == {"job", "size", "pay", "years"}
    rows = np.flatnonzero(model.predict(DATA) == 0)[:4]
    answers = explainer.explain(DATA.iloc[rows], 1, cost=bf.L1({"job": 2}), constraints=[bf.fixed("pay")])
    for answer, row in zip(answers, rows, strict=True):
        best = cheapest(model, RAW.iloc[[row]], 1)
        assert answer.certificate.status.name == ("PROVEN_OPTIMAL" if np.isfinite(best) else "PROVEN_INFEASIBLE")
        assert answer.cost == pytest.approx(best)
        if answer.found:
            assert model.predict(answer.point).tolist() == [1]
            assert (answer.point.dtypes == DATA.dtypes).all()


@pytest.mark.long
def test_a_black_box_is_asked_about_levels() -> None:
    model = fitted("forest")
    explainer = bf.Explainer(lambda rows: model.predict(rows), DATA)
    rows = np.flatnonzero(model.predict(DATA) == 0)[:2]
    for row in rows:
        answer = explainer.explain(DATA.iloc[[row]], 1, cost=bf.L1({"job": 2}), constraints=[bf.fixed("pay")])
        assert answer.cost == pytest.approx(cheapest(model, RAW.iloc[[row]], 1))
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
    free = explainer.explain(DATA.iloc[rows], 1, solver="swarm")
    assert free.found.all()
    assert free.points.filter(like="job_").sum(axis=1).tolist() == [1] * len(rows)


@pytest.mark.parametrize(
    "last",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=6, random_state=0),
        RandomForestClassifier(15, max_depth=5, random_state=0),
        GradientBoostingClassifier(n_estimators=15, random_state=0),
        MLPClassifier((4,), solver="lbfgs", max_iter=2000, random_state=0),
    ],
    ids=lambda last: type(last).__name__,
)
def test_the_table_without_dummies_has_the_same_answers(last: Any) -> None:
    """The same matrix reaches both models. All columns may change."""
    check_same_answers(last, {"cost": bf.L1({"job": 0.3})})


PRICES = {("clerk", "cook"): 0.2, ("driver", "clerk"): 0.5, ("nurse", "cook"): 0.1, ("driver", "cook"): 0.9}


QUESTIONS: list[dict[str, Any]] = [
    {"constraints": [bf.at_most_changes(2), "fixed size"]},
    {"constraints": [bf.implies(bf.becomes("job", "cook"), bf.rises("years"))], "cost": bf.L1({"job": 0.1})},
    {"cost": bf.Table({"job": PRICES})},
    {"k": 3, "different": "columns"},
    {"constraints": ["pay + years <= 4", bf.allowed("job", ["clerk", "nurse", "driver"])]},
    {"constraints": [bf.robust({"pay": 0.1}, slips={"job": "any"})]},
    {"constraints": [bf.linked("job", "size", table=pd.DataFrame({"job": JOBS, "size": SIZES}))]},
    {"cost": "LInf"},
    {"cost": "L2+0.1*L0"},
    {"k": 2, "different": 0.3},
]


@pytest.mark.shorter(2)
@pytest.mark.parametrize("question", first(4, QUESTIONS), ids=str)
@pytest.mark.parametrize(
    "last", [LogisticRegression(), RandomForestClassifier(8, max_depth=4, random_state=0)], ids=repr
)
def test_every_question_has_the_same_answers(last: Any, question: dict[str, Any]) -> None:
    check_same_answers(last, question, job_changes=False)


def check_same_answers(last: Any, question: dict[str, Any], *, job_changes: bool = True) -> None:
    """The table, and the table with dummies: one question is answered at the same costs. One model reads both."""
    names, own = ["pay", "years", "size"], RAW.astype({"years": float, "size": float})
    encoder = make_column_transformer(("passthrough", names), (OneHotEncoder(), ["job"]))
    model = make_pipeline(encoder, clone(last)).fit(own, Y)
    table = pd.get_dummies(own, columns=["job"], dtype=float)
    rows = np.flatnonzero(model.predict(own) == 0)[:5]
    one = bf.Explainer(model, own).explain(own.iloc[rows], 1, **question)
    other = bf.Explainer(model[-1], table).explain(table.iloc[rows], 1, **question)
    assert one.costs == pytest.approx(other.costs, rel=1e-9)
    assert one.statuses == other.statuses
    assert one.found.any()
    if job_changes:
        assert any("job" in [change.name for change in answer.changes] for answer in other)


def test_a_change_of_level_is_one_change_with_one_price() -> None:
    explainer = bf.Explainer(fitted("tree"), DATA)
    rows = DATA[(explainer.model.predict(DATA) == 0) & DATA["job_driver"]]
    as_cooks = rows.assign(job_driver=False, job_cook=True)
    row = rows[explainer.model.predict(as_cooks) == 1].iloc[[0]]
    asked = {"target": 1, "constraints": [bf.fixed("pay", "years", "size"), bf.at_most_changes(1)]}
    answer = explainer.explain(row, **asked).only
    assert answer.cost == 1
    ((change),) = answer.changes
    assert (change.name, change.before) == ("job", "driver")
    assert f"job     driver  {change.after}" in repr(answer)
    assert f"job {change.after} (now driver)" in answer.to_text("brief")
    assert explainer.explain(row, cost="L0", **asked).cost == 1
    assert explainer.explain(row, cost=bf.L1({"job": 2}), **asked).cost == 2


def test_several_answers_differ_in_features() -> None:
    explainer = bf.Explainer(fitted("forest"), DATA)
    row = DATA[explainer.model.predict(DATA) == 0].iloc[[5]]
    changed = [{change.name for change in answer.changes} for answer in explainer.explain(row, 1, k=3)]
    assert len(changed) > 1
    assert not any(later >= earlier for i, earlier in enumerate(changed) for later in changed[i + 1 :])
    leaves = bf.Explainer(fitted("tree"), DATA)
    assert len(leaves.explain(row, 1, k=4)) > 1


def test_levels_of_dummies_may_slip() -> None:
    model = fitted("forest")
    explainer = bf.Explainer(model, DATA)
    rows = DATA[model.predict(DATA) == 0].iloc[:5]
    answers = explainer.explain(rows, 1, constraints=[bf.robust(0, slips={"job": "any"})])
    assert answers.found.any()
    for point in answers[answers.found]:
        slipped = point.point.loc[point.point.index.repeat(4)].copy()
        slipped[[f"job_{job}" for job in JOBS]] = np.eye(4, dtype=bool)
        assert model.predict(slipped).tolist() == [1] * 4


def test_constraints_are_about_levels() -> None:
    explainer = bf.Explainer(fitted("forest"), DATA)
    rows = DATA[explainer.model.predict(DATA) == 0].iloc[:6]
    rules = [
        "only_up size",
        bf.allowed("job", ["clerk", "nurse"]),
        "if job == nurse then years >= 3",
        bf.combinations("job", "years"),
    ]
    before, known = explainer.space.encode(rows), set(zip(RAW["job"], RAW["years"], strict=True))
    answers = explainer.explain(rows, 1, constraints=rules)
    assert answers.found.any()
    for i, answer in enumerate(answers):
        if answer.found:
            j = explainer.space.index("size")
            assert answer.point_codes[j] >= before[i, j]
            assert answer["job"].after in ("clerk", "nurse") or not answer["job"].changed
            assert answer["job"].after != "nurse" or answer["years"].after >= 3
            assert (answer["job"].after, answer["years"].after) in known


@pytest.mark.parametrize("name", ["job_cook", "job_*"])
def test_the_name_of_a_dummy_is_refused_in_words(name: str) -> None:
    explainer = bf.Explainer(fitted("tree"), DATA)
    for asked in ({"constraints": [bf.fixed(name)]}, {"cost": bf.L1({name: 2})}, {"constraints": f"fixed {name}"}):
        with pytest.raises(bf.ButforError, match=r"Dummies are one feature: 'job' is clerk.*Write 'job'"):
            explainer.explain(DATA.iloc[[0]], **asked)
    with pytest.raises(bf.ButforError, match=r"job"):
        bf.Explainer(explainer.model, DATA, words=bf.describe({name: "Occupation"}))
    with pytest.raises(bf.ButforError, match=r"bf.one_hot\('job_\*'\).*It says what columns are.*Declare it"):
        explainer.explain(DATA.iloc[[0]], constraints=bf.one_hot("job_*"))


def test_a_row_without_a_level_and_one_with_two_are_errors() -> None:
    explainer = bf.Explainer(fitted("tree"), DATA)
    rows = DATA.iloc[:3].copy()
    rows.loc[2, ["job_clerk", "job_cook", "job_driver", "job_nurse"]] = False
    with pytest.raises(bf.ButforError, match=r"none of 'job_clerk', .* is 1 in row 2 of those given.*'job'"):
        explainer.explain(rows)
    rows.loc[2, ["job_cook", "job_nurse"]] = True
    with pytest.raises(bf.ButforError, match=r"'job_nurse', 'job_cook' are 1 in row 2 of those given.*'job'"):
        explainer.explain(rows)
    with pytest.raises(bf.ButforError, match=r"columns are missing: job_cook"):
        explainer.explain(DATA.iloc[:3].drop(columns="job_cook"))


def rewritten(record: str, told: str, wrong: str) -> str:
    """A record with something else in it, as if nothing had been changed: it has no hash."""
    assert told in record
    data = json.loads(record.replace(told, wrong))
    for one in data:
        del one["hash"]
    return json.dumps(data)


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_records_hold_the_users_columns(kind: str) -> None:
    made = {"pandas": DATA, "polars": pl.DataFrame(DATA), "array": DATA.to_numpy(dtype=float)}[kind]
    given = DATA if kind != "array" else made
    model = DecisionTreeClassifier(max_depth=6, random_state=0).fit(given, Y)
    rows = np.flatnonzero(model.predict(given) == 0)[:3]
    space = {"job": bf.one_hot("x0", "x3", "x4", "x8")} if kind == "array" else None
    answers = bf.Explainer(model, made, space=space).explain(made[rows] if kind != "pandas" else made.iloc[rows], 1)
    read = Explanations.from_json(answers.to_json())
    assert read == answers
    assert read.space == answers.space
    assert type(read.points) is type(answers.points)
    assert np.array_equal(np.asarray(read.points), np.asarray(answers.points))
    assert bf.check(read, model).passed
    frame = answers.to_frame()
    if kind != "array":
        assert [name for name in frame.columns if name in DATA] == list(DATA)
        assert list(frame[list(DATA)].dtypes) == list(made.dtypes)
    odd = ['"one_cold"', '"trust"', '"at": [99, ', '"last": [7, ']
    for told, wrong in zip(['"one_hot"', '"truth"', '"at": [', '"last": ['], odd, strict=True):
        with pytest.raises(bf.ButforError):
            Explanations.from_json(rewritten(answers.to_json(indent=None), told, wrong))


def test_groups_of_rows_are_those_of_levels() -> None:
    explainer = bf.Explainer(fitted("tree"), DATA)
    answers = explainer.explain(DATA.iloc[:40], 1)
    found = bf.groups.costs(answers, by="job")
    assert found["group"].tolist() == list(JOBS)


def test_other_models_read_the_same_columns() -> None:
    model, other = fitted("forest"), RandomForestClassifier(10, max_depth=4, random_state=1).fit(DATA, Y)
    explainer = bf.Explainer(model, DATA)
    rows = DATA[model.predict(DATA) == 0].iloc[:4]
    answers = explainer.explain(rows, 1, constraints=[bf.robust_to([other])])
    assert explainer.agreement(answers, [other]).tolist() == [1.0] * 4
