"""TAO: a scikit-learn estimator; its objective never rises, its care points are those of the definition."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import Parallel
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.trees import TAOClassifier, TAORegressor
from butfor.trees.tao import kernels, start
from butfor.trees.tao.alternate import FRUITLESS, Alternation
from butfor.trees.tao.loss import Loss, Squared, ZeroOne
from butfor.trees.tao.sample import Sample
from butfor.trees.tao.split import AxisSplit, ObliqueSplit, Split
from butfor.trees.tao.spread import centre_and_spread
from butfor.trees.tree import Tree, sides
from tests.shorter import diagonal

KINDS = [(split, init) for split in ("oblique", "axis") for init in ("best", "cart", "random")]
IRIS = load_iris(return_X_y=True)
SPLITS: tuple[Split, ...] = (ObliqueSplit(np.array([1.0, 0.5, 2.0, 1.0])), AxisSplit())

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # asserted where it matters


@pytest.mark.shorter(2)
@parametrize_with_checks([TAOClassifier(alpha=1.0)])
def test_it_is_a_scikit_learn_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [
        TAOClassifier(split="axis"),
        TAOClassifier(init="cart"),
        TAOClassifier(init="random"),
        TAOClassifier(),
        TAORegressor(),
        TAORegressor(split="axis"),
        TAORegressor(init="cart", alpha=1.0),
    ]
)
def test_it_is_a_scikit_learn_estimator_with_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


def problem(seed: int, split: Split, regression: bool, depth: int = 3) -> tuple[Alternation, Tree]:
    """Random rows (with ties), weights and a random tree with leaves fitted to them."""
    rng = np.random.RandomState(seed)
    X = np.round(rng.standard_normal((60, 4)), 1)
    weight = rng.uniform(0.5, 2, len(X))
    label = ((X[:, 0] > 0) + 2 * (X @ [1, -1, 0.5, 0] > 0.2) + (rng.random_sample(len(X)) < 0.1)) % 3
    loss: Loss = Squared(label + 0.1 * X[:, 1], weight) if regression else ZeroOne(label.astype(np.intp), weight)
    tree = start.random(X, weight, depth, split, 1 if regression else 3, rng)
    tree.value = loss.refit(tree.value, tree.leaves(X))
    alpha = float(rng.choice([0.0, 0.1, 1.0]))
    return Alternation(X, loss, split, alpha, Parallel(1, prefer="threads")), tree


def slow_leaf(tree: Tree, x: FloatArray, node: int) -> int:
    while tree.left[node] >= 0:
        total = 0.0
        for w, value in zip(tree.weights[node], x, strict=True):
            total += w * value
        node = int(tree.right[node] if total + tree.bias[node] >= 0 else tree.left[node])
    return node


def slow_loss(loss: Any, tree: Tree, row: int, leaf: int) -> float:
    value, weight = tree.value[leaf], float(loss.weight[row])
    if isinstance(loss, ZeroOne):
        return weight * float(np.argmax(value) != loss.codes[row])
    return weight * float(value[0] - loss.y[row]) ** 2


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), split=st.sampled_from(SPLITS), regression=st.booleans())
def test_the_objective_never_rises_at_any_node(seed: int, split: Split, regression: bool) -> None:
    alternation, tree = problem(seed, split, regression)
    before = alternation.objective(tree)
    slack = 1e-9 * before
    depth = tree.depth
    for node in sorted(tree.inner, key=lambda i: -depth[i]):
        paths = tree.paths(alternation.X)
        rows = np.flatnonzero((paths == node).any(axis=1))
        gain = alternation.gain(tree, np.where((paths == node).any(axis=1), node, -1))
        found = alternation.improved((tree.weights[node], tree.bias[node]), rows, gain[rows], 0.0)
        tree.weights[node], tree.bias[node] = found
        after = alternation.objective(tree)
        assert after <= before + slack
        before = after
    alternation.sweep(tree, partial(alternation.improved, least=0.0))
    assert alternation.objective(tree) <= before + slack


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**31 - 1),
    kind=st.sampled_from(KINDS),
    estimator=st.sampled_from([TAOClassifier, TAORegressor]),
    alpha=st.sampled_from([0.0, 0.1, 3.0]),
)
def test_the_objective_falls_and_is_that_of_the_tree(
    seed: int, kind: tuple[str, str], estimator: Any, alpha: float
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    weight = rng.uniform(0.2, 3, 50)
    split, init = kind
    tao = estimator(3, split=split, init=init, alpha=alpha, tol=0.0, random_state=seed).fit(X, y, weight)
    assert (np.diff(tao.objective_) <= 1e-9 * tao.objective_[0]).all()
    if estimator is TAOClassifier:
        wrong = tao.predict(X) != y
    else:
        wrong = (tao.predict(X) - y) ** 2 / np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    spread = centre_and_spread(X, weight)[1]
    size = np.abs(tao.weights_) @ spread if split == "oblique" else tao.left_ >= 0
    again = weight @ wrong + alpha * size.sum()
    assert again <= tao.objective_[-1] + 1e-9 * tao.objective_[0]
    assert len(tao.objective_) == tao.n_iter_ + 1


def unequal(seed: int, rows: int = 2000) -> tuple[FloatArray, Any]:
    """Seven rows of ten are of one class. The rest lie mostly on one side of an oblique border."""
    rng = np.random.default_rng(seed)
    y = (np.arange(rows) % 10 < 3).astype(np.intp)
    return rng.normal(size=(rows, 5)) + 0.9 * y[:, None] * [1, -1, 0, 0, 0], y


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_unequal_classes_do_not_end_in_a_single_leaf(depth: int, seed: int) -> None:
    X, y = unequal(seed)
    half = len(X) // 2
    logistic = LogisticRegression().fit(X[:half], y[:half])
    tao = TAOClassifier(depth, init="random", alpha=6, random_state=seed).fit(X[:half], y[:half])
    assert logistic.score(X[half:], y[half:]) > 0.77
    assert tao.get_n_leaves() > 1
    assert tao.score(X[half:], y[half:]) > 0.76


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), split=st.sampled_from(SPLITS))
def test_waking_lowers_the_objective_of_forks_that_sleep_and_touches_no_other(seed: int, split: Split) -> None:
    alternation, tree = problem(seed, split, regression=False)
    rng = np.random.default_rng(seed)
    forks = [i for i in tree.inner if tree.left[tree.left[i]] < 0 and tree.left[tree.right[i]] < 0]
    for fork in forks:
        if rng.random() < 0.7:  # the same label on both sides: nothing to learn from
            tree.value[[tree.left[fork], tree.right[fork]]] = np.eye(3)[rng.integers(3)]
    before, was = alternation.objective(tree), deepcopy(tree)
    labels = was.value.argmax(axis=1)[was.leaves(alternation.X)]
    paths = was.paths(alternation.X)
    alternation.wake(tree, 1e-9)
    assert alternation.objective(tree) <= before + 1e-9
    changed = np.flatnonzero((tree.weights != was.weights).any(axis=1) | (tree.bias != was.bias))
    assert set(changed) <= set(forks)
    for fork in changed:
        assert len(set(labels[(paths == fork).any(axis=1)])) == 1


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), split=st.sampled_from(SPLITS), regression=st.booleans())
def test_care_points_are_those_of_the_definition(seed: int, split: Split, regression: bool) -> None:
    alternation, tree = problem(seed, split, regression)
    paths = tree.paths(alternation.X)
    for level in range(paths.shape[1]):
        gain = alternation.gain(tree, paths[:, level])
        for row, node in enumerate(paths[:, level]):
            if node < 0 or tree.left[node] < 0:
                assert gain[row] == 0
                continue
            x = alternation.X[row]
            on_left, on_right = (slow_leaf(tree, x, int(side[node])) for side in (tree.left, tree.right))
            left, right = (slow_loss(alternation.loss, tree, row, leaf) for leaf in (on_left, on_right))
            assert gain[row] == pytest.approx(left - right)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), split=st.sampled_from(SPLITS))
def test_pruning_dead_branches_moves_no_row_that_was_seen(seed: int, split: Split) -> None:
    alternation, tree = problem(seed, split, regression=False, depth=5)
    X = alternation.X
    some = np.random.default_rng(seed).integers(0, len(X), 6)
    reached = np.zeros(len(tree.left), dtype=np.bool_)
    reached[np.unique(tree.paths(X[some])[tree.paths(X[some]) >= 0])] = True
    small = tree.pruned(reached)
    assert len(small.left) <= len(tree.left)
    np.testing.assert_array_equal(small.value[small.leaves(X[some])], tree.value[tree.leaves(X[some])])
    assert set(small.leaves(X[some])) == set(np.flatnonzero(small.left < 0))


@pytest.mark.shorter(3)
@pytest.mark.parametrize(("kind", "estimator"), diagonal(KINDS, [TAOClassifier, TAORegressor]))
def test_every_leaf_of_a_fitted_tree_has_training_rows(kind: tuple[str, str], estimator: Any) -> None:
    split, init = kind
    X, y = IRIS
    tao = estimator(5, split=split, init=init, random_state=0).fit(X, y)
    np.testing.assert_array_equal(np.unique(tao.apply(X)), np.flatnonzero(tao.left_ < 0))


@pytest.mark.parametrize("depth", [2, 4])
def test_an_axis_tree_is_no_worse_than_cart_on_its_training_rows(depth: int) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    ours = TAOClassifier(depth, split="axis", init="cart", alpha=0, random_state=0).fit(X, y)
    assert ours.score(X, y) >= DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y).score(X, y)
    X, y = load_diabetes(return_X_y=True)
    regressor = TAORegressor(depth, split="axis", init="cart", alpha=0, random_state=0).fit(X, y)
    assert regressor.score(X, y) > DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y).score(X, y)
    assert (np.count_nonzero(regressor.weights_, axis=1) == (regressor.left_ >= 0)).all()


@pytest.mark.parametrize("code", [None, 1e8, 1e10])
@pytest.mark.parametrize("split", ["oblique", "axis"])
def test_the_start_is_carts_tree_whatever_far_number_stands_for_not_known(split: str, code: float | None) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(50, 10, size=(600, 3)).round(2)
    y = (X[:, 0] > 45) & (X[:, 1] < 58)
    if code:
        X[rng.integers(0, 600, 3), 0] = X[rng.integers(0, 600, 3), 1] = code
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    units = centre_and_spread(X, np.ones(600))[1]
    began = start.cart(X, y, np.ones(600), clone(cart), ObliqueSplit(units) if split == "oblique" else AxisSplit(), 2)
    np.testing.assert_array_equal(began.leaves(X), cart.apply(X))
    ours = TAOClassifier(3, split=split, init="cart", alpha=1, random_state=0).fit(X, y)
    assert ours.score(X, y) >= cart.score(X, y)


@pytest.mark.parametrize(
    ("data", "kind"), [(load_wine, DecisionTreeClassifier), (load_diabetes, DecisionTreeRegressor)]
)
def test_the_start_has_carts_cuts(data: Any, kind: Any) -> None:
    X, y = data(return_X_y=True)
    cart = kind(max_depth=5, random_state=1).fit(X, y).tree_
    began = start.cart(X, y, np.ones(len(X)), kind(max_depth=5, random_state=1), AxisSplit(), 3)
    inner = cart.children_left >= 0
    np.testing.assert_array_equal(began.weights[inner], np.eye(X.shape[1])[cart.feature[inner]])
    np.testing.assert_allclose(-began.bias[inner], cart.threshold[inner], rtol=1e-6)  # theirs lie between floats


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**31 - 1))
def test_the_cut_of_an_axis_decision_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, gain = np.round(rng.normal(size=(12, 2)), 1), rng.choice([-1.0, 1.0], 12) * rng.uniform(0.5, 2, 12)
    found = AxisSplit().learn(X, gain, (np.zeros(2), 0.0), 0.0)
    every = [
        gain[sides(X, sign * np.eye(2)[j], -sign * t)].sum()
        for j in range(2)
        for values in [np.unique(X[:, j])]
        for t in (values[1:] + values[:-1]) / 2
        for sign in (1.0, -1.0)
    ]
    assert gain[sides(X, *found)].sum() == pytest.approx(max(every))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 20.0])
def test_logistic_regression_is_at_its_optimum(alpha: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    sign, care = np.where(y == 1, 1.0, -1.0), np.random.default_rng(0).uniform(0.2, 2, len(X))
    columns = np.asfortranarray(X)
    w, b = kernels.logistic(columns, sign, care, alpha, np.zeros(X.shape[1]), 0.0, 1e-7)
    pull = -care * sign / (1 + np.exp(sign * (X @ w + b)))
    slope, small = X.T @ pull, 1e-4
    assert 0 < np.count_nonzero(w) < len(w)
    assert abs(pull.sum()) < small
    assert (np.abs(slope) <= alpha + small).all()
    np.testing.assert_allclose(slope[w != 0], -alpha * np.sign(w[w != 0]), atol=small)
    far = kernels.logistic(columns, sign, care, alpha, np.ones(X.shape[1]), 3.0, 1e-7)
    np.testing.assert_allclose(far[0], w, atol=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("every", [9, 3])
@pytest.mark.parametrize(("split", "init"), diagonal(("oblique", "axis"), ("best", "cart", "random")))
def test_the_seed_and_not_the_threads_decide(split: str, init: str, every: int) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    fits = [
        TAOClassifier(3, split=split, init=init, warm_up=3, n_jobs=jobs, random_state=3).fit(X[::every, :8], y[::every])
        for jobs in (None, 1, 2)
    ]
    for other in fits[1:]:
        for name in ("weights_", "bias_", "left_", "right_", "value_", "objective_"):
            np.testing.assert_array_equal(getattr(fits[0], name), getattr(other, name))


def test_labels_may_be_words_and_classes_may_weigh() -> None:
    X, y = IRIS
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    tao = TAOClassifier(3, random_state=0).fit(X, words)
    assert tao.score(X, words) > 0.95
    np.testing.assert_array_equal(tao.classes_[tao.predict_proba(X).argmax(axis=1)], tao.predict(X))
    heavy = {"setosa": 1, "versicolor": 1, "virginica": 1000}
    wary = TAOClassifier(1, class_weight=heavy, random_state=0).fit(X, words)
    assert (wary.predict(X)[y == 2] == "virginica").all()
    weighted = TAOClassifier(1, random_state=0).fit(X, words, np.array([heavy[word] for word in words]))
    np.testing.assert_array_equal(wary.weights_, weighted.weights_)


UNITS = np.array([1e-6, 1e6, 1e-3, 7.0]), np.array([1e-5, -3e6, 0.0, 100.0])


def rows_and_borders(seed: int) -> tuple[FloatArray, FloatArray]:
    """Two oblique borders and noise, in four columns, one of which is nearly always zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(240, 4))
    X[:, 3] *= rng.random(240) < 0.1
    return X, (X @ [1, -1, 0.5, 2] > 0.2) + 2.0 * (X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=240) > 0)


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("kind", "estimator"), diagonal(KINDS, [TAOClassifier, TAORegressor]))
def test_the_units_of_columns_make_no_difference(kind: tuple[str, str], estimator: Any) -> None:
    split, init = kind
    X, y = rows_and_borders(0)
    factor, shift = UNITS
    plain = estimator(3, split=split, init=init, random_state=0).fit(X[:160], y[:160])
    other = estimator(3, split=split, init=init, random_state=0).fit(X[:160] * factor + shift, y[:160])
    np.testing.assert_allclose(other.predict(X * factor + shift), plain.predict(X), rtol=1e-9)
    assert other.init_ == plain.init_
    if split == "oblique":
        np.testing.assert_allclose(other.weights_ * factor, plain.weights_, rtol=1e-4, atol=1e-6)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("split", ["oblique", "axis"])
