"""The levels that the encoders of a pipeline were fitted on, without the table that they were fitted on."""

from __future__ import annotations

from typing import Any

from butfor.estimator.opening import open_source
from butfor.importers.builtin import load_builtin
from butfor.importers.fold.column import NeedsLevels, raw_columns
from butfor.importers.registry import read_model
from butfor.space.feature import Feature

NOT_TOLD = ("?",)
"""In place of the levels of an encoder that does not tell them."""


def known_levels(estimator: Any, table: Any) -> dict[str, tuple[Any, ...]]:
    """The levels that an estimator knows, by column, as far as its importers tell.

    All columns are taken for numbers. So every encoder says what it needs instead, as when a model is read. `table` has
    the columns, with whatever values.
    """
    load_builtin()
    source = open_source(estimator, table)
    features = [Feature(name, high=1.0, missing=True) for name in source.names]
    found: dict[str, tuple[Any, ...]] = {}
    while True:
        try:
            read_model(source.estimator, raw_columns(tuple(features)))
        except NeedsLevels as wish:
            fresh = {j: levels or NOT_TOLD for j, levels in wish.levels.items() if features[j].levels is None}
            if not fresh:
                return found
            for j, levels in fresh.items():
                features[j] = Feature(source.names[j], levels=levels, missing=True)
                found |= {source.names[j]: levels} if levels is not NOT_TOLD else {}
            continue
        except Exception:  # whatever a step says to columns that are not as they were
            return found
        return found
