"""Plausibility against scikit-learn asked directly, against Gower's distance, and by what it should tell apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import LocalOutlierFactor

import butfor as bf
from butfor.measure import plausibility
from butfor.measure.plausibility import Plausibility, place
from butfor.problem.costs import price
from butfor.space.infer import infer

RNG = np.random.default_rng(0)
ROWS = 120
MIXED = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, ROWS),
        "income": RNG.normal(30_000, 8_000, ROWS),
        "job": RNG.choice(["clerk", "nurse", "pilot"], ROWS),
        "owns": RNG.random(ROWS) < 0.5,
        "grade": pd.Categorical(RNG.choice(["a", "b", "c"], ROWS), ["a", "b", "c"], ordered=True),
    }
)
PLANE = RNG.normal(size=(200, 2))
NAMES = ("neighbour_distance", "outlier_factor", "isolation")


def test_distances_are_gowers() -> None:
    space = infer(MIXED)
    codes = space.encode(MIXED)
    start, points = codes[:40], codes[40:80]
    gower = price(bf.Gower(), space).total(start, points)
    between = np.abs(place(start, space) - place(points, space)).sum(axis=1) / len(space)
    assert between == pytest.approx(gower)


def test_the_distance_to_the_nearest_by_hand() -> None:
    space = infer([[0.0], [1.0], [4.0], [10.0]])
    near = Plausibility([[0.0], [1.0], [1.0], [4.0], [10.0]], space, neighbours=2)
    assert near.neighbour_distance([[2.0], [10.0]]) == pytest.approx([(1 + 2) / 2 / 10, (0 + 6) / 2 / 10])


def test_training_rows_are_at_no_distance_from_themselves() -> None:
    near = Plausibility(MIXED, infer(MIXED), neighbours=1)
    assert near.neighbour_distance(MIXED) == pytest.approx(np.zeros(ROWS), abs=1e-9)


def test_the_outlier_factor_is_scikit_learns() -> None:
    space = infer(PLANE)
    near = Plausibility(PLANE, space, neighbours=7)
    width = np.ptp(PLANE, axis=0)
    told = LocalOutlierFactor(7, metric="manhattan", novelty=True).fit(PLANE / width)
    asked = np.array([[0.0, 0.0], [2.0, -2.0], [9.0, 9.0]])
    assert near.outlier_factor(asked) == pytest.approx(-told.score_samples(asked / width))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_far_away_is_less_plausible(name) -> None:
    near = Plausibility(PLANE, infer(PLANE))
    middle, outside = getattr(near, name)([[0.0, 0.0], [9.0, 9.0]])
    assert outside > 1.2 * middle


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_have_no_values(name) -> None:
    assert getattr(Plausibility(PLANE, infer(PLANE)), name)(PLANE[:0]).shape == (0,)


def test_repeated_rows_do_not_spoil_the_outlier_factor() -> None:
    few = pd.DataFrame({"a": [0, 0, 0, 1, 2] * 40, "b": [0, 1, 0, 1, 1] * 40})
    found = Plausibility(few, infer(few)).outlier_factor(few.iloc[:5])
    assert np.isfinite(found).all()
    assert (found < 3).all()


def test_one_row_alone_has_no_outlier_factor() -> None:
    near = Plausibility([[1.0, 2.0]] * 3, infer([[1.0, 2.0]] * 3))
    assert np.isnan(near.outlier_factor([[1.0, 2.0]])).all()
    assert near.neighbour_distance([[1.0, 2.0]]) == pytest.approx([0.0])


def test_missing_values_are_placed() -> None:
    data = MIXED.assign(income=MIXED["income"].where(MIXED.index % 9 > 0))
    near = Plausibility(data, infer(data), neighbours=1)
    assert near.neighbour_distance(data.iloc[:20]) == pytest.approx(np.zeros(20), abs=1e-9)
    assert np.isfinite(near.isolation(data.iloc[:20])).all()


def test_many_rows_are_sampled(monkeypatch) -> None:
    monkeypatch.setattr(plausibility, "ROWS_COMPARED", 50)
    near, again = (Plausibility(PLANE, infer(PLANE), neighbours=1, seed=3) for _ in range(2))
    found = near.neighbour_distance(PLANE)
    assert (found < 1e-12).sum() == 50
    assert np.array_equal(found, again.neighbour_distance(PLANE))