def test_the_unit_of_the_target_makes_no_difference(split: str) -> None:
    X, y = rows_and_borders(1)
    plain = TAORegressor(3, split=split, random_state=0).fit(X, y)
    other = TAORegressor(3, split=split, random_state=0).fit(X, 1e6 * y - 5)
    np.testing.assert_allclose(other.predict(X), 1e6 * plain.predict(X) - 5, rtol=1e-9)


@pytest.mark.parametrize("exponent", [-1000, -560, 530, 1015])
def test_targets_as_large_or_small_as_floats_allow_are_learnt_alike(exponent: int) -> None:
    X, y = rows_and_borders(1)
    plain = TAORegressor(3, init="cart", alpha=1, random_state=0).fit(X, y)
    other = TAORegressor(3, init="cart", alpha=1, random_state=0).fit(X, np.ldexp(y, exponent))
    assert plain.get_n_leaves() > 2
    np.testing.assert_array_equal(other.weights_, plain.weights_)
    np.testing.assert_array_equal(other.value_, np.ldexp(plain.value_, exponent))


def test_the_spread_is_that_of_the_column_and_wider_if_it_is_nearly_constant() -> None:
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, 50)
    X = np.column_stack([rng.normal(size=50), np.arange(50) < 2, np.full(50, 0.1)]).astype(np.float64)
    centre, spread = centre_and_spread(X, weight.astype(np.float64))
    again = centre_and_spread(np.repeat(X, weight, axis=0), np.ones(weight.sum()))
    np.testing.assert_allclose([centre, spread], again)
    np.testing.assert_allclose(centre_and_spread(-1e200 * X, weight.astype(np.float64))[1][:2], 1e200 * spread[:2])
    assert spread[2] == 1
    assert 1.5 * X[:, 1].std() < spread[1] < 1


