"""Means of sigmoids: what a calibrator of several models says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.proof.checker import checker
from tests.proof.attacks import broken_by
from tests.proof.by_hand import case, number, tree
from tests.proof.cases import Case, cases
from tests.proof.second import said, second
from tests.proof.test_read_files import encoded, least, whole_numbers

__all__ = ["second"]


def boosted(trees: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=trees, max_depth=2, n_jobs=1)


def calibrated(learner: Any, cv: int = 3, method: str = "sigmoid") -> Any:
    return encoded(CalibratedClassifierCV(learner, method=method, ensemble=True, cv=cv))


def falling() -> Any:
    """A model of the other class, calibrated so that the one falls where the other rises."""
    X, y = whole_numbers()
    return CalibratedClassifierCV(FrozenEstimator(encoded(boosted(5)).fit(X, 1 - y)))


MODELS = {
    "tree": lambda: calibrated(DecisionTreeClassifier(max_depth=3, random_state=0)),
    "forest": lambda: calibrated(RandomForestClassifier(5, max_depth=3, random_state=0)),
    "boosting": lambda: calibrated(GradientBoostingClassifier(n_estimators=8, random_state=0), cv=5),
    "histograms": lambda: calibrated(HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=4), cv=2),
    "votes": lambda: encoded(
        VotingClassifier(
            [
                ("few", GradientBoostingClassifier(n_estimators=5, random_state=0)),
                ("many", HistGradientBoostingClassifier()),
            ],
            voting="soft",
        )
    ),
    "xgboost": lambda: calibrated(boosted(5), cv=2),
    "lines between knots": lambda: calibrated(RandomForestClassifier(5, max_depth=3, random_state=0), 3, "isotonic"),
    "knots after shares": lambda: calibrated(boosted(5), 2, "isotonic"),
    "knots and sigmoids": lambda: encoded(
        VotingClassifier(
            [
                ("knots", CalibratedClassifierCV(boosted(4), method="isotonic", cv=2, ensemble=False)),
                ("sigmoids", CalibratedClassifierCV(boosted(3), cv=2, ensemble=False)),
            ],
            voting="soft",
            weights=[2, 1],
        )
    ),
    "one xgboost": lambda: encoded(CalibratedClassifierCV(boosted(6), method="sigmoid", ensemble=False, cv=2)),
    "falls": falling,
    "uneven votes": lambda: encoded(
        VotingClassifier(
            [
                ("boosted", boosted(4)),
                ("forest", RandomForestClassifier(4, max_depth=3, random_state=0)),
                ("calibrated", CalibratedClassifierCV(boosted(3), cv=2, ensemble=False)),
            ],
            voting="soft",
            weights=[3, 2, 0.5],
        )
    ),
    "threshold": lambda: encoded(
        FixedThresholdClassifier(
            CalibratedClassifierCV(RandomForestClassifier(4, max_depth=4, random_state=0), cv=3), threshold=0.62
        )
    ),
}
CONSTRAINTS: dict[str, list[Any]] = {
    "none": [],
    "one change": [bf.at_most_changes(1)],
    "a rule": [bf.implies(bf.between("years", 4), bf.allowed("job", ["cook", "judge"]))],
    "a sum": ["years + late <= 6"],
}


def admitted(name: str, every: pd.DataFrame, row: pd.Series) -> np.ndarray:
    """Which rows keep a constraint."""
    if name == "one change":
        return np.asarray((every != row).sum(axis=1) <= 1)
    if name == "a rule":
        return np.asarray((every["years"] < 4) | (every["job"] != "clerk"))
    return np.asarray(every["years"] + every["late"] <= 6) if name == "a sum" else np.ones(len(every), dtype=bool)


def claims_of_classes(model: Any, name: str, folder: Path) -> Any:
    """Proofs about two rows of each class under a constraint. What they claim is compared with all rows that there are."""
    X, y = whole_numbers()
    predicted = model.fit(X, y).predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, constraints=CONSTRAINTS[name]), model, folder)
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 1, 1), strict=True):
        cheapest = least(
            X, row, lambda every, row=row, was=was: (model.predict(every) != was) & admitted(name, every, row)
        )
        assert one.verified, one.words
        assert one.below == pytest.approx(cheapest, rel=1e-8)
    return proofs


def claims_of_probabilities(model: Any, label: int, ends: dict[str, float], folder: Path) -> Any:
    """The same about four rows whose probability must reach an end."""
    X, y = whole_numbers()
    model.fit(X, y)
    (end,) = ends.values()

    def met(every: pd.DataFrame) -> np.ndarray:
        chance = model.predict_proba(every)[:, label]
        return np.asarray(chance >= end if "at_least" in ends else chance <= end)

    rows = X[~met(X)].iloc[:4]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, target=bf.probability(label, **ends)), model, folder)
    assert proofs.verified == 4
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    return proofs


VERIFIED_TWICE = {"VERIFIED: the bound, by the second checker"}


def stacked(*members: Any, final: Any = None, weights: list[float] | None = None) -> Any:
    """A stack of members, perhaps with weights of its end, and its constant, as they are given."""
    model = encoded(StackingClassifier([(str(k), one) for k, one in enumerate(members)], final_estimator=final, cv=3))
    fit = model.fit

    def with_end(X: Any, y: Any) -> Any:
        end = fit(X, y)[-1].final_estimator_
        end.coef_, end.intercept_ = np.array([weights[:-1]]), np.array(weights[-1:])
        return model

    if weights is not None:
        model.fit = with_end
    return model


STACKS = {
    "shares and a logit": lambda: stacked(RandomForestClassifier(4, max_depth=3, random_state=0), boosted(4)),
    "weights below 0": lambda: stacked(
        RandomForestClassifier(4, max_depth=3, random_state=0), boosted(4), DecisionTreeClassifier(max_depth=2),
        weights=[4.0, 3.0, -2.5, -2.0],
    ),
    "scores of a ridge": lambda: stacked(boosted(3), DecisionTreeClassifier(max_depth=3), final=RidgeClassifier()),
    "a calibrated member": lambda: stacked(
        CalibratedClassifierCV(boosted(3), cv=2, ensemble=False), boosted(2), weights=[-3.0, 8.0, -2.6]
    ),
    "weights": lambda: stacked(LogisticRegression(), RidgeClassifier(), weights=[5.0, -0.8, -1.5]),
    "members with knots": lambda: stacked(
        CalibratedClassifierCV(boosted(3), method="isotonic", cv=2, ensemble=False), boosted(2), weights=[-3.0, 8.0, -2.6]
    ),
}  # fmt: skip


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", [*MODELS, *STACKS])
def test_every_row_is_tried(kind: str, name: str, second: Path, tmp_path: Path) -> None:
    proofs = claims_of_classes({**MODELS, **STACKS}[kind](), name, tmp_path)
    assert {*said(second, [one.file for one in proofs if one.file])} == VERIFIED_TWICE


@pytest.mark.shorter(3)
@pytest.mark.parametrize("ends", [{"at_least": 0.8}, {"at_most": 0.3}])
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("kind", ["forest", "weights below 0", "weights"])
def test_probabilities_are_those_of_the_estimator(
    kind: str, label: int, ends: dict[str, float], second: Path, tmp_path: Path
) -> None:
    proofs = claims_of_probabilities({**MODELS, **STACKS}[kind](), label, ends, tmp_path)
    assert {*said(second, [one.file for one in proofs if one.file])} == VERIFIED_TWICE


def test_real_numbers_need_boxes_and_messages(second: Path, tmp_path: Path) -> None:
    """Both checkers say the same of a proof with all steps, and of the same with a bolder claim."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde")).round(3)
    y = (X["a"] - X["b"] * X["c"] + rng.normal(scale=0.5, size=200) > 0).astype(int)
    model = CalibratedClassifierCV(GradientBoostingClassifier(n_estimators=20, random_state=0), cv=3).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:4]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows), model, tmp_path)
    assert proofs.verified == 4
    files = [one.file for one in proofs if one.file]
    assert any('"end":"dual"' in file.read_text() for file in files)
    assert {*said(second, files)} == VERIFIED_TWICE


