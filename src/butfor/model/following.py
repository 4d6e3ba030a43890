"""A model of values, read as one of actions: what follows from an action is worked out inside of the model.

Of one row `x`, the values are an affine function of the actions, `v = x + M (y - x) + shift`. So a linear score stays one, and
so do the scores that a network bends or an oblique tree compares. A cut of a tree becomes a cut of the one column that moves the
value, or else a linear decision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch
from math import floor, gcd, lcm

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.cells import Cells, number_cells
from butfor.model.float_order import last_between
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model
from butfor.model.scores import low_bit
from butfor.model.side_by_side import TreeSum, added, with_lines
from butfor.model.trees import Trees

BLUR = 4e-15
"""By how much what follows is rounded, as a share of its size."""


class NotComposedError(ValueError):
    """A model cannot be read as one of actions."""


COARSE, LARGEST_EXACT = 2.0**-6, 1e8
"""Sums of whole multiples of this are exact to the last digit, if they are no larger than that."""

FINEST = 1e-9
"""Values that are closer to each other than this are told from none: they are like any number."""


def rounded(x: float) -> Fraction:
    """A number without the digits that rounding leaves behind."""
    return Fraction(f"{x:.15g}")


def common(parts: list[Fraction]) -> Fraction:
    """The largest number of which all others are whole multiples; 0 if all are 0."""
    below = lcm(*(part.denominator for part in parts))
    return Fraction(gcd(*(int(part * below) for part in parts)), below)


@dataclass(frozen=True, eq=False)
class Following:
    """What follows from the actions on one row.

    - `start` (d): the row as it is;
    - `matrix` (d, d), `shift` (d): its values are `start + matrix (actions - start) + shift`;
    - `effects`: the columns whose values are not the actions themselves;
    - `free` (d): which columns may be acted on;
    - `low`, `high` (d): how far these may go;
    - `step`, `anchor` (d): on which grid they lie, `anchor + step k` (step 0: on none);
    - `values`: works out the values of some actions, digit by digit.
    """

    start: FloatArray
    matrix: FloatArray
    shift: FloatArray
    effects: tuple[int, ...]
    free: BoolArray
    low: FloatArray
    high: FloatArray
    step: FloatArray
    anchor: FloatArray
    values: Callable[[FloatArray], FloatArray]

    def movers(self, j: int) -> IntArray:
        """The columns whose actions move the value of column `j`."""
        return np.flatnonzero((self.matrix[j] != 0) & self.free)

    @property
    def offset(self) -> FloatArray:
        """The values where all actions are 0."""
        known = np.nan_to_num(self.start)
        return np.asarray(known + self.shift - self.matrix @ known)

    def grain(self, j: int) -> float:
        """A power of two of which all values of column `j` are whole multiples; 0 if they may be any numbers."""
        movers = self.movers(j)
        if (
            not self.step[movers].all()
            or max(np.abs(self.low[movers]).max(initial=0), np.abs(self.high[movers]).max(initial=0)) > LARGEST_EXACT
        ):
            return 0.0
        moved = np.stack([self.step, self.anchor, self.start])
        parts = [low_bit(self.matrix[[j], i]) * low_bit(moved[:, i]) for i in movers.tolist()]
        return min([low_bit(np.array([self.start[j], self.shift[j]])), *parts])

    def beyond(self, j: int, cuts: FloatArray) -> FloatArray:
        """From where on the value of column `j` is beyond each cut. Values of a grid are clear of it."""
        here, parts = rounded(self.start[j]) + rounded(self.shift[j]), list[Fraction]()
        for i in self.movers(j).tolist():
            weight = rounded(self.matrix[j, i])
            parts += [weight * rounded(self.step[i]), weight * (rounded(self.anchor[i]) - rounded(self.start[i]))]
            if not self.step[i]:
                return np.nextafter(cuts, np.inf)
        gap = common(parts) or Fraction(1)
        if gap < FINEST * max(1.0, float(np.abs(cuts).max(initial=0.0))):
            return np.nextafter(cuts, np.inf)
        last = [floor((rounded(cut) - here) / gap) if any(parts) else -int(here > cut) for cut in cuts.tolist()]
        return np.array([float(here + gap * (k + Fraction(1, 2))) for k in last])

    def along(self, j: int, p: int, y: FloatArray) -> FloatArray:
        """The value of column `j` for some actions on column `p` alone."""
        points = np.repeat(self.start[None], len(y), axis=0)
        points[:, p] = y
        return np.asarray(self.values(points)[:, j])

    def last(self, j: int, p: int, cut: FloatArray) -> tuple[FloatArray, bool]:
        """Up to which action on column `p` the value of `j` stays on its side of each cut, and whether it rises.

        Infinite where no action gets to the other side.
        """
        rises = bool(self.matrix[j, p] > 0)
        first, end = np.full(len(cut), self.low[p]), np.full(len(cut), self.high[p])
        last = last_between(lambda y: (self.along(j, p, y) <= cut) == rises, first, end)
        return np.where(last >= self.high[p], np.inf, last), rises


@singledispatch
def composed(model: Model, following: Following) -> Model:
    """The model of actions."""
    raise NotComposedError(f"what follows is not worked out inside of a {type(model).__name__}")


@composed.register
def _(model: Linear, following: Following) -> Linear:
    for j in following.effects:
        if j in model.stepped_when_known:
            raise NotComposedError("the model reads a column that follows from others in bins")
    matrix, at = following.matrix, list(following.effects)
    slope, centre = model.slope @ matrix, model.centre
    moved = slope @ centre + model.slope @ (following.offset - centre)
    terms = np.abs(model.slope[:, at]) @ (np.abs(matrix[at]) @ np.nan_to_num(np.abs(following.start)))
    grains = [following.grain(j) for j in at]
    fine = [low_bit(model.slope[:, j]) * min(grain, low_bit(centre[[j]])) for j, grain in zip(at, grains, strict=True)]
    exact, blur = all(grain >= COARSE for grain in grains), model.blur.copy()
    if not exact:
        read = np.abs(matrix[at]).any(axis=0)
        blur[read] = np.maximum(blur[read], BLUR)
    return replace(
        model,
        intercept=model.intercept + moved,
        slope=slope,
        blur=blur,
        folded=model.folded or not exact,
        cancelled=model.cancelled + terms,
        more_terms=model.more_terms + int((matrix != 0).sum()),
        fine=min([model.fine, *fine]),
    )


@composed.register
def _(model: ObliqueTree, following: Following) -> ObliqueTree:
    return replace(model, gates=_linear(model.gates, following))


@composed.register
def _(model: ObliqueForest, following: Following) -> ObliqueForest:
    gates = _linear(model.gates, following)
    return replace(model, trees=tuple(replace(tree, gates=gates) for tree in model.trees))


@composed.register
def _(model: Network, following: Following) -> Network:
    how = model.computed
    computed = None if how is None else replace(how, columns=_linear(how.columns, following))
    return replace(model, first=_linear(model.first, following), computed=computed)


@composed.register
def _(model: Mixed, following: Following) -> Model:
    trees = composed(model.trees, following)
    assert isinstance(trees, TreeSum)
    return added([trees, _linear(model.linear, following)])


@composed.register
def _(model: LinearLeaves, following: Following) -> LinearLeaves:
    trees = composed(model.trees, following)
    if not isinstance(trees, Trees):
        raise NotComposedError("trees with linear leaves read a column that is acted on and follows from others")
    return with_lines(trees, _linear(model.lines, following), model.line)


@composed.register
def _(model: Trees, following: Following) -> Model:
    """Trees again, if each value that they read is moved by one column at most; otherwise trees of linear decisions."""
    read = [j for j in following.effects if (model.feature == j).any()]
    if any((model.member[model.feature == j] >= 0).any() for j in read):
        raise NotComposedError("the model reads a column that follows from others in bins")
    if all(len(following.movers(j)) <= 1 for j in read):
        return _recut(model, following, read)
    return _oblique(model, following)


def _linear(model: Linear, following: Following) -> Linear:
    found = composed(model, following)
    assert isinstance(found, Linear)
    return found


def _trees(model: Trees, following: Following) -> Trees:
    """Trees that stand beside a linear model. Their nodes keep their numbers."""
    found = composed(model, following)
    if not isinstance(found, Trees):
        raise NotComposedError("trees beside a linear model read a column that is acted on and follows from others")
    return found


def _recut(model: Trees, following: Following, read: list[int]) -> Trees:
    """The trees with cuts of the columns that move what they read. What moves them in turn sends rows the other way."""
    feature, cut, left, right = model.feature.copy(), model.cut.copy(), model.left.copy(), model.right.copy()
    for j in read:
        nodes = np.flatnonzero(model.feature == j)
        p = int(next(iter(following.movers(j)), j))
        asked, inverse = np.unique(model.cut[nodes], return_inverse=True)
        if following.movers(j).size:
            last, rises = following.last(j, p, asked)
        else:
            last, rises = np.where(following.along(j, j, following.start[[j]]) <= asked, np.inf, -np.inf), True
        feature[nodes], cut[nodes] = p, last[inverse]
        if not rises:
            left[nodes], right[nodes] = model.right[nodes], model.left[nodes]
    return _with_cells(replace(model, feature=feature, cut=cut, left=left, right=right))


def _with_cells(model: Trees) -> Trees:
    """The trees with the cells of their new cuts. A cut that no number reaches is a set of all cells, or of none."""
    cells, sets, member, cut = [*model.cells], [*model.cell_sets], model.member.copy(), model.cut.copy()
    plain = (model.feature >= 0) & (model.member < 0)
    for p, old in enumerate(model.cells):
        nodes = np.flatnonzero(plain & (model.feature == p))
        if old.levels:
            continue
        kept = np.flatnonzero((model.feature == p) & (model.member >= 0))
        new = number_cells(np.concatenate([cut[nodes][np.isfinite(cut[nodes])], old.edges if len(kept) else []]))
        cells[p] = new
        for number in np.unique(model.member[kept]).tolist():
            sets.append(model.cell_sets[number][new.within(old)])
            member[kept[model.member[kept] == number]] = len(sets) - 1
        for end in (np.inf, -np.inf):
            at = nodes[cut[nodes] == end]
            if len(at):
                sets.append(np.full(new.count + 1, end > 0))
                member[at], cut[at] = len(sets) - 1, np.inf
    return replace(model, cells=tuple(cells), cell_sets=tuple(sets), member=member, cut=cut)


def _oblique(model: Trees, following: Following) -> ObliqueTree | ObliqueForest:
    """The trees with linear decisions: a row goes right where its value is beyond the cut."""
    inner = np.flatnonzero(model.feature >= 0)
    gates = _gates(model, inner, following)
    gate = np.full(len(model.feature), -1, dtype=np.intp)
    gate[inner] = np.arange(len(inner))
    ends, trees = [*model.roots[1:].tolist(), len(model.feature)], []
    for first, end in zip(model.roots.tolist(), ends, strict=True):
        here = slice(first, end)
        leaf = model.feature[here] < 0
        left, right = (np.where(leaf, 0, child[here] - first) for child in (model.left, model.right))
        value = model.value[here] + (model.base if first == 0 else 0.0)
        trees.append(ObliqueTree(gates, gate[here], left, right, value))
    return trees[0] if len(trees) == 1 else ObliqueForest(tuple(trees), folded=True)


def _gates(model: Trees, inner: IntArray, following: Following) -> Linear:
    """The decision of each node as a linear score, which is negative where a row goes left."""
    feature, cut, member = model.feature[inner], model.cut[inner], model.member[inner]
    plain = member < 0
    slope = np.where(plain[:, None], np.eye(len(model.cells))[feature], 0.0)
    intercept = np.zeros(len(inner))
    for j in np.unique(feature[plain]).tolist():
        its = plain & (feature == j)
        intercept[its] = -(
            np.nextafter(cut[its], np.inf) if np.isnan(following.start[j]) else following.beyond(j, cut[its])
        )
    steps, cells = [], list[Cells]()
    for j, known in enumerate(model.cells):
        sets = np.flatnonzero((feature == j) & ~plain)
        own = known if known.levels or len(sets) else number_cells(np.empty(0))
        step = np.zeros((len(inner), own.count + 1))
        for k in sets.tolist():
            step[k] = np.where(model.cell_sets[int(member[k])], -1.0, 1.0)
        cuts = np.flatnonzero((feature == j) & plain)
        lost = np.where(model.missing_left[inner[cuts]], -1.0, 1.0)
        step[cuts, -1] = lost * (1.0 + np.abs(intercept[cuts])) - intercept[cuts]
        steps.append(step)
        cells.append(own)
    return _linear(Linear(intercept, slope, tuple(cells), tuple(steps)), following)
