"""Compression: the few questions about a row on which a model's answers depend, and a small tree that asks them.

`CounterfactualDiscretizer` turns rows into binary columns such as "income > 41250". The thresholds are those that
counterfactuals cross, counted over the training rows. `surrogate` learns a small tree of these columns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.compress.columns import BinaryColumn, BinaryColumns
    from butfor.compress.discretizer import CounterfactualDiscretizer
    from butfor.compress.rates import compression_rate, inconsistency_rate
    from butfor.compress.report import CompressionReport
    from butfor.compress.surrogate_tree import Surrogate, surrogate

_HOME = {
    "BinaryColumn": "columns",
    "BinaryColumns": "columns",
    "CompressionReport": "report",
    "CounterfactualDiscretizer": "discretizer",
    "Surrogate": "surrogate_tree",
    "compression_rate": "rates",
    "inconsistency_rate": "rates",
    "surrogate": "surrogate_tree",
}
__all__ = [
    "BinaryColumn",
    "BinaryColumns",
    "CompressionReport",
    "CounterfactualDiscretizer",
    "Surrogate",
    "compression_rate",
    "inconsistency_rate",
    "surrogate",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'butfor.compress' has no attribute {name!r}")
    return getattr(import_module(f"butfor.compress.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
