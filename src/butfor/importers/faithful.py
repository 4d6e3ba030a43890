"""How faithfully a model was read: its predictions beside those of the estimator, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.importers.fidelity import disagreements
from butfor.importers.read import Reading
from butfor.model.black_box import BlackBox
from butfor.model.questions import evaluate
from butfor.model.readout import Value
from butfor.space import frames


@dataclass(frozen=True)
class Faithful:
    """How far a model that was read and its estimator are apart on some rows.

    - `rows`: how many were compared;
    - `differing`: the rows on which they differ by more than rounding explains;
    - `compared`: what was compared: probabilities, values or classes;
    - `largest`: the largest difference, rounding included (None: classes have no distance, or no row has a number).
    """

    rows: int
    differing: tuple[int, ...]
    compared: str
    largest: float | None


def faithful(reading: Reading, table: Any) -> Faithful | None:
    """Compare the model that was read with the estimator on the rows of a table; None if no model was read."""
    if isinstance(reading.model, BlackBox):
        return None
    found = disagreements(reading.source, reading.space, reading.model, reading.readout, table)
    compared, gaps = _gaps(reading, table)
    known = gaps[~np.isnan(gaps)]
    return Faithful(
        frames.height(table),
        tuple(sorted({one.row for one in found})),
        compared,
        float(known.max()) if len(known) else None,
    )


def _gaps(reading: Reading, table: Any) -> tuple[str, FloatArray]:
    """What can be compared, and by how much it differs."""
    source, readout = reading.source, reading.readout
    scores = evaluate(reading.model, reading.space.encode(table))
    if isinstance(readout, Value):
        return "values", np.abs(source.values(table) - readout.predicted(readout.sums(scores)))
    ours = readout.probabilities(scores)
    if ours is None or not hasattr(source.estimator, "predict_proba"):
        return "classes", np.empty(0)
    return "probabilities", np.abs(source.probabilities(table) - ours).ravel()
