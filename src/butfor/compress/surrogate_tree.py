"""A small tree in place of a model: learnt from the binary columns of a discretiser, with what is proven of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from butfor.arrays import FloatArray
from butfor.compress import words
from butfor.compress.discretizer import CounterfactualDiscretizer, checked_labels
from butfor.compress.engines import cart, gosdt, streed
from butfor.compress.engines.grown import Engine, TreeTask
from butfor.compress.rates import SHARE_ROUNDING, inconsistency_rate
from butfor.compress.settings import one_of, weight, whole
from butfor.compress.tree import BinaryTree, as_scikit_learn, planted
from butfor.errors import InputTypeError
from butfor.experimental import experimental

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENGINES: dict[str, Engine] = {"cart": cart.grow, "gosdt": gosdt.grow, "streed": streed.grow}
"""The learners of trees."""

LEAF_ROWS = 10
"""A leaf costs as much as this many wrong rows, unless a penalty is given: the paper's 10 / n."""


@dataclass(frozen=True)
class TreeProof:
    """What is known of a tree: its objective is the share of wrong rows plus the penalty of its leaves.

    - `bound`: no tree of this depth over these binary columns has a lower objective;
    - `proven`: whether the tree is the best one;
    - `why`: the reason in words.
    """

    objective: float
    bound: float
    proven: bool
    why: str
    seconds: float

    @property
    def gap(self) -> float:
        """The share of the objective that is not proven necessary: (objective - bound) / objective."""
        return 0.0 if self.objective <= 0 else max(0.0, (self.objective - self.bound) / self.objective)

    def __str__(self) -> str:
        if self.proven:
            return f"proven optimal: {self.why} (objective {self.objective:.4f})"
        return f"not proven: objective {self.objective:.4f}, at least {self.bound:.4f} is necessary; {self.why}"


@experimental
@dataclass(frozen=True, eq=False)
class Surrogate:
    """A small tree over binary columns. It predicts from raw rows, and prints as its rules.

    - `discretizer`: what makes the binary columns;
    - `binary`: the tree as arrays;
    - `classes_`: the labels;
    - `certificate`: whether the tree is the best one, or how far from it at most.
    """

    discretizer: CounterfactualDiscretizer
    binary: BinaryTree
    classes_: NDArray[Any]
    certificate: TreeProof

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each raw row."""
        return np.asarray(self.classes_[self.binary.label[self._leaves(X)]])

    def predict_proba(self, X: Any) -> FloatArray:
        """The share of each class among the training rows of each row's leaf."""
        return np.asarray(self.binary.shares()[self._leaves(X)])

    def score(self, X: Any, y: Any) -> float:
        """The share of the rows whose label is predicted."""
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        return float(np.mean(self.predict(X) == labels))

    def fidelity(self, X: Any) -> float:
        """The share of the rows for which it predicts what the model predicts."""
        return self.score(X, self.discretizer.predicted(X))

    @property
    def rules(self) -> tuple[str, ...]:
        """One rule in words per leaf."""
        lacking = self.discretizer.crossings_.lacking
        return tuple(words.rules(self.binary, self.discretizer.thresholds_, lacking, self._labels))

    @property
    def features(self) -> tuple[str, ...]:
        """The raw columns that the tree asks about."""
        asked = np.unique(self.binary.column[self.binary.column >= 0])
        return tuple(dict.fromkeys(self.discretizer.thresholds_[j].column for j in asked))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the binary columns, as scikit-learn's `export_text` and `plot_tree` want them."""
        return self.discretizer.thresholds_.names

    @cached_property
    def tree(self) -> DecisionTreeClassifier:
        """The same tree as one of scikit-learn, over the binary columns."""
        return as_scikit_learn(self.binary, len(self.discretizer.thresholds_), self.classes_)

    def export_text(self) -> str:
        """The tree as an indented text."""
        return words.indented(self.binary, self.discretizer.thresholds_, self._labels)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree in the user's units."""
        from butfor.views.small_trees import draw

        tree, columns = self.binary, self.discretizer.thresholds_
        texts = [
            columns[column].name if column >= 0 else words.prediction(tree, node, self._labels).replace(" (", "\n(")
            for node, column in enumerate(tree.column.tolist())
        ]
        return draw(texts, tree.no.tolist(), tree.yes.tolist(), tree.label.tolist(), ax)

    def __repr__(self) -> str:
        return "\n".join([*self.rules, str(self.certificate)])

    @property
    def _labels(self) -> Sequence[str]:
        return [str(label) for label in self.classes_.tolist()]

    def _leaves(self, X: Any) -> NDArray[np.intp]:
        return self.binary.reached(self.discretizer.answers(X))


@experimental
def surrogate(
    discretizer: CounterfactualDiscretizer,
    X: Any,
    y: Any = None,
    *,
    kind: str = "cart",
    depth: int = 3,
    penalty: float | None = None,
    time_limit: float = 60.0,
) -> Surrogate:
    """Learn a small tree of the binary columns of a fitted discretiser.

    Choose it for a model that can be printed as a few rules, in the units of the table.

    - `X`, `y`: rows and their labels. Without labels, the tree learns what the model predicts;
    - `kind`: "cart" is greedy. "gosdt" and "streed" search all trees and say what they prove; they need the packages
      gosdt and pystreed;
    - `depth`: the number of questions on the longest path;
    - `penalty`: what each leaf costs, as a share of the rows (default: 10 / rows). CART does not count it;
    - `time_limit`: seconds, after which the best tree so far is returned with its bound.
    """
    if not isinstance(discretizer, CounterfactualDiscretizer):
        raise InputTypeError(
            f"{type(discretizer).__name__} was given.", "A CounterfactualDiscretizer is needed.", "Fit one first."
        )
    check_is_fitted(discretizer)
    engine = ENGINES[one_of("kind", kind, tuple(ENGINES))]
    depth = whole("depth", depth, 1)
    begin = time.perf_counter()
    fixed = copy(discretizer)
    answers = fixed.answers(X)
    labels = fixed.predicted(X) if y is None else checked_labels(X, y)
    classes, codes = np.unique(labels, return_inverse=True)
    price = LEAF_ROWS / len(codes) if penalty is None else weight("penalty", penalty)
    task = TreeTask(answers, codes.astype(np.intp), len(classes), depth, price, weight("time_limit", time_limit))
    grown = engine(task)
    tree = planted(grown.shape, answers, task.codes, len(classes))
    wrong = float(np.mean(tree.label[tree.reached(answers)] != codes))
    objective = wrong + price * len(tree.leaves)
    bound = max(grown.bound, inconsistency_rate(answers, codes) + price)
    attained = objective <= bound + SHARE_ROUNDING
    proof = TreeProof(
        objective=objective,
        bound=objective if grown.proven else min(bound, objective),
        proven=grown.proven or attained,
        why=grown.why if grown.proven or not attained else "no tree can be better, because equal rows get equal labels",
        seconds=time.perf_counter() - begin,
    )
    return Surrogate(fixed, tree, classes, proof)
