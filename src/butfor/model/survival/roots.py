"""Where a function of one number that only falls comes down to each of many levels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.chebyshev import chebval
from scipy.fft import dct

from butfor.arrays import FloatArray, IntArray

Function = Callable[[FloatArray], FloatArray]

DIGITS = 1e-15
"""How close to its level, as a share of its size, an argument comes."""

TABLE = 200
"""At how many arguments a function is tabled at most, for all levels."""

DEGREE = 96
"""That of a polynomial which may stand for a smooth function where there are many more levels."""

POLYNOMIAL_ROUNDING = 1e-15
"""By how much, as a share of its size, that polynomial may differ."""

BISECTIONS = 200
"""Far more steps than bisection takes."""


def border(held: Function, levels: FloatArray, good: float, bad: float) -> FloatArray:
    """The last arguments on the way from `good` to `bad` at which `held`, which falls on that way, is not yet below each level.

    Infinite with the sign of `bad` if it never falls below, of `good` if it always is.

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
    """A part of the way on which all levels lie well inside."""
    u = np.linspace(good, bad, 2 + min(len(levels), TABLE))
    at = _last(held(u), levels)
    return float(u[max(0, at.min() - 1)]), float(u[min(len(u) - 1, at.max() + 2)])


def _brackets(held: Function, levels: FloatArray, good: float, bad: float) -> tuple[FloatArray, ...]:
    """For each level, neighbours in a table between which it lies, and what `held` is there."""
    u = np.linspace(good, bad, 2 + min(len(levels), TABLE))
    values_held = held(u)
    at = _last(values_held, levels)
    return tuple(np.asarray(values[place]) for values in (u, values_held) for place in (at, at + 1))


def _last(values_held: FloatArray, levels: FloatArray) -> IntArray:
    """The last place before what is values_held falls below each level."""
    return np.asarray(np.searchsorted(-np.minimum.accumulate(values_held), -levels, side="right") - 1)


def _polynomial(held: Function, good: float, bad: float) -> Function | None:
    """A polynomial that stays below a smooth function, by no more than rounding; None if the function is not as smooth.

    Chebyshev's interpolant, its coefficients by a cosine transform (L. N. Trefethen, "Approximation theory and approximation
    practice", 2013).
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
    """The brackets made as narrow as numbers allow; their good ends.

    Inverse quadratic interpolation where it is safe, bisection elsewhere (T. R. Chandrupatla, "A new hybrid
    quadratic/bisection algorithm", Advances in Engineering Software 28, 1997): `a` is the newest point, `b` the other end, `c`
    the point before.
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
