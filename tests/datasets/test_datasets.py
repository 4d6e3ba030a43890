"""The built-in data: the same in every process, sensible, and read by its own pipeline."""

from __future__ import annotations

import pandas as pd
import pytest

import butfor as bf
from butfor.datasets import loans
from butfor.testing.importer_contract import check_importer


def test_the_same_seed_gives_the_same_table() -> None:
    X, y = loans.load(200, seed=3)
    again, other = loans.load(200, seed=3), loans.load(200, seed=4)
    pd.testing.assert_frame_equal(X, again[0])
    pd.testing.assert_series_equal(y, again[1])
    assert not X.equals(other[0])


def test_a_column_of_each_kind() -> None:
    X, y = loans.load(500)
    bound = bf.Explainer(loans.pipeline().fit(X, y), X)
    kinds = {feature.name: feature.kind for feature in bound.space}
    assert kinds["sex"] == "binary"
    assert kinds["education"] == "ordinal"
    assert kinds["job"] == kinds["housing"] == "categorical"
    assert kinds["savings"] == "continuous"
    assert kinds["age"] == kinds["amount"] == kinds["months"] == "integer"
    assert bound.space["education"].levels == loans.EDUCATION
    assert [feature.name for feature in bound.space if feature.missing and feature.levels is None] == loans.NUMBERS
    assert 0.6 < (y == "approved").mean() < 0.8


def test_its_pipeline_is_read_exactly() -> None:
    X, y = loans.load(300)
    check_importer(loans.pipeline().fit(X, y), X)


def test_a_model_of_it_is_better_than_the_larger_class() -> None:
    X, y = loans.load(1000)
    later, truth = loans.load(1000, seed=1)
    right = (loans.pipeline().fit(X, y).predict(later) == truth).mean()
    assert right > max((truth == "approved").mean(), (truth == "rejected").mean()) + 0.05


def test_no_rows_are_refused() -> None:
    with pytest.raises(bf.errors.InputError, match=r"rows=0 was given. At least one"):
        loans.load(0)
