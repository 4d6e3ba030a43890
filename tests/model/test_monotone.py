"""Thresholds through monotone functions: what is sure, what is in doubt, and plateaus asked at their very value."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from butfor.model import interpolated
from butfor.model.interpolated import ENDS_ARE_MIXED, Interpolated
from butfor.model.monotone import (
    Complement,
    Exponential,
    Logistic,
    LogOdds,
    Mean,
    MonotoneFunction,
    Scaled,
    SignedSquare,
)
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE, Doubt, ScoreSet
from tests.shorter import diagonal

KNOTS = Interpolated(np.array([-1.0, 0.0, 0.5, 2.0, 2.5]), np.array([0.1, 0.5, 0.5, 0.9, 0.9]))
FUNCTIONS = {
    "exponential": MonotoneFunction((Exponential(),)),
    "logistic": MonotoneFunction((Logistic(),)),
    "falling": MonotoneFunction((Scaled(-3.0, 1.5), Logistic())),
    "other class": MonotoneFunction((Logistic(), Complement())),
    "square": MonotoneFunction((SignedSquare(),)),
    "knots": MonotoneFunction((KNOTS,)),
    "knots of a probability": MonotoneFunction((Logistic(), Interpolated(np.array([0.2, 0.6]), np.array([0.0, 1.0])))),
    "temperature": MonotoneFunction((Logistic(), LogOdds(1e-12), Scaled(0.6), Logistic())),
    "constant": MonotoneFunction((Scaled(0.0, 0.2), Logistic())),
    "mean": MonotoneFunction((Mean((MonotoneFunction((Logistic(),)), MonotoneFunction((KNOTS,)))),)),
}
NOTHING_MORE = Doubt(np.zeros(1), np.zeros(1), np.zeros(1))


def around(scores: np.ndarray) -> np.ndarray:
    """Scores, and their neighbours."""
    return np.unique(np.concatenate([scores, np.nextafter(scores, np.inf), np.nextafter(scores, -np.inf)]))


def told(part: ScoreSet, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which scores are surely, perhaps, and by our own numbers in a set."""
    column = scores[:, None]
    return part.surely(column, NOTHING_MORE), part.perhaps(column, NOTHING_MORE), part.holds(column)


@pytest.mark.parametrize(("name", "side"), diagonal(FUNCTIONS, product([False, True], repeat=2)))
def test_a_threshold_moves_to_the_scores(name, side) -> None:
    """What we compute ourselves is one of the results that the estimator may get."""
    strict, below = side
    function = FUNCTIONS[name]
    grid = np.concatenate([np.linspace(-4, 4, 33), KNOTS.x])
    for value in np.unique(function.at(grid)):
        part = function.score_set(np.ones(1), float(value), below=below, strict=strict)
        edges = part.b / np.where(part.A[:, 0] == 0, 1.0, part.A[:, 0])
        scores = around(np.concatenate([grid, edges, edges + 1e-12, edges - 1e-12, edges + 1e-6, edges - 1e-6]))
        found = function.at(scores)
        met = (found < value if strict else found <= value) if below else (found > value if strict else found >= value)
        sure, perhaps, _ = told(part, scores)
        assert not (sure & ~met).any(), (value, scores[sure & ~met])
        assert not (met & ~perhaps).any(), (value, scores[met & ~perhaps])
        low, high = function.between(scores, scores)
        assert (low <= found).all()
        assert (found <= high).all()
        clear = (high < value - 1e-9) | (low > value + 1e-9)
        assert (sure == perhaps)[clear].all()


@pytest.mark.skipif(ENDS_ARE_MIXED, reason="from SciPy 1.18 on, lines between equal values are rounded")
def test_a_plateau_asked_at_its_very_value_is_a_closed_end() -> None:
    function = FUNCTIONS["knots"]
    scores = np.array([-0.01, 1e-12, 0.25, 0.5 - 1e-12, 0.500001])
    for given, answer in (
        ({}, [False, True, True, True, True]),
        ({"strict": True}, [False, False, False, False, True]),
        ({"below": True}, [True, True, True, True, False]),
        ({"below": True, "strict": True}, [True, False, False, False, False]),
    ):
        for found in told(function.score_set(np.ones(1), 0.5, **given), scores):
            assert found.tolist() == answer, given


def test_what_is_never_and_always_reached() -> None:
    function, scores = FUNCTIONS["knots"], np.array([-9.0, 0.3, 9.0])
    for value, below, answer in ((0.05, False, True), (0.95, False, False), (0.05, True, False), (0.95, True, True)):
        sure, perhaps, _ = told(function.score_set(np.ones(1), value, below=below), scores)
        assert sure.tolist() == perhaps.tolist() == [answer] * 3
    sure, _, _ = told(FUNCTIONS["logistic"].score_set(np.ones(1), 1.0), np.array([30.0, 41.0]))
    assert sure.tolist() == [False, True], "from some score on, the probability is 1"
    assert not told(FUNCTIONS["exponential"].score_set(np.ones(1), -1.0, below=True), scores)[1].any()


@pytest.mark.parametrize("value", [0.03, 0.5, 0.97])
def test_float32_leaves_more_in_doubt(value) -> None:
    single, double = FUNCTIONS["logistic"].rounded(UNIT_SINGLE), FUNCTIONS["logistic"]
    scores = np.linspace(-5, 5, 2001).astype(np.float32)
    met = expit(scores) >= np.float32(value)
    sure, perhaps, _ = told(single.score_set(np.ones(1), value), scores.astype(np.float64))
    assert not (sure & ~met).any()
    assert not (met & ~perhaps).any()
    assert single.score_set(np.ones(1), value).below > 1e6 * double.score_set(np.ones(1), value).below


def test_two_large_numbers_that_cancel_are_in_doubt() -> None:
    function = MonotoneFunction((Scaled(1e6, -5e5), Logistic()))
    part = function.score_set(np.ones(1), 0.5)
    exact = function.at(np.array([0.5]))
    assert exact == 0.5
    assert part.below > 1e-16
    assert not told(part, np.array([0.5]))[0][0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lines_of_mixed_ends_lie_between_their_bounds(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As SciPy computes them from 1.18 on, whichever is here: also on lines between equal values, where they are off."""
    monkeypatch.setattr(interpolated, "ENDS_ARE_MIXED", True)
    rng, off, unit = np.random.default_rng(0), 0, UNIT_SINGLE if dtype == np.float32 else UNIT_DOUBLE
    for _ in range(200):
        x = np.unique(rng.normal(size=8).astype(dtype))
        y = np.sort(rng.choice(rng.random(4), len(x))).astype(dtype)
        at = np.clip(np.append(rng.normal(size=200), x).astype(dtype), x[0], x[-1])
        high = np.clip(np.searchsorted(x, at), 1, len(x) - 1)
        low = high - 1
        width = x[high] - x[low]
        mixed = (at - x[low]) / width * y[high] + (x[high] - at) / width * y[low]
        assert mixed.dtype == dtype
        lines = Interpolated(x.astype(np.float64), y.astype(np.float64))
        exact, said = at.astype(np.float64), mixed.astype(np.float64)
        least, most = lines.between(exact, exact, unit)
        assert (least <= said).all()
        assert (said <= most).all()
        wide = lines.between(np.sort(exact)[:-20], np.sort(exact)[20:], unit)
        inside = said[np.argsort(exact, kind="stable")]
        for k, (below, above) in enumerate(zip(*wide, strict=True)):
            assert below <= inside[k : k + 21].min()
            assert inside[k : k + 21].max() <= above
        off += int((said[y[low] == y[high]] != y[low][y[low] == y[high]]).sum())
    assert off > 100
