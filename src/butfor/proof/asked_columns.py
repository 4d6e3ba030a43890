"""The columns of a question in the words of the proof: which features of the model they set, and where their cells end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, count
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.claim import Claim
from butfor.model.float_order import last_between
from butfor.model.lattice import Lattice
from butfor.problem.problem import Problem
from butfor.proof.checker import ReadByChecker, checker, read_by_checker
from butfor.proof.model_files import AbstractInputs, ModelFile, hexes, not_proven
from butfor.proof.refused import merging_of, refuse_relations
from butfor.solvers.ensemble.limits import with_numbers
from butfor.verdict.case import Case

MISSING_LEVEL = "missing"
"""The name of the level that stands for a missing value."""

MOVES_TRIED = 16
"""So many values of a number are compared with what reaches the model."""

FAR_TRIED = 1e9
"""Values that are farther from a row's own are not tried."""

LINE_BLUR = 2.0**-44
"""A pipeline that scales a number is off by less than this share of its largest size."""


class AskedColumns:
    """What all rows of a question share of each column, as the checker reads it, and the file of their model.

    Columns that belong together are one column of levels to the checker: the combinations that exist.
    """

    def __init__(self, claim: Claim, case: Case, problem: Problem, file: ModelFile, given: AbstractInputs) -> None:
        self.claim, self.case, self.file, self.given = claim, case, file, given
        self.whole, self.merging = problem, merging_of(problem)
        self.problem = with_numbers(problem if self.merging is None else problem.merged)
        refuse_relations(self.problem)
        unknown = np.isnan(self.problem.factuals)
        self.base = np.argmin(unknown.sum(axis=1), keepdims=True)
        losing = np.any(unknown | self.problem.domain.missing, axis=0)
        levels = np.array([one.levels is not None and one.missing for one in self.problem.space], dtype=np.bool_)
        self.lost: BoolArray = losing | levels
        self.features, self.inputs, self.changed = self._features()
        self._leave_unsaid_levels(losing)
        self.columns = self._columns()

    def _features(self) -> tuple[list[list[int]], list[FloatArray | None], list[bool]]:
        """The features that each column sets, what its levels set them to (None: a number), and whether a number is changed."""
        space = self.problem.space
        tried = [_tried(self.problem.take(self.base), j, self.lost[j]) for j in range(len(space))]
        column = np.repeat(np.arange(len(space)), [len(own) for own in tried])
        rows = self._inputs(column, np.concatenate(tried))
        base = self._inputs(column[:1], self.problem.factuals[self.base, 0])
        self.seen, self.missing = list[tuple[FloatArray, FloatArray]](), list[FloatArray | None]()
        features, inputs, changed = list[list[int]](), list[FloatArray | None](), list[bool]()
        for j, feature in enumerate(space):
            mine, known = rows[column == j], ~np.isnan(tried[j])
            moved = np.flatnonzero(((mine != base) & ~(np.isnan(mine) & np.isnan(base))).any(axis=0))
            features.append(moved.tolist())
            mine = mine[:, moved]
            self.seen.append((tried[j][known], mine[known]))
            inputs.append(None if feature.levels is None else mine)
            same = len(moved) == 0 or np.array_equal(mine[known], tried[j][known, None])
            changed.append(feature.levels is None and not same)
            self.missing.append(mine[-1] if self.lost[j] else None)
            order = np.argsort(tried[j][known])
            if changed[j] and (len(moved) > 1 or not (np.diff(mine[known][order, 0]) >= 0).all()):
                raise not_proven(
                    f"a pipeline that makes several features of {feature.name!r}, or one that falls where it rises"
                )
        if len(found := [f for own in features for f in own]) != len({*found}):
            raise not_proven("a pipeline in which several columns make one feature")
        weighed = (f for f, its in enumerate(self.model.weights) if any(its))
        still = sorted({*self.model.splits, *self.model.slopes, *weighed} - {*found})
        if still:  # all levels of a column make them, if no number may: of numbers only some values are tried
            levels = next(((j, its) for j, its in enumerate(inputs) if its is not None), None)
            seen = all(its is not None or features[j] or self._stays(j) for j, its in enumerate(inputs))
            if levels is None or not seen:
                raise not_proven("a pipeline in which no column makes some feature")
            at, its = levels
            features[at] += still
            inputs[at] = np.hstack([its, rows[column == at][:, still]])
        return features, inputs, changed

    def _stays(self, j: int) -> bool:
        """Whether a column is the same number in all rows, and may become no other."""
        domain, x = self.problem.domain, self.problem.factuals[:, j]
        still = (domain.low[:, j] > domain.high[:, j]) | ((domain.low[:, j] == x) & (domain.high[:, j] == x))
        return bool(still.all() and (x == x[0]).all() and not self.lost[j])

    def _leave_unsaid_levels(self, losing: BoolArray) -> None:
        """Leave out the missing level of columns that are never missing, if the model does not say what it does with it."""
        for j in np.flatnonzero(self.lost & ~losing).tolist():
            inputs = self.inputs[j]
            assert inputs is not None
            missing = [f for f, x in zip(self.features[j], inputs[-1].tolist(), strict=True) if np.isnan(x)]
            if any(lost is None for f in missing for *_, lost in self.model.splits.get(f, ())):
                self.inputs[j], self.lost[j] = inputs[:-1], False

    def _inputs(self, column: IntArray, value: FloatArray) -> FloatArray:
        """What the trees read of a row, if one column after the other gets a value."""
        at = np.repeat(self.base, len(column))
        points = self.problem.factuals[at]
        points[np.arange(len(column)), column] = value
        table = self.case.before.take(at).table
        return self.given.rows(self.claim.answers.space.decode(self.apart(points), table))

    def apart(self, points: FloatArray) -> FloatArray:
        """Points with each column by itself."""
        return points if self.merging is None else self.merging.layout.split(points)

    def _edges(self) -> dict[int, list[str]]:
        """For each number that the pipeline changes, the largest value that goes to the left, at each cut of its feature."""
        found: dict[int, list[Any]] = {j: [] for j, changed in enumerate(self.changed) if changed}
        for node in (node for nodes in self.model.trees for node in nodes if len(node) > 1):
            for j in found:
                if node[0] == self.features[j][0] and abs(node[1]) != np.inf and node[1] not in found[j]:
                    found[j].append(node[1])
        column = np.array([j for j, cuts in found.items() for _ in cuts], dtype=np.intp)
        cut = np.array([float(one) for cuts in found.values() for one in sorted(cuts)])
        feature = np.array([self.features[j][0] for j in column.tolist()], dtype=np.intp)
        whole = np.array([one.step == 1 for one in self.problem.space])[column]
        ends = np.array([range_of(self.problem, j) for j in column.tolist()]).reshape(-1, 2)

        def left(value: FloatArray) -> BoolArray:
            read = self._inputs(column, np.where(whole, np.floor(value), value))[np.arange(len(column)), feature]
            return np.asarray((read.astype(np.float32) if self.model.single else read) <= cut)

        edge = last_between(left, ends[:, 0], ends[:, 1]) if len(column) else cut
        edge = np.where(edge >= ends[:, 1], ends[:, 1] + np.abs(ends[:, 1]) + 1, edge)  # no value goes to the right
        edge = np.where(np.isinf(edge), ends[:, 0] - np.abs(ends[:, 0]) - 1, edge)  # none goes to the left
        return {j: list(map(float.hex, edge[column == j].tolist())) for j in found}

    def _line(self, j: int) -> list[str]:
        """What a pipeline makes of a number for a linear model: slope, offset, and how far floating point may be off."""
        (x, seen), name = self.seen[j], self.problem.space.features[j].name
        z, a, b = seen[:, 0], int(np.argmin(x)), int(np.argmax(x))
        slope = float((z[b] - z[a]) / (x[b] - x[a]))
        offset = float(z[a] - slope * x[a])
        size = abs(offset) + abs(slope) * float(np.abs(range_of(self.problem, j)).max())
        off = 0.0 if not self.changed[j] else LINE_BLUR * size
        if np.abs(slope * x + offset - z).max() > off / 8:
            raise not_proven(f"a pipeline that bends {name!r} before a linear model")
        return [slope.hex(), offset.hex(), off.hex()]

    def _columns(self) -> list[dict[str, Any]]:
        """What all rows share of each column. The checker's model says where its trees cut."""
        domain, edges, linear = self.problem.domain, self._edges(), bool(self.model.weights)
        out = list[dict[str, Any]]()
        unread = " (nothing reads it, so it counts as 0)"
        named = told_apart([feature.name + unread * feature.unread for feature in self.problem.space])
        for j, feature in enumerate(self.problem.space):
            about: dict[str, Any] = {"name": named[j], "features": self.features[j]}
            inputs, missing = self.inputs[j], self.missing[j]
            if inputs is not None:
                if linear and np.isnan(inputs).any():
                    raise not_proven(f"a missing number in {feature.name!r}, in a linear model that butfor read")
                names = told_apart([*self._level_names(j), *[MISSING_LEVEL] * bool(self.lost[j])])
                about["levels"] = [[name, *hexes(row)] for name, row in zip(names, inputs, strict=True)]
            else:
                if linear and domain.missing[~np.isnan(self.problem.factuals[:, j]), j].any():
                    raise not_proven(f"a number of {feature.name!r} that may become missing before a linear model")
                if linear and missing is not None and (np.isnan(missing).any() or self.model.layers):
                    what = "network" if self.model.layers else "linear model that butfor read"
                    raise not_proven(f"a missing number of {feature.name!r} in a {what}")
                grid = Lattice.of(domain.step[j], domain.anchor[j]) if domain.step[j] else None
                about["grid"] = None if grid is None else [str(grid.step), str(grid.anchor)]
                about["missing"] = None if missing is None else hexes(missing)
                about["single"], about["edges"] = self._single(j), None if linear else edges.get(j)
                if linear and self.features[j]:
                    about["line"] = self._line(j)
            out.append(about)
        return out

    def _single(self, j: int) -> bool:
        """Whether a column holds float32 alone. Rows may come in float64, with numbers between those of the data."""
        domain, own = self.problem.domain, self.problem.factuals[:, j]
        held = np.isnan(own) | (own.astype(np.float32) == own)
        return bool(domain.single[j] and (held.all() or domain.step[j]))

    def _level_names(self, j: int) -> list[str]:
        """The levels of a column. A combination is the values of its columns."""
        if self.merging is None or j < self.merging.first:
            levels = self.problem.space.features[j].levels or ()
            often = Counter([*map(str, levels), MISSING_LEVEL])
            return [str(level) if often[str(level)] == 1 else repr(level) for level in levels]
        group = self.merging.layout.groups[j - self.merging.first]
        its = [self.whole.space.features[k] for k in group.columns.tolist()]
        return [
            ", ".join(str(own.value(code)) for own, code in zip(its, row, strict=True)) for row in group.codes.tolist()
        ]

    @cached_property
    def read(self) -> ReadByChecker:
        """The model as the checker reads it."""
        try:
            return read_by_checker(self.file.kind, self.file.content)
        except Exception as error:
            raise not_proven(f"{self.file.of} ({checker().told(error)})") from None

    @property
    def model(self) -> Any:
        return self.read.model


