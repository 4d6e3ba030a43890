"""Files of models that say something twice, or where their library does not look: what it reads is proven, or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from butfor.proof.model_files import MODEL_WRITERS
from tests.proof.by_hand import by_hand, case, number, tree, weighed
from tests.proof.cases import Case
from tests.proof.second import VERIFIED, both_verify, first_accepts, said, second, written

__all__ = ["second"]

Change = Callable[[dict[str, Any]], Any]


@cache
def fitted(library: str) -> Any:
    import catboost
    import lightgbm
    import xgboost

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X.sum(axis=1) > 0.5).astype(int)
    learners: dict[str, Any] = {
        "lightgbm": lambda: lightgbm.LGBMClassifier(
            n_estimators=3, num_leaves=4, min_child_samples=5, n_jobs=1, verbose=-1
        ),
        "xgboost": lambda: xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1),
        "catboost": lambda: catboost.CatBoostClassifier(iterations=4, depth=2, verbose=0, allow_writing_files=False),
    }
    return learners[library]().fit(X, y)


@cache
def unreached(library: str) -> Case:
    """A true claim about a library's own file: that no row at all gets a probability that its leaves do not add up to."""
    content = MODEL_WRITERS[library, type(fitted(library)).__name__](fitted(library), "a test").content.decode()
    found = case(library, [], [number(0.0, 1.0), number(0.0, 1.0)], 0.0, 1.0, {"end": "score"})
    wanted = {"of": ["probability", 1], "at least": (0.9999).hex()}
    return replace(found, shared={**found.shared, "wanted": wanted}, kind=library, content=content)


def refused(second: Path, forged: Case, folder: Path) -> bool:
    file = written(forged, folder / "forged")
    return not first_accepts(file) and said(second, [file])[0].startswith("NOT VERIFIED")


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_a_file_as_it_was_written_is_read(library: str, second: Path, tmp_path: Path) -> None:
    assert both_verify(second, [unreached(library)], tmp_path)


LEAVES = "leaf_value=-9 -9 -9 -9\n"

LIGHTGBM: dict[str, Callable[[str], str]] = {
    "a line behind a tree": lambda text: unsized(text).replace("shrinkage=0.1\n\n", f"shrinkage=0.1\n\n{LEAVES}\n"),
    "a line behind a tree, with its size": lambda text: sized(
        text.replace("shrinkage=0.1\n\n", f"shrinkage=0.1\n\n{LEAVES}\n")
    ),
    "a key that is there twice": lambda text: unsized(text).replace("shrinkage=0.1\n", f"shrinkage=0.1\n{LEAVES}"),
    "an unknown key": lambda text: unsized(text).replace("shrinkage=0.1\n", "shrinkage=0.1\nleaf_coeff=1\n"),
    "a line without a key": lambda text: unsized(text).replace("shrinkage=0.1\n", "shrinkage=0.1\nhidden\n"),
    "another end of a line": lambda text: unsized(text).replace("shrinkage=0.1\n", "shrinkage=0.1\rfurther\n"),
    "a NUL": lambda text: unsized(text).replace("shrinkage=0.1\n", "shrinkage=0.1\0\n"),
    "fewer trees in the head": lambda text: re.sub("tree_sizes=([0-9]+).*", r"tree_sizes=\1", text),
    "another size": lambda text: re.sub("tree_sizes=", "tree_sizes=1", text),
    "two sizes": lambda text: text.replace("tree_sizes=", "tree_sizes=1\ntree_sizes="),
    "no end": lambda text: text.replace("\nend of trees\n", "\nend\n"),
    "fewer leaves": lambda text: unsized(text).replace("num_leaves=4", "num_leaves=3"),
    "fewer splits": lambda text: unsized(re.sub("decision_type=2 2 2", "decision_type=2 2", text)),
    "a number in other digits": lambda text: unsized(re.sub("left_child=", "left_child=0_", text)),
    "an objective behind a mark": lambda text: text.replace("\nobjective=", "\n=objective=regression\nobjective="),
    "a mean": lambda text: text.replace("\nobjective=", "\naverage_output=1\nobjective="),
    "sets that are not told": lambda text: unsized(text).replace("num_cat=0\n", "num_cat=1\n"),
}


def unsized(text: str) -> str:
    """A file of LightGBM without the sizes of trees, as older ones are."""
    return re.sub("tree_sizes=.*\n", "", text)


def sized(text: str) -> str:
    """The same with sizes of the trees as they are now."""
    _, *trees = text.partition("\nend of trees\n")[0].split("\nTree=")
    return re.sub("tree_sizes=.*", "tree_sizes=" + " ".join(str(len(one) + 6) for one in trees), text)


@pytest.mark.parametrize("name", LIGHTGBM)
def test_lines_where_lightgbm_does_not_look_are_refused(name: str, second: Path, tmp_path: Path) -> None:
    true = unreached("lightgbm")
    forged = LIGHTGBM[name](true.content)
    assert forged != true.content
    assert refused(second, replace(true, content=forged), tmp_path)


def test_lightgbm_ignores_what_stands_behind_its_trees(second: Path, tmp_path: Path) -> None:
    true = unreached("lightgbm")
    tree = true.content[true.content.index("\nTree=0") : true.content.index("\nTree=1")]
    further = true.content + re.sub("leaf_value=.*", "leaf_value=99 99 99 99", tree)
    assert both_verify(second, [replace(true, content=further), replace(true, content=unsized(true.content))], tmp_path)


def test_lightgbm_reads_a_forged_tree_up_to_its_first_empty_line() -> None:
    """Why such a line is refused."""
    import lightgbm

    content, rows = unreached("lightgbm").content, np.random.default_rng(1).normal(size=(9, 2))
    forged = LIGHTGBM["a line behind a tree, with its size"](content)
    first, other = (lightgbm.Booster(model_str=text).predict(rows) for text in (content, forged))
    assert (first == other).all()


