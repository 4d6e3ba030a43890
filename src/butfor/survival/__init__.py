"""Survival: what would lengthen or shorten the time to an event.

`bf.survival.mean_gain(90)` is a target like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.estimator.survival_functions import black_box
    from butfor.estimator.survival_networks import cox_network
    from butfor.problem.targets.survival_names import (
        hazard_ratio,
        mean_at_least,
        mean_gain,
        mean_loss,
        median_gain,
        quantile_at_least,
        risk_change,
        survival_at,
        survival_gain,
    )
    from butfor.survival.plots import curves, map_of
    from butfor.views.survival_words import sentence

_HOMES = {
    "butfor.estimator.survival_functions": ("black_box",),
    "butfor.estimator.survival_networks": ("cox_network",),
    "butfor.problem.targets.survival_names": (
        "mean_gain", "mean_loss", "mean_at_least", "median_gain", "quantile_at_least", "survival_at", "survival_gain",
        "risk_change", "hazard_ratio",
    ),
    "butfor.survival.plots": ("curves", "map_of"),
    "butfor.views.survival_words": ("sentence",),
}  # fmt: skip
__all__ = [
    "black_box",
    "cox_network",
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
    "survival_gain",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
