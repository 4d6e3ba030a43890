"""Scorecards of butfor: a table of points for the bins of each column."""

from __future__ import annotations

from functools import partial

import numpy as np

from butfor.estimator.scorecards import BinnedColumn, Scorecard
from butfor.importers.fold.binned import Bins, binned_over
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.registry import Imported, register_importer
from butfor.model.readout import Value


def read_card(card: Scorecard, columns: list[Column]) -> Imported:
    """The sum of the points."""
    coded = [_coded(own, column) for own, column in zip(card.columns_, columns, strict=True)]
    terms = [([_bins(own, j)], np.nan_to_num(own.points)[:, None]) for j, own in enumerate(card.columns_)]
    return binned_over(coded, terms, np.array([card.base_])), Value()


def _coded(own: BinnedColumn, column: Column) -> Column:
    """A column of levels as the numbers of their bins."""
    if own.levels is None:
        return column
    if column.table is None:
        raise NeedsLevels({column.feature: ()}, ordered=False)
    return column.map(partial(_numbers, own))


def _numbers(own: BinnedColumn, levels: Values) -> Values:
    """The bins of levels. A missing value stays missing: it goes to the last one."""
    *known, lost = levels.tolist()
    return np.append(
        own.of_levels(known).astype(np.float64), np.nan if lost is None or lost != lost else own.of_levels([lost])
    )


def _bins(own: BinnedColumn, j: int) -> Bins:
    return Bins(j, own.last if own.levels is None else np.arange(len(own.points) - 2, dtype=np.float64))


register_importer(Scorecard, read_card)
