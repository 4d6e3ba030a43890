"""Estimators that predict the class of the largest probability. They need not be asked for both.

Some choose the largest score instead, before it becomes a probability. The order is the same, but rounding may make
probabilities equal where scores differ. So these are asked where the two largest are close.
"""

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
}
"""Pairs of methods that read the same values and choose alike, and when they do."""

PASSED_ON: dict[tuple[Code, Code], Callable[[Any], Any]] = {
    (
        ("sklearn.pipeline", "Pipeline.predict"),
        ("sklearn.pipeline", "Pipeline.predict_proba"),
    ): lambda pipeline: pipeline.steps[-1][1],
    (
        ("sklearn.model_selection._search", "BaseSearchCV.predict"),
        ("sklearn.model_selection._search", "BaseSearchCV.predict_proba"),
    ): lambda search: search.best_estimator_,
}
"""Pairs of methods that pass the question on, and to whom."""

HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting"
LAYERS = "sklearn.neural_network._multilayer_perceptron"

FROM_SCORES: tuple[tuple[Code, Code], ...] = (
    (
        ("sklearn.linear_model._base", "LinearClassifierMixin.predict"),
        ("sklearn.linear_model._logistic", "LogisticRegression.predict_proba"),
    ),
    (
        ("sklearn.ensemble._gb", "GradientBoostingClassifier.predict"),
        ("sklearn.ensemble._gb", "GradientBoostingClassifier.predict_proba"),
    ),
    (
        (HISTOGRAMS, "HistGradientBoostingClassifier.predict"),
        (HISTOGRAMS, "HistGradientBoostingClassifier.predict_proba"),
    ),
    ((LAYERS, "MLPClassifier.predict"), (LAYERS, "MLPClassifier.predict_proba")),
)
"""Pairs of methods that choose the largest score, and make probabilities of the scores, which keep their order."""

NEVER, NEARLY_TIED, ALWAYS = -1.0, 1e-6, float("inf")
"""The class is in doubt if the two largest probabilities are at most so far apart.

`NEVER` excludes ties, too. `NEARLY_TIED` is more than what rounding to single precision may do.
"""


def doubted_within(estimator: Any) -> float:
    """How close the two largest probabilities may be so that the first of them may not be the class that it predicts.

    `NEVER` where, by its own code, it predicts the first of the largest. A class that has another `predict` is not known,
    and is `ALWAYS` asked for both.
    """
    codes = _code(estimator, "predict"), _code(estimator, "predict_proba")
    if codes in PASSED_ON:
        return doubted_within(PASSED_ON[codes](estimator))
    if codes in FROM_SCORES:
        return NEARLY_TIED
    rule = FROM_PROBABILITIES.get(codes[0], BESIDE_PROBABILITIES.get(codes))
    return NEVER if rule is not None and rule(estimator) else ALWAYS


def _code(estimator: Any, name: str) -> Code:
    method = getattr(estimator, name, None)
    return getattr(method, "__module__", ""), getattr(method, "__qualname__", "")
