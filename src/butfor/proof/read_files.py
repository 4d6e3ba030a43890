"""What butfor read of a model, as a file that the checker reads: for models whose own file it does not read.

The features of this file are the columns themselves, and sets of levels. So it holds what the pipeline does, too.
That the estimator computes this is compared on recorded rows, with what it says of them itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.blended import Voted
from butfor.model.cells import level_cells
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.readout import Threshold, Value
from butfor.model.rounding import Extent
from butfor.proof.linear_files import Line, linear_file
from butfor.proof.model_files import (
    BITS_OF_SUMS,
    AbstractInputs,
    ColumnInputs,
    ModelFile,
    hexes,
    not_proven,
)
from butfor.proof.network_files import network_file
from butfor.proof.read_model import ReadModel
from butfor.proof.tree_sums import Sets, ballots_of, leaf_of, logits, plain_sums


@dataclass(frozen=True, eq=False)
class ReadInputs(ColumnInputs):
    """Numbers as they are, and for each set of levels whether it holds the level of its column."""

    sets: Sets

    def of_levels(self, codes: FloatArray) -> list[FloatArray]:
        masks = [(j, np.frombuffer(mask, dtype=np.bool_)) for j, mask in self.sets]
        return [mask[level_cells(len(mask) - 1).index(codes[:, j])].astype(np.float64) for j, mask in masks]


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
        found = network_file(reading, read.readout, read.sum, extent, read.words, read.score, read.tells)
    elif line is not None and read.weighs:
        found = linear_file(reading, line, read.sum, extent, read.words, read.score, read.tells)
        found = found or _trees_file(read, line, extent)
    elif line is not None:
        found = _trees_file(read, line, extent)
    if found is None:
        raise not_proven(f"a {read.name}")
    return found


def _trees_file(read: ReadModel, line: Line, extent: Extent) -> tuple[ModelFile, AbstractInputs] | None:
    """The file of sums of trees, or of steps, perhaps with weighted numbers beside them; None if they are no such."""
    sets = dict[tuple[int, bytes], int]()
    if isinstance(read.readout, Voted):
        found = ballots_of(read.reading, read.readout, line, sets)
    else:
        found = logits(read.reading, line, sets, extent) if line.steps else plain_sums(read.reading, sets, extent)
    if found is None or found.unit not in BITS_OF_SUMS or read.over not in (1.0, len(found.trees)):
        return None
    if not found.trees and found.weights is None:  # a model that says one thing of all rows is a tree of one leaf
        found = found._replace(trees=[leaf_of(len(found.base))])
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
