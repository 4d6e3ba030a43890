"""Tree alternating optimisation as scikit-learn estimators."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.trees.fitted import FittedTree, TreeClassifier, TreeRegressor
from butfor.trees.tao import start
from butfor.trees.tao.alternate import Alternation, Fitted
from butfor.trees.tao.importance import importances
from butfor.trees.tao.loss import Squared, ZeroOne
from butfor.trees.tao.sample import Sample
from butfor.trees.tao.split import AxisSplit, ObliqueSplit, Split
from butfor.trees.tao.spread import centre_and_spread

KINDS: dict[str, Callable[[FloatArray], Split]] = {"oblique": ObliqueSplit, "axis": lambda spread: AxisSplit()}
STARTS = ("cart", "random")
WARM_UP = {"cart": 0, "random": 300}
"""The most free sweeps from each start, unless a number is given. Without them, CART's useful cuts are kept."""
ALPHAS = (10.0, 3.0, 1.0, 0.2)
"""The penalties that `alpha="best"` tries. Of equals, the largest is taken."""
EQUAL = 1e-9
"""Losses that differ by less than this share differ by rounding."""
USUAL = 1.0
"""The penalty where too few rows are there to choose."""
TRIAL = 20
"""The most free sweeps while starts and penalties are compared: enough to see which is better."""


