"""What butfor is compared with, written plainly and without it: search in given rows, and a path heuristic.

Both give candidate points, and `cheapest` takes the best of them. Points are encoded rows (`Space.encode`): numbers as
themselves, a level as its position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from butfor import Space
from butfor.arrays import FloatArray

EPSILON = 1e-3
"""How far beyond a threshold the path heuristic goes, as a share of the column's range."""


def distance(space: Space, before: FloatArray, after: FloatArray, power: int) -> FloatArray:
    """The sum of the changes (`power` 1) or their squares (2): shares of a column's range, 1 for a changed category."""
    total = np.zeros(len(after))
    for j, feature in enumerate(space):
        gap = np.abs(after[:, j] - before[j])
        total += (gap / feature.range) ** power if feature.levels is None else gap != 0
    return total


def cheapest(space: Space, factual: FloatArray, points: FloatArray, power: int) -> tuple[FloatArray | None, float]:
    """The nearest of some points and its cost; nothing, at infinity, if there are none."""
    if not len(points):
        return None, np.inf
    cost = distance(space, factual, points, power)
    best = int(np.argmin(cost))
    return points[best], float(cost[best])


def keeping(points: FloatArray, factual: FloatArray, fixed: list[int]) -> FloatArray:
    """The points that leave the fixed features alone."""
    return np.asarray(points[(points[:, fixed] == factual[fixed]).all(axis=1)])


@dataclass(frozen=True, eq=False)
class Split:
    """One condition on the way to a leaf: feature `j`, or its being `level`, is at most `threshold`, or not."""

    j: int
    level: int
    threshold: float
    at_most: bool

    def holds(self, point: list[float]) -> bool:
        """Whether a point takes this turn (up to the tree's rounding to float32; the tree itself has the last word)."""
        value = point[self.j] if self.level < 0 else float(point[self.j] == self.level)
        return (value <= self.threshold) == self.at_most


class PathHeuristic:
    """Feature tweaking on one tree, after Tolomei et al., KDD 2017.

    For every leaf of the target class, every condition on its path that the factual violates, from the root down, is
    met by moving the feature just beyond the threshold: a whole number to the next, a category to the one asked for or,
    if it must be left, to the commonest other. Points that the model does not put in the class are dropped, as a later
    move may undo an earlier one.
    """

    def __init__(self, model: Pipeline, space: Space) -> None:
        self._model, self._space = model, space
        self._paths = _paths(model[-1].tree_, _columns(model, space))

    def points(self, factual: FloatArray, row: pd.DataFrame, target: Any) -> FloatArray:
        """The points that the model puts in the class `target`, for a factual given encoded and as a table."""
        label = list(self._model.classes_).index(target)
        tweaked = {tuple(self._tweak(factual, path)) for path, said in self._paths if said == label}
        if not tweaked:
            return np.empty((0, len(factual)))
        points = np.array(sorted(tweaked))
        rows = row.iloc[np.zeros(len(points), dtype=int)].reset_index(drop=True)
        return points[self._model.predict(self._space.decode(points, rows)) == target]

    def _tweak(self, factual: FloatArray, path: list[Split]) -> list[float]:
        point = factual.tolist()
        for split in path:
            if not split.holds(point):
                point[split.j] = self._beyond(split)
        return point

    def _beyond(self, split: Split) -> float:
        feature = self._space.features[split.j]
        if split.level >= 0:
            if not split.at_most:
                return float(split.level)
            return feature.typical if feature.typical != split.level else float(split.level == 0)
        if feature.step == 1 or feature.levels is not None:
            return np.floor(split.threshold) + (not split.at_most)
        moved = split.threshold + EPSILON * feature.range * (-1 if split.at_most else 1)
        return min(max(moved, feature.low), feature.high)


def _columns(model: Pipeline, space: Space) -> list[tuple[int, int]]:
    """For each column that the tree reads, the raw feature and, of a one-hot column, the level (else -1)."""
    if len(model) == 1:
        return [(j, -1) for j in range(len(space))]
    kinds = model[0].named_transformers_
    texts, numbers = (names for _, _, names in model[0].transformers)
    hot = [
        (space.index(name), space[name].levels.index(level))
        for name, levels in zip(texts, kinds["levels"].categories_, strict=True)
        for level in levels
    ]
    return hot + [(space.index(name), -1) for name in numbers]


def _paths(tree: Any, columns: list[tuple[int, int]]) -> list[tuple[list[Split], int]]:
    """Every leaf: the conditions from the root down, and the position of its class."""
    found: list[tuple[list[Split], int]] = []
    open_: list[tuple[int, list[Split]]] = [(0, [])]
    while open_:
        node, path = open_.pop()
        if tree.children_left[node] < 0:
            found.append((path, int(np.argmax(tree.value[node]))))
            continue
        j, level = columns[tree.feature[node]]
        for child, at_most in ((tree.children_left[node], True), (tree.children_right[node], False)):
            open_.append((child, [*path, Split(j, level, float(tree.threshold[node]), at_most)]))
    return found
