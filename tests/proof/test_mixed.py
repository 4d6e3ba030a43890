"""Proofs about trees and weighted numbers that are added up."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.proof.checker import checker
from tests.importers.samples import QUANTILES
from tests.proof.attacks import bounds_accepted, broken_by
from tests.proof.by_hand import case, number, tree
from tests.proof.cases import Case, read
from tests.proof.second import agree, both_verify, second
from tests.proof.test_means import CONSTRAINTS, admitted
from tests.proof.test_read_files import encoded, least, whole_numbers

__all__ = ["second"]

BINS = KBinsDiscretizer(3, encode="onehot-dense", **QUANTILES)


def mean_of(*members: Any, weights: list[float] | None = None) -> Any:
    return VotingRegressor([(str(k), member) for k, member in enumerate(members)], weights=weights)


def in_bins(scaler: Any, learner: Any) -> Any:
    """A column in bins, beside one with a slope."""
    steps = (OneHotEncoder(sparse_output=False), ["job"]), (BINS, ["late"]), (scaler, ["years"])
    return make_pipeline(make_column_transformer(*steps), learner)


VALUES: dict[str, Callable[[], Any]] = {
    "a line and a forest": lambda: encoded(
        mean_of(LinearRegression(), RandomForestRegressor(4, max_depth=3, random_state=0))
    ),
    "a scaled line and boosting": lambda: encoded(
        mean_of(
            make_pipeline(StandardScaler(), Ridge()),
            GradientBoostingRegressor(n_estimators=5, random_state=0),
            weights=[2, 1],
        )
    ),
    "bins": lambda: in_bins("passthrough", LinearRegression()),
}
CLASSES: dict[str, Callable[[], Any]] = {
    "bins": lambda: in_bins("passthrough", LogisticRegression()),
    "scaled bins": lambda: in_bins(StandardScaler(), LogisticRegression()),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("ends", [{"at_least": 0.6}, {"at_most": 0.4}, {"at_least": 0.45, "at_most": 0.6}])
@pytest.mark.parametrize("kind", VALUES)
def test_values_that_both_add_to(kind: str, ends: dict[str, float], name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = VALUES[kind]().fit(X, y.astype(float))
    low, high = ends.get("at_least", -np.inf), ends.get("at_most", np.inf)
    rows = X[(model.predict(X) < low) | (model.predict(X) > high)].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.value(**ends), constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row) -> np.ndarray:
            said = model.predict(every)
            return np.asarray((said >= low) & (said <= high) & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", CLASSES)
def test_classes_that_both_decide(kind: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = CLASSES[kind]().fit(X, y)
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    proofs = bf.prove(
        bf.Explainer(model, data=X).explain(rows, constraints=CONSTRAINTS[name]), model, tmp_path / "proofs"
    )
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 1, 1), strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            return np.asarray((model.predict(every) != was) & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def beside(weights: list[float], claim: Case) -> Case:
    """A claim about trees, with what a unit of each number adds besides."""
    model = {**json.loads(claim.content), "weights": [[x.hex() for x in weights]]}
    return replace(claim, content=json.dumps(model))


def claims_by_hand() -> dict[str, Case]:
    """False claims: x costs 1 a unit, and adds 1. What is wanted costs 2, or 2.5 where y costs 1.5 and adds 2."""
    nothing, dual, rate = [tree(0.0)], {"end": "dual"}, {"rate": [1, 1]}
    x, far = number(0.0, 1.0, 0.0, 10.0), number(0.0, 1.0, 0.0, 1e6)
    y = {**number(0.0, 0.0, 0.0, 1.0), "price": [(1.5).hex(), 0, 0]}
    steps = {"rate": [1, 0]}, {"split": [1, 1]}, dual, dual
    return {
        "a number gains": beside([1.0], case("", nothing, [x], 2.0, 2.5, {"rate": [2, 0]}, dual)),
        "rates are said anew": beside(
            [1.0], case("", nothing, [x], 2.0, 2.5, rate, {"drop": 1}, {"rate": [3, 0]}, dual)
        ),
        "numbers reach the goal": beside([1.0], case("", nothing, [x], 2.0, 2.5, {"end": "score"})),
        "sums have no steps": beside([1.0, 0.0], case("", [tree((1, 0.5, 1, 2), 0.0, 2.0)], [x, y], 3.0, 3.0, *steps)),
        "a large number is rounded": beside([1.0], case("", nothing, [far], 2.0, 2.0, rate, dual)),
    }


@pytest.mark.parametrize("name", claims_by_hand())
def test_a_false_claim_by_hand_is_refused(name: str, second: Path, tmp_path: Path) -> None:
    claim = claims_by_hand()[name]
    with pytest.raises(checker().Wrong, match=r"prove|reach every goal"):
        claim.check()
    honest = beside(
        [1.0], case("", [tree(0.0)], [number(0.0, 1.0, 0.0, 10.0)], 2.0, 1.999, {"rate": [1, 0]}, {"end": "dual"})
    )
    assert honest.accepted()
    assert agree(second, [claim, honest], tmp_path) == [False, True]


SABOTAGE = {
    "forgets what numbers gain": ("return {j: x for j, x in each.items() if x}", "return {}"),
    "takes gains for prices": ("each = {j: -worth *", "each = {j: worth *"),
    "keeps the prices of other rates": ("self.priced = {} if any(self.q.slopes) else self.priced", "pass"),
    "forgets what numbers reach": ("for j, slopes in self.q.slopes[box.way].items():", "for j, slopes in ():"),
    "raises goals that numbers reach": ("if any(its[k] for its in self.slopes[w].values()):", "if False:"),
    "rounds no numbers": ("doubts or self.model.doubted(more))", "doubts or self.model.doubted([]))"),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    by = broken_by(*SABOTAGE[name])
    assert [claim for claim, its in claims_by_hand().items() if its.accepted(by)]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"weights": [["0x1p0"], ["0x1p0"]]}, "not a weight of each feature for each sum"),
        ({"weights": [["0x1p0"]], "reads": "float32"}, "weights of what is read as float32"),
        ({"weights": [["0x0p0", "0x1p0"]]}, "no column sets feature 1"),
    ],
)
def test_weights_that_do_not_fit_are_refused(wrong: dict[str, Any], why: str) -> None:
    claim = case("", [tree(0.0)], [number(0.0, 1.0, 0.0, 10.0)], 2.0, 1.999, {"rate": [1, 0]}, {"end": "dual"})
    with pytest.raises(checker().Wrong, match=why):
        replace(claim, content=json.dumps({**json.loads(claim.content), **wrong})).check()


# ------------------------------------------------------------------------------------------------ means


def votes(*members: Any, weights: list[float] | None = None) -> Any:
    return encoded(VotingClassifier([(str(k), one) for k, one in enumerate(members)], voting="soft", weights=weights))


def stacked(*members: Any) -> Any:
    end = LogisticRegression(C=50.0)
    return encoded(StackingClassifier([(str(k), one) for k, one in enumerate(members)], final_estimator=end, cv=3))


MEANS: dict[str, Callable[[], Any]] = {
    "a line and boosting": lambda: votes(
        LogisticRegression(), GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0)
    ),
    "a scaled line and a forest": lambda: votes(
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(4, max_depth=3, random_state=0),
        weights=[2, 1],
    ),
    "two lines and a tree": lambda: votes(
        LogisticRegression(), LogisticRegression(C=0.01), DecisionTreeClassifier(max_depth=3, random_state=0)
    ),
    "a stack": lambda: stacked(LogisticRegression(), RandomForestClassifier(3, max_depth=3, random_state=0)),
    "a bent line": lambda: votes(
        CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=3),
        RandomForestClassifier(3, max_depth=3, random_state=0),
    ),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", MEANS)
def test_means_of_trees_and_lines(kind: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = MEANS[kind]().fit(X, y)
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:3] for k in (0, 1)])
    answers = bf.Explainer(model, data=X).explain(rows, constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 0, 1, 1, 1), strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            return np.asarray((model.predict(every) != was) & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("ends", [{"at_least": 0.7}, {"at_most": 0.2}])
@pytest.mark.parametrize("kind", MEANS)
def test_probabilities_of_means_of_trees_and_lines(
    kind: str, ends: dict[str, float], second: Path, tmp_path: Path
) -> None:
    X, y = whole_numbers()
    model, target = MEANS[kind]().fit(X, y), bf.probability(1, **ends)

    def met(every: pd.DataFrame) -> np.ndarray:
        p = model.predict_proba(every)[:, 1]
        return np.asarray((p >= target.at_least) & (p <= target.at_most))

    rows = X[~met(X)].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, target=target)
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def real_numbers() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["late", "years"])
    X["job"] = rng.choice(["clerk", "cook"], 120)
    return X, (X["years"] - X["late"] + (X["job"] == "cook") > 0.3).astype(int)


def claims_about_real_numbers(kind: str, folder: Path) -> list[Case]:
    X, y = real_numbers()
    model = MEANS[kind]().fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:3])
    proofs = bf.prove(answers, model, folder)
    assert [one.below for one in proofs] == pytest.approx([one.certificate.cost for one in answers], rel=1e-5)
    return [read(one.file) for one in proofs]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", ["a scaled line and a forest", "a line and boosting", "a stack"])
def test_bounds_of_means_over_real_numbers(kind: str, second: Path, tmp_path: Path) -> None:
    """Any number may be taken, and the claim is proven but for the gap of the search. A bolder one is not."""
    cases = claims_about_real_numbers(kind, tmp_path / "proofs")
    assert both_verify(second, cases, tmp_path)
    assert not any(agree(second, [one.bolder(1.0001) for one in cases], tmp_path / "bolder"))


SPAN_FAULTS = {
    "forgets what numbers add to a mean": ("sums = [[x + min(its) // self.q.grain for x, its", "sums = [[x for x, its"),
    "takes the other end of numbers": (
        "[x + up(max(its), self.q.grain) for x, its",
        "[x + up(min(its), self.q.grain) for x, its",
    ),
}


@pytest.mark.parametrize("fault", SPAN_FAULTS)
def test_a_checker_that_misses_numbers_in_means_is_found_out(fault: str, second: Path, tmp_path: Path) -> None:
    cases = claims_about_real_numbers("a scaled line and a forest", tmp_path / "proofs")
    tried = [*cases, *[case.bolder(factor) for case in cases for factor in (1.0001, 1.2, 3.0)]]
    tried += [
        replace(case, steps=[*case.steps[:at], json.dumps({"end": "score"})]) for case in cases for at in range(3)
    ]
    true = agree(second, tried, tmp_path / "true")
    assert any(true)
    assert bounds_accepted(broken_by(*SPAN_FAULTS[fault]), tried) != true