class _TAO(FittedTree):
    """The parts of learning that the classifier and the regressor share."""

    _losses: type[ZeroOne] | type[Squared]
    _cart: type[DecisionTreeClassifier] | type[DecisionTreeRegressor]

    def _learn(self, rows: Sample) -> None:
        """Learn from checked rows, and keep the tree and how its objective fell."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        self.init_, self.alpha_ = self._best(rows, seed)
        starts = self.n_init if self.init_ == "random" else 1
        fitted = min(
            (
                self._from(self.init_, self.alpha_, rows, seed + k, self._free(self.init_), self._tell)
                for k in range(starts)
            ),
            key=lambda fitted: float(fitted.objective[-1]),
        )
        self._set(fitted.tree)
        spread = centre_and_spread(rows.X, rows.weight)[1]
        outputs = self._losses(rows.y, rows.weight).outputs(rows.width)
        self.feature_importances_ = importances(fitted.tree, rows.X, outputs, rows.weight, spread)
        self.objective_, self.converged_ = fitted.objective, fitted.converged
        self.n_iter_ = len(self.objective_) - 1
        if not self.converged_:
            warnings.warn(
                f"TAO stopped after max_iter={self.max_iter} sweeps. The last one still lowered the objective from "
                f"{self.objective_[-2]:.6g} to {self.objective_[-1]:.6g}. Raise max_iter or tol if that matters.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _best(self, rows: Sample, seed: int) -> tuple[str, float]:
        """The start and the penalty whose trees have the least loss on rows that were held out from them."""
        inits = STARTS if self.init == "best" else (self.init,)
        alphas = ALPHAS if self.alpha == "best" else (float(self.alpha),)
        tried = [(init, alpha) for alpha in alphas for init in inits]
        if len(tried) == 1:
            return tried[0]
        parts = list(rows.held_out(np.random.RandomState(seed)))
        if not parts:
            return inits[0], USUAL if self.alpha == "best" else alphas[0]
        loss = [
            sum(self._error(*choice, rows.only(~held), rows.only(held), seed) for held in parts) for choice in tried
        ]
        return next(choice for choice, error in zip(tried, loss, strict=True) if error <= (1 + EQUAL) * min(loss))

    def _error(self, init: str, alpha: float, rows: Sample, others: Sample, seed: int) -> float:
        """The loss on other rows of the tree that some rows give."""
        tree = self._from(init, alpha, rows, seed, min(TRIAL, self._free(init)), _silent).tree
        return float(self._losses(others.y, others.weight).each(tree.value, tree.leaves(others.X)).sum())

    def _free(self, init: str) -> int:
        """The most free sweeps from a start."""
        return WARM_UP[init] if self.warm_up is None else self.warm_up

    def _from(
        self, init: str, alpha: float, rows: Sample, seed: int, warm_up: int, tell: Callable[[int, float], None]
    ) -> Fitted:
        """The optimised tree from one start."""
        X, y, weight = rows.X, rows.y, rows.weight
        split = KINDS[self.split](centre_and_spread(X, weight)[1])
        if init == "cart":
            learner = self._cart(max_depth=self.max_depth, random_state=seed)
            tree = start.cart(X, y, weight, learner, split, rows.width)
        else:
            tree = start.random(X, weight, self.max_depth, split, rows.width, np.random.RandomState(seed))
        with Parallel(self.n_jobs, prefer="threads") as workers:
            alternation = Alternation(X, self._losses(y, weight), split, alpha, workers)
            return alternation.run(tree, warm_up, self.max_iter, self.tol, tell)

    def _tell(self, sweep: int, objective: float) -> None:
        if self.verbose:
            print(f"TAO, sweep {sweep}: objective {objective:.6g}", flush=True)

    def _check(self) -> None:
        """Refuse parameters that make no sense."""
        for name, kind, least, word in (
            ("max_depth", Integral, 1, None), ("warm_up", Integral, 0, "None"), ("max_iter", Integral, 1, None),
            ("n_init", Integral, 1, None), ("alpha", Real, 0, "'best'"), ("tol", Real, 0, None),
        ):  # fmt: skip
            given = getattr(self, name)
            if word and repr(given) == word:
                continue
            if isinstance(given, bool) or not isinstance(given, kind) or not least <= float(given) < np.inf:
                what = f"{f'{word} or ' if word else ''}{'a whole number' if kind is Integral else 'a number'}"
                raise InputError(f"{name}={given!r} was given.", f"It must be {what}, {least} or more.")
        for name, known in (("split", tuple(KINDS)), ("init", ("best", *STARTS))):
            if getattr(self, name) not in known:
                *others, last = map(repr, known)
                raise InputError(
                    f"{name}={getattr(self, name)!r} was given.", f"It must be {', '.join(others)} or {last}."
                )


class TAOClassifier(_TAO, TreeClassifier):
    """A small, accurate decision tree. Its decisions are sparse hyperplanes (or cuts of one feature).

    Choose it for a model that a person can read, where several numbers matter together. Tree alternating optimisation
    lowers an objective from sweep to sweep: the number of wrong training rows plus `alpha` times the size of all
    decisions. The size of a decision is the sum of |weight| times the spread of its feature. So the units of the
    features do not matter, and they need no scaling. The spread is the fourth root of the mean fourth power of the
    distance from the mean. For a normal distribution that is 1.3 standard deviations, for a nearly constant feature it
    is more. (Carreira-Perpiñán and Tavallali, NeurIPS 2018.)

    Args:
        max_depth: the depth of the tree to start from; the result is not deeper.
        split: "oblique" (w'x + b >= 0, learnt by L1-regularised logistic regression) or "axis" (one feature, exact
            search).
        init: the start: "cart", "random" decisions that halve their rows, or the "best" of both.
        alpha: how many wrong rows a decision of size 1 may cost; it is the 1/C of a logistic regression on features
            divided by their spread. A larger value makes a sparser and smaller tree. Every decision of an axis tree
            has size 1. "best" tries 10, 3, 1 and 0.2, from each start that `init` allows, on rows held out from
            the trees, a fifth at a time. That takes ten to forty times as long. Of fewer than 30 different rows none
            are held out, and it is 1, from CART. A row of weight 2 counts as two rows; weights that are below 1 on
            average, as those of boosting, are scaled until they are 1 on average.
        warm_up: the most free sweeps at the beginning. They take each decision as it is learnt, even if the objective
            rises, which leads out of poor local optima. They end earlier where 15 of them found no better tree. None
            means 300 from a random start, which needs them, and 0 from CART, which then keeps those of its cuts that
            are useful.
        n_init: the number of random starts, if the start is random. The tree with the least objective is taken.
        max_iter: the largest number of sweeps after the warm-up.
        tol: stop after a sweep that lowers the objective by no more than this share of it.
        class_weight: as in scikit-learn: None, "balanced" or a dict of weights.
        n_jobs: threads for the nodes of one depth; the tree does not depend on it.
        verbose: whether to print the objective after each sweep.
        random_state: the seed of the random starts, of the rows held out, and of CART's choice between equal cuts.

    Attributes:
        weights_: an array (nodes, features), for the features as they were given; a row goes right iff w'x + b >= 0,
            with the terms added in the order of the features and the bias last. Zero at leaves.
        bias_: the bias of each node.
        left_, right_: the children of each node, -1 at leaves. The root is node 0.
        value_: an array (nodes, classes): the share of each class in a leaf. The leaf predicts the class with the
            largest.
        classes_: the labels, in the order of the columns of `value_`.
        feature_importances_: the share of each feature in what the decisions save in impurity (Gini index, variance),
            as in scikit-learn's trees. A decision shares what it saves by |weight| times spread.
        objective_: the training objective after the free sweeps and after each later sweep; it never rises.
        n_iter_: the number of sweeps after the free ones.
        init_, alpha_: the start that was taken, "cart" or "random", and the penalty.
        converged_: whether the last sweep lowered the objective by no more than `tol`. If not, there was a
            `ConvergenceWarning`. The optimum is local, as with all such trees.

    >>> X = [[a, b] for a in range(6) for b in range(6)]
    >>> y = ["yes" if a > b else "no" for a, b in X]
    >>> tree = TAOClassifier(max_depth=1, alpha=0.2, random_state=0).fit(X, y)
    >>> tree.get_n_leaves(), tree.score(X, y)
    (2, 1.0)
    """

    _losses = ZeroOne
    _cart = DecisionTreeClassifier

    def __init__(
        self,
        max_depth: int = 6,
        *,
        split: str = "oblique",
        init: str = "best",
        alpha: float | str = "best",
        warm_up: int | None = None,
        n_init: int = 1,
        max_iter: int = 50,
        tol: float = 1e-3,
        class_weight: dict[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.split = split
        self.init = init
        self.alpha = alpha
        self.warm_up = warm_up
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TAOClassifier:
        """Learn the tree. Rows of weight 0 are ignored."""
        self._check()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", force_writeable=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if self.class_weight is not None:
            weight = weight * compute_sample_weight(self.class_weight, y)
        self._learn(Sample(X, codes, weight, len(self.classes_)).present())
        return self


class TAORegressor(_TAO, TreeRegressor):
    """A small, accurate regression tree. Its decisions are sparse hyperplanes (or cuts of one feature).

    Choose it as you would choose `TAOClassifier`, for values. It works like that, with the sum of squared differences
    in place of the number of wrong rows. They are counted in units of the variance of `y`, so its unit does not matter
    either.

    Args:
        max_depth: the depth of the tree to start from; the result is not deeper.
        split: "oblique" (w'x + b >= 0, learnt by L1-regularised logistic regression) or "axis" (one feature, exact
            search).
        init: the start: "cart", "random" decisions that halve their rows, or the "best" of both.
        alpha: what a decision of size 1 may cost, as a multiple of the variance of `y`. A larger value makes a sparser
            and smaller tree. Every decision of an axis tree has size 1. "best" chooses as in `TAOClassifier`.
        warm_up: the most free sweeps at the beginning. They take each decision as it is learnt, even if the objective
            rises, which leads out of poor local optima. They end earlier where 15 of them found no better tree. None
            means 300 from a random start, which needs them, and 0 from CART, which then keeps those of its cuts that
            are useful.
        n_init: the number of random starts, if the start is random. The tree with the least objective is taken.
        max_iter: the largest number of sweeps after the warm-up.
        tol: stop after a sweep that lowers the objective by no more than this share of it.
        n_jobs: threads for the nodes of one depth; the tree does not depend on it.
        verbose: whether to print the objective after each sweep.
        random_state: the seed of the random starts, of the rows held out, and of CART's choice between equal cuts.

    Attributes:
        weights_, bias_, left_, right_, feature_importances_, objective_, n_iter_, init_, alpha_, converged_: as in
            `TAOClassifier`.
        value_: an array (nodes, 1): the mean in a leaf.
    """

    _losses = Squared
    _cart = DecisionTreeRegressor

    def __init__(
        self,
        max_depth: int = 6,
        *,
        split: str = "oblique",
        init: str = "best",
        alpha: float | str = "best",
        warm_up: int | None = None,
        n_init: int = 1,
        max_iter: int = 50,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.split = split
        self.init = init
        self.alpha = alpha
        self.warm_up = warm_up
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TAORegressor:
        """Learn the tree. Rows of weight 0 are ignored."""
        self._check()
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", force_writeable=True, y_numeric=True)
        y = y.astype(np.float64)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        rows = Sample(X, y, weight, 1).present()
        size = np.frexp(np.abs(rows.y).max())[1]
        rows = replace(rows, y=np.ldexp(rows.y, -size))  # a power of two rounds nothing, and squares cannot overflow
        middle = np.average(rows.y, weights=rows.weight)
        unit = np.sqrt(np.average((rows.y - middle) ** 2, weights=rows.weight)) or 1.0
        self._learn(replace(rows, y=(rows.y - middle) / unit))
        self.value_[:] = np.ldexp(self.value_ * unit + middle, size)
        return self


def _silent(sweep: int, objective: float) -> None:
    """Tell nothing of the trials on fewer rows."""