def told_apart(names: Sequence[str]) -> list[str]:
    """Names in which letters that nobody sees, such as tabs, are written as Python writes them. Equal ones are numbered."""
    found = dict[str, None]()
    for name in names:
        seen = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
        numbered = (f"{seen} ({k})" for k in count(2))
        found[next(one for one in chain([seen], numbered) if one not in found)] = None
    return list(found)


def _tried(problem: Problem, j: int, lost: bool) -> FloatArray:
    """Values of a column that are tried: all levels, or some numbers of its range, and last the missing value."""
    levels, start = problem.space.features[j].levels, problem.factuals[0, j]
    last = [np.nan] if lost else []
    if levels is not None:
        return np.append(np.arange(len(levels), dtype=np.float64), last)
    feature, near = problem.space.features[j], float(np.nan_to_num(start))
    low, high = np.clip(range_of(problem, j), near - FAR_TRIED, near + FAR_TRIED)
    some = np.linspace(low, high if low < high else low + 1, MOVES_TRIED)
    some = np.round(some) if feature.step == 1 else some
    some = some.astype(np.float32).astype(np.float64) if feature.single else some
    return np.append(some, [start][: not np.isnan(start)] + last)


def range_of(problem: Problem, j: int) -> tuple[float, float]:
    """Between which numbers all rows lie, and what they may become, and be shifted to."""
    ball = problem.demands.ball
    more = 0.0 if ball is None else float(ball.radius[j])
    feature, domain, x = problem.space.features[j], problem.domain, problem.factuals[:, j]
    ends = np.array([feature.low, feature.high, *x, *domain.low[:, j], *domain.high[:, j]])
    known = ends[np.isfinite(ends)]
    return float(known.min()) - more, float(known.max()) + more
