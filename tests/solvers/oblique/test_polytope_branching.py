"""The kernels of a polytope that search it, on small cases that are worked by hand, or enumerated."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from butfor.solvers.oblique.polytope.branch import cheapest
from butfor.solvers.oblique.polytope.columns import HalfSpaces
from butfor.solvers.oblique.polytope.dual import price_of_point
from butfor.solvers.oblique.polytope.mend import mend
from butfor.solvers.oblique.polytope.narrow import narrow
from butfor.solvers.oblique.polytope.nodes import doubled, in_hand, lowest_of, space_for, take_line, write_line
from butfor.solvers.oblique.polytope.whole import keeps, nearest_whole, undecided
from tests.solvers.oblique.polytopes import GRID, array, box, columns, half_spaces, number, relaxed

pytestmark = (
    pytest.mark.long
)  # parts of kernels are compiled alone here; the contract asks the whole of them in the short run

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
