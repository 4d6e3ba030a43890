"""The kernels of a polytope on small cases that are worked by hand, or enumerated."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from butfor.solvers.oblique.polytope.branch import cheapest
from butfor.solvers.oblique.polytope.columns import Box, Columns, HalfSpaces
from butfor.solvers.oblique.polytope.dual import ProximalTerm, floors, price_of_point, pull_of, respond
from butfor.solvers.oblique.polytope.empty import impossible, out_of_reach
from butfor.solvers.oblique.polytope.mend import mend
from butfor.solvers.oblique.polytope.narrow import narrow
from butfor.solvers.oblique.polytope.newton import PullLine, curvature, direction, step_length
from butfor.solvers.oblique.polytope.nodes import doubled, in_hand, lowest_of, space_for, take_line, write_line
from butfor.solvers.oblique.polytope.one_column import (
    Number,
    cheapest_move,
    curve_of,
    least_on_grid,
    nearest_point,
    next_value,
    point_above,
    point_below,
    price_of_move,
)
from butfor.solvers.oblique.polytope.relax import relax
from butfor.solvers.oblique.polytope.whole import keeps, nearest_whole, undecided


def array(*values):
    return np.array(values, dtype=np.float64)


def number(up=1.0, down=1.0, square=0.0, step=0.0, low=-1.0, high=1.0):
    """Its grid begins at its lower end."""
    return Number(up, down, square, step, low, high, low)


def columns(*numbers, groups=()):
    """Numbers, then groups of so many options."""
    rates = [np.array([getattr(one, word) for one in numbers]) for word in ("up", "down", "square", "step")]
    return Columns(*rates, np.concatenate([[0], np.cumsum(groups)]).astype(np.intp))


def box(*numbers, price=()):
    """Every option with a finite price is alive."""
    low, high, first = (np.array([getattr(one, word) for one in numbers]) for word in ("low", "high", "first"))
    return Box(low, high, first, array(*price), np.isfinite(array(*price)))


def half_spaces(B, need):
    """As the kernels want them: a row of unit norm each."""
    norm = np.linalg.norm(B, axis=1)
    return HalfSpaces(np.array(B) / norm[:, None], np.array(need) / norm)


# One column


@pytest.mark.parametrize(
    ("pull", "move"),
    [(0.9, 0.0), (1.1, 0.5), (-1.9, 0.0), (-2.1, -0.25), (1.0, 0.0), (-2.0, 0.0)],
)
def test_a_number_with_l1_stays_until_the_pull_exceeds_its_rate_and_then_goes_to_the_end(pull, move):
    # The price less pull is (1 - pull) d above 0 and -(2 + pull) d below: a falling line leads to the end. At a pull
    # of exactly 1 or -2 the line is flat, and the number stays.
    assert cheapest_move(number(up=1.0, down=2.0, low=-0.25, high=0.5), pull, 0.0) == move


@pytest.mark.parametrize(
    ("pull", "move"),
    [(0.75, 0.0), (1.0, 0.0), (-1.0, 0.0), (2.0, 0.5), (-1.5, -0.25), (9.0, 1.0), (-9.0, -1.0), (3.0, 1.0)],
)
def test_a_number_with_l2_moves_as_far_as_its_slope_meets_the_pull(pull, move):
    # d + d^2 has the slope 1 + 2 d above 0. It meets the pull at d = (pull - 1) / 2, which is 0.5 for a pull of 2 and
    # the end 1 for a pull of 3. A pull of 9 would lead to 4, beyond the end. Below 0 it is the same, mirrored.
    assert cheapest_move(number(square=1.0), pull, 2.0) == move


def test_only_a_price_without_curvature_gets_the_proximal_term():
    assert curve_of(number(square=0.0), 0.5) == 0.5
    assert curve_of(number(square=3.0), 0.5) == 6.0


def test_the_proximal_term_holds_a_number_near_its_centre():
    # |d| + 0.25 (d - 0.4)^2 - 1.2 d has the slope 1 + 0.5 (d - 0.4) - 1.2 above 0, which is 0 at d = 0.8.
    one, x = number(), np.empty(1)
    respond(columns(one), box(one), ProximalTerm(0.5, array(0.4)), array(1.2), x)
    assert x[0] == pytest.approx(0.8, abs=1e-15)


def test_a_move_costs_its_rate_in_its_direction_and_its_square():
    one = number(up=1.0, down=3.0, square=2.0)
    assert [price_of_move(one, d) for d in (0.0, 0.5, -0.5)] == [0.0, 1.0, 2.0]


# One grid: -0.5, -0.25, 0, 0.25, 0.5

GRID = number(step=0.25, low=-0.5, high=0.5)


@pytest.mark.parametrize(
    ("value", "point"),
    [(0.25, 0.25), (0.1, 0.0), (0.2, 0.25), (0.125, 0.25), (-0.125, 0.0), (-0.7, -0.5), (0.7, 0.5)],
)
def test_the_nearest_grid_point_is_the_upper_one_half_way_and_never_beyond_an_end(value, point):
    assert nearest_point(GRID, value) == point


def test_the_nearest_grid_point_lies_in_the_interval_that_branching_has_left():
    # The grid goes on below -0.25: -0.5 is a point of it, but no longer of the interval.
    assert nearest_point(GRID._replace(low=-0.25), -0.4) == -0.25


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [(0.1, 0.0, 0.25), (0.25, 0.25, 0.25), (0.125, 0.0, 0.25), (-0.9, -0.5, -0.5), (0.9, 0.5, 0.5)],
)
def test_the_next_value_is_the_grid_point_down_or_up_and_a_grid_point_stays(value, down, up):
    assert next_value(GRID, value, False) == down
    assert next_value(GRID, value, True) == up


def test_the_next_value_of_a_real_number_is_the_value_or_the_end():
    assert [next_value(number(), value, True) for value in (-3.0, 0.3, 3.0)] == [-1.0, 0.3, 1.0]


def test_a_value_within_the_slack_of_a_grid_point_stands_on_it():
    # 0.25 less 0.001 is 0.004 of a step below the point.
    assert [point_below(GRID, 0.249, slack) for slack in (0.003, 0.005)] == [0.0, 0.25]
    assert [point_above(GRID, 0.251, slack) for slack in (0.003, 0.005)] == [0.5, 0.25]


def test_the_least_on_a_grid_is_the_better_of_the_two_neighbours():
    # d + d^2 - 2 d is least at 0.5. On 0, 0.4, 0.8 it is 0, -0.24 and -0.16; without 0.4 the best that is left is
    # 0.8.
    one = number(square=1.0, step=0.4, low=0.0, high=0.8)
    assert least_on_grid(one, 0.5, 2.0) == pytest.approx(-0.24)
    assert least_on_grid(one._replace(low=0.8), 0.5, 2.0) == pytest.approx(-0.16)
    assert least_on_grid(one._replace(high=0.4), 0.5, 2.0) == pytest.approx(-0.24)


# Options and the dual


def test_options_answer_with_the_nearest_point_of_the_simplex():
    # centre - price / rho = (0.5, 0.1, -0.8). Less (-0.2 - 1) / 3 = -0.4 the third is below 0. Less (0.6 - 1) / 2 =
    # -0.2 the other two are (0.7, 0.3), which sums to 1.
    term, x = ProximalTerm(0.5, array(0.5, 0.3, 0.2)), np.empty(3)
    three = box(price=(0.0, 0.1, 0.5))
    respond(columns(groups=(3,)), three, term, np.zeros(3), x)
    assert x == pytest.approx(array(0.7, 0.3, 0.0))
    # Without the first option: (0.1, -0.8) less (-0.7 - 1) / 2 = -0.85.
    respond(columns(groups=(3,)), three._replace(alive=np.array([False, True, True])), term, np.zeros(3), x)
    assert x == pytest.approx(array(0.0, 0.95, 0.05))


def test_a_pull_on_one_option_takes_it_whole():
    # (1/3, 1/3 + 2 / 0.5, 1/3): the second is ahead of the others by 4, and a simplex is only 1 wide.
    x = np.empty(3)
    term = ProximalTerm(0.5, np.full(3, 1 / 3))
    respond(columns(groups=(3,)), box(price=(0.0, 0.0, 0.0)), term, array(0.0, 2.0, 0.0), x)
    assert x == pytest.approx(array(0.0, 1.0, 0.0))


def test_the_exact_floor_is_over_grid_points_and_single_options():
    # The number of the test above at pull 2: -0.25 over the interval, -0.24 on its grid. The options at pulls (0,
    # 0.5): min(0, 0.2 - 0.5) = -0.3 both ways.
    one = number(square=1.0, step=0.4, low=0.0, high=0.8)
    found = floors(columns(one, groups=(2,)), box(one, price=(0.0, 0.2)), array(2.0, 0.0, 0.5))
    assert found == pytest.approx((-0.55, -0.54))


def test_multipliers_pay_a_column_for_what_it_gives_each_half_space():
    pull = np.full(2, 9.0)
    pull_of(array([1.0, 2.0], [0.0, -1.0], [5.0, 5.0]), array(3.0, 1.0, 0.0), pull)
    assert pull.tolist() == [3.0, 5.0]


# A Newton step


def test_only_columns_that_move_with_the_pull_curve_the_dual():
    # The numbers move by 1/2 and 1/4 for a unit of pull. Of the others one is at its end, one at the kink at 0.
    # Options mixed in equal parts move together: rho = 0.5 and B_j = (0, 1) give (0^2 + 1^2 - 1^2 / 2) / 0.5 = 1.
    numbers = [number(square=1.0), number(square=2.0), number(square=1.0), number(square=1.0)]
    made, where = columns(*numbers, groups=(2,)), box(*numbers, price=(0.0, 0.0))
    x = array(0.5, -0.5, 1.0, 0.0, 0.5, 0.5)
    B, H = array([1.0, 2.0, 1.0, 1.0, 0.0, 1.0], [2.0, 0.0, 9.0, 9.0, 0.0, 0.0]), np.empty((2, 2))
    curvature(B, made, where, ProximalTerm(0.5, x), x, H)
    # 1/2 (1, 2) (1, 2)' + 1/4 (2, 0) (2, 0)' + ((1, 0), (0, 0))
    assert [H[0, 0], H[1, 0], H[1, 1]] == pytest.approx([0.5 + 1.0 + 1.0, 1.0, 2.0])


def test_an_option_that_is_taken_whole_does_not_curve_the_dual():
    x, H = array(0.0, 1.0), np.empty((1, 1))
    curvature(array([0.0, 1.0]), columns(groups=(2,)), box(price=(0.0, 0.0)), ProximalTerm(0.5, x), x, H)
    assert H[0, 0] == 0.0


def test_newtons_direction_solves_the_system():
    # ((2, 1), (1, 3)) step = (4, 7): step = (1, 2).
    step = np.empty(2)
    direction(array([2.0, 0.0], [1.0, 3.0]), array(4.0, 7.0), np.ones(2), np.ones(2, dtype=np.bool_), step)
    assert step == pytest.approx(array(1.0, 2.0), rel=1e-6)


def test_a_multiplier_at_zero_that_would_fall_is_held():
    # ((2, 1), (1, 3)) step = (4, -8) asks for (4, -4). The second is held, and the first alone is 4 / 2.
    step, free = np.empty(2), np.ones(2, dtype=np.bool_)
    direction(array([2.0, 0.0], [1.0, 3.0]), array(4.0, -8.0), array(1.0, 0.0), free, step)
    assert step == pytest.approx(array(2.0, 0.0), rel=1e-6)
    assert free.tolist() == [True, False]


@pytest.mark.parametrize(("most", "length"), [(np.inf, 4.0), (5.0, 4.0), (3.0, 3.0), (0.5, 0.5)])
def test_a_step_goes_to_the_maximum_along_the_line_or_as_far_as_it_may(most, length):
    # At the pull t the number answers (t - 2) / 2 above a rate of 2, and the line gains 1 less that: none is left at
    # t = 4.
    one = number(up=2.0, square=1.0, low=-5.0, high=5.0)
    line = PullLine(np.zeros(1), np.ones(1), 1.0, np.empty(1), np.empty(1))
    assert step_length(most, columns(one), box(one), ProximalTerm(0.0, np.zeros(1)), line) == pytest.approx(length)


# The relaxation


def relaxed(spaces, numbers, lift=0.0, cut=np.inf, price=(), groups=()):
    """The bound, whether it was solved, the point and the multipliers, all from 0."""
    made = columns(*numbers, groups=groups)
    lam, x = np.zeros(len(spaces.need)), np.zeros(spaces.B.shape[1])
    proximal = bool(groups) or any(one.square == 0 for one in numbers)
    bound, solved = relax(spaces, lift, made, box(*numbers, price=price), proximal, lam, x, cut)
    return bound, solved, x, lam


SUM_OF_TWO = half_spaces([[1.0, 1.0]], [2.0])


def test_two_numbers_with_l2_share_a_half_space_by_their_squares():
    # d1^2 + 2 d2^2, d1 + d2 >= 2: the slopes 2 d1 = 4 d2 agree at (4/3, 2/3), which costs 16/9 + 8/9 = 8/3. The
    # multiplier pays 1 / sqrt(2) of itself for a unit of d1, so it is 8/3 sqrt(2).
    numbers = [number(0.0, 0.0, square, low=-5.0, high=5.0) for square in (1.0, 2.0)]
    bound, solved, x, lam = relaxed(SUM_OF_TWO, numbers)
    assert solved
    assert bound == pytest.approx(8 / 3)
    assert x == pytest.approx(array(4 / 3, 2 / 3))
    assert lam == pytest.approx(array(8 / 3 * np.sqrt(2)))


def test_a_number_at_its_end_leaves_the_rest_to_the_other():
    # d1 may go to 1 only: (1, 1) costs 1 + 2.
    numbers = [number(0.0, 0.0, 1.0, high=1.0), number(0.0, 0.0, 2.0, high=5.0)]
    bound, solved, x, _ = relaxed(SUM_OF_TWO, numbers)
    assert solved
    assert bound == pytest.approx(3.0)
    assert x == pytest.approx(array(1.0, 1.0))


def test_l1_beside_l2_is_solved_by_moving_the_proximal_centre():
    # d1 + d2^2, d1 + d2 >= 2: the second moves while its slope 2 d2 is below 1, so (1.5, 0.5) at 1.75.
    numbers = [number(low=-5.0, high=5.0), number(0.0, 0.0, 1.0, low=-5.0, high=5.0)]
    bound, solved, x, _ = relaxed(SUM_OF_TWO, numbers)
    assert solved
    assert bound == pytest.approx(1.75, rel=1e-6)
    assert x == pytest.approx(array(1.5, 0.5), abs=1e-5)


def test_the_point_keeps_the_lift_and_the_bound_does_without():
    # With 0.1 to spare the sum is 2 + 0.1 sqrt(2); the bound stays one of d1 + d2 >= 2, where the least is 2 * 1.
    numbers = [number(0.0, 0.0, 1.0, low=-5.0, high=5.0)] * 2
    bound, solved, x, _ = relaxed(SUM_OF_TWO, numbers, lift=0.1)
    assert solved
    assert x.sum() == pytest.approx(2.0 + 0.1 * np.sqrt(2))
    assert bound <= 2.0


def test_the_steps_stop_once_the_bound_reaches_the_cut():
    numbers = [number(0.0, 0.0, square, low=-5.0, high=5.0) for square in (1.0, 2.0)]
    bound, solved, _, lam = relaxed(SUM_OF_TWO, numbers, cut=1.0)
    assert 1.0 <= bound <= 8 / 3 + 1e-9
    assert not solved
    assert lam[0] > 0


def test_options_are_mixed_until_the_half_space_is_met():
    # The options give 0 and 1 and cost 0 and 1. Half of the second is needed, so the mixture costs 0.5. At the
    # multiplier 1 both options cost nothing once they are paid: the bound is 0.5, although a single option costs 1.
    bound, solved, x, _ = relaxed(HalfSpaces(array([0.0, 1.0]), array(0.5)), [], price=(0.0, 1.0), groups=(2,))
    assert solved
    assert x == pytest.approx(array(0.5, 0.5), abs=1e-6)
    assert bound == pytest.approx(0.5, abs=1e-6)


# Proofs that there is no point


def test_two_half_spaces_that_exclude_each_other_are_proven_empty():
    # d >= 0.6 and d <= 0.4, each within reach of [-1, 1]. Their sum, 0 >= 0.2, is met by nothing.
    one = number(square=1.0)
    spaces = HalfSpaces(array([1.0], [-1.0]), array(0.6, -0.4))
    assert not out_of_reach(spaces, columns(one), box(one))
    assert impossible(spaces.need, columns(one), box(one), np.ones(2), np.zeros(1))
    assert relaxed(spaces, [one])[:2] == (np.inf, False)


def test_two_half_spaces_that_meet_prove_nothing():
    # d >= 0.4 and d <= 0.6: their sum, 0 >= -0.2, holds. The cheapest d of d + d^2 is 0.4, at 0.56.
    one = number(square=1.0)
    spaces = HalfSpaces(array([1.0], [-1.0]), array(0.4, -0.6))
    assert not impossible(spaces.need, columns(one), box(one), np.ones(2), np.zeros(1))
    bound, solved, x, _ = relaxed(spaces, [one])
    assert solved
    assert (bound, x[0]) == pytest.approx((0.56, 0.4))


def test_a_half_space_beyond_all_columns_together_is_out_of_reach():
    # d reaches 1 and the better option alive 0.5. Without that option 0.25 is left.
    one, made = number(), columns(number(), groups=(2,))
    where = box(one, price=(0.0, 0.0))
    B = array([1.0, 0.25, 0.5])
    assert not out_of_reach(HalfSpaces(B, array(1.5)), made, where)
    assert out_of_reach(HalfSpaces(B, array(1.51)), made, where)
    assert out_of_reach(HalfSpaces(B, array(1.5)), made, where._replace(alive=np.array([True, False])))


# Narrowing


def narrowed(one, lam, need, limit, price=(), groups=()):
    """The box of one number, and of options that the half-space does not ask for, after narrowing."""
    where = box(one, price=price)
    spaces = HalfSpaces(array([1.0, *(0.0 for _ in price)]), array(need))
    narrow(spaces, columns(one, groups=groups), where, array(lam), np.empty(1 + len(price)), limit)
    return where


def test_grid_points_that_cost_more_than_the_limit_are_taken_away():
    # |d| alone: 0.6 leaves the points up to 0.5 on both sides.
    where = narrowed(number(step=0.25), lam=0.0, need=0.0, limit=0.6)
    assert (where.low[0], where.high[0]) == (-0.5, 0.5)


def test_grid_points_are_judged_by_their_reduced_cost():
    # 2 d above 0 and -d below, at a pull of 1: what is left to pay is d above 0 and -2 d below, 0 at the least. So
    # the bound is lam need = 0.5. A limit of 1.0 leaves 0.5 to be paid: 0.5 above and 0.25 below.
    where = narrowed(number(up=2.0, down=1.0, step=0.25), lam=1.0, need=0.5, limit=1.0)
    assert (where.low[0], where.high[0]) == (-0.25, 0.5)


def test_curved_prices_narrow_to_the_roots_of_a_quadratic():
    # d^2 <= 0.3 ends at 0.547: 0.5 on the grid.
    where = narrowed(number(0.0, 0.0, 1.0, step=0.25), lam=0.0, need=0.0, limit=0.3)
    assert (where.low[0], where.high[0]) == (-0.5, 0.5)


def test_a_grid_point_that_costs_just_the_limit_is_kept():
    where = narrowed(number(step=0.25), lam=0.0, need=0.0, limit=0.5)
    assert (where.low[0], where.high[0]) == (-0.5, 0.5)


def test_options_dearer_than_the_limit_die():
    where = narrowed(number(), lam=0.0, need=0.0, limit=0.5, price=(0.1, 0.3, 0.9), groups=(3,))
    assert where.alive.tolist() == [True, True, False]


def test_without_a_limit_nothing_is_taken_away():
    where = narrowed(number(step=0.25), lam=0.0, need=0.0, limit=np.inf, price=(0.0, 9.0), groups=(2,))
    assert (where.low[0], where.high[0], *where.alive) == (-1.0, 1.0, True, True)


# Whole points


def test_rounding_says_how_far_the_farthest_column_is():
    # 0.1 is 0.4 steps from 0, the second option 0.3 from 1. A number without a second point counts for nothing.
    numbers = [GRID, GRID._replace(low=0.25, high=0.25, first=0.25)]
    where, out = box(*numbers, price=(0.0, 0.0)), np.empty(4)
    away, which = nearest_whole(columns(*numbers, groups=(2,)), where, array(0.1, 0.05, 0.3, 0.7), out)
    assert out.tolist() == [0.0, 0.25, 0.0, 1.0]
    assert (away, which) == (pytest.approx(0.4), 0)
    assert nearest_whole(columns(*numbers, groups=(2,)), where, array(0.0, 0.25, 0.3, 0.7), out)[1] == 3


def test_a_group_is_decided_before_a_number():
    numbers = [GRID]
    made, x = columns(*numbers, groups=(2,)), array(0.0, 0.4, 0.6)
    both = box(*numbers, price=(0.0, 0.0))
    assert undecided(made, both, x) == 2
    assert undecided(made, both._replace(alive=np.array([True, False])), x) == 0
    settled = both._replace(alive=np.array([True, False]), high=both.low)
    assert undecided(made, settled, x) == -1


# 6 d1 + 4 d2 >= 9.9 at 1.0 d1 + 0.8 d2, whole numbers from 0 to 4. The first number gives more for its price, so the
# relaxation takes 1.65 of it; 2 of it cost 2.0, and one of each 1.8.
WHOLE = [number(up, up, step=1.0, low=0.0, high=4.0) for up in (1.0, 0.8)]
KNAPSACK = half_spaces([[6.0, 4.0]], [9.9])


def enumerated(spaces, made, where):
    """The judge: the least cost over all points of the grids and all options, and the points that have it."""
    numbers = [
        first + step * np.arange(round((low - first) / step), round((high - first) / step) + 1)
        for first, step, low, high in zip(where.first, made.step, where.low, where.high, strict=True)
    ]
    groups = [np.eye(size)[np.isfinite(price)] for size, price in _by_group(made, where)]
    best, points = np.inf, []
    for chosen in product(*numbers, *groups):
        x = np.concatenate([np.atleast_1d(part) for part in chosen])
        if (spaces.B @ x < spaces.need - 1e-12).any():
            continue
        moves, options = x[: len(numbers)], x[len(numbers) :]
        cost = np.where(moves > 0, made.up * moves, -made.down * moves).sum() + (made.square * moves**2).sum()
        cost += where.price[options == 1].sum()
        if cost < best - 1e-12:
            best, points = cost, []
        if cost < best + 1e-12:
            points.append(x)
    return best, points


def _by_group(made, where):
    ends = zip(made.group[:-1], made.group[1:], strict=True)
    return [(end - begin, where.price[begin:end]) for begin, end in ends]


def test_rounding_the_relaxed_optimum_is_not_always_right():
    # The premise of the next test.
    _, solved, x, _ = relaxed(KNAPSACK, WHOLE)
    assert solved
    assert x == pytest.approx(array(1.65, 0.0), abs=1e-5)
    rounded = np.empty(2)
    nearest_whole(columns(*WHOLE), box(*WHOLE), x, rounded)
    assert rounded.tolist() == [2.0, 0.0]
    assert keeps(KNAPSACK, rounded)
    assert price_of_point(columns(*WHOLE), box(*WHOLE), rounded) == 2.0


def test_branching_finds_the_whole_point_that_rounding_misses():
    made, where, point = columns(*WHOLE), box(*WHOLE), np.zeros(2)
    best, points = enumerated(KNAPSACK, made, where)
    assert (best, [one.tolist() for one in points]) == (1.8, [[1.0, 1.0]])
    bound, cost = cheapest(KNAPSACK, made, where, np.zeros(1), np.inf, 1000, point)
    assert cost == 1.8
    assert point.tolist() == [1.0, 1.0]
    assert 1.8 * (1 - 1e-6) <= bound <= 1.8


def test_one_node_alone_proves_no_more_than_the_relaxation():
    # 1.65 relaxed; the mended point costs 2.0.
    point = np.zeros(2)
    bound, cost = cheapest(KNAPSACK, columns(*WHOLE), box(*WHOLE), np.zeros(1), np.inf, 1, point)
    assert bound == pytest.approx(1.65, abs=1e-5)
    assert cost == 2.0
    assert point.tolist() == [2.0, 0.0]


def test_nothing_below_the_cut_is_an_answer():
    bound, cost = cheapest(KNAPSACK, columns(*WHOLE), box(*WHOLE), np.zeros(1), 1.8, 1000, np.zeros(2))
    assert cost == np.inf
    assert bound >= 1.8 - 1e-9


def test_branching_leaves_the_box_that_it_is_given_as_it_is():
    where = box(*WHOLE)
    cheapest(KNAPSACK, columns(*WHOLE), where, np.zeros(1), np.inf, 1000, np.zeros(2))
    assert (where.low.tolist(), where.high.tolist()) == ([0.0, 0.0], [4.0, 4.0])


def test_branching_agrees_with_all_points_of_random_problems():
    infeasible = beyond_rounding = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        numbers = [
            number(*rng.uniform(0.1, 1, 2), rng.uniform(0, 1) * (seed % 2), 0.5, low, low + 1.5) for low in (-1.0, -0.5)
        ]
        price = rng.uniform(0, 1, 3)
        price[1] = np.inf if seed % 5 == 0 else price[1]
        made, where = columns(*numbers, groups=(3,)), box(*numbers, price=price)
        spaces = half_spaces(rng.normal(size=(2, 5)), rng.uniform(0, 2.5, 2))
        point = np.zeros(5)
        bound, cost = cheapest(spaces, made, where, np.zeros(2), np.inf, 1000, point)
        best, points = enumerated(spaces, made, where)
        if best == np.inf:
            assert (bound, cost) == (np.inf, np.inf), seed
            infeasible += 1
            continue
        assert cost == pytest.approx(best, rel=1e-6, abs=1e-9), seed
        assert best * (1 - 1e-6) - 1e-9 <= bound <= cost, seed
        assert any(point == pytest.approx(one) for one in points), seed
        _, _, x, _ = relaxed(spaces, numbers, price=price, groups=(3,))
        rounded = np.empty(5)
        nearest_whole(made, where, x, rounded)
        beyond_rounding += not any(rounded == pytest.approx(one) for one in points)
    assert infeasible > 20
    assert beyond_rounding > 20


# Open nodes


def test_nodes_come_back_as_they_were_put_away_with_their_bounds():
    one = number(step=0.25)
    nodes, node = space_for(2, 1, 1, 2), in_hand(box(one, price=(0.0, 0.0)), array(0.0), 3)

    def put_away(at, k):
        node.box.low[:], node.box.high[:], node.box.alive[:] = -k, k, [k == 1, True]
        node.lam[:], node.x[:] = 10 * k, 100 * k
        write_line(nodes, at, node, 1000.0 * k)

    def taken(at, last):
        bound = take_line(nodes, at, last, node)
        return bound, node.box.low[0], node.box.high[0], node.box.alive[0], node.lam[0], *node.x

    put_away(0, 1)
    put_away(1, 2)
    nodes = doubled(nodes)
    assert len(nodes.bound) == 4
    put_away(2, 3)
    assert taken(0, 2) == (1000, -1, 1, True, 10, 100, 100, 100)
    # The last one has taken its place.
    assert taken(0, 1) == (3000, -3, 3, False, 30, 300, 300, 300)
    assert taken(0, 0) == (2000, -2, 2, False, 20, 200, 200, 200)


def test_of_the_open_nodes_the_one_with_the_lowest_bound_is_chosen():
    assert lowest_of(array(3.0, 1.0, 2.0, 0.0), 3) == 1


def test_the_root_starts_as_near_to_no_move_as_its_box_allows():
    numbers = [number(low=-1.0, high=1.0), number(low=0.5, high=1.0), number(low=-1.0, high=-0.5)]
    node = in_hand(box(*numbers, price=(0.0, np.inf)), array(7.0), 5)
    assert node.x.tolist() == [0.0, 0.5, -0.5, 0.0, 0.0]
    assert (node.lam.tolist(), node.box.alive.tolist()) == ([7.0], [True, False])


# Mending


def test_mending_takes_the_change_that_gives_most_for_its_price():
    # From (0, 0): two of the first number cost 2.0 and unmake 9.9, three of the second cost 2.4 and do the same.
    x = np.zeros(2)
    assert mend(KNAPSACK, 0.0, columns(*WHOLE), box(*WHOLE), x) == 2.0
    assert x.tolist() == [2.0, 0.0]


def test_mending_gives_back_what_is_not_needed():
    # (4, 0) meets the half-space at 4.0; two of the first number do as well.
    x = array(4.0, 0.0)
    assert mend(KNAPSACK, 0.0, columns(*WHOLE), box(*WHOLE), x) == 2.0
    assert x.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("start", [0, 2])
def test_mending_switches_to_the_cheapest_option_that_is_enough(start):
    # The options give 0, 1 and 2 at 0, 0.5 and 0.6, and 1 is needed. The first is too little; the third is too dear.
    x = np.eye(3)[start]
    three = box(price=(0.0, 0.5, 0.6))
    assert mend(HalfSpaces(array([0.0, 1.0, 2.0]), array(1.0)), 0.0, columns(groups=(3,)), three, x) == 0.5
    assert x.tolist() == [0.0, 1.0, 0.0]


def test_mending_looks_again_once_a_switch_has_left_something_over():
    # d less 1 for the first option, at least 2. At d = 3 the number has nothing to give back, but the second option,
    # which takes nothing away, is cheaper; and with it d = 2 is enough.
    one, x = number(step=1.0, low=0.0, high=4.0), array(3.0, 1.0, 0.0)
    made, where = columns(one, groups=(2,)), box(one, price=(0.5, 0.0))
    assert mend(HalfSpaces(array([1.0, -1.0, 0.0]), array(2.0)), 0.0, made, where, x) == 2.0
    assert x.tolist() == [2.0, 0.0, 1.0]


def test_mending_keeps_the_lift():
    # Two steps of 0.5 give the 1.0 that is needed; with something to spare it takes three.
    one = number(step=0.5, low=0.0, high=2.0)
    spaces = HalfSpaces(array([1.0]), array(1.0))
    for lift, cost in ((0.0, 1.0), (0.1, 1.5)):
        assert mend(spaces, lift, columns(one), box(one), np.zeros(1)) == cost


def test_mending_gives_up_where_no_change_helps():
    one = number(step=0.5, low=0.0, high=2.0)
    assert mend(HalfSpaces(array([1.0]), array(2.5)), 0.0, columns(one), box(one), np.zeros(1)) == np.inf


def test_what_the_kernels_are_given_is_made_without_numba():
    code = "import sys, butfor.solvers.oblique.columns, butfor.solvers.oblique.sides; print('numba' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
