"""The type of an estimator's scores, whichever of its methods works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.estimator.opening import open_source

X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})


class Broken:
    """A classifier of some library, whose decision function fails."""

    classes_ = np.array([0, 1, 2])

    def predict(self, X: Any) -> Any:
        return np.minimum(np.asarray(X)[:, 0], 2).astype(int)

    def predict_proba(self, X: Any) -> Any:
        return np.eye(3, dtype=np.float32)[self.predict(X)]

    def decision_function(self, X: Any) -> Any:
        raise ValueError("of two classes only")


def test_a_method_that_fails_is_left_out() -> None:
    assert open_source(Broken(), X).precision(X) == np.float32
    assert bf.Explainer(Broken(), X).explain(X[:1], target=1).found.all()
    assert open_source(DecisionTreeClassifier().fit(X, [0, 1, 1, 0]), X).precision(X) == np.float64
