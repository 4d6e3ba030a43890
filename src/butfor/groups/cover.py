"""Few sets that cover most: greedily, and proven by a mixed-integer program.

Maximum coverage is NP-hard. The greedy choice covers at least the share 1 - 1/e of the optimum (Nemhauser, Wolsey and
Fisher, Mathematical Programming 14, 1978), and a gain that falls with every choice gives a bound: no m sets cover more
than the chosen ones and the m largest gains beside them. Where both differ, HiGHS decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.programs.program import Program, Sum

NEARLY_WHOLE = 1e-4
"""A bound on a whole number is rounded down if it is not this close to the next one."""


@dataclass(frozen=True)
class Cover:
    """The chosen sets, and a proven bound on what as many of them could cover."""

    chosen: tuple[int, ...]
    bound: int


def widest_cover(covers: BoolArray, prices: FloatArray, most: int, seconds: float) -> Cover:
    """At most `most` columns of `covers` (things, sets) that cover most. Among equals, cheap ones are chosen."""
    useful = _undominated(covers, prices)
    if not len(useful):
        return Cover((), 0)
    part, counts = _merged(covers[:, useful])
    chosen, bound = _greedily(part, counts, prices[useful], most)
    if bound > _covered(part, counts, chosen):
        chosen, bound = _proven(part, counts, chosen, bound, most, seconds)
    return Cover(_cheaper(covers, prices, useful[chosen]), bound)


def _undominated(covers: BoolArray, prices: FloatArray) -> IntArray:
    """The sets that are in no other one. Of equal sets the cheapest is kept."""
    order = np.lexsort((prices, -covers.sum(axis=0)))
    kept: list[int] = []
    for a in order.tolist():
        beyond = covers[:, a, None] & ~covers[:, kept]
        if covers[:, a].any() and beyond.any(axis=0).all():
            kept.append(a)
    return np.array(kept, dtype=np.intp)


def _merged(covers: BoolArray) -> tuple[BoolArray, IntArray]:
    """Things that the same sets cover, counted together. Those that none covers are left out."""
    kinds, counts = np.unique(covers[covers.any(axis=1)], axis=0, return_counts=True)
    return kinds, counts.astype(np.intp)


def _covered(covers: BoolArray, counts: IntArray, chosen: IntArray) -> int:
    return int(counts[covers[:, chosen].any(axis=1)].sum())


def _greedily(covers: BoolArray, counts: IntArray, prices: FloatArray, most: int) -> tuple[IntArray, int]:
    """The set with the largest gain, again and again, and the best bound that the gains give."""
    left, chosen, bound = counts.copy(), list[int](), int(counts.sum())
    for _ in range(most):
        gains = left @ covers
        bound = min(bound, int(counts.sum() - left.sum() + np.sort(gains)[::-1][:most].sum()))
        if not gains.any():
            break
        best = int(np.lexsort((prices, -gains))[0])
        chosen.append(best)
        left = np.where(covers[:, best], 0, left)
    gains = left @ covers
    bound = min(bound, int(counts.sum() - left.sum() + np.sort(gains)[::-1][:most].sum()))
    return np.array(chosen, dtype=np.intp), bound


def _proven(
    covers: BoolArray, counts: IntArray, known: IntArray, bound: int, most: int, seconds: float
) -> tuple[IntArray, int]:
    """The best choice that HiGHS finds, unless the known one is as good, and the smaller bound."""
    program = Program()
    takes = [program.binary() for _ in range(covers.shape[1])]
    total = Sum()
    for kind, count in zip(covers, counts.tolist(), strict=True):
        served = program.variable(0.0, 1.0)
        total = total + float(count) * served
        program.at_least(_sum([takes[a] for a in np.flatnonzero(kind).tolist()]) - served)
    program.at_least(-1.0 * _sum(takes), -float(most))
    program.minimise(-1.0 * total)
    solved = program.solve(seconds, [], exact=False)
    least = solved.claim.proven()
    if np.isfinite(least):
        bound = min(bound, int(np.floor(-least + NEARLY_WHOLE)))
    if solved.x is not None:
        found = np.flatnonzero(np.array([take.at(solved.x) for take in takes]) > 0.5)[:most]
        if _covered(covers, counts, found) > _covered(covers, counts, known):
            known = found
    return known, max(bound, _covered(covers, counts, known))


def _sum(parts: list[Sum]) -> Sum:
    return Sum({variable: weight for part in parts for variable, weight in part.terms.items()})


def _cheaper(covers: BoolArray, prices: FloatArray, chosen: IntArray) -> tuple[int, ...]:
    """The choice with each set replaced by the cheapest that keeps everything covered; the largest first."""
    kept = list(chosen.tolist())
    for a in chosen.tolist():
        kept.remove(a)
        needed = covers[:, a] & ~covers[:, kept].any(axis=1)
        if needed.any():
            able = np.flatnonzero(covers[needed].all(axis=0))
            kept.append(int(able[np.argmin(prices[able])]))
    return tuple(sorted(kept, key=lambda a: -int(covers[:, a].sum())))
