"""Oblique trees as scikit-learn estimators. They can be used without the explanations.

There is TAO, which learns small and accurate trees, and there are trees given as arrays.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.trees.handed import ObliqueTreeClassifier, ObliqueTreeRegressor
    from butfor.trees.tao.estimators import TAOClassifier, TAORegressor

_HOME = {
    "ObliqueTreeClassifier": "handed",
    "ObliqueTreeRegressor": "handed",
    "TAOClassifier": "tao.estimators",
    "TAORegressor": "tao.estimators",
}
__all__ = ["ObliqueTreeClassifier", "ObliqueTreeRegressor", "TAOClassifier", "TAORegressor"]


def __getattr__(name: str) -> Any:
    """Load the estimators when one is first used: they need scikit-learn."""
    if name not in _HOME:
        raise AttributeError(f"module 'butfor.trees' has no attribute {name!r}")
    return getattr(import_module(f"butfor.trees.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
