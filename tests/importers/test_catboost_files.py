"""Files of CatBoost with categories, read without it: hashes, statistics, and what is refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.estimator import files
from butfor.estimator.dumps.city_hash import city_hash
from butfor.testing.importer_contract import check_importer
from tests.importers.samples import parities
from tests.shorter import first

cb = pytest.importorskip("catboost")
SMALL = {
    "iterations": 20,
    "depth": 4,
    "learning_rate": 0.3,
    "verbose": 0,
    "allow_writing_files": False,
    "random_seed": 0,
}
CHOSEN = ["a", "b", "c", "e"]
WAYS: dict[str, dict[str, Any]] = {
    "combinations": {"one_hot_max_size": 1, "max_ctr_complexity": 4},
    "level by level": {"one_hot_max_size": 9},
    "both": {"one_hot_max_size": 2, "max_ctr_complexity": 3},
    "parts of the target": {"one_hot_max_size": 1, "simple_ctr": "Buckets", "combinations_ctr": "Buckets"},
    "how many rows": {"one_hot_max_size": 1, "simple_ctr": ["Counter"], "combinations_ctr": ["Counter"]},
    "any trees": {"one_hot_max_size": 2, "grow_policy": "Depthwise"},
}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No library of boosted trees is installed."""
    monkeypatch.setattr(files, "_library", lambda name: None)


def saved(model: Any, folder: Path) -> list[Any]:
    """A model as its two kinds of file give it back."""
    paths = [str(folder / f"model.{ending}") for ending in ("json", "cbm")]
    for path in paths:
        model.save_model(path, format=path.split(".")[-1])
    return [files.from_file(path) for path in paths]


def any_rows(X: pd.DataFrame, rng: np.random.Generator, rows: int = 300) -> pd.DataFrame:
    """Rows with any combination, levels that were never seen, and missing numbers."""
    found = pd.DataFrame({name: rng.choice(X[name].to_numpy(), rows) for name in X})
    unseen = rng.random((rows, 3)) < 0.1
    found.loc[unseen[:, 0], "a"] = "something else, of more than sixteen letters"
    found.loc[unseen[:, 1], "c"] = -17
    found.loc[unseen[:, 2], "d"] = np.nan
    return found


@pytest.mark.shorter(3)
@pytest.mark.parametrize("seed", first(1, range(6)))
@pytest.mark.parametrize("kind", ["values", "two classes", "three classes"])
@pytest.mark.parametrize("way", WAYS)
def test_sums_to_the_last_bit(way, kind, seed, tmp_path) -> None:
    X, y = parities(seed, 300)
    rng = np.random.default_rng(seed)
    X.loc[rng.random(len(X)) < 0.1, "d"] = np.nan
    maker = cb.CatBoostRegressor if kind == "values" else cb.CatBoostClassifier
    model = maker(**SMALL, **WAYS[way], cat_features=CHOSEN, nan_mode=str(rng.choice(["Min", "Max"])))
    model.fit(X, y if kind == "values" else y > 1 if kind == "two classes" else np.digitize(y, [0, 1]))
    rows = any_rows(X, rng)
    sums = model.predict(rows, prediction_type="RawFormulaVal").reshape(len(rows), -1)
    for ours in saved(model, tmp_path):
        assert np.array_equal(ours.booster.sums(rows), sums)
        assert ours.feature_names_in_.tolist() == list(X)
    check_importer(ours, X, rng)


def test_hashes_of_texts_of_any_length(tmp_path) -> None:
    """CatBoost saves the hash of each level that it asks for."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("aäöz 019é"), size)) for size in range(200)]
    model = cb.CatBoostClassifier(**{**SMALL, "iterations": 400, "depth": 1}, one_hot_max_size=255, cat_features=[0])
    y = rng.integers(0, 2, len(texts))
    model.fit(pd.DataFrame({"text": texts * 2}), np.tile(y, 2)).save_model(str(tmp_path / "m.json"), format="json")
    info = json.loads((tmp_path / "m.json").read_text())["features_info"]["categorical_features"][0]
    known = {city_hash(text.encode()) % 2**32: len(text.encode()) for text in texts}
    lengths = [known[hashed % 2**32] for hashed in info["values"]]
    assert min(lengths) < 17 < max(lengths)
    assert len([size for size in lengths if size > 64]) > 10


def test_answers_are_those_with_the_library(tmp_path) -> None:
    X, y = parities(2, 200)
    model = cb.CatBoostClassifier(**SMALL, **WAYS["both"], cat_features=CHOSEN).fit(X, (y > 1).astype(int))
    theirs = bf.Explainer(model, X)
    for ours in saved(model, tmp_path):
        explainer = bf.Explainer(ours, X)
        for start in range(4):
            answer, other = (one.explain(X.iloc[[start]], target="other") for one in (explainer, theirs))
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
            assert answer.cost == other.cost


def test_what_is_no_category_is_refused(tmp_path) -> None:
    X, y = parities(0)
    (ours, _) = saved(cb.CatBoostRegressor(**SMALL, cat_features=CHOSEN).fit(X, y), tmp_path)
    for value in (None, np.nan, 1.5):
        with pytest.raises(bf.errors.InputError, match=r"column 'a' holds .*takes for no category.*texts or whole"):
            ours.predict(X.assign(a=value))


@pytest.mark.parametrize("count", first(1, [30, 200]))
def test_a_changed_file_is_refused_in_words_or_is_another_model(count, tmp_path) -> None:
    X, y = parities(0)
    path = tmp_path / "model.cbm"
    cb.CatBoostRegressor(**SMALL, **WAYS["combinations"], cat_features=CHOSEN).fit(X, y).save_model(str(path))
    whole = path.read_bytes()
    size = int.from_bytes(whole[4:8], "little")
    assert len(whole) > 8 + size + 200, "no statistics behind the trees"
    rng = np.random.default_rng(0)
    for end in rng.integers(8 + size, len(whole), 20):
        path.write_bytes(whole[:end])
        with pytest.raises(bf.errors.InputError, match="cannot be read"):
            files.from_file(path)
    for _ in range(count):
        changed = bytearray(whole)
        for at in rng.integers(8 + size, len(whole), 3):
            changed[at] = rng.integers(256)
        path.write_bytes(changed)
        try:
            files.from_file(path).predict(X)
        except (bf.errors.InputError, bf.errors.UnsupportedModelError):
            continue