def test_rows_are_held_out_with_their_copies_until_there_are_enough() -> None:
    def parts(X: FloatArray) -> list[Any]:
        ones = np.ones(len(X))
        return list(Sample(X, ones, ones, 1).held_out(np.random.RandomState(0)))

    X = np.random.default_rng(0).integers(0, 10, (150, 2)).astype(np.float64)
    assert len(np.unique(X, axis=0)) < len(X)
    np.testing.assert_array_equal(np.sum(parts(X), axis=0), 1)
    for held in parts(X):
        assert not {tuple(row) for row in X[held]} & {tuple(row) for row in X[~held]}
    assert [len(parts(np.arange(n * 1.0)[:, None])) for n in (29, 30, 5000, 10_000)] == [0, 5, 2, 1]


@pytest.mark.long
def test_the_start_is_the_one_that_does_better_on_held_out_rows() -> None:
    X, y = load_digits(return_X_y=True)
    assert TAOClassifier(5, random_state=0).fit(X[:600], y[:600]).init_ == "random"
    X = np.random.default_rng(0).integers(0, 10, (400, 8)).astype(np.float64)
    box = (X[:, 0] % 4 < 2) & (X[:, 1] > 3)
    assert TAOClassifier(6, random_state=0).fit(X, box).init_ == "cart"


