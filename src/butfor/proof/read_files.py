"""What butfor read of a model, as a file that the checker reads: for models whose own file it does not read.

The features of this file are the columns themselves, and sets of levels. So it holds what the pipeline does, too.
That the estimator computes this is compared on recorded rows, with what it says of them itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.blended import Blended, Voted
from butfor.model.cells import level_cells
from butfor.model.linear import Linear
from butfor.model.linked import Calibrated
from butfor.model.monotone import Jump, Logistic, MonotoneFunction, Scaled
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model
from butfor.model.readout import AbstractReadout, Argmax, Sign, Threshold, Value
from butfor.model.rounding import COLUMN_STEPS, FURTHER_STEPS, Extent, largest_sums
from butfor.model.stacked import END_ROUNDINGS, Stacked
from butfor.model.survival.readout import Survival
from butfor.model.trees import Trees
from butfor.proof.linear_files import Line, MeanCurve, linear_file
from butfor.proof.model_files import (
    BITS_OF_SUMS,
    AbstractInputs,
    ColumnInputs,
    ModelFile,
    Tells,
    estimator_of,
    hexes,
    not_proven,
)
from butfor.proof.network_files import network_file
from butfor.space.feature import Feature
from butfor.space.space import Space

Sets = dict[tuple[int, bytes], int]
"""The feature for each set of levels, by its column and its mask."""

Start = tuple[float, float, float]
"""The line before all else: its slope, its shift, and the size of what is added for it."""

Lists = dict[str, list[Any]]
"""The nodes of a tree, as lists of what they are."""

Region = dict[int, BoolArray]
"""The cells of some columns that lead to a node."""

Below = tuple[int, Region]
"""A node, and what leads to it."""


@dataclass(frozen=True, eq=False)
class ReadInputs(ColumnInputs):
    """Numbers as they are, and for each set of levels whether it holds the level of its column."""

    sets: Sets

    def of_levels(self, codes: FloatArray) -> list[FloatArray]:
        masks = [(j, np.frombuffer(mask, dtype=np.bool_)) for j, mask in self.sets]
        return [mask[level_cells(len(mask) - 1).index(codes[:, j])].astype(np.float64) for j, mask in masks]


@dataclass(frozen=True, eq=False)
class ReadModel:
    """What was read of an estimator, and how the checker is told of it.

    - `readout`: what decides, without thresholds that say the same;
    - `sum`: what is made of the sums, as the checker calls it; empty if it does not know it;
    - `name`: of the estimator;
    - `says`: what the estimator says of the value, if that is not what it predicts, and `what` that is.
    """

    reading: Reading
    readout: AbstractReadout
    sum: str
    name: str
    says: Callable[[Prediction], FloatArray] | None = None
    what: str = ""

    @classmethod
    def of(cls, reading: Reading, says: Callable[[Prediction], FloatArray] | None = None, what: str = "") -> ReadModel:
        readout, by = reading.readout, reading.source.judges_by
        if isinstance(readout, Threshold) and (readout.of == "probability" or readout.threshold == 0):
            readout = _within(readout)
        adds = "leaves" if isinstance(reading.model, ObliqueTree) else _adds(readout, by)
        return cls(reading, readout, adds, estimator_of(reading.source)[1], says, what)

    @property
    def words(self) -> str:
        """What the file is of."""
        return f"{f'the {self.what} that' if self.what else 'what'} butfor read of a {self.name}"

    @property
    def over(self) -> float:
        """What sums are divided by."""
        return self.readout.total if isinstance(self.readout, Argmax) else 1.0

    @property
    def tells(self) -> Tells:
        """What the estimator tells of a row."""
        by = self.reading.source.judges_by
        if not by and not isinstance(self.readout, Value | Survival):
            return "class"
        likely = self.sum in ("logistic", "mean", "largest", "leaves") and by == "predict_proba"
        return "probabilities" if likely else "sums"

    def score(self, table: Any) -> FloatArray:
        """What the estimator says of rows."""
        source, prediction = self.reading.source, Prediction(self.reading.source, table)
        if isinstance(self.readout, Value):
            return self.says(prediction) if self.says else prediction.values
        if self.tells == "class":
            return np.array([list(source.classes).index(label) for label in prediction.labels])
        by = "decision_function" if self.sum == "stack" else source.judges_by
        said = prediction.probabilities if by == "predict_proba" else source.decisions(prediction.begun)
        assert said is not None
        return said if said.shape[1] > 2 or self.tells == "probabilities" else said[:, 1]

    def line(self, extent: Extent) -> Line | None:
        """The sums that are told of trees or of weights, as lines of scores; None if there are none."""
        model = self.reading.model
        if not self.sum or not isinstance(model, Linear | Trees):
            return None
        if isinstance(self.readout, Stacked):
            size = largest_sums(model, extent) if isinstance(model, Linear) else np.abs(model.base) + model.reach
            return _stack(self.readout, size)
        return _line(self.readout, model.scores)

    @property
    def weighs(self) -> bool:
        """Whether it is about weighted numbers."""
        return isinstance(self.reading.model, Linear) and bool(self.reading.model.added_slope.any())


def read_file(
    reading: Reading, extent: Extent, says: Callable[[Prediction], FloatArray] | None = None, what: str = ""
) -> tuple[ModelFile, AbstractInputs]:
    """The file of what was read of an estimator, and its rows. Raises an error if that is no sum of trees, or of weights.

    `extent`: the values that numbers may take; `says`, `what`: see `ReadModel`.
    """
    read = ReadModel.of(reading, says, what)
    found, line = None, read.line(extent)
    if isinstance(reading.model, ObliqueTree):
        found = _decided(read, extent)
    elif isinstance(reading.model, Network):
        chances = reading.source.judges_by == "predict_proba"
        tells: Tells = "probabilities" if chances else read.tells
        found = network_file(reading, read.readout, read.sum, extent, read.words, read.score, tells)
    elif line is not None and read.weighs:
        found = linear_file(reading, line, read.sum, extent, read.words, read.score, read.tells)
    elif line is not None:
        found = _trees_file(read, line)
    if found is None:
        raise not_proven(f"a {read.name}")
    return found


def _trees_file(read: ReadModel, line: Line) -> tuple[ModelFile, AbstractInputs] | None:
    """The file of sums of trees, or of steps; None if they are no such."""
    sets = dict[tuple[int, bytes], int]()
    if isinstance(read.readout, Voted):
        found = _ballots(read.reading, read.readout, line, sets)
    else:
        found = _logits(read.reading, line, sets) if line.steps else sums_of(read.reading, read.reading.model, sets)
    if found is None or found.unit not in BITS_OF_SUMS or read.over not in (1.0, len(found.trees)):
        return None
    adds = "mean" if line.curves and not line.end else read.sum
    told = {"sum": adds, "mean": read.over > 1, **found.told, **line.told}
    file = ModelFile("model.json", "arrays", forest(read.name, told), read.words, read.score, read.tells)
    return file, ReadInputs(read.reading.space, sets)


def forest(of: str, told: dict[str, Any]) -> bytes:
    """The content of a file of trees that were read."""
    begun = {"format": "butfor.forest/1", "of": of, "reads": "float64", "scale": (1.0).hex()}
    return json.dumps({**begun, **told}, separators=(",", ":")).encode()


def _decided(read: ReadModel, extent: Extent) -> tuple[ModelFile, AbstractInputs] | None:
    """The decisions of an oblique tree as weighted sums, and what its leaves say; None if that is no value and no probability."""
    reading, readout, model = read.reading, read.readout, read.reading.model
    assert isinstance(model, ObliqueTree)
    leaf, chances = model.gate < 0, reading.source.judges_by == "predict_proba"
    scores = model.value[leaf]
    if isinstance(readout, Value):
        says: FloatArray | None = np.reshape(readout.predicted(scores), (-1, 1))
    else:
        says = readout.probabilities(scores) if chances and not isinstance(readout, Threshold) else None
    if says is None or (chances and not np.array_equal(readout.decide(scores), says.argmax(axis=1))):
        return None
    each = iter(hexes(says.tolist()))
    tree = {
        "gate": model.gate.tolist(),
        "left": np.where(leaf, -1, model.left).tolist(),
        "right": np.where(leaf, -1, model.right).tolist(),
        "value": [next(each) if ends else None for ends in leaf.tolist()],
    }
    gates = replace(reading, model=model.gates)
    line = Line.of_scores(model.gates.scores)
    return linear_file(gates, line, "leaves", extent, read.words, read.score, read.tells, {"tree": tree})


def _line(readout: AbstractReadout, scores: int) -> Line | None:
    """The sums that a readout is about, lines of scores, and their curves in a mean; None if it has other functions."""
    if isinstance(readout, Voted):
        return _votes(readout)
    if isinstance(readout, Calibrated):
        rows, weights, chances = readout.row[None], [1.0], [readout.chances[1]]
    elif isinstance(readout, Blended):
        rows, weights, chances = readout.rows, readout.weights.tolist(), [second for _, second in readout.chances]
    else:
        return Line.of_scores(scores)
    line = _curved(rows, weights, chances)
    return line and (replace(line, curves=()) if {*line.curves} == {MeanCurve(weights[0])} else line)


def _curved(rows: FloatArray, weights: Sequence[float], functions: Sequence[MonotoneFunction]) -> Line | None:
    """Lines of scores, and the curves that functions make of them; None if they are others."""
    each = [_curve_of(function, weight) for function, weight in zip(functions, weights, strict=True)]
    found = [one for one in each if one is not None]
    if len(found) < len(each):
        return None
    slope, shift, size = np.array([start for start, _ in found]).T
    steps = 1 + max(len(function.steps) for function in functions)
    return Line(slope[:, None] * rows, shift, size, steps, tuple(curve for _, curve in found))


def _stack(readout: Stacked, size: FloatArray) -> Line | None:
    """The curves of what members hand to a linear end, which adds them up; None if they are others.

    `size` (scores): of the largest sums.
    """
    end = readout.end
    assert isinstance(end, Linear)
    weights, kept = end.slope[0], np.flatnonzero(end.slope[0])
    centre = np.broadcast_to(end.centre, weights.shape)
    if not len(kept):
        return None
    line = _curved(readout.rows[kept], weights[kept].tolist(), [readout.functions[k] for k in kept.tolist()])
    if line is None:
        return None
    reach = np.where([curve.straight for curve in line.curves], np.abs(line.rows) @ size + line.size, 1.0)
    terms = float(
        np.abs(end.intercept[0])
        + np.broadcast_to(end.cancelled, 1)[0]
        + np.abs(weights[kept]) @ (reach + np.abs(centre[kept]))
    )
    off = 2 * (END_ROUNDINGS + len(kept)) * readout.unit * terms
    return replace(line, end=(float(end.intercept[0] - weights @ centre), off))


def _within(readout: AbstractReadout) -> AbstractReadout:
    """What all thresholds are about."""
    return _within(readout.inner) if isinstance(readout, Threshold) else readout


def _votes(readout: Voted) -> Line | None:
    """The sums that are votes for class 1 where they are above 0."""
    ends = [second.steps[0] for _, second in readout.chances]
    edges = np.array([end.at_least for end in ends if isinstance(end, Jump)])
    ballots = tuple((readout.weights * readout.total).tolist())
    return Line(readout.rows, -edges, np.abs(edges), 1, ballots=ballots) if len(edges) == len(ends) else None


class Sums(NamedTuple):
    """Sums of trees, and how an estimator adds them up.

    - `base` (scores): what the sums start from; `trees`: as lists of nodes;
    - `unit`: its unit roundoff;
    - `off` (scores): by how much each sum may be off, besides its additions. What a single tree says is only looked up.
    """

    base: FloatArray
    trees: list[Lists]
    unit: float
    off: FloatArray | None

    @property
    def told(self) -> dict[str, Any]:
        """What a file says of them."""
        off = {} if self.off is None else {"off": hexes(self.off.tolist())}
        return {"base": hexes(self.base.tolist()), "digits": BITS_OF_SUMS[self.unit], "trees": self.trees, **off}


def _logits(reading: Reading, line: Line, sets: Sets) -> Sums | None:
    """Lines of sums of trees: sums of the same trees with other leaves. None if no trees were read."""
    model = reading.model
    if not isinstance(model, Trees):
        return None
    size = np.abs(line.rows) @ (np.abs(model.base) + model.reach) + line.size  # of all terms: they may cancel
    found = sums_of(
        reading, replace(model, value=model.value @ line.rows.T, base=line.rows @ model.base + line.shift), sets
    )
    if found is None:
        return None
    off = 2 * (len(model.roots) + FURTHER_STEPS + line.steps) * found.unit * size
    return found._replace(off=off if found.off is None else found.off + off)


def _ballots(reading: Reading, readout: Voted, line: Line, sets: Sets) -> Sums | None:
    """Sums of trees that are votes where they are above 0. What a single tree votes is looked up, so it is 1 or -1."""
    model, found = reading.model, _logits(reading, line, sets)
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


def _curve_of(chance: MonotoneFunction, weight: float) -> tuple[Start, MeanCurve] | None:
    """What a function makes of a sum: a line, a share of a line, or the share of a line of that; None if it is another."""
    lines = [(1.0, 0.0, 0.0)]
    for step in chance.steps:
        if isinstance(step, Scaled):
            slope, shift, size = lines[-1]
            size = abs(step.factor) * size + abs(step.shift)
            lines[-1] = step.factor * slope, step.factor * shift + step.shift, size
        elif isinstance(step, Logistic):
            lines.append((1.0, 0.0, 0.0))
        else:
            return None
    start, *bent = lines
    *inside, rest = bent or [(1.0, 0.0, 0.0)]
    if rest != (1.0, 0.0, 0.0) or len(inside) > 1:
        return None
    if not inside:
        return start, MeanCurve(weight, straight=not bent)
    (slope, shift, size), off = inside[0], 2 * (FURTHER_STEPS + len(chance.steps)) * chance.unit
    off *= abs(slope) + size
    if slope < 0:  # share(x) is 1 - share(-x)
        start, slope, shift = (-start[0], -start[1], start[2]), -slope, shift + slope
    return start, MeanCurve(weight, bend=(slope, shift, off))


def sums_of(reading: Reading, model: Model, sets: Sets) -> Sums | None:
    """The sums of what was read: of trees, or of steps of single columns, which are a tree for each column."""
    unit = reading.unit
    if isinstance(model, Linear) and not model.added_slope.any():
        unit, terms = max(unit, model.unit), model.more_terms + len(model.cells) + FURTHER_STEPS
        size = np.abs(model.intercept) + model.cancelled + model.largest_step.sum(axis=1)
        off = 2 * terms * unit * size + COLUMN_STEPS * model.largest_step @ model.blur
        trees = [_steps(reading.space.features[j], model, j, sets) for j in model.stepped]
        return Sums(model.intercept, trees, unit, off)
    if isinstance(model, Trees):
        off = (
            None if model.looked_up else 2 * (FURTHER_STEPS + model.summed) * unit * (np.abs(model.base) + model.reach)
        )
        return Sums(model.base, list(map(_Grown.of(model, reading.space, sets).tree, model.roots.tolist())), unit, off)
    return None


def _nodes() -> Lists:
    return {key: [] for key in ("feature", "cut", "left", "right", "missing", "value")}


def _add(lists: Lists, *node: Any) -> None:
    """One more node: its feature, its cut, its children, whether a missing value goes to the left, and its value."""
    for own, one in zip(lists.values(), node, strict=True):
        own.append(one)


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


def _adds(readout: AbstractReadout, by: str) -> str:
    """What the sums are, as the checker calls it; empty if it does not know it, or the estimator tells nothing of them.

    - `by`: the method of the estimator that tells how much it prefers each class.
    """
    if isinstance(readout, Survival):
        return "value"
    kind, several = (type(readout), readout.link, by), len(readout.classes) > 2
    known = {
        (Value, "identity", by): "value",
        (Sign, "logistic", "predict_proba"): "logistic",
        (Sign, "logistic", "decision_function"): "score",
        (Sign, "none", "decision_function"): "score",
        (Calibrated, "none", "predict_proba"): "logistic",
        (Blended, "none", "predict_proba"): "mean",
        (Voted, "none", ""): "votes",
        (Argmax, "none", ""): "shares",
        (Argmax, "identity", "predict_proba"): "shares",
        (Argmax, "softmax", "predict_proba"): "largest" if several else "",
        (Argmax, "softmax", "decision_function"): "largest" if several else "",
    }
    if isinstance(readout, Stacked):
        plain = isinstance(readout.end, Linear) and isinstance(readout.inner, Sign)
        return "stack" if plain and not isinstance(readout.inner, Calibrated) else ""
    return known.get(kind, "")


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