def test_votes_in_float32_say_so(tmp_path: Path) -> None:
    X, y = whole_numbers()
    members = [(str(k), boosted(k)) for k in (4, 7)]
    model = encoded(VotingClassifier(members, voting="soft")).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:3]
    assert bf.prove(bf.Explainer(model, data=X).explain(rows), model, tmp_path).verified == 3
    assert json.loads(next(tmp_path.glob("model-*")).read_text())["digits"] == 24


SABOTAGE = {
    "no curve": (" - q.curve(self.rates, *ends))", ")"),
    "no convex part": ("[at(low), at(min(high, 0))] if low < 0", "[at(0)] if low < 0"),
    "no concave part": ("    if high > 0:\n        p = ", "    if high > 1 << 60:\n        p = "),
    "one end for two": ("for one in each])] for end in (min, max)]", "for one in each])] for end in (max, max)]"),
    "the other share": ("at if sign > 0 else 1 - at\n", "at\n"),
    "a logit below 0 is too little": ("for curve, x, goal in its) < self.wanted.mean[0]",
                                     "for curve, x, goal in its) < max(2, self.wanted.mean[0])"),
    "no weights": ("[self.weight * end for end in ends]", "[end / 2 for end in ends]"),
    "light curves": ("        worth *= self.weight\n", "        worth *= min(self.weight, F(1, 2))\n"),
    "no other side of a line": ("(x + self.turned,) * 2", "(x,) * 2"),
    "no other side of a bend": ("(slope, -slope - shift, off)", "(slope, shift, off)"),
    "no share outside": ("return outside + inner * (shift + off)", "return inner * (shift + off)"),
    "no share inside": (" + highest(inner * slope, rate, low, high, grain)\n", "\n"),
    "no shift": ("return outside + inner * (shift + off)", "return outside + inner * off"),
    "steps of sums": ("        if self.wanted.mean:\n            return exact // 1\n", ""),
    "no other side of knots": ("by=self.by.other())", ")"),
    "the knot before": ("y -= (y - self.y[k - 1]) *", "y -= 2 * (y - self.y[k - 1]) *"),
    "no knot between ends": ("each += [(x, y + self.off) for x, y", "each += [(x, y - 9) for x, y"),
}  # fmt: skip