@pytest.mark.long
def test_the_start_and_the_penalty_are_those_with_the_least_error_on_held_out_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    learnt: dict[tuple[str, float], list[tuple[Any, Any]]] = {}
    learn = TAOClassifier._from

    def seen(self: Any, init: str, alpha: float, rows: Sample, *given: Any) -> Any:
        fitted = learn(self, init, alpha, rows, *given)
        learnt.setdefault((init, alpha), []).append((rows, fitted.tree))
        return fitted

    monkeypatch.setattr(TAOClassifier, "_from", seen)
    tao = TAOClassifier(3, random_state=0).fit(X, y, weight)
    assert set(learnt) == {(init, alpha) for init in ("cart", "random") for alpha in (10, 3, 1, 0.2)}
    wrong = {}
    for choice, trials in learnt.items():
        wrong[choice] = 0.0
        for rows, tree in trials[:5]:
            others = np.array([not (x == rows.X).all(axis=1).any() for x in X])
            assert len(X) // 5 <= others.sum() <= len(X) // 5 + 1
            said = [np.argmax(tree.value[slow_leaf(tree, x, 0)]) for x in X[others]]
            wrong[choice] += weight[others] @ (said != y[others])
    least = min(wrong.values())
    best = [choice for choice, error in wrong.items() if error == pytest.approx(least)]
    assert (tao.init_, tao.alpha_) in best
    assert tao.alpha_ == max(alpha for _, alpha in best)
    assert len(learnt[tao.init_, tao.alpha_]) == 6


