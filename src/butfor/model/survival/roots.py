"""Find where a decreasing function of one number falls to each of many levels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.chebyshev import chebval
from scipy.fft import dct

from butfor.arrays import FloatArray, IntArray

Function = Callable[[FloatArray], FloatArray]

DIGITS = 1e-15
"""How exactly an argument is found, as a share of its size."""

TABLE = 200
"""The largest number of arguments at which a function is tabulated, for all levels together."""

DEGREE = 96
"""The degree of the polynomial that may replace a smooth function if there are many more levels than this."""

POLYNOMIAL_ROUNDING = 1e-15
"""By how much this polynomial may differ from the function, as a share of its size."""

BISECTIONS = 200
"""A limit on the steps. It is far more than bisection needs."""


def border(held: Function, levels: FloatArray, good: float, bad: float) -> FloatArray:
    """For each level, the argument nearest to `bad` with `held` still at least that level.

    `held` decreases from `good` to `bad`. If it stays at or above the level everywhere, the result is infinite with the
    sign of `bad`. If it is below the level everywhere, the result is infinite with the sign of `good`.

    >>> border(lambda u: -u, np.array([-0.25, 9.0, -9.0]), -1.0, 1.0).tolist()
    [0.25, -inf, inf]
    """
    first, last = held(np.array([good, bad]))
    out: FloatArray = np.full(len(levels), np.copysign(np.inf, bad))
    out[levels > first] = np.copysign(np.inf, good)
    between = np.flatnonzero((levels <= first) & (levels > last))
    if len(between):
        some = levels[between]
        ends = _around(held, some, *_around(held, some, good, bad))
        quick = (_polynomial(held, *ends) if len(some) > 4 * DEGREE else None) or held
        out[between] = _narrowed(quick, some, *_brackets(quick, some, *ends))
    return out


def _around(held: Function, levels: FloatArray, good: float, bad: float) -> tuple[float, float]:
    """The ends of a part of the way that contains all levels well inside."""
    u = np.linspace(good, bad, 2 + min(len(levels), TABLE))
    at = _last(held(u), levels)
    return float(u[max(0, at.min() - 1)]), float(u[min(len(u) - 1, at.max() + 2)])


def _brackets(held: Function, levels: FloatArray, good: float, bad: float) -> tuple[FloatArray, ...]:
    """For each level, two arguments between which it lies, and the values there."""
    u = np.linspace(good, bad, 2 + min(len(levels), TABLE))
    values_held = held(u)
    at = _last(values_held, levels)
    return tuple(np.asarray(values[place]) for values in (u, values_held) for place in (at, at + 1))


def _last(values_held: FloatArray, levels: FloatArray) -> IntArray:
    """For each level, the last place before the values fall below it."""
    return np.asarray(np.searchsorted(-np.minimum.accumulate(values_held), -levels, side="right") - 1)


def _polynomial(held: Function, good: float, bad: float) -> Function | None:
    """A polynomial just below a smooth function; None if it is not smooth enough.

    It is Chebyshev's interpolant, whose coefficients come from a cosine transform (L. N. Trefethen, "Approximation
    theory and approximation practice", 2013).
    """
    middle, half = (good + bad) / 2, (bad - good) / 2
    points = np.cos((np.arange(DEGREE) + 0.5) * np.pi / DEGREE)
    coefficients = dct(held(middle + half * points)) / DEGREE
    coefficients[0] /= 2
    size = np.abs(coefficients)
    if size[-DEGREE // 8 :].max() > POLYNOMIAL_ROUNDING * size.max():
        return None
    coefficients[0] -= 2 * POLYNOMIAL_ROUNDING * size.sum()
    return lambda u: np.asarray(chebval((u - middle) / half, coefficients))


def _narrowed(
    held: Function, levels: FloatArray, good: FloatArray, bad: FloatArray, above: FloatArray, below: FloatArray
) -> FloatArray:
    """Make the brackets as narrow as floating-point numbers allow. Returns their good ends.

    The steps are inverse quadratic interpolation where it is safe, and bisection elsewhere (T. R. Chandrupatla, "A new
    hybrid quadratic/bisection algorithm", Advances in Engineering Software 28, 1997). `a` is the newest point, `b` the
    other end, and `c` the point before.
    """
    out, rows = good.copy(), np.arange(len(levels))
    a, b, fa, fb = bad, good, below - levels, above - levels
    step = np.full(len(a), 0.5)
    for _ in range(BISECTIONS):
        x = a + step * (b - a)
        fx = held(x) - levels[rows]
        same = (fx >= 0) == (fa >= 0)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        a, b, fa, fb = x, np.where(same, b, a), fx, np.where(same, fb, fa)
        out[rows] = np.where(fa >= 0, a, b)
        least = DIGITS * (1 + np.abs(a)) / np.abs(b - a)
        going = least < 0.5
        if not going.any():
            break
        rows, a, b, c = rows[going], a[going], b[going], c[going]
        fa, fb, fc, least = fa[going], fb[going], fc[going], least[going]
        with np.errstate(divide="ignore", invalid="ignore"):
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            smooth = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
            bent = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        step = np.clip(np.where(smooth, bent, 0.5), least, 1 - least)
    return out
