"""The kernels of a polytope that make its bound, on small cases that are worked by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from butfor.solvers.oblique.polytope.columns import HalfSpaces
from butfor.solvers.oblique.polytope.dual import ProximalTerm, floors, pull_of, respond
from butfor.solvers.oblique.polytope.empty import impossible, out_of_reach
from butfor.solvers.oblique.polytope.newton import PullLine, curvature, direction, step_length
from butfor.solvers.oblique.polytope.one_column import (
    cheapest_move,
    curve_of,
    least_on_grid,
    nearest_point,
    next_value,
    point_above,
    point_below,
    price_of_move,
)
from tests.solvers.oblique.polytopes import GRID, array, box, columns, half_spaces, number, relaxed
from tests.uncompiled import uncompiled


@pytest.fixture(autouse=True, scope="module")
def plain() -> Iterator[None]:
    """All functions of the kernels, and those that this file and its examples name, run as plain Python."""
    folder = "butfor.solvers.oblique.polytope"
    kernels = [name for name in sys.modules if name.startswith(f"{folder}.")]
    with uncompiled(*kernels, __name__, "tests.solvers.oblique.polytopes"):
        yield


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
