"""InterpretML's explainable boosting machines: a table for each column, and for pairs of columns.

A number is in the first bin whose cut is above it. Bin 0 is for missing values, and the last one for levels that were not
seen. Tables of two columns may have coarser bins than those of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.binned import Bins, binned_over
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.monotone import AbstractStep, Exponential
from butfor.model.readout import AbstractReadout, Argmax, Link, Sign

LINKS_OF_VALUES: dict[str, AbstractStep | None] = {"identity": None, "log": Exponential()}
LINKS_OF_CLASSES: dict[str, Link] = {"mlogit": "softmax", "vlogit": "ovr"}


def read_ebm(machine: Any, columns: list[Column]) -> Imported:
    """ExplainableBoostingClassifier and ExplainableBoostingRegressor, with all their terms."""
    intercept = np.ravel(machine.intercept_).astype(np.float64)
    prepared: list[Column] = []
    bins: dict[tuple[int, int], Bins] = {}
    terms = []
    for features, scores in zip(machine.term_features_, machine.term_scores_, strict=True):
        levels = [(j, min(len(machine.bins_[j]), len(features)) - 1) for j in features]
        for j, level in levels:
            if (j, level) not in bins:
                column, last = _binned(columns[j], machine.bins_[j][level])
                bins[j, level] = Bins(len(prepared), last)
                prepared.append(column)
        own = [bins[key] for key in levels]
        terms.append((own, _table(scores, [machine.bins_[j][level] for j, level in levels], len(intercept))))
    return binned_over(prepared, terms, intercept), _readout(machine, len(intercept))


def _binned(column: Column, known: Any) -> tuple[Column, FloatArray]:
    """A column, and the last value in each bin of numbers but the last. Levels become the numbers of their bins."""
    if not isinstance(known, Mapping):
        return column, np.nextafter(known, -np.inf)
    if column.table is None:
        raise NeedsLevels({column.feature: ()}, ordered=False)
    count = max(known.values(), default=0)
    return column.map(partial(_numbers_of_levels, dict(known), count)), np.arange(count, dtype=np.float64)


def _numbers_of_levels(known: dict[str, int], count: int, levels: Values) -> Values:
    """Bins from 0 on; `count` for levels that were not seen, and NaN for missing ones."""
    keys = [_key(level) for level in levels.tolist()]
    return np.array([np.nan if key is None else known.get(key, count + 1) - 1 for key in keys], dtype=np.float64)


def _key(level: Any) -> str | None:
    """A level as text. Whole numbers have no decimals; None is for missing ones."""
    if level is None or level != level:
        return None
    return str(int(level)) if isinstance(level, float | bool) and level == int(level) else str(level)


def _table(scores: FloatArray, known: list[Any], width: int) -> FloatArray:
    """What the bins add (bins, ..., scores). Missing values come last. Numbers that cannot be read are left out."""
    table = scores if width > 1 else scores[..., None]
    for axis, bins in enumerate(known):
        last = table.shape[axis] - (1 if isinstance(bins, Mapping) else 2)
        table = np.take(table, [*range(1, last + 1), 0], axis=axis)
    return table


def _readout(machine: Any, scores: int) -> AbstractReadout:
    link = machine.link_
    if link in LINKS_OF_VALUES:
        return value_behind(LINKS_OF_VALUES[link])
    classes = tuple(machine.classes_.tolist())
    if link == "logit" and scores == 1:
        return Sign(classes, "logistic")
    if link in LINKS_OF_CLASSES:
        return Argmax(classes, LINKS_OF_CLASSES[link])
    raise UnsupportedModelError(
        f"an explainable boosting machine has the link {link!r}.",
        "It must be identity, log, logit, mlogit or vlogit.",
        "Fit it on more than one class, or let the swarm search.",
    )


for name in ("ExplainableBoostingClassifier", "ExplainableBoostingRegressor"):
    register_importer(f"interpret.{name}", read_ebm)
    register_importer(f"interpret.DP{name}", read_ebm)
