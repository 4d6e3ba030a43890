"""Oblique trees as scikit-learn estimators. They can be used without the explanations.

There is TAO, which learns small and accurate trees, and there are trees given as arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.trees.handed import ObliqueTreeClassifier, ObliqueTreeRegressor
    from butfor.trees.tao.estimators import TAOClassifier, TAORegressor

_HOMES = {
    "butfor.trees.handed": ("ObliqueTreeClassifier", "ObliqueTreeRegressor"),
    "butfor.trees.tao.estimators": ("TAOClassifier", "TAORegressor"),
}
__all__ = ["ObliqueTreeClassifier", "ObliqueTreeRegressor", "TAOClassifier", "TAORegressor"]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
