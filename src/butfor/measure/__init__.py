"""Measures of sets of counterfactuals, whoever made them.

`butfor.measure.Judge` computes all measures. Each function computes one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.measure.judge import Judge, plot
    from butfor.measure.measures import (
        categorical_proximity,
        contradiction,
        diversity,
        normalised_diversity,
        proximity,
        sparsity,
        standardised_diversity,
    )
    from butfor.measure.plausibility import Plausibility

_HOMES = {
    "butfor.measure.judge": ("Judge", "plot"),
    "butfor.measure.measures": (
        "categorical_proximity", "contradiction", "diversity", "normalised_diversity", "proximity", "sparsity",
        "standardised_diversity",
    ),
    "butfor.measure.plausibility": ("Plausibility",),
}  # fmt: skip
__all__ = [
    "Judge",
    "Plausibility",
    "categorical_proximity",
    "contradiction",
    "diversity",
    "normalised_diversity",
    "plot",
    "proximity",
    "sparsity",
    "standardised_diversity",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