def of_mean(
    name: str, trees: list[Any], columns: list[Any], wanted: dict[str, Any], *steps: Any, curves: Any = None
) -> Case:
    """A claim that no row gets such a mean of two sums at a cost below 1.5."""
    found = case(name, trees, columns, 0.0, 1.5, *steps)
    told = {} if curves is None else {"curves": curves}
    model = {**json.loads(found.content), "sum": "mean", "base": [(0.0).hex()] * 2, **told}
    return replace(found, shared={**found.shared, "wanted": wanted}, content=json.dumps(model))


def at(p: float, key: str = "at least") -> dict[str, Any]:
    return {"of": ["probability", 1], key: p.hex()}


def by_hand() -> dict[str, Case]:
    """A false claim for each fault. A change of x by 1 gives what is wanted, and one of z, at 0.1, nothing."""
    x, z = number(-1.0, 1.0), number(-1.0, 0.1)
    up, down = (
        tree((1, 0.0, 1, 2), -4.0, 4.0),
        tree((1, 0.0, 1, 2), 4.0, -4.0),
    )  # together 0, and both ends are far away

    def first(below: float, above: float) -> dict[str, Any]:
        return tree((0, 0.0, 1, 2), below, above)

    def other(leaf: float) -> dict[str, Any]:
        return {**tree(leaf), "of": 1}

    end: dict[str, Any] = {"end": "score"}

    def steps(rate: int, worth: int) -> list[dict[str, Any]]:
        """A logit of 1 is 2^38 grains. What `up` gains where z rises, and `down` where it does not, is paid in messages."""
        return [{"rate": [rate, 0, worth, 0]}, {"say": [0, 1, 2 * rate << 40, 1, 2 * rate << 40]}, {"end": "dual"}]

    found = {
        "no curve": ([first(-3.0, 1.0), other(0.0)], [x], at(0.5), {"rate": [0, 0, 8, 0]}, {"end": "dual"}),
        "no convex part": ([up, down, first(-3.0, -1.0), other(0.0)], [x, z], at(0.35),
                           *steps(20, 1)),
        "no concave part": ([up, down, first(0.5, 2.0), other(0.0)], [x, z], at(0.65),
                            *steps(2, 10)),
        "one end for two": ([up, down, first(-3.0, -1.0), other(0.0)], [x, z], at(0.35),
                            *steps(8, 2)),
        "the other share": ([first(3.0, 0.0), other(2.0)], [x], at(0.8, "at most"), end),
        "a logit below 0 is too little": ([first(-3.0, 1.0), other(0.0)], [x], at(0.55), end),
        "steps of sums": ([first(-3.0, 1.0), other(0.0)], [x], at(0.55), end),
    }  # fmt: skip
    dual: dict[str, Any] = {"end": "dual"}
    plain = {"weight": (1.0).hex()}
    straight, uneven = {**plain, "straight": True}, [{"weight": (0.8).hex()}, {"weight": (0.2).hex()}]

    def bent(slope: float, shift: float) -> dict[str, Any]:
        return {**plain, "bend": [slope.hex(), shift.hex(), (0.0).hex()]}

    def knots(*points: tuple[float, float]) -> dict[str, Any]:
        return {**plain, "knots": [[x.hex(), y.hex()] for x, y in points], "off": 0}

    high, far = knots((-3.0, 0.0), (-1.0, 0.75), (1.0, 0.75)), [up, down, first(-3.0, -1.0), other(0.0)]
    curves_of_knots = {
        "no other side of knots": (1.0, -1.0, 0.0, [knots((-1.0, 0.0), (1.0, 0.25)), plain], at(0.4, "at most"), end),
        "the knot before": (-3.0, -1.5, 0.0, [high, plain], at(0.53), end),
    }

    def curved(
        name: str, below: float, above: float, of_other: float, curves: list[Any], wanted: Any, *steps: Any
    ) -> Case:
        return of_mean(name, [first(below, above), other(of_other)], [x], wanted, *steps, curves=curves)

    curves = {
        "no weights": (-3.0, 1.0, -4.0, uneven, at(0.5), end),
        "light curves": (-3.0, 1.0, -4.0, uneven, at(0.5), {"rate": [0, 0, 16, 0]}, dual),
        "no other side of a line": (0.9, 0.2, 0.5, [straight, straight], at(0.5, "at most"), end),
        "no other side of a bend": (3.0, -3.0, 0.0, [bent(4.0, -3.0), plain], at(0.4, "at most"), end),
        "no share outside": (-3.0, 3.0, 0.0, [bent(4.0, -2.0), plain], at(0.6), {"rate": [0, 0, 0, 8, 0]}, dual),
        "no share inside": (-3.0, 3.0, 0.0, [bent(4.0, -2.0), plain], at(0.6), {"rate": [0, 0, 4, 8, 0]}, dual),
        "no shift": (-3.0, -1.0, 0.0, [bent(4.0, 2.0), plain], at(0.72), {"rate": [0, 0, 2, 8, 0]}, dual),
    }
    return {
        **{name: of_mean(name, *told) for name, told in found.items()},
        "no knot between ends": of_mean("ends", far, [x, z], at(0.6), *steps(1, 6), curves=[high, plain]),
        **{name: curved(name, *told) for name, told in {**curves, **curves_of_knots}.items()},
    }


