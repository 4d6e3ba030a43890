"""The second checker, in C, was written from the page of the format. It says what the first one says, and is faster."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import butfor as bf
from tests.proof import (
    test_largest,
    test_linear,
    test_linear_classes,
    test_linear_means,
    test_network_balls,
    test_networks,
    test_oblique,
    test_relations,
    test_robust,
    test_rules,
)
from tests.proof.attacks import attacks
from tests.proof.by_hand import by_hand, of_classes, tree, unclear
from tests.proof.cases import KINDS, Case, cases, estimator, table
from tests.proof.second import VERIFIED, agree, both_verify, first_accepts, said, second, written
from tests.shorter import first

__all__ = ["second"]

FAMILIES: dict[str, tuple[Callable[[], Iterable[Case]], Callable[[random.Random, Case], Case]]] = {
    "linear": (lambda: [*test_linear.cases(), *test_linear.cases(holes=True)], test_linear.another),
    "classes": (lambda: [*test_linear_classes.cases(), *test_linear_classes.cases(holes=True)], test_linear.another),
    "means": (test_linear_means.cases, test_linear_means.mutated),
    "oblique": (test_oblique.cases, test_oblique.mutated),
    "networks": (test_networks.cases, test_networks.mutated),
    "balls of networks": (test_network_balls.cases, test_network_balls.mutated),
    "relations": (lambda: of_kinds(test_relations.cases, test_relations.LEARNERS), test_relations.another),
    "rules": (lambda: of_kinds(test_rules.whole_cases, test_relations.LEARNERS), test_rules.another),
    "largest": (lambda: of_kinds(test_largest.cases, test_largest.MODELS), test_largest.another),
    "robust": (lambda: of_kinds(test_robust.cases, test_robust.MODELS), test_robust.another),
}
"""Families of proofs besides plain sums of trees, each with a way to attack them."""


def of_kinds(cases: Callable[[str], Iterable[Case]], kinds: Iterable[str]) -> list[Case]:
    return [case for kind in kinds for case in cases(kind)]


@pytest.mark.parametrize(("kinds", "count"), [(KINDS[::6], 60), pytest.param(KINDS, 3000, marks=pytest.mark.long)])
def test_both_say_the_same_of_sums_of_trees(second: Path, tmp_path: Path, kinds: tuple[str, ...], count: int) -> None:
    every = tuple(of_kinds(cases, kinds))
    assert both_verify(second, every, tmp_path / "true")
    agree(second, [*by_hand(), *unclear(), *attacks(random.Random(count), every, count)], tmp_path / "attacks")


@pytest.mark.parametrize("family", first(1, FAMILIES))
@pytest.mark.parametrize(("seed", "count"), [(0, 40), pytest.param(1, 2500, marks=pytest.mark.long)])
def test_both_say_the_same_of_other_families(family: str, seed: int, count: int, second: Path, tmp_path: Path) -> None:
    (make, another), r = FAMILIES[family], random.Random(seed)
    every = list(make())
    assert both_verify(second, every, tmp_path / "true")
    accepted = agree(second, [another(r, r.choice(every)) for _ in range(count)], tmp_path / "attacks")
    assert count / 20 < sum(accepted) < count


@pytest.mark.long
def test_both_say_the_same_of_lies_about_real_numbers_and_rules(second: Path, tmp_path: Path) -> None:
    real = tuple(of_kinds(test_rules.real_cases, test_rules.KINDS))
    assert both_verify(second, real, tmp_path / "true")
    agree(second, list(attacks(random.Random(1), real, 2500)), tmp_path / "attacks")


@pytest.mark.parametrize("of", [test_relations, test_robust, test_rules])
def test_both_refuse_false_claims_by_hand(of: Any, second: Path, tmp_path: Path) -> None:
    assert not any(agree(second, list(of.false_by_hand()), tmp_path))


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    "kind",
    ["lightgbm", "lightgbm categories", "xgboost categories", "catboost", "catboost classes", "values", "impossible"],
)
def test_it_reads_other_models(kind: str, second: Path, tmp_path: Path) -> None:
    import catboost
    import lightgbm
    import xgboost
    from sklearn.ensemble import ExtraTreesRegressor

    X, y = table()
    question: dict[str, object] = {}
    if "categories" in kind:
        X = X.assign(job=X["job"].astype("category"))
        learners = {
            "lightgbm": lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=3, n_jobs=1, verbose=-1),
            "xgboost": xgboost.XGBClassifier(n_estimators=10, max_depth=3, enable_categorical=True, n_jobs=1),
        }
        model = learners[kind.split()[0]].fit(X, y)
    elif "catboost" in kind:
        X, y = X[["income", "age"]], y + (X["age"] > 50) if "classes" in kind else y
        model = catboost.CatBoostClassifier(iterations=8, depth=3, verbose=0, allow_writing_files=False).fit(X, y)
    elif kind == "values":
        X = X[["income", "age"]]
        model = ExtraTreesRegressor(8, max_depth=4, random_state=0).fit(X, X["income"] + X["age"] / 20)
        question = {"target": bf.value(at_least=float(model.predict(X).max()) - 0.3), "cost": bf.L1() + bf.L2()}
    elif kind == "impossible":
        model = estimator("forest").fit(X, y)
        question = {"constraints": [bf.fixed("income", "age", "job")]}
    else:
        X = X[["income", "age"]]
        model = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=3, n_jobs=1, verbose=-1).fit(X, y)
        question = {"target": bf.probability(1, at_least=0.8)}
    proofs = bf.prove(bf.Explainer(model, data=X).explain(X.iloc[:3], **question), model, tmp_path)  # type: ignore[arg-type]
    files = [one.file for one in proofs if one.file is not None]
    assert files
    assert {*said(second, files)} == {VERIFIED}


@pytest.mark.parametrize(
    "kind", first(4, [*dict.fromkeys(("means", "stack", "odds three boosted", "boosted", *KINDS))])
)
def test_rows_that_are_said_to_get_what_is_wanted_or_not(kind: str, second: Path, tmp_path: Path) -> None:
    one = cases(kind)[0]
    if "others" in one.shared["wanted"] or "either" in one.shared["wanted"]:
        pytest.skip("what is wanted of several models, or for a price, is told in another way")
    rows = [row for row, _ in one.shared["recorded"]][::3]
    told = [[row, {"met": met}] for row in rows for met in (True, False)]
    accepted = agree(second, [replace(one, shared={**one.shared, "recorded": [its]}) for its in told], tmp_path)
    assert all(yes != no for yes, no in zip(accepted[::2], accepted[1::2], strict=True))
    assert {*accepted[::2]} == {True, False}


def test_it_says_what_it_does_not_read(second: Path, tmp_path: Path) -> None:
    other = replace(test_linear.between_points(), kind="keras")
    (words,) = said(second, [written(other, tmp_path / "other")])
    assert words == "NOT VERIFIED: a model that this checker does not read: keras"
    (words,) = said(second, [tmp_path / "nowhere"])
    assert words.startswith("NOT VERIFIED: not there: ")


@pytest.mark.parametrize("number", ["02", "+2", "2.", ".5", "2e", "-", "0x2"])
def test_a_number_that_is_no_json_is_refused(number: str, second: Path, tmp_path: Path) -> None:
    case = cases("tree")[0]
    steps = [f'{{"rate":[{number},0]}}', *case.steps]
    assert not any(agree(second, [replace(case, steps=steps)], tmp_path))


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_trees_with_weights_are_refused(weight: float, second: Path, tmp_path: Path) -> None:
    """XGBoost 3.4 tells of dropout beside the trees, and no longer by the name of the booster."""
    case = cases("xgboost")[0]
    told = json.loads(case.content)
    forest = told["learner"]["gradient_booster"]["model"]
    forest["weight_drop"] = [weight] * len(forest["trees"])
    file = written(replace(case, content=json.dumps(told)), tmp_path / "weights")
    accepted = weight == 1
    assert first_accepts(file) == accepted
    assert said(second, [file])[0].startswith("VERIFIED") == accepted


def test_a_leaf_next_to_a_power_of_two_counts_in_the_same_grains(second: Path, tmp_path: Path) -> None:
    """2 less the least float is below 2, which no sum of 113 bits tells."""
    steps = {"rate": [0, 1, 0]}, {"end": "dual"}
    leaves = tree((0, 0.0, 1, 2), [5e-324, 0.0, 2.0], [1.0, 0.0, 0.0])
    found = of_classes("next to 2", [leaves], [0.0] * 3, 0, *steps)
    assert agree(second, [replace(found, own={**found.own, "below": (0.75).hex()})], tmp_path) == [True]
