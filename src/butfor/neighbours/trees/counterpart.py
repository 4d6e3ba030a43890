"""The robust counterpart of a sum of trees. It is a sum of trees again.

For a tree T and the box of shifts |s| <= r, let T_r(c) be the smallest value of a leaf that c + s can reach. At a split
(j, t), c_j <= t - r_j goes left only, c_j > t + r_j goes right only, and in between both sides count. So T_r is a tree
over the cuts t - r_j and t + r_j. A sum of smallest values is never larger than the smallest sum.

A level goes to each side of a split to which some level leads that it may be seen as.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.float_order import last_below
from butfor.model.grid_points import grid_down
from butfor.model.trees import Trees, with_cells
from butfor.neighbours.ball import Ball
from butfor.neighbours.slips import Slips

MOST_NODES = 200_000
"""The largest number of nodes of a robust counterpart. Deep trees and large balls have far more."""


def in_rows(model: Trees, A: FloatArray) -> Trees:
    """The model whose scores are the sums `A s` of the scores of another one."""
    return replace(model, value=np.ascontiguousarray(model.value @ A.T), base=A @ model.base)


@lru_cache(maxsize=16)
def on_grid(model: Trees, ball: Ball) -> Trees:
    """The same model for numbers on a grid: cuts lie in the middle between two points, if the ball shifts them.

    There, no rounding of a shift brings a point to the wrong side, and cuts between the same two points are one.
    """
    step, anchor = ball.grids.step, ball.anchor
    if not step.any():
        return model
    cut = model.cut.copy()
    for j in np.flatnonzero(step > 0).tolist():
        at = (model.feature == j) & (model.member < 0)
        cut[at] = grid_down(cut[at], float(step[j]), float(anchor[j])) + step[j] / 2
    return with_cuts(model, cut)


def with_cuts(model: Trees, cut: FloatArray) -> Trees:
    """The same trees with other cuts."""
    return with_cells(replace(model, cut=cut), model.lasting_cells())


def counterpart(model: Trees, A: FloatArray, ball: Ball, lacking: frozenset[int]) -> Trees | None:
    """The sum of T_r over all trees, for each row of `A s` and the box around a ball. Some features may be `lacking` a value.

    None if it has too many nodes. It is kept, because many rows ask the same of one model.
    """
    return _counterpart(model, A.shape, A.tobytes(), ball.radius.tobytes(), ball.slips, lacking)


@lru_cache(maxsize=16)
def _counterpart(
    whole: Trees, shape: tuple[int, int], sums: bytes, radii: bytes, slips: Slips, lacking: frozenset[int]
) -> Trees | None:
    model = in_rows(whole, np.frombuffer(sums).reshape(shape))
    grown = _Growth(model, np.frombuffer(radii), slips, lacking)
    try:
        roots = [grown.grow((int(root),), _Known({}, {}, {})) for root in model.roots]
    except _TooLarge:
        return None
    made = replace(
        model,
        roots=np.array(roots, dtype=np.intp),
        feature=np.array(grown.feature, dtype=np.intp),
        cut=np.array(grown.cut),
        member=np.array(grown.member, dtype=np.intp),
        missing_left=np.array(grown.missing_left, dtype=np.bool_),
        left=np.array(grown.left, dtype=np.intp),
        right=np.array(grown.right, dtype=np.intp),
        value=np.array(grown.value),
        cell_sets=tuple(grown.cell_sets),
    )
    return with_cells(made, model.lasting_cells())


class _TooLarge(Exception):  # noqa: N818 - it never leaves this file
    """There are more than `MOST_NODES` nodes."""


class _Known(NamedTuple):
    """What is known of some rows: their numbers lie above `low` and up to `high`, and their levels are among `cells`."""

    low: dict[int, float]
    high: dict[int, float]
    cells: dict[int, BoolArray]

    def upto(self, j: int, cut: float) -> _Known:
        """Those of the rows with a number up to a cut."""
        return self._replace(high={**self.high, j: min(cut, self.high.get(j, np.inf))})

    def above(self, j: int, cut: float) -> _Known:
        """Those of the rows with a number above a cut."""
        return self._replace(low={**self.low, j: max(cut, self.low.get(j, -np.inf))})

    def among(self, j: int, cells: BoolArray) -> _Known:
        """Those of the rows that have one of some cells."""
        return self._replace(cells={**self.cells, j: cells & self.cells[j] if j in self.cells else cells})


@dataclass(eq=False)
class _Growth:
    """The nodes of the counterpart so far. Parents come before their children."""

    model: Trees
    radius: FloatArray
    slips: Slips
    lacking: frozenset[int]
    feature: list[int] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)
    member: list[int] = field(default_factory=list)
    missing_left: list[bool] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    value: list[FloatArray] = field(default_factory=list)
    cell_sets: list[BoolArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        model = self.model
        radius = np.where(model.feature >= 0, self.radius[model.feature], 0.0)
        self.only_left = last_below(model.cut, radius)  # c + r <= cut
        self.not_right = last_below(model.cut, -radius)  # c - r <= cut
        self.plain: dict[str, list[Any]] = {
            name: getattr(model, name).tolist() for name in ("feature", "member", "left", "right", "missing_left")
        }
        self.empty = np.zeros(len(model.feature), dtype=np.bool_)
        self.from_cells: dict[int, BoolArray] = {}
        for root in model.roots.tolist():
            self._mark_empty(root, _Known({}, {}, {}))

    def _mark_empty(self, node: int, known: _Known) -> None:
        """Mark the nodes below one that no number reaches, because it would be up to one cut and above a larger one.

        For those below a set, `from_cells` has the cells from which some slip leads there.
        """
        j, cut = self.plain["feature"][node], float(self.model.cut[node])
        if j < 0:
            return
        left, right, member = (self.plain[name][node] for name in ("left", "right", "member"))
        if member >= 0:
            inside = self.model.cell_sets[member]
            for child, cells in ((left, inside), (right, ~inside)):
                below = known.among(j, cells)
                self.from_cells[child] = self.slips.into(j, below.cells[j])
                self._mark_empty(child, below)
            return
        if j in self.lacking:
            below, above = known, known
        else:
            self.empty[left], self.empty[right] = known.low.get(j, -np.inf) >= cut, known.high.get(j, np.inf) <= cut
            below, above = known.upto(j, cut), known.above(j, cut)
        self._mark_empty(left, below)
        self._mark_empty(right, above)

    def grow(self, nodes: tuple[int, ...], known: _Known) -> int:
        """The tree of the smallest values below some nodes, for rows of which something is known."""
        plain = self.plain
        at = next((i for i, node in enumerate(nodes) if plain["feature"][node] >= 0), None)
        if at is None:
            return self._add(-1, value=self.model.value[list(nodes)].min(axis=0))
        node = nodes[at]
        j = plain["feature"][node]
        to_left = (*nodes[:at], plain["left"][node], *nodes[at + 1 :])
        to_right = (*nodes[:at], plain["right"][node], *nodes[at + 1 :])
        both = (*nodes[:at], plain["left"][node], plain["right"][node], *nodes[at + 1 :])
        if plain["member"][node] >= 0:
            left, right = self.from_cells[plain["left"][node]], self.from_cells[plain["right"][node]]
            ways = ((to_left, left & ~right), (both, left & right), (to_right, right & ~left))
            return self._part(j, [(to, known.among(j, cells)) for to, cells in ways])
        first, last = float(self.only_left[node]), float(self.not_right[node])
        if self.empty[plain["left"][node]]:
            return self.grow(to_right, known)
        if self.empty[plain["right"][node]]:
            return self.grow(to_left, known)
        above, upto = known.low.get(j, -np.inf), known.high.get(j, np.inf)
        if j not in self.lacking:  # what is known of a number tells nothing of a missing one
            if upto <= first:
                return self.grow(to_left, known)
            if above >= last:
                return self.grow(to_right, known)
            if above >= first and upto <= last:
                return self.grow(both, known)
        made = self._add(j, cut=first, missing_left=plain["missing_left"][node])
        self.left[made] = self.grow(to_left, known.upto(j, first))
        if first >= last:
            self.right[made] = self.grow(to_right, known.above(j, first))
            return made
        self.right[made] = between = self._add(j, cut=last)
        self.left[between] = self.grow(both, known.above(j, first).upto(j, last))
        self.right[between] = self.grow(to_right, known.above(j, last))
        return made

    def _part(self, j: int, ways: list[tuple[tuple[int, ...], _Known]]) -> int:
        """The tree that tells by its cell of feature j which way a row goes."""
        (nodes, known), *others = [(nodes, known) for nodes, known in ways if known.cells[j].any()]
        if not others:
            return self.grow(nodes, known)
        made = self._add(j, member=len(self.cell_sets))
        self.cell_sets.append(known.cells[j])
        self.left[made] = self.grow(nodes, known)
        self.right[made] = self._part(j, others)
        return made

    def _add(self, feature: int, **given: Any) -> int:
        if len(self.feature) >= MOST_NODES:
            raise _TooLarge
        self.feature.append(feature)
        self.cut.append(given.get("cut", 0.0))
        self.member.append(given.get("member", -1))
        self.missing_left.append(given.get("missing_left", False))
        self.left.append(0)
        self.right.append(0)
        self.value.append(given.get("value", np.zeros(self.model.scores)))
        return len(self.feature) - 1
