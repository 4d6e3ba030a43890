"""Bisection over float64: against a walk over neighbouring numbers, and against itself asked in the other way."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.model.float_order import LARGEST_FLOAT, last_between, last_number, last_true

NUMBERS = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, 0.1, -1e300, 1e300, np.pi, 2.0**-1022, LARGEST_FLOAT, -LARGEST_FLOAT]


@pytest.mark.parametrize("at", NUMBERS)
def test_the_last_number_is_found_exactly(at) -> None:
    assert last_number(lambda x: x <= at) == at
    assert last_true(lambda x: x <= np.array([at, 3.0]), 2).tolist() == [at, 3.0]


@pytest.mark.parametrize("at", NUMBERS[:-1])
def test_the_last_number_below_is_the_neighbour(at) -> None:
    below = np.nextafter(at, -np.inf)
    assert last_number(lambda x: x < at) == below


def test_nothing_and_everything() -> None:
    assert last_number(lambda x: x < -np.inf) == -np.inf
    assert last_number(lambda x: x < np.inf) == LARGEST_FLOAT
    assert last_number(lambda x: x <= 7.0, 8.0, 9.0) == -np.inf
    assert last_number(lambda x: x <= 10.0, 8.0, 9.0) == 9.0
    assert last_number(lambda x: x <= 8.0, 8.0, 8.0) == 8.0


def test_one_question_and_many_find_the_same() -> None:
    rng = np.random.default_rng(0)
    at = rng.choice([-1.0, 1.0], 300) * 10.0 ** rng.uniform(-320, 308, 300)
    low, high = at - np.abs(at) * rng.random(300), at + np.abs(at) * rng.random(300)
    many = last_between(lambda x: x <= at, low, high)
    one = [last_number(lambda x, a=a: x <= a, lo, hi) for a, lo, hi in zip(at, low, high, strict=True)]
    assert many.tolist() == one == at.tolist()


def test_neighbouring_numbers() -> None:
    x = 1.0
    for _ in range(200):
        following = float(np.nextafter(x, 2.0))
        assert last_number(lambda q, end=following: q < end, 0.5, 2.0) == x
        x = following
