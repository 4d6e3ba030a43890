"""TAO, a learner of decision trees that are small and accurate: scikit-learn estimators, apart from the explanations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.trees.tao import TAOClassifier, TAORegressor

__all__ = ["TAOClassifier", "TAORegressor"]


def __getattr__(name: str) -> Any:
    """Load the estimators when one is first used: they need scikit-learn."""
    if name not in __all__:
        raise AttributeError(f"module 'butfor.trees' has no attribute {name!r}")
    return getattr(import_module("butfor.trees.tao"), name)
