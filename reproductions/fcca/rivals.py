"""Other ways to thresholds: those of a reference ensemble (GTRE), equal bins, and the cuts of a plain CART."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import SEED

Cuts = list[tuple[int, float]]


def answers(X: pd.DataFrame, cuts: Cuts) -> np.ndarray[Any, Any]:
    """0 or 1 for each row and cut."""
    values = X.to_numpy(dtype=np.float64)
    return np.column_stack([values[:, j] > cut for j, cut in cuts]).astype(np.uint8)


def gtre(X: pd.DataFrame, y: Any, trees: int = 100) -> Cuts:
    """Thresholds of boosted stumps: the least important is dropped until the training accuracy falls.

    After McTavish and others, "Fast sparse decision tree optimization via reference ensembles" (AAAI 2022): columns that
    the ensemble does not use go first, and the ensemble is fitted again after each step.
    """

    def fitted(rows: Any) -> Any:
        return GradientBoostingClassifier(n_estimators=trees, max_depth=1, random_state=SEED).fit(rows, y)

    first = fitted(X.to_numpy(dtype=np.float64))
    cuts = sorted(
        {
            (int(tree.tree_.feature[0]), float(tree.tree_.threshold[0]))
            for tree in first.estimators_.ravel()
            if tree.tree_.feature[0] >= 0
        }
    )
    model = fitted(answers(X, cuts))
    enough = model.score(answers(X, cuts), y)
    while len(cuts) > 1:
        used = model.feature_importances_ > 0
        less = [cut for cut, is_used in zip(cuts, used, strict=True) if is_used]
        if used.all():
            del less[int(model.feature_importances_.argmin())]
        again = fitted(answers(X, less))
        if again.score(answers(X, less), y) < enough:
            break
        cuts, model = less, again
    return cuts


def bins(X: pd.DataFrame, y: Any, budget: int) -> Cuts:
    """Quantile bins of every column, of which those that tell most about the class are kept."""
    count = max(2, -(-budget // X.shape[1]) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns with few values have fewer bins
        method = {"encode": "ordinal", "quantile_method": "averaged_inverted_cdf"}
        found = KBinsDiscretizer(count, **method).fit(X.to_numpy(dtype=float))
    cuts = [(j, float(edge)) for j, edges in enumerate(found.bin_edges_) for edge in np.unique(edges[1:-1])]
    told = mutual_info_classif(answers(X, cuts), y, discrete_features=True)
    best = np.sort(np.argsort(-told, kind="stable")[:budget])
    return [cuts[k] for k in best]


def cart_cuts(X: pd.DataFrame, y: Any, budget: int) -> Cuts:
    """The cuts of a CART that is grown best first until it has as many."""
    tree = DecisionTreeClassifier(max_leaf_nodes=budget + 1, random_state=SEED).fit(X.to_numpy(dtype=float), y).tree_
    inner = tree.feature >= 0
    return sorted({(int(j), float(cut)) for j, cut in zip(tree.feature[inner], tree.threshold[inner], strict=True)})
