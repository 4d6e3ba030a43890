"""Robust answers: no cheaper row keeps what is wanted in its whole ball."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.proof.checker import checker
from tests.proof import judge
from tests.proof.attacks import broken_by, with_changes
from tests.proof.by_hand import case, number, tree, weighed
from tests.proof.cases import Case, read
from tests.proof.test_linear import rows_of
from tests.proof.test_means import CONSTRAINTS, admitted
from tests.proof.test_read_files import encoded, least, whole_numbers
from tests.proof.test_relations import keeps


def boosted(trees: int = 8) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=trees, max_depth=3, n_jobs=1)


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(7, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=4),
    "xgboost": boosted,
    "scaled forest": lambda: make_pipeline(StandardScaler(), RandomForestClassifier(6, max_depth=4, random_state=0)),
    "weights": LogisticRegression,
}
RADII = ({"years": 1}, {"years": 1, "late": 1}, {"late": 2})


def keeping(model: Any, wanted: Any, every: pd.DataFrame, radius: dict[str, int]) -> np.ndarray:
    """Of which rows all neighbours are predicted as wanted."""
    kept = np.ones(len(every), dtype=bool)
    for shift in product(*(range(-most, most + 1) for most in radius.values())):
        near = every.assign(**{name: every[name] + by for name, by in zip(radius, shift, strict=True)})
        kept &= np.asarray(wanted(model.predict(near)))
    return kept


@pytest.mark.shorter(2)
@pytest.mark.parametrize("radius", RADII, ids=str)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", MODELS)
def test_every_row_and_every_neighbour_is_tried(kind: str, name: str, radius: dict[str, int], tmp_path: Path) -> None:
    every_neighbour_is_tried(MODELS[kind](), name, radius, tmp_path)


def every_neighbour_is_tried(learner: Any, name: str, radius: dict[str, int], tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(learner).fit(X, y)
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    constraints = [bf.robust(radius), *CONSTRAINTS[name]]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, constraints=constraints), model, tmp_path)
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 1, 1), strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            return keeping(model, lambda said: said != was, every, radius) & admitted(name, every, row)

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
        assert "rows are to keep what is wanted: " in one.words
        assert (one.near is None) == (one.below == np.inf)
        assert one.near is None or checker().check(str(one.near), {})


def test_numbers_that_are_farther_apart_than_the_radius_are_refused_by_name(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(LogisticRegression()).fit(X, y)
    constraints = [bf.step("years", 3.0), bf.robust({"years": 1})]
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:1], constraints=constraints)
    with pytest.raises(
        bf.errors.UnsupportedProblemError, match="of 'years', whose values are farther apart than the radius"
    ):
        bf.prove(answers, model, tmp_path / "none")


def test_three_classes_keep_one_of_them_everywhere(tmp_path: Path) -> None:
    one_of_three_is_kept(RandomForestClassifier(5, max_depth=4, random_state=0), tmp_path)


def one_of_three_is_kept(learner: Any, tmp_path: Path) -> None:
    X, y = whole_numbers()
    y = y + (X["late"] > 3).to_numpy()
    model = encoded(learner).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.classes(1, 2), constraints=[bf.robust({"late": 1})])
    proofs = bf.prove(answers, model, tmp_path)
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        each = [
            least(X, row, lambda every, k=k: keeping(model, lambda said, k=k: said == k, every, {"late": 1}))
            for k in (1, 2)
        ]
        assert one.verified, one.words
        assert one.below == pytest.approx(min(each), rel=1e-8)


def test_around_an_answer_nothing_else_is_met(tmp_path: Path) -> None:
    """What is proven of a box is false of a wider one."""
    X, y = whole_numbers()
    model = encoded(boosted()).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, constraints=[bf.robust({"years": 1})])
    proofs = bf.prove(answers, model, tmp_path)
    assert "4 are proven to keep what is wanted in their whole box" in repr(proofs)
    for answer, one in zip(answers, proofs, strict=True):
        assert one.near is not None
        near = read(one.near)
        assert near.accepted()
        assert near.shared["wanted"]["label"] == "not 1"
        (at,) = [j for j, mine in enumerate(near.own["columns"]) if mine.get("least") not in (None, (1.0).hex())]
        column = near.own["columns"][at]
        centre = float.fromhex(column["now"])
        assert centre == answer.point["years"].iloc[0]
        assert (float.fromhex(column["least"]), float.fromhex(column["most"])) == (centre - 1, centre + 1)
        far = pd.concat([answer.point.assign(years=years) for years in range(-9, 20)])
        for wide in range(2, 9):
            column["least"], column["most"] = (centre - wide).hex(), (centre + wide).hex()
            kept = model.predict(far)[(far["years"] - centre).abs() <= wide].all()
            assert kept or not near.accepted()


@pytest.mark.parametrize("learner", [boosted, LogisticRegression])
def test_real_numbers_keep_it_but_at_the_very_end(learner: Any, tmp_path: Path) -> None:
    X, y = measured()
    model = learner().fit((X - X.min()) / (X.max() - X.min()), y)
    X = (X - X.min()) / (X.max() - X.min())
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:4], constraints=[bf.robust(0.03)])
    assert all(one.near for one in bf.prove(answers, model, tmp_path))


def measured() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:, :4], y.to_numpy()


def all_near(model: Any, X: pd.DataFrame, x: np.ndarray, radius: np.ndarray) -> bool:
    """Whether a row is predicted to be 1 wherever a neighbour may be: at itself, at both ends, and beyond each cut between."""
    if isinstance(model, DecisionTreeClassifier):
        feature, cut = model.tree_.feature, model.tree_.threshold
    else:
        frame = model.get_booster().trees_to_dataframe()
        frame = frame[frame["Feature"] != "Leaf"]
        feature, cut = X.columns.get_indexer(frame["Feature"]), frame["Split"].to_numpy()
    each = []
    for j, r in enumerate(radius):
        mine = np.unique(cut[feature == j]) + 1e-4 * r
        each.append([x[j], x[j] - r * (1 - 1e-6), x[j] + r * (1 - 1e-6), *mine[np.abs(mine - x[j]) < r * (1 - 1e-6)]])
    every = pd.DataFrame(list(product(*each)), columns=X.columns)
    return bool((model.predict(every) == 1).all())


def cheaper_and_good(
    model: Any, X: pd.DataFrame, row: pd.Series, below: float, rng: np.random.Generator, count: int
) -> np.ndarray:
    """Those of some random rows below a cost that are predicted as 1."""
    columns = X.shape[1]
    shares = rng.dirichlet(np.full(columns, 0.3), count) * rng.choice([-1, 1], (count, columns)) * below
    cheaper = row.to_numpy() + shares * (X.max() - X.min()).to_numpy()
    return cheaper[model.predict(pd.DataFrame(cheaper, columns=X.columns)) == 1]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["tree", "xgboost"])
def test_real_numbers_of_trees_keep_it_or_fail(kind: str, dtype: Any, tmp_path: Path) -> None:
    """What is claimed is what the answer costs. Rows that cost less have a neighbour that fails; a bolder claim is refused."""
    X, y = measured()
    X = X.astype(dtype)
    model = MODELS[kind]().fit(X, y)
    rows, radius, rng = X[model.predict(X) == 0].iloc[:3], 0.02, np.random.default_rng(0)
    answers = bf.Explainer(model, data=X).explain(rows, constraints=[bf.robust(radius)])
    proofs = bf.prove(answers, model, tmp_path)
    spans = (X.max() - X.min()).to_numpy()
    for (_, row), answer, one in zip(rows.iterrows(), answers, proofs, strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(answer.cost, rel=1e-8)
        good = cheaper_and_good(model, X, row, one.below, rng, 3000)
        assert not [x for x in good if all_near(model, X, x, radius * spans)]
    found = read(proofs[0].file)
    assert found.accepted()
    assert not found.bolder(1.001).accepted()


@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
def test_balls_of_weights(norm: Any, tmp_path: Path) -> None:
    """The least cost of a weighted sum at one price per unit: the best column moves to its end, then the next one."""
    X, y = measured()
    X = (X - X.min()) / (X.max() - X.min())
    model = LogisticRegression().fit(X, y)
    rows = X[model.decision_function(X) < -0.2].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(
        rows, cost=bf.L1(scale="none"), constraints=[bf.robust(0.05, norm=norm)]
    )
    proofs = bf.prove(answers, model, tmp_path)
    slope = model.coef_[0]
    loss = 0.05 * {"linf": np.abs(slope).sum(), "l2": np.linalg.norm(slope), "l1": np.abs(slope).max()}[norm]
    for (_, row), gap, one in zip(rows.iterrows(), -model.decision_function(rows), proofs, strict=True):
        room, need, paid = np.where(slope > 0, 1 - row, row).tolist(), gap + loss, 0.0
        for j in np.argsort(-np.abs(slope)):
            move = min(room[j], need / abs(slope[j]))
            need, paid = need - move * abs(slope[j]), paid + move
        assert one.verified, one.words
        assert one.below == pytest.approx(paid, rel=1e-7)


def test_values_that_are_wanted_everywhere(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(DecisionTreeRegressor(max_depth=4, random_state=0)).fit(X, y + X["years"])
    rows = X[model.predict(X) < 3].iloc[:3]
    answers = bf.Explainer(model, data=X).explain(
        rows, target=bf.value(at_least=3.5), constraints=[bf.robust({"years": 1})]
    )
    for (_, row), one in zip(rows.iterrows(), bf.prove(answers, model, tmp_path), strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(
            least(X, row, lambda every: keeping(model, lambda said: said >= 3.5, every, {"years": 1})), rel=1e-8
        )


def test_what_is_not_proven_is_refused_by_name(tmp_path: Path) -> None:
    from sklearn.calibration import CalibratedClassifierCV

    X, y = whole_numbers()
    boosting, weights = boosted(4), LogisticRegression()
    mean = CalibratedClassifierCV(GradientBoostingClassifier(n_estimators=3, random_state=0), cv=2)
    slips = bf.robust({"years": 1}, slips={"job": "any"})
    for learner, constraint in ((boosting, slips), (weights, slips), (mean, bf.robust({"years": 1}))):
        model = encoded(learner).fit(X, y)
        try:
            answers = bf.Explainer(model, data=X).explain(X.iloc[:1], constraints=[constraint])
        except bf.errors.UnsupportedProblemError:
            assert learner is mean
            continue
        with pytest.raises(bf.errors.UnsupportedProblemError, match="robust"):
            bf.prove(answers, model, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_proof_of_another_ball_is_told(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(boosted()).fit(X, y)
    rows, explainer = X[model.predict(X) == 0].iloc[:1], bf.Explainer(model, data=X)
    one, two = (explainer.explain(rows, constraints=[bf.robust({"years": size})]) for size in (1, 2))
    bf.prove(one, model, tmp_path)
    assert bf.check(one[0], model, proof=tmp_path).passed
    told = bf.check(two[0], model, proof=tmp_path)
    assert not told.passed
    assert "another" in str(told)


# ------------------------------------------------------------------------------------------------------ claims by hand

BALL = {"ball": {"norm": "linf", "radius": [(0.5).hex()]}}


def claim(name: str, trees: list[Any], wanted: float, below: float, *ends: Any, **more: Any) -> Case:
    """A claim about x, which is -1 and costs 1 a unit, and perhaps y, which is -1, costs 1 a unit and is not shifted."""
    grid, radius, low, high = (
        more.pop(key, other) for key, other in (("grid", None), ("radius", 0.5), ("low", -10.0), ("high", 10.0))
    )
    columns = [number(-1.0, 1.0, low, high), *[number(-1.0, 1.0)] * more.pop("y", 0)]
    found = case(name, trees, columns, wanted, below, {"end": "score"}, grid=grid)
    ball = {"norm": "linf", "radius": [radius.hex(), *[None] * (len(columns) - 1)]}
    told = [[[0, [x.hex() for x in its]]] for its in ends]
    return replace(found, own={**found.own, "ball": ball, "replies": told, **more})


UP = tree((0, 0.0, 1, 2), 0.0, 1.0)  # 1 above 0: with all of x +- 0.5 above 1/2, for a cost of 1.5
HALVES = [tree((0, -1.05, 1, 2), 1.0, 0.0), tree((0, -1.1, 1, 2), 0.0, 1.0), tree((1, 0.0, 1, 2), 0.0, 1.0)]
"""The first two add 1 or 2 for every x; with y above 0, 2 is reached, for a cost of 1."""
POINTS = [tree((0, 0.3, 1, 2), 1.0, (0, 0.6, 3, 4), 0.0, 1.0), tree((1, 0.0, 1, 2), 0.0, 1.0)]
"""On a grid of whole numbers, the first one is always 1; with y above 0, 2 is reached, for a cost of 1."""

BESIDE = [tree((0, 1.5, 1, 2), 1.0, 0.0), tree((1, 0.0, 1, 2), 0.0, 1.0)]
"""In steps of 2 from -1, the first one is 1 at -3, -1 and 1; with y above 0, 2 is reached, for a cost of 1."""

# Up to 1 + 2**-23 it is 0, so a number just halfway to the next float32 is read as that, whose last bit is even, and it is 1.
# With all of x +- r it is 1 from 2 on, because 2 - r lies just halfway. The other tree tells 2 from more, and adds nothing.
TIED, HALFWAY = tree((0, 1 + 2.0**-23, 1, 2), 0.0, 1.0), 1 - 1.5 * 2.0**-23
APART = tree((0, 2.0, 1, 2), 0.0, 0.0)


def tied(name: str, *trees: Any) -> Case:
    """A claim that no float32 number x, which is 0 and costs 1 a unit, keeps 1 near it for less than a little more than 2."""
    found = case(
        name, [TIED, *trees], [number(0.0, 1.0)], 1.0, 2 + 2.0**-24, {"end": "score"}, reads="float32", single=True
    )
    replies = [[[0, [(2.0).hex()] + [(2.0 + HALFWAY).hex()] * len(trees)]]]
    return replace(found, own={**found.own, "ball": {"norm": "linf", "radius": [HALFWAY.hex()]}, "replies": replies})


FALSE = {
    "a tie at a moved end": tied("a tie at a moved end"),
    "a tie where a cut is, too": tied("a tie where a cut is, too", APART),
    "moves too far": claim("moves too far", [UP], 1.0, 2.5, [3.0]),
    "crosses cuts": claim("crosses cuts", HALVES, 2.0, 1.5, [-0.7, -1.5], y=1, low=-1.2, high=-0.75),
    "parts points": claim("parts points", POINTS, 2.0, 1.5, [-1.0, 1.0], y=1, radius=1.0, grid=["1", "0"]),
    "beside its grid": claim("beside its grid", BESIDE, 2.0, 1.5, [-2.0], y=1, radius=2.0, grid=["2", "0"]),
    "moves between points": claim("moves between points", [UP], 1.0, 2.5, [1.5], radius=1.0, grid=["1", "0"]),
}
SABOTAGE = {
    "moves too far": ("found == sorted(found) and all(abs(x - end) <= radius for x, end in zip(found, ends))", "True"),
    "crosses cuts": ("need(found == sorted(found) and all(", "need(all("),
    "a tie at a moved end": ("if self.single and x not in both}", "if self.single}"),
    "a tie where a cut is, too": ("if end[0] in both else end, cut)", "if not end else end, cut)"),
    "beside its grid": ("not (beside and any(replies))", "True"),
    "parts points": ("all(a != b or x == y for a, b, x, y in together)", "True"),
}


def false_by_hand() -> list[Case]:
    return list(FALSE.values())


def test_true_claims_by_hand_are_verified() -> None:
    assert claim("moved by the radius", [UP], 1.0, 1.499, [0.5]).accepted()
    assert claim("moved a little less", [UP], 1.0, 1.399, [0.4]).accepted()
    assert claim("on a grid", [UP], 1.0, 2.999, [1.0], radius=1.0, grid=["1", "0"]).accepted()
    assert not claim("not at all", [UP], 1.0, 1.499, [0.0]).accepted()
    assert not claim("too bold", [UP], 1.0, 1.501, [0.5]).accepted()


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    with pytest.raises(checker().Wrong):
        FALSE[name].check()
    assert FALSE[name].accepted(broken_by(*SABOTAGE[name]))


@pytest.mark.parametrize(
    "found",
    [
        claim("no radius", [UP], 1.0, 1.4, [0.5], ball={"norm": "linf", "radius": [None]}),
        claim("no ball", [UP], 1.0, 1.4, [0.5], ball=None),
        claim("a round ball", [UP], 1.0, 1.4, [0.5], ball={"norm": "l2", "radius": [(0.5).hex()]}),
        claim("another norm", [UP], 1.0, 1.4, [0.5], ball={"norm": "l3", "radius": [(0.5).hex()]}),
        claim("a radius of another number of columns", [UP], 1.0, 1.4, [0.5], ball={"norm": "linf", "radius": []}),
        claim("a negative radius", [UP], 1.0, 1.4, [0.5], ball={"norm": "linf", "radius": [(-0.5).hex()]}),
        claim("another number of cuts", [UP], 1.0, 1.4, [0.5, 0.5]),
        claim("a column twice", [UP], 1.0, 1.4, replies=[[[0, [(0.5).hex()]], [0, [(0.5).hex()]]]]),
        claim("a column that is not there", [UP], 1.0, 1.4, replies=[[[1, [(0.5).hex()]]]]),
        claim("half a step", [UP], 1.0, 1.4, [0.5], radius=0.5, grid=["1", "0"]),
        claim("a grid that floats miss", [UP], 1.0, 1.4, [0.5], radius=0.5, grid=["1/10", "0"]),
        FALSE["moves between points"],
    ],
    ids=lambda found: found.name,
)  # fmt: skip
def test_a_ball_or_a_reply_that_makes_no_sense_is_refused(found: Case) -> None:
    with pytest.raises(checker().Wrong):
        found.check()


def weights(norm: str, below: float) -> Case:
    """x + y > 0, where x is -2 and costs 1 a unit, y is 0 and costs 9, and both are shifted by 1."""
    model = {"of": "", "sum": "score", "base": 0, "weights": [1, 1]}
    found = weighed(model, {"of": ["class", 1]}, below, {"rate": [1, 0]}, {"end": "dual"}, name=norm, now=-2)
    x, mine = found.shared["columns"][0], found.own["columns"][0]
    columns = [x, {**x, "name": "y", "features": [1]}]
    own = {
        **found.own,
        "columns": [mine, {**mine, "now": 0, "price": [0, 9, 0]}],
        "ball": {"norm": norm, "radius": [1, 1]},
    }
    return replace(found, shared={**found.shared, "columns": columns}, own=own)


LEAST = {"linf": 4.0, "l1": 3.0, "l2": 2 + 2**0.5}


@pytest.mark.parametrize("norm", LEAST)
def test_weights_lose_the_dual_norm(norm: str) -> None:
    assert weights(norm, LEAST[norm] - 1e-6).accepted()
    assert not weights(norm, LEAST[norm] + 1e-6).accepted()
    faults = {
        "linf": ("least=goal.least + loss", "least=goal.least + 2 * loss"),
        "l1": ('if self.norm == "l1" else sum(each)', 'if self.norm == "none" else sum(each)'),
        "l2": ('if self.norm == "l2":', 'if self.norm == "none":'),
    }
    assert weights(norm, LEAST[norm] + 0.1).accepted(broken_by(*faults[norm]))


# ------------------------------------------------------------------------------------------------------------- attacks


@cache
def cases(kind: str) -> tuple[Case, ...]:
    X, y = whole_numbers()
    model = encoded(MODELS[kind]()).fit(X, y)
    explainer, found = bf.Explainer(model, data=X), list[Case]()
    for radius, constraints in zip(RADII, ([], CONSTRAINTS["one change"], CONSTRAINTS["a sum"]), strict=True):
        rows = pd.concat([X[model.predict(X) == k].iloc[:1] for k in (0, 1)])
        answers = explainer.explain(rows, constraints=[bf.robust(radius), *constraints])
        with TemporaryDirectory() as folder:
            found += [read(one.file, kind) for one in bf.prove(answers, model, folder) if one.file]
    return tuple(found)


def is_false(found: Case) -> bool:
    """Whether a row below the claim gets what is wanted with all of its neighbours."""
    below, most, ball = found.own["below"], found.own["changes"], found.own.get("ball")
    rows = [
        row
        for row, cost, changes in rows_of(found, max if found.own.get("cost") == "largest" else sum)
        if (below is None or cost < judge.number(below)) and (most is None or changes <= most) and keeps(found.own, row)
    ]
    if not rows:
        return False
    radius = [0 if x is None else int(judge.number(x)) for x in (ball or {"radius": [None] * len(rows[0])})["radius"]]
    kept, model = np.ones(len(rows), dtype=bool), judge.JudgedModel(found.kind, found.content)
    width = 1 + max(f for about in found.shared["columns"] for f in about["features"])
    for shift in product(*(range(-most, most + 1) for most in radius)):
        features = np.zeros((len(rows), width))
        for j, about in enumerate(found.shared["columns"]):
            mine: list[Any] = [row[j] for row in rows]
            mine = [about["levels"][k][1:] for k in mine] if "levels" in about else [[x + shift[j]] for x in mine]
            numbers = [[float.fromhex(x) if isinstance(x, str) else float(x) for x in its] for its in mine]
            features[:, about["features"]] = np.array(numbers)[:, : len(about["features"])]
        kept &= model.may_say(features, found.shared["wanted"])
    return bool(kept.any())


def another(r: random.Random, found: Case) -> Case:
    """A case with something changed: the claim, the ball, a reply, or a step."""

    def change(own: dict[str, Any], steps: list[str], k: int) -> None:
        what, replies = r.randrange(5), own.get("replies")
        if what == 0:
            radius = own["ball"]["radius"]
            radius[r.randrange(len(radius))] = r.choice([None, (1.0).hex(), (2.0).hex(), (1.5).hex()])
        elif what in (1, 2) and replies:
            reply = r.choice(replies)
            _, ends = r.choice(reply or [[0, [(0.0).hex()]]])
            for at in r.sample(range(len(ends)), r.randrange(1, 1 + len(ends))):
                ends[at] = (float.fromhex(ends[at]) + r.choice([-2.0, -1.0, 1.0, 0.5])).hex()
            if reply and r.random() < 0.2:
                reply.pop()
        elif what == 3 and replies and r.random() < 0.3:
            replies.append(r.choice(replies))
        else:
            steps[k] = json.dumps(r.choice([{"end": "dual"}, {"end": "score"}, {"drop": 1}]))

    return with_changes(r, found, change)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 40), pytest.param(1, 2500, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r = random.Random(seed)
    every = [found for kind in ("tree", "forest", "xgboost") for found in cases(kind)]
    accepted = [found for found in (another(r, r.choice(every)) for _ in range(count)) if found.accepted()]
    assert len(accepted) > count / 20
    assert not [found for found in accepted if is_false(found)]


def test_a_number_beside_its_grid_is_not_shifted_onto_it(tmp_path: Path) -> None:
    """Whole steps lead from 1.3 to 2.3, which goes left at 2.5 like 2: a reply that moves cuts by points is no shift."""
    X = pd.DataFrame({"k": np.arange(10).repeat(20), "x": np.tile(np.linspace(-1, 1, 20).round(2), 10)})
    model = DecisionTreeClassifier(random_state=0).fit(X, (X.k <= 2) & (X.x > 0))
    rows = pd.DataFrame({"k": [1.3, 3.0], "x": [-1.0, -1.0]})
    answers = bf.Explainer(model, X).explain(rows, target=True, constraints=[bf.robust({"k": 1})])
    proofs = bf.prove(answers, model, tmp_path)
    assert [one.verified for one in proofs] == [False, True]
    assert "may stay beside its grid" in proofs[0].words
