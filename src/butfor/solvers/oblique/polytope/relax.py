"""Compiled: the relaxation, with grids as intervals and options as mixtures, by its dual.

The dual is raised by projected semismooth Newton steps. Where prices are not strictly convex, a proximal term makes
them so. Its centre is moved along (Rockafellar, Mathematics of Operations Research 1, 1976).
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.columns import RELAXATION_GAP, RUNAWAY, UNMET
from butfor.solvers.oblique.polytope.dual import ProximalTerm, floors, price_of_point, pull_of, respond
from butfor.solvers.oblique.polytope.empty import impossible
from butfor.solvers.oblique.polytope.newton import PullLine, curvature, direction, step_length

NEWTON_STEPS, CENTRES = 100, 40
"""At most so many Newton steps per centre, and so many centres of the proximal term."""

FIRST_RHO, RHO_KEPT, LEAST_RHO = 0.1, 0.2, 1e-5
"""The weight of the proximal term: at the first centre, the share of it that the next one keeps, the least."""


@kernel
def relax(spaces, lift, columns, box, proximal, lam, x, cut):  # type: ignore[no-untyped-def]
    """Raise the bound of a polytope, from the multipliers `lam` on.

    Returns the bound, and whether `x` now is the cheapest point of the relaxation. The point keeps `lift` more than
    `need`. The bound is of `need` itself, with grids and options taken as they are. It is infinite if nothing meets the
    half-spaces. The steps stop as soon as it reaches `cut`.
    """
    m, n = spaces.B.shape
    pull, push, at, trial, centre = np.empty(n), np.empty(n), np.empty(n), np.empty(n), x.copy()
    gradient, step, H, free = np.empty(m), np.empty(m), np.empty((m, m)), np.empty(m, dtype=np.bool_)
    rho = FIRST_RHO if proximal else 0.0
    best = -np.inf
    pull_of(spaces.B, lam, pull)
    for _ in range(CENTRES):
        term = ProximalTerm(rho, centre)
        settled = False
        for _ in range(NEWTON_STEPS):
            respond(columns, box, term, pull, x)
            relaxed, exact = floors(columns, box, pull)
            total, worst = _gradient(spaces, lift, lam, x, gradient, free)
            best = max(best, exact + total)
            if best >= cut:
                return best, False
            if worst <= UNMET:
                settled = True
                break
            if _run_away(lam):
                return best, False
            if impossible(spaces.need, columns, box, lam, pull):
                return np.inf, False
            curvature(spaces.B, columns, box, term, x, H)
            direction(H, gradient, lam, free, step)
            pull_of(spaces.B, step, push)
            gain, most, hit = _ahead(spaces.need, lift, lam, step)
            if hit < 0 and impossible(spaces.need, columns, box, step, push):
                return np.inf, False
            t = step_length(most, columns, box, term, PullLine(pull, push, gain, at, trial))
            for i in range(m):
                lam[i] = max(lam[i] + t * step[i], 0.0)
            if hit >= 0 and t == most:
                lam[hit] = 0.0
            pull_of(spaces.B, lam, pull)
        if not settled or not proximal:
            return best, settled
        cost = price_of_point(columns, box, x)
        if cost - relaxed - total <= RELAXATION_GAP * (1.0 + cost) + 2.0 * lift * lam.sum():
            return best, True
        for j in range(n):
            centre[j] = x[j]
        rho = max(RHO_KEPT * rho, LEAST_RHO)
    return best, False


# `inline`: a private step that is used once is compiled with its caller, which takes less time.
@inlined
def _gradient(spaces, lift, lam, x, gradient, free):  # type: ignore[no-untyped-def]
    """What each half-space lacks at `x`, and which multipliers are free.

    Returns lam' need and the worst lack.
    """
    B, need = spaces.B, spaces.need
    total, worst = 0.0, 0.0
    for i in range(len(lam)):
        total += lam[i] * need[i]
        gradient[i] = need[i] + lift
        for j in range(len(x)):
            gradient[i] -= B[i, j] * x[j]
        worst = max(worst, abs(gradient[i]) if lam[i] > 0.0 else gradient[i])
        free[i] = lam[i] > 0.0 or gradient[i] > 0.0
    return total, worst


@inlined
def _ahead(need, lift, lam, step):  # type: ignore[no-untyped-def]
    """What a unit of the direction gains, and how far it may go.

    Also returns the multiplier that is zero there (-1: none).
    """
    gain, most, hit = 0.0, np.inf, -1
    for i in range(len(lam)):
        gain += step[i] * (need[i] + lift)
        if step[i] < 0.0 and -lam[i] / step[i] < most:
            most, hit = -lam[i] / step[i], i
    return gain, most, hit


@inlined
def _run_away(lam):  # type: ignore[no-untyped-def]
    """Whether the multipliers run away; then they start again from zero."""
    away = False
    for i in range(len(lam)):
        away = away or not lam[i] < RUNAWAY
    if away:
        for i in range(len(lam)):
            lam[i] = 0.0
    return away
