"""Models of PMML files: sums of trees, and weighted sums of columns, over what they read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.estimator.pmml.fields import Field
from butfor.estimator.pmml.models import (
    LINK_STEPS,
    InPmml,
    MedianOfTrees,
    PmmlClassifier,
    PmmlRegressor,
    SumOfTrees,
    WeightedSum,
)
from butfor.importers.fold.additive import additive_over
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.pmml_columns import PmmlColumn
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.median import Median
from butfor.model.readout import AbstractReadout, Argmax, Sign
from butfor.model.scores import UNIT_SINGLE


def read_in_pmml(estimator: PmmlClassifier | PmmlRegressor, columns: list[Column]) -> Imported:
    """The trees or the weights over what is read."""
    model = estimator.booster
    given = [
        _given(field, column, j in model.refused)
        for j, (field, column) in enumerate(zip(model.fields, columns, strict=True))
    ]
    if isinstance(model, SumOfTrees):
        asked = model.nodes.feature
        cuts = {int(k): np.unique(model.nodes.threshold[asked == k]) for k in np.unique(asked[asked >= 0])}
        reads = [
            PmmlColumn(one, given[one.field], cuts[k]).column if k in cuts else given[one.field]
            for k, one in enumerate(model.reads)
        ]
        readout = _readout(model)
        return trees_over(reads, model.nodes, model.base, folded=True), (
            readout.rounded(UNIT_SINGLE) if model.single else readout
        )
    assert isinstance(model, WeightedSum)
    reads = [PmmlColumn(one, given[one.field]).column for one in model.reads]
    return additive_over(reads, model.weights, model.base), _readout(model)


def _given(field: Field, column: Column, refused: bool) -> Column:
    """A column as the model gets it: numbers, or the positions of levels."""
    if field.levels is not None:
        if column.table is None:
            raise NeedsLevels({column.feature: tuple(field.levels)}, ordered=False)
        column = column.map(_Coded(field))
    elif column.table is not None and column.table.dtype == object:
        raise UnsupportedModelError(
            f"the file says that {field.name!r} is a number, and the data has levels there.", "", "Give numbers."
        )
    elif field.single or field.instead is not None:
        column = column.map(field.numbers, single=field.single)
    return replace(column, refuses_missing=column.refuses_missing or refused)


@dataclass(frozen=True)
class _Coded:
    """Levels as their positions."""

    field: Field

    def __call__(self, levels: Values) -> Values:
        return self.field.codes(levels.tolist())


def _readout(model: InPmml) -> AbstractReadout:
    if isinstance(model, MedianOfTrees):
        return Median(weights=model.weights)
    if not model.classes:
        return value_behind(None if model.link is None else LINK_STEPS[model.link])
    if model.link == "logit":
        return Sign(model.classes, "logistic")
    if model.link == "softmax":
        return Argmax(model.classes, "softmax")
    return Argmax(model.classes, "identity", model.total if isinstance(model, SumOfTrees) else 1.0)


for kind in (PmmlClassifier, PmmlRegressor):
    register_importer(kind, read_in_pmml)
