"""Measures of sets of counterfactuals, whoever made them.

`butfor.measure.Judge` computes all measures. Each function computes one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.measure.judge import Judge, plot
    from butfor.measure.measures import (
        categorical_proximity,
        contradiction,
        diversity,
        normalised_diversity,
        proximity,
        sparsity,
    )
    from butfor.measure.plausibility import Plausibility

_HOMES = {
    "judge": ("Judge", "plot"),
    "measures": (
        "categorical_proximity", "contradiction", "diversity", "normalised_diversity", "proximity", "sparsity",
    ),
    "plausibility": ("Plausibility",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}
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
]


def __getattr__(name: str) -> Any:
    """Load a measure when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'butfor.measure' has no attribute {name!r}")
    return getattr(import_module(f"butfor.measure.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