def test_a_penalty_that_is_given_or_cannot_be_chosen() -> None:
    X, y = load_digits(return_X_y=True)
    few = TAOClassifier().fit(X[:29], y[:29])
    assert (few.init_, few.alpha_) == ("cart", 1.0)
    named = TAOClassifier(alpha=2).fit(X[:29], y[:29])
    assert (named.init_, named.alpha_) == ("cart", 2.0)
    assert TAOClassifier(init="random", alpha=2).fit(X[:40], y[:40]).alpha_ == 2.0


@pytest.mark.parametrize("estimator", [TAOClassifier, TAORegressor])
def test_weights_that_are_shares_of_the_rows_count_as_rows(estimator: Any) -> None:
    X, y = unequal(0, 400)
    settings = {"max_depth": 2, "init": "random", "alpha": 1.0, "warm_up": 20, "random_state": 0}
    plain = estimator(**settings).fit(X, y)
    shares = estimator(**settings).fit(X, y, np.full(len(X), 1 / len(X)))
    assert plain.get_n_leaves() > 1
    np.testing.assert_allclose(shares.predict(X), plain.predict(X))


def test_of_several_starts_the_one_with_the_least_objective_is_taken() -> None:
    X, y = load_digits(return_X_y=True)
    fits = [
        TAOClassifier(5, init="random", alpha=0.5, n_init=n, random_state=0).fit(X[:500], y[:500]).objective_[-1]
        for n in (1, 4)
    ]
    assert fits[1] < fits[0]


