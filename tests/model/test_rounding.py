"""How much rounding may change a score, and where it changes nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from butfor.model.cells import number_cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.readout import Argmax, Sign
from butfor.model.rounding import Extent, grain, grain_at, rounding
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE, Doubt, ScoreSet, at_least, low_bit
from butfor.model.trees import Trees, combined, with_cells
from tests.shorter import first

ONE = np.ones((1, 1))


def linear(slope, intercept=0.0, centre=0.0, cells=None):
    slope = np.atleast_2d(slope)
    cells = tuple(number_cells(np.empty(0)) for _ in range(slope.shape[1]))
    steps = tuple(np.zeros((1, 2)) for _ in cells)
    return Linear(np.array([intercept]), slope, cells, steps, np.broadcast_to(centre, slope.shape[1]))


def extent(low, high, step=0.0):
    low, high = np.atleast_1d(np.asarray(low, dtype=float)), np.atleast_1d(np.asarray(high, dtype=float))
    many = np.broadcast_to(step, low.shape).astype(float)
    return Extent(low[None], low, high, many, np.zeros(len(low)), np.ones(len(low), dtype=bool))


def stumps(*values):
    """One tree per value: a cut at 0, with the value on the left and its negative on the right."""
    n = len(values)
    feature = np.tile([0, -1, -1], n)
    value = np.array([[0.0, v, -v] for v in values]).ravel()[:, None]
    roots = 3 * np.arange(n)
    side = np.zeros(3 * n, dtype=bool)
    left, right = np.zeros(3 * n, dtype=np.intp), np.zeros(3 * n, dtype=np.intp)
    left[roots], right[roots] = roots + 1, roots + 2
    trees = Trees(roots, feature, np.zeros(3 * n), np.full(3 * n, -1), side, left, right, value, (), np.zeros(1), ())
    return with_cells(trees, (None,))


@pytest.mark.parametrize("seed", first(5, range(20)))
def test_a_linear_score_is_off_by_less_than_the_doubt(seed) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 12))
    centre = 10.0 ** rng.integers(-3, 10) * rng.normal(size=d)
    slope, away = rng.normal(size=d) * 10.0 ** rng.integers(-9, 9), rng.normal(size=d)
    x = centre + away
    model = linear(slope, float(rng.normal()), centre)
    exact = Fraction(float(model.intercept[0])) + sum(
        Fraction(float(w)) * (Fraction(float(v)) - Fraction(float(c))) for w, v, c in zip(slope, x, centre, strict=True)
    )
    ours = Fraction(float(evaluate_linear(model, x[None])[0, 0]))
    assert abs(ours - exact) <= rounding(model, ONE, extent(x, x), UNIT_DOUBLE)[0]


def test_the_doubt_has_no_absolute_part() -> None:
    small, large = (rounding(linear([w, 2 * w], w), ONE, extent([0, 0], [1, 1]), UNIT_DOUBLE)[0] for w in (1e-12, 1e12))
    assert 0 < small == pytest.approx(large * 1e-24)


def test_a_far_column_is_measured_from_the_centre() -> None:
    x = 1.7e9 + np.array([0.0, 60.0])
    near, far = (rounding(linear([0.1], 0.0, c), ONE, extent(x[0], x[1]), UNIT_DOUBLE)[0] for c in (1.7e9, 0.0))
    assert near < far / 4


def test_sums_of_trees_are_in_doubt_and_one_tree_is_not() -> None:
    many = stumps(*np.random.default_rng(0).normal(size=50))
    assert 0 < rounding(many, ONE, extent(-1, 1), UNIT_DOUBLE)[0] < 1e-11
    assert rounding(many, ONE, extent(-1, 1), UNIT_SINGLE)[0] == pytest.approx(
        rounding(many, ONE, extent(-1, 1), UNIT_DOUBLE)[0] * 2.0**29
    )
    assert rounding(stumps(0.3), ONE, extent(-1, 1), UNIT_DOUBLE)[0] == 0.0


def test_low_bit() -> None:
    assert low_bit(np.array([0.75, -6.0, 0.0])) == 0.25
    assert low_bit(np.array([0.0])) == np.inf
    assert low_bit(np.array([0.1])) == 2.0**-55


def test_votes_and_points_have_a_grain() -> None:
    assert grain(stumps(1.0, 2.0, 0.5), ONE, extent(-1, 1), UNIT_DOUBLE) == [0.5]
    assert grain(stumps(0.1, 0.2), ONE, extent(-1, 1), UNIT_DOUBLE) == [0.0]
    assert grain(stumps(0.1, 0.2), ONE, extent(-1, 1), UNIT_SINGLE) == [0.0]
    assert grain(linear([3.0, -2.0], 5.0), ONE, extent([0, 0], [9, 9], 1.0), UNIT_DOUBLE) == [1.0]
    assert grain(linear([3.0, -2.0], 5.0), ONE, extent([0, 0], [9, 9], [1.0, 0.0]), UNIT_DOUBLE) == [0.0]


def test_a_sum_of_columns_that_were_scaled_in_float32_has_no_grain() -> None:
    """Its slopes may be whole multiples of anything: each scaled value is rounded."""
    scaled = replace(linear([3.0, -2.0], 5.0), blur=np.array([UNIT_SINGLE, 0.0]))
    assert grain(scaled, ONE, extent([0, 0], [9, 9], 1.0), UNIT_DOUBLE) == [0.0]
    assert (rounding(scaled, ONE, extent([0, 0], [9, 9], 1.0), UNIT_DOUBLE) > 1e-7).all()


def test_a_term_that_stands_for_several_numbers_has_no_grain() -> None:
    whole = extent([0, 0], [9, 9], 1.0)
    assert grain(replace(linear([3.0, -2.0]), folded=True), ONE, whole, UNIT_DOUBLE) == [0.0]
    tree = stumps(1.0)
    assert grain(combined([tree, tree], [0.5, 0.25]), ONE, whole, UNIT_DOUBLE) == [0.25]
    assert grain(combined([tree, tree], [0.75, 0.25]), ONE, whole, UNIT_DOUBLE) == [0.0]


def test_pure_leaves_add_up_exactly_beside_others() -> None:
    forest = stumps(1.0, 1.0, 0.1)
    mixed = replace(
        forest, value=np.where(np.arange(9)[:, None] == 8, 2.0, forest.value)
    )  # 0.1 on the left, 2 on the right
    assert grain(mixed, ONE, extent(-1, 1), UNIT_DOUBLE) == [0.0]
    assert grain_at(mixed, ONE, np.array([1.0]), UNIT_DOUBLE) == [1.0]
    assert grain_at(mixed, ONE, np.array([-1.0]), UNIT_DOUBLE) == [0.0]


def test_a_grain_settles_what_is_strict() -> None:
    doubt = Doubt(np.zeros(1), np.empty(0), np.ones(1))
    scores = np.array([[6.0], [7.0], [8.0]])
    for strict, expected in ((True, [False, False, True]), (False, [False, True, True])):
        above = at_least(np.ones(1), 7.0, strict=strict)
        assert above.perhaps(scores, doubt).tolist() == expected
        assert above.surely(scores, doubt).tolist() == expected


def test_between_no_and_yes_lies_perhaps() -> None:
    doubt = Doubt(np.array([0.5]), np.empty(0), np.zeros(1))
    scores = np.array([[0.4], [0.6], [1.0], [1.4], [1.6]])
    edge = at_least(np.ones(1), 1.0)
    assert edge.perhaps(scores, doubt).tolist() == [False, True, True, True, True]
    assert edge.surely(scores, doubt).tolist() == [False, False, False, False, True]


@pytest.mark.parametrize("unit", [UNIT_DOUBLE, UNIT_SINGLE])
@pytest.mark.parametrize("p", [1e-9, 0.03, 0.5, 0.858149, 1 - 1e-9, 1.0])
def test_every_probability_that_may_be_reached_lies_in_the_wide_set(p, unit) -> None:
    kind = np.float64 if unit == UNIT_DOUBLE else np.float32
    scores = np.concatenate([np.linspace(-45, 45, 1001), _near(np.log(p / (1 - p)) if p < 1 else 36.0)])
    for label in (0, 1):
        own = scores if label else -scores
        found = 1 / (1 + np.exp(-own.astype(kind)))
        (edge,) = Sign(("no", "yes"), "logistic").rounded(unit).probability_sets(label, float(kind(p)))
        none = Doubt(np.zeros(1), np.empty(0), np.zeros(1))
        assert edge.perhaps(scores[:, None], none)[found >= kind(p)].all()
        assert (found >= kind(p))[edge.surely(scores[:, None], none)].all()


def _near(x: float) -> np.ndarray:
    return x + np.linspace(-1, 1, 401) * 1e-14 * max(1.0, abs(x))


def test_a_softmax_set_is_widened_and_tightened() -> None:
    (part,) = Argmax(("a", "b", "c"), "softmax").probability_sets(1, 0.4)
    doubt = Doubt(np.empty(0), np.full(3, 1e-9), np.empty(0))
    edge = np.array([[0.0, np.log(0.8 / 0.6), 0.0]])  # a probability of 0.4 but for rounding
    for shift, (sure, perhaps) in {-1e-8: (False, False), 0.0: (False, True), 1e-8: (True, True)}.items():
        scores = edge + np.array([0.0, shift, 0.0])
        assert part.surely(scores, doubt).tolist() == [sure]
        assert part.perhaps(scores, doubt).tolist() == [perhaps]
    assert isinstance(part.widened(doubt), ScoreSet)
