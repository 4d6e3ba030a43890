"""Radii for normal noise, against known distributions and against random draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi, norm

import butfor as bf

NORMS = {"linf": np.inf, "l2": 2, "l1": 1}


@pytest.mark.shorter(5)
@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 7, 20])
def test_noise_stays_in_the_ball_as_often_as_said(kind: str, columns: int) -> None:
    drawn = np.random.default_rng(columns).normal(scale=0.3, size=(200_000, columns))
    size = np.linalg.norm(drawn, ord=NORMS[kind], axis=1)
    for probability in (0.5, 0.95):
        radius = bf.noise.radius(0.3, probability, kind, columns=columns)
        assert (size <= radius).mean() == pytest.approx(probability, abs=0.005)
        assert bf.noise.probability(radius, 0.3, kind, columns=columns) == pytest.approx(probability, abs=1e-9)
        assert bf.noise.sigma(radius, probability, kind, columns=columns) == pytest.approx(0.3)


def test_known_distributions() -> None:
    assert bf.noise.radius(1.0, 0.95, "l2", columns=5) == pytest.approx(chi.ppf(0.95, 5))
    assert bf.noise.radius(1.0, 0.95, "linf", columns=5) == pytest.approx(norm.ppf((1 + 0.95**0.2) / 2))
    for kind in NORMS:
        assert bf.noise.radius(2.0, 0.95, kind, columns=1) == pytest.approx(2 * norm.ppf(0.975))


@pytest.mark.parametrize("columns", [1_400, 3_000, 100_000])
def test_noise_in_many_columns_is_nearly_normal(columns: int) -> None:
    """The quantile of a sum of many sizes, by Cornish and Fisher's expansion."""
    mean, skewness = np.sqrt(2 / np.pi), np.sqrt(2) * (4 - np.pi) / (np.pi - 2) ** 1.5
    for probability in (1e-6, 0.5, 0.95, 1 - 1e-9):
        z = norm.ppf(probability)
        bent = z + skewness / np.sqrt(columns) * (z * z - 1) / 6
        expected = columns * mean + np.sqrt(columns * (1 - mean**2)) * bent
        radius = bf.noise.radius(1.0, probability, "l1", columns=columns)
        assert radius == pytest.approx(expected, abs=0.02 * abs(z) ** 3 + 0.01)
        assert bf.noise.probability(radius, 1.0, "l1", columns=columns) == pytest.approx(probability, abs=1e-9)
    assert bf.noise.probability(1.0, 1.0, "l1", columns=columns) == 0.0
    assert bf.noise.probability(float(columns), 1.0, "l1", columns=columns) == pytest.approx(1.0)


def test_columns_have_noise_of_their_own() -> None:
    sigma = {"a": 1.0, "b": 10.0, "c": 0.1}
    for kind in NORMS:
        radius = bf.noise.radius(sigma, 0.9, kind)
        assert {name: radius[name] / sigma[name] for name in sigma} == pytest.approx(
            dict.fromkeys(sigma, bf.noise.radius(1.0, 0.9, kind, columns=3))
        )
        assert bf.noise.probability(radius, sigma, kind) == pytest.approx(0.9)
        assert bf.robust(radius, norm=kind).radius == radius
    uneven = bf.noise.probability({"a": 1.0, "b": 10.0}, {"a": 1.0, "b": 5.0})
    assert uneven == pytest.approx((2 * norm.cdf(1) - 1) * (2 * norm.cdf(2) - 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bf.noise.radius(0.1), "number of columns"),
        (lambda: bf.noise.radius(-0.1, columns=2), "above 0"),
        (lambda: bf.noise.radius(np.nan, columns=2), "finite"),
        (lambda: bf.noise.radius("x", columns=2), "a number"),
        (lambda: bf.noise.radius({}, 0.9), "names its columns"),
        (lambda: bf.noise.radius({"a": 1.0}, columns=2), "names its columns"),
        (lambda: bf.noise.radius(0.1, 1.0, columns=2), "below 1"),
        (lambda: bf.noise.radius(0.1, norm="l3", columns=2), "'linf', 'l2', 'l1'"),
        (lambda: bf.noise.probability({"a": 1.0}, {"b": 1.0}), "the same columns"),
        (lambda: bf.noise.probability({"a": 1.0}, 1.0), "the same columns"),
        (lambda: bf.noise.probability({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}, "l2"), "not multiples"),
    ],
)
def test_what_makes_no_sense_is_said(call, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        call()
