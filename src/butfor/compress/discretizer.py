"""The discretiser: rows become answers to the questions that counterfactuals cross."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import Tags, check_consistent_length, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from butfor.compress.ranks import RANKS, by_classes
from butfor.compress.recent import recall
from butfor.compress.report import CompressionReport, report_on
from butfor.compress.search import CounterfactualSearch, Crossings, search, weighted_cost
from butfor.compress.settings import SCALES, one_of, share, weight
from butfor.errors import InputError
from butfor.estimator.state import state_of
from butfor.experimental import experimental
from butfor.problem.costs import Scale
from butfor.problem.written.constraints import Constraints
from butfor.space import frames


@experimental
class CounterfactualDiscretizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns rows into the few binary columns on which a model's answers depend, such as "income > 41250".

    For each training row that the model classifies correctly, the cheapest change to another class is found. The
    thresholds that many of these changes cross are kept; all others, and columns without any, drop out. It is a
    transformer of scikit-learn, and can stand in a `Pipeline` and in a `GridSearchCV`.

    A change crosses the threshold that lies directly before its answer, in each column that moves. Where a cut of the
    model decides, it is that cut. Where the model moves smoothly, it is the end of the answer, and moves by no more than
    the smallest gap between values of the column cross none.

    The method is FCCA of Piccialli, Romero Morales and Salvatore, "Supervised feature compression based on
    counterfactual analysis", European Journal of Operational Research, 2024.

    Args:
        model: a fitted classifier, which is used as it is, or one that is not fitted: a copy is fitted on the training
            rows. None means boosting of 100 stumps. `clone` and a cross-validation fit it anew, unless it stands in a
            `FrozenEstimator`.
        quantile: a threshold is kept if it is crossed at least as often as this quantile (numpy's) of all counts. 0 keeps all,
            and is the paper's default. Ours is 0.7, the value that it recommends, so that few questions are left.
        rank: which thresholds are kept first. "counts": those that many changes cross, as in the paper. "classes": those
            that part the classes best together, each taken to leave the classes of rows with equal answers least mixed.
            As many are kept as by counts. It is better where few are kept; with few rows it may learn their noise.
        lambda0: the price of each changed column.
        lambda1: the price of a change by the range of a column.
        lambda2: the price of the square of such a change.
        scale: what the changes of a number are measured in: its "range", its standard deviation ("std"), its median
            absolute deviation ("mad") or its own unit ("none"). A range that a few values stretch makes a column cheap.
        p0, p1: the rows that are asked about are those that the model is right about with a probability from p0 to p1. All of
            them are, unless you say otherwise. Of several classes, a model may be right with a probability below 0.5.
        constraints: what the changes must respect, as for `Explainer.explain`. No threshold arises on a column that is
            fixed, so the binary columns ask only about what people can act on, or may fairly be asked.
        merge: thresholds that are not cuts are joined if they differ by no more than this share of the range.
        time_limit: seconds for all counterfactuals. What is found by then is used, and Ctrl-C does the same.
        n_jobs: threads for the counterfactuals; the result does not depend on it.
        progress: whether to show a bar (default: on a terminal, if it takes long).

    Attributes:
        model_: the fitted model.
        thresholds_: the binary columns that are kept. They print as a table.
        crossings_: what was found: all binary columns with their counts, and how many rows were answered and proven.
        space_: what is known about each raw column.
        classes_: the classes of the labels.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = [[income, age] for income in range(20, 80) for age in (20, 40)]
    >>> y = ["approved" if income > 41 and age > 25 else "rejected" for income, age in X]
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> CounterfactualDiscretizer(tree, quantile=0.0).fit(X, y).get_feature_names_out().tolist()
    ['x0 > 41', 'x1 > 30']
    """

    def __init__(
        self,
        model: Any = None,
        *,
        quantile: float = 0.7,
        rank: str = "counts",
        lambda0: float = 0.1,
        lambda1: float = 1.0,
        lambda2: float = 0.0,
        scale: str = "range",
        p0: float = 0.0,
        p1: float = 1.0,
        constraints: Constraints = (),
        merge: float = 0.01,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.model = model
        self.quantile = quantile
        self.rank = rank
        self.lambda0 = lambda0
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.scale = scale
        self.p0 = p0
        self.p1 = p1
        self.constraints = constraints
        self.merge = merge
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the counterfactuals of the training rows, and keep the thresholds that many of them cross."""
        how = self._how()
        table, labels = self._table(X, reset=True), checked_labels(X, y)
        if len(np.unique(labels)) < 2:
            raise InputError("the labels have 1 class.", "At least two are needed, or nothing can change.")
        model = GradientBoostingClassifier(max_depth=1, random_state=0) if self.model is None else self.model
        ready = is_fitted(model)

        def run() -> Crossings:
            used = model if ready else clone(model).fit(table, labels)
            return search(used, table, labels.tolist(), how, self.n_jobs, self.progress)

        found = recall(state_of(model, ready, how, table, labels), run)
        if ready:
            found = replace(found, source=replace(found.source, estimator=model))
        if found.stopped:
            warnings.warn(f"the search was cut short: {found}.", ConvergenceWarning, stacklevel=2)
        if not found.columns:
            raise InputError(
                f"no counterfactual crosses a threshold: {found}.", "At least one is needed.", _advice(found)
            )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if self.rank == "classes":
            found = replace(found, columns=by_classes(found.columns, table, found.space, codes))
        self.crossings_, self.model_, self.space_ = found, found.source.estimator, found.space
        self._columns = frames.names(table)
        self.thresholds_ = found.columns.kept(share("quantile", self.quantile))
        return self

    def set_quantile(self, quantile: float) -> Self:
        """Keep the thresholds of another quantile. No counterfactual is looked for."""
        check_is_fitted(self)
        self.thresholds_ = self.crossings_.columns.kept(share("quantile", quantile))
        self.quantile = quantile
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """0 or 1 for each row and each binary column. A missing value is above no threshold."""
        return self.answers(X)

    def answers(self, X: Any) -> NDArray[np.uint8]:
        """What `transform` returns as an array, whatever `set_output` says."""
        check_is_fitted(self)
        return self.thresholds_.answers(self._table(X, reset=False), self.space_.features)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the binary columns."""
        check_is_fitted(self)
        names = [str(name) for name in _check_feature_names_in(self, input_features)]
        if input_features is None:
            return np.asarray(self.thresholds_.names, dtype=object)
        called = dict(zip(self._columns, names, strict=True))
        return np.asarray([one.named(called[one.column]) for one in self.thresholds_], dtype=object)

    def predicted(self, X: Any) -> NDArray[Any]:
        """What the model predicts for raw rows."""
        check_is_fitted(self)
        return self.crossings_.predicted(self._table(X, reset=False))

    def report(self, X: Any, y: Any, quantiles: Any = None) -> CompressionReport:
        """How much is compressed, and what is lost, at several quantiles, with one that is suggested.

        `X` and `y` are rows and their labels: the training rows, or better some that were held out.
        """
        check_is_fitted(self)
        table, labels = self._table(X, reset=False), checked_labels(X, y)
        return report_on(self.crossings_, table, labels, quantiles)

    def _how(self) -> CounterfactualSearch:
        """The checked settings of the search."""
        share("quantile", self.quantile)
        one_of("rank", self.rank, RANKS)
        p0, p1 = share("p0", self.p0), share("p1", self.p1)
        if p0 > p1:
            raise InputError(f"p0={p0:g} and p1={p1:g} were given.", "p0 must not exceed p1.")
        zero, one, two = (weight(name, getattr(self, name)) for name in ("lambda0", "lambda1", "lambda2"))
        scale = cast(Scale, one_of("scale", self.scale, SCALES))
        cost = weighted_cost(zero, one, two, scale)
        return CounterfactualSearch(cost, self.constraints, p0, p1, share("merge", self.merge), self.time_limit)

    def _table(self, X: Any, *, reset: bool) -> Any:
        """The rows as a table: a data frame as it is, anything else as an array."""
        if hasattr(X, "columns") and not isinstance(X, np.ndarray):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return frames.as_table(X)
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        try:
            return validate_data(self, X, reset=reset, ensure_all_finite=finite, ensure_min_samples=1 + reset)
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.allow_nan = self.model is not None  # a model says itself what it refuses
        return tags


def checked_labels(X: Any, y: Any) -> NDArray[Any]:
    """The labels as an array, checked: one per row."""
    if y is None:
        raise InputError("the discretiser requires y to be passed, but the target y is None.", "", "Give the labels.")
    labels = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    check_classification_targets(labels)
    return np.asarray(labels)


def is_fitted(model: Any) -> bool:
    """Whether a model can predict. One that is not of scikit-learn's kind is taken to be fitted."""
    if not hasattr(model, "fit") or not hasattr(model, "__sklearn_tags__"):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _advice(found: Crossings) -> str:
    if found.answered:
        return "All answers lie within the smallest gap between values of a column."
    if found.stopped:
        return "Give it more time."
    return "The constraints may leave no answer, or the model predicts one class everywhere."
