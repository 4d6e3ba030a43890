"""Places of numbers: whole numbers in the order of the numbers they stand for, and back."""

from __future__ import annotations

import numpy as np

from butfor.model.single import place_of_single, single_at
from butfor.neighbours.places import Grids


def test_neighbours_in_float32_are_one_place_apart() -> None:
    some = np.array([0.0, 1.0, 1e4, -1e4, 1e-45, -1e-45, np.inf, -np.inf], dtype=np.float32)
    some = np.concatenate([some, np.random.default_rng(0).normal(0, 1e3, 50).astype(np.float32)])
    finite = some[np.isfinite(some)]
    following = np.nextafter(finite, np.float32(np.inf)).astype(np.float64)
    assert (place_of_single(following) - place_of_single(finite.astype(np.float64)) == 1).all()
    assert (single_at(place_of_single(some.astype(np.float64))) == some).all()
    assert np.isnan(single_at(place_of_single(np.array([np.nan])))).all()


def test_the_first_and_the_last_place_hold_what_lies_between() -> None:
    grids = Grids(np.array([0.0, 0.0, 0.5]), np.zeros(3), np.array([True, False, False]))
    point = np.array([0.25, 0.1, 1.5])
    low, high = grids.first(np.array([0.1, 0.1, 0.1])), grids.last(np.array([0.1, 0.1, 0.1]))
    assert (high[0], low[0]) == (low[0] - 1, np.round(low[0]))  # 0.1 is no float32
    assert low[1] == high[1] == 0.1  # any number
    assert (low[2], high[2]) == (1, 0)
    assert 0.1 < grids.numbers(low, point)[0] < np.nextafter(np.float32(0.1), np.float32(1))
    assert (grids.numbers(grids.place(point), point) == point).all()
