"""Does the IR say what the estimator says? On data, and on rows at every cut and one ulp beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import FidelityError
from butfor.importers.source import Source
from butfor.model.ask import Model, cuts, evaluate
from butfor.model.readout import AbstractReadout, Value
from butfor.model.scores import MARGIN
from butfor.space import frames
from butfor.space.frames import FloatArray
from butfor.space.space import Space

SAMPLE = 200


def check_fidelity(source: Source, space: Space, model: Model, readout: AbstractReadout, data: Any) -> None:
    """Raise `FidelityError` unless model and estimator agree on a sample of the data."""
    rows = np.unique(np.linspace(0, frames.height(data) - 1, SAMPLE).astype(np.intp))
    table = frames.take(data, rows)
    wrong = disagreements(source, space, model, readout, table)
    if len(wrong):
        raise FidelityError(
            f"the imported model disagrees with the estimator on {len(wrong)} of {len(rows)} rows (first: row {rows[wrong[0]]}).",
            "They must agree before anything is explained.",
            "Is the data what the model was fitted on? If it is, this is a bug in the importer: please report it.",
        )


def disagreements(
    source: Source, space: Space, model: Model, readout: AbstractReadout, table: Any
) -> list[int]:
    """The rows of `table` on which the two differ; class scores within rounding of a tie are not counted."""
    scores = evaluate(model, space.encode(table))
    if isinstance(readout, Value):
        said = source.values(table)
        return np.flatnonzero(~np.isclose(scores[:, 0], said, rtol=1e-9, atol=1e-9 * (1 + np.abs(said).max()))).tolist()
    chosen = readout.decide(scores)
    labels = source.labels(table)
    classes = list(readout.classes)
    return [
        row
        for row, (label, choice) in enumerate(zip(labels, chosen, strict=True))
        if classes[choice] != label and not _tied(readout, scores[row], classes.index(label), int(choice))
    ]


def _tied(readout: AbstractReadout, scores: FloatArray, said: int, chosen: int) -> bool:
    """Whether these scores are a tie up to rounding, so that both answers are right."""
    slack = -MARGIN * 10 * (1 + np.abs(scores).max())
    return any(part.holds(scores[None], slack)[0] for part in readout.class_sets(said))


def edge_rows(space: Space, model: Model, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Copies of `rows` with one number each set on a cut, or one ulp beside it: where importers go wrong first."""
    out = []
    for j, feature in enumerate(space.features):
        if feature.levels is not None:
            continue
        edges = cuts(model, j)
        edges = edges[np.isfinite(edges) & (np.abs(edges) < 1e300)]
        for value in np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]):
            row = rows[rng.integers(len(rows))].copy()
            row[j] = value
            out.append(row)
    return np.array(out) if out else np.empty((0, len(space)))
