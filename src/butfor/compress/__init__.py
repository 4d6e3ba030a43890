"""Compression: the few questions about a row on which a model's answers depend, and a small tree that asks them.

`CounterfactualDiscretizer` turns rows into binary columns such as "income > 41250". The thresholds are those that
counterfactuals cross, counted over the training rows. `surrogate` learns a small tree of these columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.compress.columns import BinaryColumn, BinaryColumns
    from butfor.compress.discretizer import CounterfactualDiscretizer
    from butfor.compress.rates import compression_rate, inconsistency_rate
    from butfor.compress.report import CompressionReport
    from butfor.compress.surrogate_tree import Surrogate, surrogate

_HOMES = {
    "butfor.compress.columns": ("BinaryColumn", "BinaryColumns"),
    "butfor.compress.report": ("CompressionReport",),
    "butfor.compress.discretizer": ("CounterfactualDiscretizer",),
    "butfor.compress.surrogate_tree": ("Surrogate", "surrogate"),
    "butfor.compress.rates": ("compression_rate", "inconsistency_rate"),
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

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
