"""Sums of trees, of steps of single columns, and of weighted numbers beside them, as they were read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.importers.read import Reading
from butfor.model.blended import Voted
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.monotone import Jump
from butfor.model.questions import Model
from butfor.model.rounding import COLUMN_STEPS, FURTHER_STEPS, Extent, rounding
from butfor.model.trees import Trees
from butfor.proof.linear_files import FOLD_BLUR, Line, folded_terms
from butfor.proof.model_files import (
    BITS_OF_SUMS,
    hexes,
)
from butfor.space.feature import Feature
from butfor.space.space import Space

Sets = dict[tuple[int, bytes], int]
"""The feature for each set of levels, by its column and its mask."""

Lists = dict[str, list[Any]]
"""The nodes of a tree, as lists of what they are."""

Region = dict[int, BoolArray]
"""The cells of some columns that lead to a node."""

Below = tuple[int, Region]
"""A node, and what leads to it."""


class TreeSums(NamedTuple):
    """Sums of trees, and how an estimator adds them up.

    - `base` (scores): what the sums start from; `trees`: as lists of nodes;
    - `unit`: its unit roundoff;
    - `off` (scores): by how much each sum may be off, besides its additions. What a single tree says is only looked up;
    - `weights` (scores, columns): what a unit of each number adds besides, if there are any.
    """

    base: FloatArray
    trees: list[Lists]
    unit: float
    off: FloatArray | None
    weights: FloatArray | None = None

    def and_also(self, other: TreeSums) -> TreeSums:
        """What both add to the same sums."""
        off = [one for one in (self.off, other.off) if one is not None]
        weights = [one for one in (self.weights, other.weights) if one is not None]
        return TreeSums(
            self.base + other.base, self.trees + other.trees, max(self.unit, other.unit), sum(off[1:], off[0]) if off else None,
            sum(weights[1:], weights[0]) if weights else None,
        )  # fmt: skip

    @property
    def told(self) -> dict[str, Any]:
        """What a file says of them."""
        more = {
            key: hexes(its.tolist()) for key, its in (("off", self.off), ("weights", self.weights)) if its is not None
        }
        return {"base": hexes(self.base.tolist()), "digits": BITS_OF_SUMS[self.unit], "trees": self.trees, **more}


def logits(reading: Reading, line: Line, sets: Sets, extent: Extent) -> TreeSums | None:
    """Lines of the sums that were read: sums of the same trees, steps and numbers with other leaves and weights.

    None if no trees, steps or weights were read.
    """
    model = reading.model
    if isinstance(model, Trees):
        return _lines_of_trees(reading, model, line, sets)
    if isinstance(model, Linear):
        return _weighed(reading, model, line, sets, extent)
    if not isinstance(model, Mixed):
        return None
    nothing = replace(line, shift=np.zeros(len(line.shift)), size=np.zeros(len(line.size)))
    found = _lines_of_trees(reading, model.trees, line, sets)
    return found and found.and_also(_weighed(reading, model.linear, nothing, sets, extent))


def plain_sums(reading: Reading, sets: Sets, extent: Extent) -> TreeSums | None:
    """The scores that were read, as sums of trees, steps and numbers; None if they are others."""
    model = reading.model
    plain = sums_of(reading, model, sets)
    return plain or (
        logits(reading, Line.of_scores(model.scores), sets, extent) if isinstance(model, Linear | Mixed) else None
    )


def _lines_of_trees(reading: Reading, model: Trees, line: Line, sets: Sets) -> TreeSums | None:
    """Lines of sums of trees."""
    size = np.abs(line.rows) @ (np.abs(model.base) + model.reach) + line.size  # of all terms: they may cancel
    found = sums_of(
        reading, replace(model, value=model.value @ line.rows.T, base=line.rows @ model.base + line.shift), sets
    )
    if found is None:
        return None
    off = 2 * (len(model.roots) + FURTHER_STEPS + line.steps) * found.unit * size
    return found._replace(off=off if found.off is None else found.off + off)


def _weighed(reading: Reading, model: Linear, line: Line, sets: Sets, extent: Extent) -> TreeSums:
    """Lines of the scores of a linear model: a tree for each column with steps, and weights of numbers. Missing ones add none."""
    unit, rows, slope = max(reading.unit, model.unit), line.rows, line.rows @ model.slope
    centred = [
        np.column_stack([rows @ step[:, :-1], rows @ step[:, -1] + slope[:, j] * model.centre[j] * feature.missing])
        for j, (step, feature) in enumerate(zip(model.steps, reading.space, strict=True))
    ]
    stepped = Linear(np.zeros(len(rows)), np.zeros_like(slope), model.cells, tuple(centred))
    size = np.abs(rows) @ (folded_terms(model, extent) + model.largest_step.sum(axis=1)) + line.size
    doubt = rounding(model, rows, extent, unit) + COLUMN_STEPS * np.abs(rows) @ model.largest_step @ model.blur
    return TreeSums(
        rows @ model.intercept - slope @ model.centre + line.shift,
        [_steps(reading.space.features[j], stepped, j, sets) for j in stepped.stepped],
        unit,
        (FOLD_BLUR + 2 * line.steps * unit) * size + doubt,
        slope if slope.any() else None,
    )


def ballots_of(reading: Reading, readout: Voted, line: Line, sets: Sets) -> TreeSums | None:
    """Sums of trees that are votes where they are above 0. What a single tree votes is looked up, so it is 1 or -1."""
    model = reading.model
    found = _lines_of_trees(reading, model, line, sets) if isinstance(model, Trees) else None
    if not isinstance(model, Trees) or found is None or found.off is None:
        return None
    value, start, off = model.value @ line.rows.T, line.rows @ model.base, found.off.copy()
    leaf, tree = model.feature < 0, np.searchsorted(model.roots, np.arange(len(model.feature)), side="right") - 1
    votes, base = value.copy(), start + line.shift
    for k, (_, second) in enumerate(readout.chances):
        (jump,), mine = second.steps, leaf & (value[:, k] != 0)
        assert isinstance(jump, Jump)
        unsure = max(jump.below, jump.above)
        alone, sums = leaf & (tree == tree[mine][0]) if mine.any() else mine, value[:, k] + start[k]
        decided = (np.abs(sums - jump.at_least) > unsure) | (unsure == 0)
        if not model.folded and len({*tree[mine].tolist()}) == 1 and decided[alone].all():
            votes[alone, k], base[k], off[k] = 2 * jump.at(sums[alone]) - 1, 0.0, 0.0
        off[k] += unsure
    told = sums_of(reading, replace(model, value=votes, base=base), sets)
    return told and told._replace(off=off)


def sums_of(reading: Reading, model: Model, sets: Sets) -> TreeSums | None:
    """The sums of what was read: of trees, or of steps of single columns, which are a tree for each column."""
    unit = reading.unit
    if isinstance(model, Linear) and not model.added_slope.any():
        unit, terms = max(unit, model.unit), model.more_terms + len(model.cells) + FURTHER_STEPS
        size = np.abs(model.intercept) + model.cancelled + model.largest_step.sum(axis=1)
        off = 2 * terms * unit * size + COLUMN_STEPS * model.largest_step @ model.blur
        trees = [_steps(reading.space.features[j], model, j, sets) for j in model.stepped]
        return TreeSums(model.intercept, trees, unit, off)
    if isinstance(model, Trees):
        off = (
            None if model.looked_up else 2 * (FURTHER_STEPS + model.summed) * unit * (np.abs(model.base) + model.reach)
        )
        return TreeSums(
            model.base, list(map(_Grown.of(model, reading.space, sets).tree, model.roots.tolist())), unit, off
        )
    return None


def _nodes() -> Lists:
    return {key: [] for key in ("feature", "cut", "left", "right", "missing", "value")}


def _add(lists: Lists, *node: Any) -> None:
    """One more node: its feature, its cut, its children, whether a missing value goes to the left, and its value."""
    for own, one in zip(lists.values(), node, strict=True):
        own.append(one)


def leaf_of(scores: int) -> Lists:
    """A tree of one leaf, which adds nothing."""
    lists = _nodes()
    _add(lists, -1, (0.0).hex(), -1, -1, 0, hexes([0.0] * scores) if scores > 1 else (0.0).hex())
    return lists


def _steps(feature: Feature, model: Linear, j: int, sets: Sets) -> Lists:
    """A tree that asks for one cell after the other, first for the missing value."""
    count, lists = model.cells[j].count, _nodes()
    cells = [count] * feature.missing + list(range(count))
    values = [hexes(column) if model.scores > 1 else float(column[0]).hex() for column in model.steps[j].T]
    for cell in cells[:-1]:
        leaf, rest = len(lists["left"]) + 1, len(lists["left"]) + 2
        if feature.levels is not None:  # in the set: 1
            inside = sets.setdefault((j, (np.arange(count + 1) == cell).tobytes()), len(sets))
            _add(lists, len(model.cells) + inside, (0.5).hex(), rest, leaf, 0, values[cell])
        else:
            cut = float("-inf") if cell == count else float(model.cells[j].edges[cell])
            _add(lists, j, cut.hex(), leaf, rest, int(cell == count), values[cell])
        _add(lists, -1, (0.0).hex(), -1, -1, 0, values[cell])
    _add(lists, -1, (0.0).hex(), -1, -1, 0, values[cells[-1]])
    return lists


@dataclass(frozen=True, eq=False)
class _Grown:
    """Writes the nodes of trees.

    - `reached` (columns): the cells that rows have, "missing" last: of levels, and of numbers that are asked for sets. Of
      others, it is None.
    """

    model: Trees
    reached: tuple[BoolArray | None, ...]
    sets: Sets

    @classmethod
    def of(cls, model: Trees, space: Space, sets: Sets) -> _Grown:
        asked = model.asked_for_sets()
        reached = [
            np.append(np.ones(model.cells[j].count, dtype=np.bool_), feature.missing)
            if feature.levels is not None or j in asked
            else None
            for j, feature in enumerate(space)
        ]
        return cls(model, tuple(reached), sets)

    def tree(self, root: int) -> Lists:
        """The nodes of a tree, each before its children."""
        model, lists, order = self.model, _nodes(), [self.passed(root, {})]
        for node, region in order:
            j, value = int(model.feature[node]), hexes(model.value[node].tolist())
            own = value if model.scores > 1 else value[0]
            left, right = len(order), len(order) + 1
            if j < 0:
                _add(lists, -1, (0.0).hex(), -1, -1, 0, own)
                continue
            below, above = ((int(child[node]), region) for child in (model.left, model.right))
            if model.cells[j].levels:  # in the set: 1
                inside = self.sets.setdefault((j, model.mask(node).tobytes()), len(self.sets))
                _add(lists, len(model.cells) + inside, (0.5).hex(), right, left, 0, own)
            elif self.reached[j] is None:
                _add(lists, j, float(model.cut[node]).hex(), left, right, int(model.missing_left[node]), own)
            else:
                cut, lost, below, above = self.first_run(node, region)
                _add(lists, j, cut.hex(), left, right, lost, own)
            order += [self.passed(*below), self.passed(*above)]
        return lists

    def passed(self, node: int, region: Region) -> Below:
        """The node, or the one below it if it sends all that gets there to the same side."""
        while (j := int(self.model.feature[node])) >= 0 and (reached := region.get(j, self.reached[j])) is not None:
            sides = np.unique(self.model.mask(node)[reached])
            if len(sides) > 1:
                break
            node = int(self.model.left[node] if sides[0] else self.model.right[node])
        return node, region

    def first_run(self, node: int, region: Region) -> tuple[float, int, Below, Below]:
        """A cut behind the first cells of a set of numbers, or of the others; above it, the node is asked again.

        Returns also whether a missing value is below it.
        """
        j, goes_left = int(self.model.feature[node]), self.model.mask(node)
        here = region.get(j, self.reached[j])
        assert here is not None
        numbers = np.flatnonzero(here[:-1])
        first = bool(goes_left[numbers[0]])
        others = numbers[goes_left[numbers] != first]
        end = int(numbers[numbers < others[0]][-1]) if len(others) else len(here)
        cut = float(self.model.cells[j].edges[end]) if len(others) else np.inf
        inside = here & (np.arange(len(here)) <= end)
        inside[-1] = here[-1] and goes_left[-1] == first
        child = int(self.model.left[node] if first else self.model.right[node])
        return cut, int(inside[-1]), (child, {**region, j: inside}), (node, {**region, j: here & ~inside})
