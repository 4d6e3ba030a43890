"""Small polytopes as the kernels want them."""

from __future__ import annotations

import numpy as np

from butfor.solvers.oblique.polytope.columns import Box, Columns, HalfSpaces
from butfor.solvers.oblique.polytope.one_column import Number
from butfor.solvers.oblique.polytope.relax import relax


def array(*values):
    return np.array(values, dtype=np.float64)


def number(up=1.0, down=1.0, square=0.0, step=0.0, low=-1.0, high=1.0):
    """Its grid begins at its lower end."""
    return Number(up, down, square, step, low, high, low)


def columns(*numbers, groups=()):
    """Numbers, then groups of so many options."""
    rates = [np.array([getattr(one, word) for one in numbers]) for word in ("up", "down", "square", "step")]
    return Columns(*rates, np.concatenate([[0], np.cumsum(groups)]).astype(np.intp))


def box(*numbers, price=()):
    """Every option with a finite price is alive."""
    low, high, first = (np.array([getattr(one, word) for one in numbers]) for word in ("low", "high", "first"))
    return Box(low, high, first, array(*price), np.isfinite(array(*price)))


def half_spaces(B, need):
    """As the kernels want them: a row of unit norm each."""
    norm = np.linalg.norm(B, axis=1)
    return HalfSpaces(np.array(B) / norm[:, None], np.array(need) / norm)


def relaxed(spaces, numbers, lift=0.0, cut=np.inf, price=(), groups=()):
    """The bound, whether it was solved, the point and the multipliers, all from 0."""
    made = columns(*numbers, groups=groups)
    lam, x = np.zeros(len(spaces.need)), np.zeros(spaces.B.shape[1])
    proximal = bool(groups) or any(one.square == 0 for one in numbers)
    bound, solved = relax(spaces, lift, made, box(*numbers, price=price), proximal, lam, x, cut)
    return bound, solved, x, lam


GRID = number(step=0.25, low=-0.5, high=0.5)