@pytest.mark.long
def test_free_sweeps_end_where_they_have_found_nothing_better_for_long() -> None:
    X, y = load_digits(return_X_y=True)
    rows = Sample(X, y, np.ones(len(X)), 10)
    split = ObliqueSplit(centre_and_spread(X, rows.weight)[1])
    way = Alternation(X, ZeroOne(y, rows.weight), split, 1.0, Parallel(1, prefer="threads"))

    def begin() -> Tree:
        tree = start.random(X, rows.weight, 5, split, 10, np.random.RandomState(0))
        tree.value = way.loss.refit(tree.value, tree.leaves(X))
        return tree

    tree, seen = begin(), []
    lowest, since = way.objective(tree), 0
    while since < FRUITLESS:
        way.sweep(tree, way.learnt)
        seen.append(tree.weights.copy())
        now = way.objective(tree)
        lowest, since = (now, 0) if now < 0.98 * lowest else (lowest, since + 1)
    assert len(seen) > FRUITLESS
    for most, expected in ((300, seen[-1]), (4, seen[3])):
        wandered = begin()
        way.wander(wandered, most, 0.02)
        np.testing.assert_array_equal(wandered.weights, expected)


@pytest.mark.long
@pytest.mark.parametrize("data", [load_wine, load_breast_cancer, load_digits])
def test_the_defaults_beat_cart(data: Any) -> None:
    X, y = data(return_X_y=True)
    wrong: dict[Any, list[float]] = {TAOClassifier: [], DecisionTreeClassifier: []}
    for seed in range(3):
        train, test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
        for model, errors in wrong.items():
            errors.append(1 - model(max_depth=6, random_state=seed).fit(train, y_train).score(test, y_test))
    assert np.mean(wrong[TAOClassifier]) < np.mean(wrong[DecisionTreeClassifier])


def test_an_oblique_border_needs_one_oblique_decision() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] + X[:, 1] > 0.1
    tao = TAOClassifier(1, alpha=0.1, random_state=0).fit(X, y)
    assert tao.score(X, y) > 0.99
    assert tao.get_depth() == 1
    assert DecisionTreeClassifier(max_depth=1).fit(X, y).score(X, y) < 0.9


def test_a_large_penalty_leaves_a_single_leaf() -> None:
    X, y = IRIS
    tao = TAOClassifier(4, alpha=1e4).fit(X, y)
    assert (tao.get_n_leaves(), tao.get_depth()) == (1, 0)
    assert tao.objective_[-1] == 100


def test_importances_are_those_of_scikit_learn_where_the_trees_are_the_same() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    boxes = (X[:, 0] > 0.3) * 2 + (X[:, 3] > -0.2)
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, boxes)
    assert cart.score(X, boxes) == 1
    for split in ("axis", "oblique"):
        same = TAOClassifier(2, split=split, init="cart", alpha=1e-3, random_state=0).fit(X, boxes)
        assert (np.count_nonzero(same.weights_, axis=1) <= 1).all()
        np.testing.assert_allclose(same.feature_importances_, cart.feature_importances_)
    stairs = boxes.astype(np.float64)
    ours = TAORegressor(2, split="axis", init="cart", alpha=1e-3, random_state=0).fit(X, stairs)
    theirs = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, stairs)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


def test_importances_share_what_each_decision_saves() -> None:
    X, y = IRIS
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    tao = TAOClassifier(3, init="random", alpha=0.3, random_state=0).fit(X, y, weight)
    visited, spread = tao.decision_path(X).toarray() > 0, centre_and_spread(X, weight)[1]

    def impurity(node: int) -> float:
        rows = visited[:, node]
        share = np.bincount(y[rows], weight[rows], 3) / weight[rows].sum()
        return float(weight[rows].sum() * (1 - (share**2).sum()))

    expected = np.zeros(4)
    for node in np.flatnonzero(tao.left_ >= 0):
        saved = impurity(node) - impurity(tao.left_[node]) - impurity(tao.right_[node])
        expected += saved * np.abs(tao.weights_[node]) * spread / (np.abs(tao.weights_[node]) * spread).sum()
    np.testing.assert_allclose(tao.feature_importances_, expected / expected.sum())
    np.testing.assert_array_equal(TAOClassifier(2, alpha=1e4).fit(X, y).feature_importances_, np.zeros(4))