FALSE = by_hand()


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    assert FALSE[name].false()
    with pytest.raises(checker().Wrong):
        FALSE[name].check()
    assert FALSE[name].accepted(broken_by(*SABOTAGE[name]))


def test_recorded_rows_have_the_recorded_mean() -> None:
    found = next(iter(cases("means")))
    (inputs, given), *_ = found.shared["recorded"]
    no, yes = map(float.fromhex, given["probabilities"])
    for p, accepted in (
        ([no, yes], True),
        ([no + 1e-12, yes - 1e-12], False),
        ([yes, no], False),
        ([no, yes, 0.0], False),
    ):
        told = {**found.shared, "recorded": [[inputs, {"probabilities": [x.hex() for x in p]}]]}
        model = checker().Model(found.kind, found.content.encode())
        if accepted:
            assert checker().recorded(checker().parsed(json.dumps(told["recorded"])), model) == 1
        else:
            with pytest.raises(checker().Wrong):
                checker().recorded(checker().parsed(json.dumps(told["recorded"])), model)


def test_a_share_lies_in_its_interval_and_the_most_above_all() -> None:
    by = checker()
    for x in (-2000, -800, -37.5, -1, 0, 0.25, 3, 40, 900, 5000):
        low, high = by.share(by.F(x))
        assert low < high
        assert float(low) == pytest.approx(1 / (1 + np.exp(-float(max(x, -700)))), abs=1e-15)


