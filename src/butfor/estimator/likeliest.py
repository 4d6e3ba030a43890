"""Estimators that predict the class of the largest probability. They need not be asked for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Code = tuple[str, str]
"""Where the code of a method stands: its module, and its qualified name."""

FROM_PROBABILITIES: dict[Code, Callable[[Any], bool]] = {
    ("sklearn.ensemble._forest", "ForestClassifier.predict"): lambda forest: forest.n_outputs_ == 1,
    ("sklearn.ensemble._bagging", "BaggingClassifier.predict"): lambda bag: True,
    ("sklearn.calibration", "CalibratedClassifierCV.predict"): lambda calibrated: True,
    ("lightgbm.sklearn", "LGBMClassifier.predict"): lambda boosting: not callable(boosting.objective),
}
"""Methods that call `predict_proba` and choose the first class of the largest probability, and when they do."""

BESIDE_PROBABILITIES: dict[tuple[Code, Code], Callable[[Any], bool]] = {
    (
        ("sklearn.tree._classes", "BaseDecisionTree.predict"),
        ("sklearn.tree._classes", "DecisionTreeClassifier.predict_proba"),
    ): lambda tree: tree.n_outputs_ == 1,
    (
        ("xgboost.sklearn", "XGBClassifier.predict"),
        ("xgboost.sklearn", "XGBClassifier.predict_proba"),
    ): lambda boosting: boosting.objective in ("binary:logistic", "multi:softprob"),
    (
        ("sklearn.pipeline", "Pipeline.predict"),
        ("sklearn.pipeline", "Pipeline.predict_proba"),
    ): lambda pipeline: predicts_likeliest(pipeline.steps[-1][1]),
    (
        ("sklearn.model_selection._search", "BaseSearchCV.predict"),
        ("sklearn.model_selection._search", "BaseSearchCV.predict_proba"),
    ): lambda search: predicts_likeliest(search.best_estimator_),
}
"""Pairs of methods that read the same values and choose alike, and when they do."""


def predicts_likeliest(estimator: Any) -> bool:
    """Whether the class that it predicts is, by its own code, the first one with the largest probability.

    A class that has another `predict` is not known, and is asked for both.
    """
    codes = _code(estimator, "predict"), _code(estimator, "predict_proba")
    rule = FROM_PROBABILITIES.get(codes[0], BESIDE_PROBABILITIES.get(codes))
    return rule is not None and rule(estimator)


def _code(estimator: Any, name: str) -> Code:
    method = getattr(estimator, name, None)
    return getattr(method, "__module__", ""), getattr(method, "__qualname__", "")
