"""Models of survival in proofs: a score, and the inequality on it that a target is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.linear import Linear
from butfor.model.rounding import Extent
from butfor.model.survival.curves import functional
from butfor.model.survival.readout import LeafCurves, Survival
from butfor.model.trees import Trees
from butfor.problem.targets.survival import OnCurves
from butfor.problem.targets.target import AbstractTarget
from butfor.proof.model_files import AbstractInputs, ModelFile, ModelInputs, has_own_file, own_file
from butfor.proof.read_files import read_file


def survival_file(
    reading: Reading, target: AbstractTarget, before: Prediction, extent: Extent
) -> tuple[ModelFile, AbstractInputs]:
    """The file of the score that a target is about: of trees and forests a quantity of their curves, of others their own."""
    readout, model = reading.readout, reading.model
    assert isinstance(readout, Survival)
    if isinstance(model, Linear) and has_own_file(reading.source):
        return own_file(reading.source), ModelInputs(reading.source)
    if not (isinstance(readout, LeafCurves) and isinstance(target, OnCurves) and isinstance(model, Trees)):
        return read_file(reading, extent, lambda said: readout.score_of(said.values), readout.score_words)
    quantity, *others = readout.wanted(target.wish(before))
    if others:
        raise UnsupportedModelError(
            f"{target!r} was asked for, and it is about several times: no proof is made of these rows together.",
            "A proof is about one quantity.",
            "Prove one answer at a time, each into a folder of its own.",
        )
    terms = int(np.count_nonzero(functional(quantity, readout.times)[1]))
    added = replace(model, folded=model.folded or terms > 1, summed=terms)  # others may add them up in another order
    return read_file(
        replace(reading, model=added), extent, lambda said: quantity.of(said.curves), quantity.words(target.unit)
    )
