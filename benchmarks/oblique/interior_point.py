"""A plain interior-point method for a quadratic form over a box and a few rows (Mehrotra, SIAM J. Optimization 2, 1992).

Every step factors 2Q + (a diagonal), which keeps Q's band, and the rows are a Schur complement of at most 20 x 20. The box
is never left. As it is bounded, any multipliers give a proof: of a bound (of the cost), or that no point fulfils the rows.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.sparse import csc_matrix

from butfor.space.frames import FloatArray

SOLVED, EMPTY, GAVE_UP = 0, 1, 2


def solve(
    Q: csc_matrix,
    band: FloatArray,
    down: FloatArray,
    up: FloatArray,
    A: FloatArray,
    b: FloatArray,
    tolerance: float = 1e-8,
    limit: int = 100,
) -> tuple[int, FloatArray, FloatArray, int]:
    """State, move, multipliers (of the rows scaled to length one) and the number of iterations."""
    length = np.linalg.norm(A, axis=1)
    A, b = A / length[:, None], b / length
    d = (down + up) / 2
    lam, w = np.ones(len(b)), np.maximum(A @ d - b, 0.1)
    low, high = np.ones(len(d)), np.ones(len(d))
    double, ridge = 2 * band, 1e-12 * band[0].max()  # a singular Q would meet rounding below zero
    cheap = 1e-4 * band[0].mean()  # moving a column by a hundredth: gaps are compared with that at least
    for iteration in range(limit):
        under, over = d - down, up - d
        pull = 2 * (Q @ d)
        prices = A.T @ lam
        missed = b - A @ d
        curved = d @ pull / 2
        rest = pull - prices
        bound = lam @ b - curved + np.minimum(rest * down, rest * up).sum()
        if missed.max() <= tolerance and curved - bound <= tolerance * max(curved, cheap):
            return SOLVED, d, lam, iteration
        if lam @ b - np.maximum(prices * down, prices * up).sum() > 1e-9 * lam.sum():
            return EMPTY, d, lam, iteration
        double[0] = 2 * band[0] + low / under + high / over + ridge
        factor = (cholesky_banded(double, lower=True, check_finite=False), True)
        inverse = cho_solve_banded(factor, A.T, check_finite=False)
        schur = A @ inverse + np.diag(w / lam)
        gap = (under @ low + over @ high + w @ lam) / (2 * len(d) + len(b))

        def direction(to_low, to_high, to_w):  # type: ignore[no-untyped-def]
            right = low - high - rest + to_low / under - to_high / over  # noqa: B023
            alone = cho_solve_banded(factor, right, check_finite=False)  # noqa: B023
            dlam = np.linalg.solve(schur, missed + w + to_w / lam - A @ alone)  # noqa: B023
            dd = alone + inverse @ dlam  # noqa: B023
            dlow, dhigh = (to_low - low * dd) / under, (to_high + high * dd) / over  # noqa: B023
            return dd, dlam, (to_w - w * dlam) / lam, dlow, dhigh  # noqa: B023

        dd, dlam, dw, dlow, dhigh = direction(-under * low, -over * high, -w * lam)
        primal, dual = _longest((under, over, w), (dd, -dd, dw)), _longest((low, high, lam), (dlow, dhigh, dlam))
        ahead = (under + primal * dd) @ (low + dual * dlow) + (over - primal * dd) @ (high + dual * dhigh)
        ahead = (ahead + (w + primal * dw) @ (lam + dual * dlam)) / (2 * len(d) + len(b))
        goal = gap * (ahead / gap) ** 3
        dd, dlam, dw, dlow, dhigh = direction(
            goal - under * low - dd * dlow, goal - over * high + dd * dhigh, goal - w * lam - dw * dlam
        )
        primal = 0.995 * _longest((under, over, w), (dd, -dd, dw))
        dual = 0.995 * _longest((low, high, lam), (dlow, dhigh, dlam))
        step = min(1.0, primal), min(1.0, dual)
        d, w = d + step[0] * dd, w + step[0] * dw
        lam, low, high = lam + step[1] * dlam, low + step[1] * dlow, high + step[1] * dhigh
    return GAVE_UP, d, lam, limit


def _longest(places: tuple[FloatArray, ...], moves: tuple[FloatArray, ...]) -> float:
    """How far all places stay positive; one at most."""
    worst = max(float(np.max(-move / place)) for place, move in zip(places, moves, strict=True))
    return 1.0 / max(1.0, worst)