def _two_trees(told: dict[str, Any]) -> list[Any]:
    trees: list[Any] = told["learner"]["gradient_booster"]["model"]["trees"]
    return trees[:2]


def _swapped(told: dict[str, Any]) -> None:
    first, other = _two_trees(told)
    first["id"], other["id"] = other["id"], first["id"]


def _iterations(*ends: int) -> Change:
    return lambda told: told["learner"]["gradient_booster"]["model"].update(iteration_indptr=list(ends))


def _first_tree(**changed: Any) -> Change:
    return lambda told: _two_trees(told)[0].update(changed)


def _leaves(key: str, value: int) -> Change:
    def change(told: dict[str, Any]) -> None:
        its = _two_trees(told)[0]
        its[key] = [value if left < 0 else x for left, x in zip(its["left_children"], its[key], strict=True)]

    return change


XGBOOST: dict[str, Change] = {
    "trees in the place of others": _swapped,
    "iterations that begin later": _iterations(1, 2, 3),
    "iterations that end earlier": _iterations(0, 1, 2),
    "no iterations": _iterations(),
    "a set of no split": _first_tree(
        categories_nodes=[0], categories_segments=[0], categories_sizes=[1], categories=[0]
    ),
    "a split without its set": _first_tree(split_type=[1] * 7),
    "neither a split nor a leaf": _leaves("left_children", -2),
    "lists of several lengths": _first_tree(default_left=[0]),
}


@pytest.mark.parametrize("name", XGBOOST)
def test_what_xgboost_reads_otherwise_is_refused(name: str, second: Path, tmp_path: Path) -> None:
    true = unreached("xgboost")
    told = json.loads(true.content)
    XGBOOST[name](told)
    assert refused(second, replace(true, content=json.dumps(told)), tmp_path)


def _split(**changed: Any) -> Change:
    return lambda told: told["oblivious_trees"][0]["splits"][0].update(changed)


def _falling(told: dict[str, Any]) -> None:
    """Borders that fall, which CatBoost counts all the same, and the trees as they are then."""
    borders = [x for feature in told["features_info"]["float_features"] for x in reversed(feature["borders"])]
    for feature in told["features_info"]["float_features"]:
        feature["borders"].reverse()
    for split in (split for its in told["oblivious_trees"] for split in its["splits"]):
        split["border"] = borders[split["split_index"]]


CATBOOST: dict[str, Change] = {
    "another border": _split(border=1e30),
    "another feature": _split(float_feature_index=7),
    "another number": _split(split_index=0, border=1e30),
    "a number of no border": _split(split_index=1000),
    "borders that fall": _falling,
    "a threshold": lambda told: told["model_info"].update(binclass_probability_threshold="0.9"),
    "one feature twice": lambda told: [
        its.update(flat_feature_index=0) for its in told["features_info"]["float_features"]
    ],
}


@pytest.mark.parametrize("name", CATBOOST)
def test_what_catboost_reads_otherwise_is_refused(name: str, second: Path, tmp_path: Path) -> None:
    true = unreached("catboost")
    told = json.loads(true.content)
    CATBOOST[name](told)
    assert refused(second, replace(true, content=json.dumps(told)), tmp_path)


def test_two_ways_to_a_node_are_refused(second: Path, tmp_path: Path) -> None:
    """Else a walk through 60 such nodes, each with one child, has more ways than anybody counts."""
    nodes = 60
    forged = tree(*((0, 0.0, k + 1, k + 1) for k in range(nodes)), 0.0)
    assert refused(second, case("a net", [forged], [number(0.0, 1.0)], 1.0, 1.5, {"end": "score"}), tmp_path)


def escaped(key: str) -> Callable[[str], str]:
    return lambda text: text.replace(f'"{key}"', f'"{key[:2]}\\u{ord(key[2]):04x}{key[3:]}"')


def test_a_key_that_is_escaped_is_the_same_key(second: Path, tmp_path: Path) -> None:
    losing = next(its for its in by_hand() if its.name == "a number that becomes missing")
    value = {"of": ["value", None], "at least": (5.0).hex()}
    doubtful = weighed(
        {"sum": "value", "base": 0, "weights": [1], "off": [100]}, value, 3.9, {"rate": [1, 0]}, {"end": "dual"}
    )
    for false, key in (losing, "missing"), (doubtful, "off"):
        file = written(false, tmp_path / key, escaped(key))
        assert not first_accepts(file)
        assert said(second, [file])[0].startswith("NOT VERIFIED")
    true = replace(losing, own={**losing.own, "below": (0.05).hex()})
    files = [
        written(true, tmp_path / str(k), change)
        for k, change in enumerate([str, escaped("missing"), escaped("features")])
    ]
    assert all(map(first_accepts, files))
    assert {*said(second, files)} == {VERIFIED}


@pytest.mark.parametrize("name", ["\\q", "\t", "\0", "\\u12", "\\u00zz", "\\"])
def test_a_text_that_is_no_json_is_refused(name: str, second: Path, tmp_path: Path) -> None:
    true = unreached("xgboost")
    file = written(true, tmp_path / "text", lambda text: text.replace('"name": "x"', f'"name": "x{name}"'))
    assert not first_accepts(file)
    assert said(second, [file])[0].startswith("NOT VERIFIED: no JSON")


def test_a_nul_is_no_blank(second: Path, tmp_path: Path) -> None:
    file = written(unreached("xgboost"), tmp_path / "blank", lambda text: text.replace(": ", ":\0"))
    assert not first_accepts(file)
    assert said(second, [file])[0].startswith("NOT VERIFIED: no")