def test_a_place_between_knots_is_as_far_off_as_is_said() -> None:
    by, places = checker(), np.linspace(-3, 3, 49)
    x, y, off = [-2, -0.5, 1, 1.25], [0.125, 0.25, 0.25, 0.75], by.F(1, 1000)
    knots = by.Knots([*map(by.F, x)], [*map(by.F, y)], off)
    for sign, its, nominal in (
        (1, knots, np.interp(places, x, y)),
        (-1, knots.other(), 1 - np.interp(places, x, y)),
    ):
        ends = [its.ends(sign * by.F(place)) for place in places]
        assert [float(sum(each)) / 2 for each in ends] == pytest.approx(nominal, abs=1e-15)
        assert {high - low for low, high in ends} == {2 * off}
    for rate in (0, 1, 3, 8):
        above = knots.highest(by.F(9), by.F(rate), by.F(-3), by.F(3), by.F(1))
        assert float(above) == pytest.approx((9 * (np.interp(places, x, y) + 0.001) - rate * places).max(), abs=1e-12)


@pytest.mark.parametrize("kind", ["forest", "stack"])
def test_of_two_ends_the_one_that_a_row_misses_is_proven(kind: str, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = MODELS["forest"]() if kind == "forest" else stacked(DecisionTreeClassifier(max_depth=3, random_state=0))
    model.fit(X, y)
    chance = model.predict_proba(X)[:, 1]
    low, high = np.quantile(chance, [0.4, 0.7])
    rows = pd.concat([X[chance < low].iloc[:2], X[chance > high].iloc[:2]])
    proofs = bf.prove(
        bf.Explainer(model, data=X).explain(rows, target=bf.probability(1, between=(low, high))), model, tmp_path
    )

    def met(every: pd.DataFrame) -> np.ndarray:
        chance = model.predict_proba(every)[:, 1]
        return np.asarray((chance >= low) & (chance <= high))

    verified = 0
    for (_, row), one, end in zip(rows.iterrows(), proofs, ["at least"] * 2 + ["at most"] * 2, strict=True):
        if not one.verified:
            assert one.words == "a cheaper row reaches the end that the row misses, and goes beyond the other one"
            continue
        verified += 1
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
        assert f"of {end}" in one.words
        assert "the other end of what is wanted is not needed" in one.words
    assert verified > 1


def test_a_row_beyond_the_other_end_is_told(tmp_path: Path) -> None:
    """Cheaper rows reach the end that it misses, and none of them lies between both ends."""
    X, y = whole_numbers()
    model = MODELS["forest"]().fit(X, y)
    chance = model.predict_proba(X)[:, 1]
    every = np.sort(np.unique(chance))
    told = set()
    for low, high in zip(every[1:-1:4], every[1:-1:4], strict=True):
        answers = bf.Explainer(model, data=X).explain(
            X[chance < low].iloc[:3], target=bf.probability(1, between=(low, high))
        )
        told |= {one.words for one in bf.prove(answers, model, tmp_path) if not one.verified}
    assert told == {"a cheaper row reaches the end that the row misses, and goes beyond the other one"}
