"""Models of butfor that pass through a calibrator which was fitted apart (`bf.calibrated`)."""

from __future__ import annotations

from butfor.estimator.calibrated import CalibratedModel
from butfor.importers.fold.column import Column
from butfor.importers.libraries.sklearn_calibration import chances_of, isotonic, scored
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import Calibrated
from butfor.model.monotone import Complement, MonotoneFunction


def read_calibrated_model(calibrated: CalibratedModel, columns: list[Column]) -> Imported:
    """A function of the model's probability, or of its score. Isotonic steps are known knot by knot, others are called."""
    classes, inner = tuple(calibrated.classes_.tolist()), calibrated.estimator_
    if calibrated.of == "score":
        model, row, steps, unit = scored(inner, classes, columns)
        before = MonotoneFunction(steps)
    else:
        model, (row,), ((_, before),), _, unit = chances_of(inner, columns)
    plain = type(calibrated.calibrator_).__name__ == "IsotonicRegression" and calibrated.function_.up
    second = before.then(*isotonic(calibrated.calibrator_)) if plain else before.then(calibrated.function_)
    return model, Calibrated(classes, row, (second.then(Complement()), second)).rounded(unit)


register_importer(CalibratedModel, read_calibrated_model)
