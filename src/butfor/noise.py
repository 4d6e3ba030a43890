"""Noise: how large a ball of `bf.robust` must be to hold normal noise with a given probability."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.errors import InputError, UnsupportedProblemError, no_attribute, number, suggests
from butfor.neighbours.ball import BallNorm

__all__ = ["probability", "radius", "sigma"]


def __dir__() -> list[str]:
    """What a user may want, and no helpers."""
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    """What is not there: which name may be meant."""
    raise no_attribute(__name__, name, __all__)


Norm = Literal["linf", "l2", "l1"]
Lengths = TypeVar("Lengths", float, Mapping[str, float])

FREQUENCIES, PANEL = 700.0, 0.17
"""Up to which frequency the distribution of a sum is put together, and in how wide parts, in units of 1 / sqrt(columns)."""

SURE = 9.0
"""So many times sqrt(columns) from its mean a sum is less often than floats tell: a share of exp(-SURE^2 / 2) at most."""

MEAN = float(np.sqrt(2 / np.pi))
"""What the size of a standard normal number is on average."""

POINTS_OF_A_PANEL = 8
"""How many points each part has (Gauss and Legendre)."""


@suggests
def radius(sigma: Lengths, probability: float = 0.95, norm: Norm = "linf", columns: int | None = None) -> Lengths:
    """The radius of `bf.robust` within which normal noise stays with a probability.

    Choose it if you know how large errors usually are, but not how large they may be. With independent
    `s_j ~ N(0, sigma_j)` and `Z_j` standard normal, the radius is `q sigma_j`, where q is the quantile of `max |Z_j|`
    ("linf", an order statistic), of the chi distribution ("l2"), or of `sum |Z_j|` ("l1"), after the appendix of
    Maragno et al., INFORMS Journal on Computing 36 (2024).

    - `sigma`: the standard deviation in each column, in its own units, as a dict. The radii are then such a dict, too.
      Or one number for all, in ranges, together with the number of `columns` that are perturbed.

    >>> import butfor as bf
    >>> round(bf.noise.radius(0.01, columns=4), 5)
    0.02491
    >>> radius = bf.noise.radius({"income": 200.0, "amount": 100.0}, probability=0.9, norm="l2")
    >>> {name: round(length, 1) for name, length in radius.items()}
    {'income': 429.2, 'amount': 214.6}
    """
    count = _columns(sigma, columns)
    return _times(sigma, _quantile(_share(probability), count, _norm(norm)))


@suggests
def sigma(radius: Lengths, probability: float = 0.95, norm: Norm = "linf", columns: int | None = None) -> Lengths:
    """The largest standard deviation of normal noise that stays within a radius with a probability.

    It answers the question of `bf.noise.radius` the other way round: how imprecise may values be? `radius` is a number in
    ranges, with the number of `columns`, or a dict in the units of the columns.

    >>> import butfor as bf
    >>> round(bf.noise.sigma(0.05, columns=4), 5)
    0.02007
    """
    count = _columns(radius, columns)
    return _times(radius, 1 / _quantile(_share(probability), count, _norm(norm)))


@suggests
def probability(
    radius: float | Mapping[str, float],
    sigma: float | Mapping[str, float],
    norm: Norm = "linf",
    columns: int | None = None,
) -> float:
    """The probability that normal noise stays within a radius. A robust answer stays valid at least that often.

    Choose it to see what the radius of a robust answer is worth. The norms are those of `radius`.

    - `radius`, `sigma`: both as numbers, with the number of `columns`; or both as dicts over the same columns.

    >>> import butfor as bf
    >>> round(bf.noise.probability(0.05, 0.02, columns=4), 4)
    0.9512
    >>> round(bf.noise.probability({"income": 500.0}, {"income": 200.0}), 4)
    0.9876
    """
    count = _columns(radius, columns)
    if isinstance(radius, Mapping) != isinstance(sigma, Mapping) or (
        isinstance(radius, Mapping) and isinstance(sigma, Mapping) and set(radius) != set(sigma)
    ):
        raise InputError(
            f"the radius {radius!r} was given with sigma={sigma!r}.", "Both must be numbers, or name the same columns."
        )
    _columns(sigma, columns)
    if isinstance(radius, Mapping) and isinstance(sigma, Mapping):
        ratio = np.array([radius[name] / sigma[name] for name in radius])
    else:
        ratio = np.full(count, cast(float, radius) / cast(float, sigma))
    kind = _norm(norm)
    if kind is BallNorm.LINF:
        return float(np.prod([_chance(one, 1, kind) for one in ratio.tolist()]))
    if np.ptp(ratio) > 1e-12 * ratio.max():
        raise UnsupportedProblemError(
            f"the radii {radius!r} are not multiples of sigma={sigma!r}.",
            f"The probability in a ball of norm {norm!r} is known only if they are.",
            "Use norm='linf', or bf.noise.radius.",
        )
    return _chance(float(ratio[0]), count, kind)


def _chance(q: float, columns: int, norm: BallNorm) -> float:
    """The probability that `columns` standard normal numbers lie within a ball of radius q."""
    from scipy.special import gammainc, ndtr

    if norm is BallNorm.LINF:
        return float((2 * ndtr(q) - 1) ** columns)
    if norm is BallNorm.L2:
        return float(gammainc(columns / 2, q * q / 2))
    if columns == 1:
        return float(2 * ndtr(q) - 1)
    if columns == 2:  # a square that stands on its corner
        return float((2 * ndtr(q / np.sqrt(2)) - 1) ** 2)
    return _chance_of_sum(q, columns)


def _chance_of_sum(q: float, columns: int) -> float:
    """P(|Z_1| + ... + |Z_n| <= q), by inversion of the characteristic function w(t / sqrt 2)^n (Gil-Pelaez, 1951).

    The sum changes by at most sqrt(n) times the distance between two noises. So it is hardly ever far from its mean
    (Tsirelson, Ibragimov and Sudakov, 1976), and near it, the waves that are added up are no shorter than their panels.
    """
    beyond = q - columns * MEAN
    if abs(beyond) >= SURE * np.sqrt(columns):
        return float(beyond > 0)
    t, weights, wave = _characteristic(columns)
    whole = weights @ ((wave * np.exp(-1j * t * beyond)).imag / t)
    return float(np.clip(0.5 - whole / np.pi, 0.0, 1.0))


@lru_cache(maxsize=8)
def _characteristic(columns: int) -> tuple[FloatArray, FloatArray, NDArray[np.complex128]]:
    """Frequencies, their weights in the sum, and the characteristic function there of what a sum is beyond its mean.

    A bisection asks for them often.
    """
    from scipy.special import wofz

    points, weights = np.polynomial.legendre.leggauss(POINTS_OF_A_PANEL)
    middles = np.arange(0.0, FREQUENCIES, PANEL) + PANEL / 2
    t: FloatArray = (middles[:, None] + PANEL / 2 * points).ravel() / np.sqrt(columns)
    wave = np.exp(columns * (np.log(wofz(t / np.sqrt(2))) - 1j * MEAN * t))
    return t, np.tile(PANEL / 2 * weights, len(middles)) / np.sqrt(columns), wave


def _quantile(probability: float, columns: int, norm: BallNorm) -> float:
    """The radius of the ball in which standard normal numbers lie with a probability, by bisection."""
    low, high = 0.0, 1.0
    while _chance(high, columns, norm) < probability:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(middle, columns, norm) < probability else (low, middle)
    return high


def _times(lengths: Lengths, factor: float) -> Lengths:
    if isinstance(lengths, Mapping):
        return cast(Lengths, {name: factor * length for name, length in lengths.items()})
    return factor * lengths


def _columns(lengths: float | Mapping[str, float], columns: int | None) -> int:
    """In how many columns there is noise. The lengths must be positive."""
    for length in lengths.values() if isinstance(lengths, Mapping) else (lengths,):
        found = number(length, f"{lengths!r} was given.", "A radius or a standard deviation must be a number.")
        if not (np.isfinite(found) and found > 0):
            raise InputError(f"{lengths!r} was given.", "A radius or a standard deviation must be finite and above 0.")
    if isinstance(lengths, Mapping):
        if columns not in (None, len(lengths)) or not lengths:
            raise InputError(f"{lengths!r} was given with columns={columns!r}.", "A dict names its columns itself.")
        return len(lengths)
    if isinstance(columns, bool) or not isinstance(columns, int | np.integer) or columns < 1:
        raise InputError(
            f"columns={columns!r} was given.",
            "One number for all columns needs the number of columns that are perturbed.",
            "Give columns=4, or a dict from column to number.",
        )
    return int(columns)


def _share(probability: Any) -> float:
    found = number(probability, f"probability={probability!r} was given.", "It must be a number.")
    if not 0 < found < 1:
        raise InputError(f"probability={probability!r} was given.", "It must be above 0 and below 1.")
    return float(found)


def _norm(norm: str) -> BallNorm:
    if norm not in tuple(BallNorm):
        raise InputError(f"norm={norm!r} was given.", f"It must be one of {', '.join(map(repr, map(str, BallNorm)))}.")
    return BallNorm(norm)
