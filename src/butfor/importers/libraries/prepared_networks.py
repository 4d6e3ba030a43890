"""Networks behind a fitted preprocessor (`before=`)."""

from __future__ import annotations

from typing import Any

from butfor.estimator.networks import PreparedRegressor
from butfor.importers.fold.column import Column
from butfor.importers.registry import Imported, read_model, register_importer, through_steps


def read_prepared(prepared: Any, columns: list[Column]) -> Imported:
    """The preprocessor is folded, then the network is read."""
    return read_model(prepared.steps[-1][1], through_steps(prepared, columns))


register_importer(PreparedRegressor, read_prepared)
