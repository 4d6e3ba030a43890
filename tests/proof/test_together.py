"""Votes of several models, and models that are asked together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import UnsupportedModelError, UnsupportedProblemError
from butfor.proof.checker import checker
from tests.proof.attacks import broken_by
from tests.proof.by_hand import weighed
from tests.proof.cases import read
from tests.proof.second import agree, both_verify, second
from tests.proof.test_means import CONSTRAINTS, admitted, claims_of_classes
from tests.proof.test_read_files import encoded, least, sigmoid, whole_numbers

__all__ = ["second"]


def boosted(trees: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=trees, max_depth=2, n_jobs=1)


def grown(depth: int, seed: int = 0) -> Any:
    return DecisionTreeClassifier(max_depth=depth, max_features=2, random_state=seed)


def forest(seed: int) -> Any:
    return RandomForestClassifier(4, max_depth=3, random_state=seed)


def voting(*members: Any, weights: list[float] | None = None) -> Any:
    return VotingClassifier([(str(k), member) for k, member in enumerate(members)], voting="hard", weights=weights)


VOTERS: dict[str, Callable[[], Any]] = {
    "trees": lambda: encoded(voting(grown(2), grown(3, 1), grown(2, 2))),
    "as many for both": lambda: encoded(voting(grown(2), grown(3, 1), grown(2, 2), grown(1, 3))),
    "forests and boosting": lambda: encoded(voting(forest(0), boosted(5), GradientBoostingClassifier(n_estimators=4))),
    "one that counts most": lambda: encoded(voting(grown(3), forest(1), boosted(3), grown(1, 2), weights=[3, 1, 1, 1])),
    "shares of votes": lambda: encoded(voting(grown(2), grown(3, 1), forest(2), weights=[0.5, 0.25, 0.25])),
    "weights": lambda: encoded(voting(LogisticRegression(), RidgeClassifier(), LinearSVC(), weights=[2, 1, 1])),
    "scaled weights": lambda: encoded(make_pipeline(StandardScaler(), voting(LogisticRegression(), LinearSVC()))),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", VOTERS)
def test_votes_are_counted_as_the_estimator_counts_them(kind: str, name: str, second: Path, tmp_path: Path) -> None:
    claims_of_classes(VOTERS[kind](), name, tmp_path / "proofs")
    assert both_verify(second, [read(one) for one in (tmp_path / "proofs").glob("*.proof")], tmp_path)


def test_votes_for_one_of_three_classes(second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    y = y + (X["late"] > 3).to_numpy()
    model = encoded(voting(grown(3), grown(3, 1), grown(3, 2))).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:4]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, target=bf.classes(1, 2)), model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, lambda every: model.predict(every) > 0), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_votes_that_rounding_may_decide_are_refused(tmp_path: Path) -> None:
    """0.1 + 0.2 is more than 0.3 in floats."""
    X, y = whole_numbers()
    model = encoded(voting(grown(2), grown(3, 1), forest(2), weights=[0.1, 0.2, 0.3])).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:2])
    with pytest.raises(UnsupportedModelError, match="votes that are equal within their rounding"):
        bf.prove(answers, model, tmp_path)


OTHERS: dict[str, Callable[[], tuple[Any, list[Any]]]] = {
    "trees": lambda: (grown(4), [grown(3, 1), grown(3, 2)]),
    "forests": lambda: (forest(0), [forest(1), ExtraTreesClassifier(3, max_depth=3, random_state=2)]),
    "of unlike kinds": lambda: (boosted(5), [forest(1), grown(3), GradientBoostingClassifier(n_estimators=3)]),
    "weights": lambda: (LogisticRegression(), [LogisticRegression(C=0.1), RidgeClassifier(), LinearSVC()]),
    "a forest beside weights": lambda: (forest(0), [LogisticRegression(), RidgeClassifier()]),
    "weights beside a forest": lambda: (LogisticRegression(), [forest(0), boosted(3)]),
    "weights beside a tree": lambda: (LinearSVC(), [grown(3)]),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", OTHERS)
def test_all_models_say_what_is_wanted(kind: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    own, others = OTHERS[kind]()
    model, others = encoded(own).fit(X, y), [encoded(one).fit(X[k::3], y[k::3]) for k, one in enumerate(others)]
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    constraints = [*CONSTRAINTS[name], bf.robust_to(others)]
    answers = bf.Explainer(model, data=X).explain(rows, constraints=constraints)
    proofs = bf.prove(answers, model, tmp_path / "proofs", models=others)
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 1, 1), strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            every_one = np.all([each.predict(every) != was for each in (model, *others)], axis=0)
            return np.asarray(every_one & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
        assert one.words.count(", and of ") >= len(others)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)
    assert bf.check(answers, model, models=others, proof=tmp_path / "proofs").passed


@pytest.mark.shorter(1)
@pytest.mark.parametrize("share", [0.2, 0.6])
@pytest.mark.parametrize("kind", ["trees", "forests", "of unlike kinds"])
def test_a_row_is_plausible_to_an_isolation_forest(kind: str, share: float, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    own, (other, *_) = OTHERS[kind]()
    model, other = encoded(own).fit(X, y), encoded(other).fit(X[::2], y[::2])
    alone = encoded(IsolationForest(n_estimators=8, random_state=0)).fit(X)
    lengths = -np.log2(-alone.score_samples(X)) * _whole(len(X))
    enough = float(np.quantile(lengths, share))
    rows = X[model.predict(X) == 0].iloc[:4]
    constraints = [bf.plausible(alone, enough), bf.robust_to([other])]
    answers = bf.Explainer(model, data=X).explain(rows, constraints=constraints)
    proofs = bf.prove(answers, model, tmp_path / "proofs", models=[alone, other])

    def met(every: pd.DataFrame) -> np.ndarray:
        said = np.all([each.predict(every) == 1 for each in (model, other)], axis=0)
        return np.asarray(said & (-np.log2(-alone.score_samples(every)) * _whole(len(X)) >= enough * (1 - 1e-10)))

    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
        assert "of 'IsolationForest of sklearn" in one.words
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def _whole(rows: int) -> float:
    """The mean length of a path in a tree of so many rows."""
    return 2 * (np.log(rows - 1) + np.euler_gamma) - 2 * (rows - 1) / rows


def test_a_value_is_wanted_of_all_models(tmp_path: Path) -> None:
    X, y = whole_numbers()
    worth = y + X["years"] / 7
    model, other = (encoded(RandomForestRegressor(4, max_depth=4, random_state=k)).fit(X, worth) for k in (0, 1))
    rows = X[model.predict(X) < 0.5].iloc[:3]
    answers = bf.Explainer(model, data=X).explain(
        rows, target=bf.value(at_least=1.2), constraints=[bf.robust_to([other])]
    )
    proofs = bf.prove(answers, model, tmp_path, models=[other])
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.verified, one.words
        cheapest = least(X, row, lambda every: np.min([each.predict(every) for each in (model, other)], axis=0) >= 1.2)
        assert one.below == pytest.approx(cheapest, rel=1e-8)


ENDS: dict[str, Callable[[], Any]] = {
    "forest": lambda: encoded(forest(0)),
    "boosting": lambda: encoded(boosted(6)),
    "weights": lambda: encoded(LogisticRegression()),
    "a value of a forest": lambda: encoded(RandomForestRegressor(4, max_depth=4, random_state=0)),
    "a value of weights": lambda: encoded(LinearRegression()),
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", ENDS)
def test_between_two_ends(kind: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    valued, model = "value" in kind, ENDS[kind]()
    model.fit(X, y + X["years"] / 7 if valued else y)

    def said(every: pd.DataFrame) -> np.ndarray:
        return np.asarray(model.predict(every) if valued else model.predict_proba(every)[:, 1])

    low, high = np.quantile(said(X), [0.5, 0.7]) + 1e-4
    target = bf.value(low, high) if valued else bf.probability(1, between=(float(low), float(high)))
    rows = pd.concat([X[said(X) < low].iloc[:2], X[said(X) > high].iloc[:2]])
    answers = bf.Explainer(model, data=X).explain(rows, target=target, constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row) -> np.ndarray:
            return np.asarray((said(every) >= low) & (said(every) <= high) & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_one_of_three_classes_is_wanted_of_all_models(second: Path, tmp_path: Path) -> None:
    """Any two of the wanted classes count together."""
    X, y = whole_numbers()
    y = y + (X["late"] > 3).to_numpy()
    model, others = encoded(boosted(4)).fit(X, y), [encoded(forest(1)).fit(X[::2], y[::2])]
    rows = X[model.predict(X) == 0].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.classes(1, 2), constraints=[bf.robust_to(others)])
    proofs = bf.prove(answers, model, tmp_path / "proofs", models=others)
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.verified, one.words
        met = lambda every: np.all([each.predict(every) > 0 for each in (model, *others)], axis=0)  # noqa: E731
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_a_tie_of_a_tree_is_decided_beside_other_models(second: Path, tmp_path: Path) -> None:
    """Of equal shares, the first class is predicted: nothing is added up that rounding could turn."""
    X, y = whole_numbers()
    X = pd.concat([X, X], ignore_index=True)
    some, more = np.repeat([0, 1], len(y)), np.tile(X["late"][: len(y)], 2)
    tree = encoded(DecisionTreeClassifier(max_leaf_nodes=3)).fit(X, np.where(more < 2, 1, np.where(more < 4, some, 0)))
    assert 0.5 in tree.predict_proba(X)
    others = [encoded(forest(0)).fit(X, np.tile(y, 2))]
    rows = X[tree.predict(X) == 0].iloc[:3]
    answers = bf.Explainer(tree, data=X).explain(rows, constraints=[bf.robust_to(others)])
    proofs = bf.prove(answers, tree, tmp_path / "proofs", models=others)
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.verified, one.words
        met = lambda every: np.all([each.predict(every) == 1 for each in (tree, *others)], axis=0)  # noqa: E731
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_what_is_not_asked_together_is_refused_by_name(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model, other = encoded(forest(0)).fit(X, y), encoded(sigmoid(boosted(3))).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(
        X.iloc[:2], constraints=[bf.robust_to([encoded(forest(1)).fit(X, y)])]
    )
    with pytest.raises(UnsupportedProblemError, match=r"do not hold robust_to\(1 model: Pipeline\) as data.* `models`"):
        bf.prove(answers, model, tmp_path)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:2], constraints=[bf.robust_to([other])])
    with pytest.raises(UnsupportedModelError, match=r"a CalibratedClassifierCV .* beside other models"):
        bf.prove(answers, model, tmp_path, models=[other])
    assert not tmp_path.joinpath("butfor_check.py").exists()


def test_other_voters_may_win_near_a_row(second: Path, tmp_path: Path) -> None:
    """Where x moves by 1 around 0, two of three vote for class 1 everywhere, but nowhere the same two."""
    told = {"of": "", "sum": "votes", "ballots": [1, 1, 1], "base": [0, (0.5).hex(), 1], "weights": [[1, -1, 0]]}
    steps = [{"rate": [1, 1, 0]}, {"end": "dual"}, {"rate": [1, 0, 0]}, {"end": "dual"}, {"end": "dual"}]
    alone = weighed(told, {"of": ["class", 1]}, 0.4, *steps)
    near = replace(alone, own={**alone.own, "ball": {"norm": "linf", "radius": [1]}})
    with pytest.raises(checker().Wrong, match="a ball of what is no sum"):
        near.check()
    assert near.accepted(broken_by('and self.model.kind != "votes"', ""))
    assert agree(second, [alone, near], tmp_path) == [False, False]


def test_models_that_print_alike_are_told_apart_by_their_order(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model, one, two = (encoded(forest(0)).fit(X[k::3], y[k::3]) for k in range(3))
    answers = bf.Explainer(model, data=X).explain(X.iloc[:3], constraints=[bf.robust_to([one, two])])
    bf.prove(answers, model, tmp_path / "both", models=[one, two])
    with pytest.raises(UnsupportedProblemError, match="do not hold robust_to"):
        bf.prove(answers, model, tmp_path / "one is missing", models=[one])
    held = next(json.loads(file.read_text()) for file in (tmp_path / "both").glob("model-*"))["trees"]
    alone = bf.Explainer(two, data=X).explain(X.iloc[:3], constraints=[bf.robust_to([two])])
    bf.prove(alone, two, tmp_path / "two", models=[two])
    last = next(json.loads(file.read_text()) for file in (tmp_path / "two").glob("model-*"))["trees"]
    assert [tree["cut"] for tree in held[-4:]] == [tree["cut"] for tree in last[-4:]]
    assert [tree["cut"] for tree in held[-8:-4]] != [tree["cut"] for tree in last[-4:]]