def test_the_decision_path_ends_in_the_leaf() -> None:
    X, y = IRIS
    tao = TAOClassifier(4, random_state=0).fit(X, y)
    visited, leaf = tao.decision_path(X).toarray(), tao.apply(X)
    assert (visited[np.arange(len(X)), leaf] == 1).all()
    assert (visited[:, 0] == 1).all()
    for node in np.flatnonzero(tao.left_ >= 0):
        ahead = X @ tao.weights_[node] + tao.bias_[node] >= 0
        np.testing.assert_array_equal(visited[:, tao.right_[node]], visited[:, node] * ahead)


@pytest.mark.long
def test_the_warm_up_leads_a_random_start_to_better_trees() -> None:
    X, y = load_digits(return_X_y=True)

    def score(warm_up: int, seed: int) -> float:
        tao = TAOClassifier(6, init="random", alpha=0.1, warm_up=warm_up, random_state=seed).fit(X[::2] / 16, y[::2])
        return float(tao.score(X[1::2] / 16, y[1::2]))

    assert np.mean([score(20, seed) for seed in range(5)]) > np.mean([score(0, seed) for seed in range(5)])


def test_it_says_whether_it_converged() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 sweeps"):
        cut = TAOClassifier(4, max_iter=1, warm_up=0, tol=0.0, alpha=0.1, random_state=0).fit(X, y)
    assert not cut.converged_
    assert cut.n_iter_ == 1
    whole = TAOClassifier(4, max_iter=200, tol=0.0, alpha=0.1, random_state=0).fit(X, y)
    assert whole.converged_
    assert whole.objective_[-1] == whole.objective_[-2]


def test_it_tells_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    tao = TAOClassifier(2, verbose=1).fit(*IRIS)
    assert len(capsys.readouterr().out.splitlines()) == tao.n_iter_


def test_the_text_shows_small_weights() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2)) * [1e6, 1.0]
    tao = TAOClassifier(1, random_state=0).fit(X, X[:, 0] / 1e6 + X[:, 1] > 0.1)
    terms = tao.export_text(["wide", "narrow"], decimals=2).split()
    assert terms[1] == "wide"
    assert float(terms[0]) == pytest.approx(tao.weights_[0, 0], rel=0.05)


def test_the_text_shows_every_node() -> None:
    X, y = IRIS
    tao = TAOClassifier(1, split="axis", random_state=0).fit(X, y)
    shown = tao.export_text(["a", "b", "c", "d"]).splitlines()
    assert len(shown) == 3
    assert shown[0].split()[1] in (">=", "<=")
    assert shown[1].startswith("|   yes: ")
    assert shown[2].startswith("|   no: ")
    oblique = TAOClassifier(2, alpha=0.1, random_state=0).fit(X, y)
    assert len(oblique.export_text().splitlines()) == len(oblique.left_)
    assert len(TAORegressor(2).fit(X, y).export_text().splitlines()) > 2
    with pytest.raises(InputError, match="1 feature names"):
        tao.export_text(["a"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"max_depth": -1}, "whole number, 1 or more"),
        ({"max_depth": 2.5}, "whole number"),
        ({"max_iter": 0}, "1 or more"),
        ({"warm_up": -1}, "warm_up=-1"),
        ({"alpha": -0.1}, "alpha=-0.1"),
        ({"alpha": float("nan")}, "alpha=nan"),
        ({"alpha": "least"}, "'best' or a number, 0 or more"),
        ({"n_init": 0}, "n_init=0"),
        ({"tol": "small"}, "a number"),
        ({"split": "diagonal"}, "'oblique' or 'axis'"),
        ({"init": "warm"}, "'best', 'cart' or 'random'"),
    ],
)
@pytest.mark.parametrize("estimator", [TAOClassifier, TAORegressor])
def test_bad_parameters_are_refused(estimator: Any, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        estimator(**wrong).fit(*IRIS)


def test_weights_that_leave_nothing_are_refused() -> None:
    X, y = IRIS
    with pytest.raises(InputError, match="All rows have weight 0"):
        TAOClassifier(class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)
    with pytest.raises(ValueError, match="egative"):
        TAOClassifier().fit(X, y, -np.ones(len(y)))
