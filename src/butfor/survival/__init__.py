"""Survival: what would lengthen or shorten the time to an event.

`bf.survival.mean_gain(90)` is a target like any other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.estimator.survival_functions import black_box
    from butfor.problem.targets.survival_names import (
        hazard_ratio,
        mean_at_least,
        mean_gain,
        mean_loss,
        median_gain,
        quantile_at_least,
        risk_change,
        survival_at,
    )
    from butfor.survival.plots import curves, map_of
    from butfor.views.survival_words import sentence

_HOMES = {
    "estimator.survival_functions": ("black_box",),
    "problem.targets.survival_names": (
        "mean_gain", "mean_loss", "mean_at_least", "median_gain", "quantile_at_least", "survival_at", "risk_change",
        "hazard_ratio",
    ),
    "survival.plots": ("curves", "map_of"),
    "views.survival_words": ("sentence",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [
    "black_box",
    "curves",
    "hazard_ratio",
    "map_of",
    "mean_at_least",
    "mean_gain",
    "mean_loss",
    "median_gain",
    "quantile_at_least",
    "risk_change",
    "sentence",
    "survival_at",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'butfor.survival' has no attribute {name!r}")
    return getattr(import_module(f"butfor.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
