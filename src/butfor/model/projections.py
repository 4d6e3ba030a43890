"""Projections: weighted sums of features, as PCA makes them, that stand for further features until a model is read.

A model is read over the features and the projections, which are numbered after them. Then the projections are put into it:
a linear model stays linear, and a cut of a projection becomes a hyperplane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.model.additive import Additive, Shape
from butfor.model.bent_tree import BentTree
from butfor.model.cells import joined_cells, number_cells
from butfor.model.computed import ComputedFeature, FreeLayout, OverComputed
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model, widen
from butfor.model.rounding import FURTHER_STEPS
from butfor.model.side_by_side import added, finer, lines_added, lines_side_by_side, with_lines
from butfor.model.tilted import tilted
from butfor.model.trees import Trees


class Projections:
    """The projections that the steps of a pipeline make, written down while it is read.

    - `features`: how many features there are. The first projection has this number;
    - `lines`: the projections, as scores of linear models over the features;
    - `calculated`: those of which more is known, how they are calculated from the features, by their numbers. Some are no sums:
      for them, a number is `reserved`, and a linear model cannot read them.
    """

    def __init__(self, features: int) -> None:
        self.features = features
        self.lines: list[Linear] = []
        self.calculated: dict[int, ComputedFeature] = {}
        self.bent: list[int] = []

    def add(self, line: Linear) -> range:
        """Note further projections, which may read earlier ones. Returns their numbers."""
        first = self.features + sum(known.scores for known in self.lines)
        self.lines.append(self.put_into(line))
        return range(first, first + line.scores)

    def reserved(self) -> int:
        """The number of a further column that is no sum."""
        cells = tuple(number_cells(np.empty(0)) for _ in range(self.features))
        zero = np.zeros((1, self.features))
        (number,) = self.add(Linear(np.zeros(1), zero, cells, tuple(np.zeros((1, 2)) for _ in cells)))
        self.bent.append(number)
        return number

    @property
    def are_pairs(self) -> bool:
        """Whether all columns are calculated from one or two others each. Trees of such are not seen as oblique ones."""
        made = sum(known.scores for known in self.lines)
        few = all(len(one.inputs) <= 2 for one in self.calculated.values())
        return len(self.calculated) == made and (few or bool(self.bent))

    def _refuse_bent(self, model: Linear) -> None:
        """Refuse a linear model that reads a column that is no sum."""
        reads = model.slope.any(axis=0) | np.array([steps[:, :-1].any() for steps in model.steps])
        if any(j < len(reads) and reads[j] for j in self.bent):
            raise UnsupportedModelError(
                "a linear model or a network reads a quotient of columns.",
                "Scores must be linear in each number.",
                "Put trees after it, or let the swarm search.",
            )

    def put_into(self, model: Linear) -> Linear:
        """A linear model over the features alone. What cancels out on the way there still counts for its rounding."""
        count = self.features
        if len(model.cells) <= count:
            return model
        self._refuse_bent(model)
        if any(steps[:, :-1].any() for steps in model.steps[count:]):
            raise UnsupportedModelError(
                "the model reads bins of a sum of columns, as PCA makes them.",
                "It must read the sum itself.",
                "Leave the bins out, or let the swarm search.",
            )
        weight, centre = model.slope[:, count:], model.centre[count:]
        lines, known, size = lines_side_by_side(_alike(self.lines)), weight.shape[1], np.abs(weight)
        most = 2 * np.abs(lines.intercept) + lines.cancelled + sum(np.abs(step).max(axis=1) for step in lines.steps)
        slope = weight @ lines.slope[:known]
        put_in = replace(
            lines,
            intercept=weight @ (lines.intercept[:known] - centre),
            slope=slope,
            steps=tuple(weight @ step[:known] for step in lines.steps),
            folded=True,
            cancelled=size @ most[:known],
            cancelled_slope=size @ lines.added_slope[:known] - np.abs(slope),
            more_terms=lines.more_terms + known + FURTHER_STEPS,
            unit=max(lines.unit, float(model.blur[count:].max())),
        )
        return lines_added(_alike([put_in, _first_of(model, count)]))


def _alike(lines: list[Linear]) -> list[Linear]:
    """The same models over the same cells. Who does not read a feature measures it as the others do."""
    cells = joined_cells([line.cells for line in lines])
    fine, centre = [finer(line, cells) for line in lines], np.zeros(len(cells))
    reads = [line.slope.any(axis=0) for line in fine]
    for line, read in zip(reversed(fine), reversed(reads), strict=True):
        centre[read] = line.centre[read]
    return [replace(line, centre=np.where(read, line.centre, centre)) for line, read in zip(fine, reads, strict=True)]


def _first_of(model: Linear, count: int) -> Linear:
    """A linear model without what it says of further features."""
    cancelled = np.broadcast_to(model.cancelled_slope, model.slope.shape)
    return replace(
        model,
        slope=model.slope[:, :count],
        cells=model.cells[:count],
        steps=model.steps[:count],
        centre=model.centre[:count],
        blur=model.blur[:count],
        cancelled_slope=cancelled[:, :count],
    )


@singledispatch
def over_features(model: Model, projections: Projections) -> Model:
    """A model over features and projections as one over the features alone."""
    raise TypeError(type(model).__name__)


@over_features.register
def _(model: Linear, projections: Projections) -> Linear:
    return projections.put_into(model)


@over_features.register
def _(model: Additive, projections: Projections) -> Additive:
    _refuse_bent_sums(model.shapes, projections)
    return replace(model, line=projections.put_into(model.line))


def _refuse_bent_sums(shapes: Sequence[Shape], projections: Projections) -> None:
    if any(shape.feature >= projections.features for shape in shapes):
        raise UnsupportedModelError(
            "a linear model or an oblique tree follows a step that bends a sum of columns, as PCA makes them.",
            "Such a sum must be read as it is.",
            "Leave the step out, put trees after it, or let the swarm search.",
        )


@over_features.register
def _(model: Trees, projections: Projections) -> Trees | ObliqueTree | ObliqueForest | OverComputed:
    count = projections.features
    if (model.feature < count).all():
        return replace(model, cells=model.cells[:count])
    if projections.are_pairs:
        every = FreeLayout(
            np.arange(count), tuple(projections.calculated.values()), count + len(projections.calculated)
        )
        levels = [model.cells[j].levels if j < len(model.cells) else 0 for j in range(every.features)]
        return OverComputed(widen(model, tuple(levels)), every)
    return tilted(model, projections.put_into)


@over_features.register
def _(model: Mixed, projections: Projections) -> Model:
    trees = over_features(model.trees, projections)
    if isinstance(trees, OverComputed):
        raise UnsupportedModelError(
            "trees that read ratios or differences of columns are added to a linear model.",
            "Trees that are added to a linear model must read columns, or weighted sums of them.",
            "Let the swarm search: it needs only predictions.",
        )
    assert isinstance(trees, Trees | ObliqueTree | ObliqueForest)
    return added([trees, projections.put_into(model.linear)])


@over_features.register
def _(model: LinearLeaves, projections: Projections) -> LinearLeaves:
    trees = over_features(model.trees, projections)
    if not isinstance(trees, Trees):
        raise UnsupportedModelError(
            "trees with linear leaves ask for sums of columns, as PCA makes them.",
            "They must ask for columns.",
            "Let the swarm search: it needs only predictions.",
        )
    return with_lines(trees, projections.put_into(model.lines), model.line)


@over_features.register
def _(model: ObliqueTree, projections: Projections) -> ObliqueTree:
    return replace(model, gates=projections.put_into(model.gates))


@over_features.register
def _(model: BentTree, projections: Projections) -> BentTree:
    _refuse_bent_sums(model.shapes, projections)
    return replace(model, tree=replace(model.tree, gates=projections.put_into(model.tree.gates)))


@over_features.register
def _(model: ObliqueForest, projections: Projections) -> ObliqueForest:
    gates = projections.put_into(model.gates)
    return replace(model, trees=tuple(replace(tree, gates=gates) for tree in model.trees))


@over_features.register
def _(model: Network, projections: Projections) -> Network:
    how = model.computed
    computed = None if how is None else replace(how, columns=projections.put_into(how.columns))
    return replace(model, first=projections.put_into(model.first), computed=computed)
