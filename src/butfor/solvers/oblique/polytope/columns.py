"""What the polytope's kernels are given, as named arrays, and their tolerances.

minimise sum_j c_j(x_j) subject to B x >= need, each column in a set of its own: an interval, a grid, or one option of a
group. Numbers are how far a feature moves, in units of its range; options are shares of 1. Numba is not loaded here.
"""

from __future__ import annotations

from typing import NamedTuple

from butfor.arrays import BoolArray, FloatArray, IntArray

RAISE = 1e-9
"""Half-spaces (of unit norm) are met with this to spare wherever real columns leave room for it."""

UNMET = 3e-10
"""How far the Newton steps may leave a half-space unmet: less than `RAISE`, so that the point lies inside."""

HALF_SPACE_ROUNDING = 1e-13
"""The share by which a sum over columns may miss its half-space: rounding."""

FARKAS_ROUNDING = 1e-10
"""The share that a mix of half-spaces must lack before it proves a polytope empty: the mix itself is rounded."""

RELAXATION_GAP = 1e-7
"""A relaxation is solved when point and bound are this close, relative to 1 + cost: a tenth of the promise."""

BRANCH_SAVING = 4e-7
"""The share of the best cost that a branch must promise to save: answers need be optimal to 1e-6 only."""

AS_GOOD_AS_WHOLE = 1e-7
"""A number this near to a grid point, in steps, or an option this near to 1, is taken for it."""

RUNAWAY = 1e9
"""Multipliers of this size run away, prices being at most 1: rounding decides whether there is a point."""

ON_POINT = 1e-9
"""A value this near to a grid point, in steps, stands on it: the distance from the first point is rounded."""

BEYOND_END = 1e-12
"""How far a grid point may lie beyond the end of its interval: rounding of the same number in two ways."""

KEPT_POINT = 1e-6
"""A grid point this far, in steps, beyond a narrowed end is kept: the end is the root of a rounded quadratic."""

NARROWING_ROUNDING = 1e-9
"""The share of the limit by which a choice must exceed it to be taken away: bounds are rounded sums."""

PIVOT_DAMPING = 1e-9
"""What is added to the pivots of a Newton step, as a share of their mean: half-spaces may repeat each other."""

SLOPE_LEFT = 1e-13
"""The share of the first slope that is taken for none: the maximum along the line is reached."""

BRACKET_LEFT = 1e-16
"""The relative width of a bracket that cannot be halved any more."""

SAVED = 1e-12
"""What a change must save to be made: less is rounding, and could go to and fro."""

LEAST_CHARGE = 1e-6
"""What a repair costs at least when its worth for its price is weighed: some cost nothing."""


class Columns(NamedTuple):
    """The columns that all rows share: numbers first, then options.

    A move d of a number costs `up d` or `-down d`, and `square d^2`; its grid is `step` wide (0: real). The options of
    group g are `group[g]:group[g + 1]`, counted from the first option.
    """

    up: FloatArray
    down: FloatArray
    square: FloatArray
    step: FloatArray
    group: IntArray


class Box(NamedTuple):
    """Where each column may be: an interval for each number, the options alive.

    Grids begin at `first`. An option costs `price` (infinity: it is not allowed).
    """

    low: FloatArray
    high: FloatArray
    first: FloatArray
    price: FloatArray
    alive: BoolArray


class HalfSpaces(NamedTuple):
    """`B x >= need`, a row of unit norm each."""

    B: FloatArray
    need: FloatArray
