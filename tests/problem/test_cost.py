"""What changes cost, against the formulas written out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import butfor as bf
from butfor.problem.costs import price
from butfor.space.feature import Feature
from butfor.space.space import Space

SPACE = Space(
    (
        Feature("age", low=20.0, high=70.0, step=1.0, mad=5.0, std=10.0, missing=True),
        Feature("income", low=0.0, high=1000.0, mad=0.0, std=100.0),
        Feature("job", levels=("a", "b", "c")),
        Feature("school", levels=("low", "mid", "high"), ordered=True),
    )
)
BEFORE = np.array([[30.0, 500.0, 0.0, 0.0]])
AFTER = np.array([[40.0, 400.0, 2.0, 2.0]])


def total(cost: object, after: np.ndarray = AFTER, before: np.ndarray = BEFORE) -> float:
    return float(price(cost, SPACE).total(before, after)[0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cost", "wanted"),
    [
        (bf.L1(), 0.2 + 0.1 + 1 + 1),
        (bf.L1(weights={"age": 2.0, "job": 0.0}), 0.4 + 0.1 + 0 + 1),
        (bf.L1(scale="std"), 1 + 1 + 1 + 1),
        (bf.MAD(), 2 + 0.1 + 1 + 1),
        (bf.L1(scale="none"), 10 + 100 + 1 + 1),
        (bf.L1(scale={"age": 100.0}), 0.1 + 100 + 1 + 1),
        (bf.L2(), 0.04 + 0.01 + 1 + 1),
        (bf.LInf(), 1.0),
        (bf.LInf(weights={"job": 0.0, "school": 0.0}), 0.2),
        (bf.L0(), 4.0),
        (bf.L0(weights={"age": 0.5}), 3.5),
        (bf.Gower(), 2.3 / 4),
        (2 * bf.L1() + 0.5 * bf.L0(), 4.6 + 2.0),
        (bf.Table({"job": {("a", "c"): 7.0}, "income": lambda before, after: np.abs(after - before)}), 107.0),
        (bf.Quadratic(np.array([[1.0, 0.1], [0.1, 1.0]]), ("age", "income")), 100 + 10_000 + 2 * 0.1 * 10 * -100),
    ],
    ids=repr,
)
def test_formulas(cost, wanted) -> None:
    assert total(cost) == pytest.approx(wanted)
    assert total(cost, BEFORE) == 0.0


LOST = np.array([[np.nan, 400.0, 2.0, 1.0]])


@pytest.mark.parametrize(
    "cost",
    [
        bf.L1(), bf.L2(), bf.L0(), bf.LInf(), bf.LInf(weights={"job": 0.0, "school": 0.0}), 2 * bf.L1() + bf.LInf(),
        bf.Table({"job": {("a", "c"): 7.0}, "income": lambda before, after: np.abs(after - before)}),
        bf.L0() + bf.Quadratic(np.array([[1.0, 0.1], [0.1, 1.0]]), ("age", "income")),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_spared_if_some_columns_go_back_is_what_the_rest_costs_less(cost) -> None:
    before, after = np.vstack([BEFORE, BEFORE, LOST]), np.vstack([AFTER, LOST, AFTER])
    groups = [list(group) for size in (1, 2, 3, 4) for group in combinations(range(4), size)]
    prices = price(cost, SPACE)
    left = prices.total(before, after)[:, None] - prices.spared(before, after, groups)
    for group, found in zip(groups, left.T, strict=True):
        rest = after.copy()
        rest[:, group] = before[:, group]
        assert found == pytest.approx(prices.total(before, rest), abs=1e-11)


def test_ordinal_levels_count_ranks_and_missing_counts_one() -> None:
    step = np.array([[30.0, 500.0, 0.0, 1.0]])
    assert total(bf.L1(), step) == pytest.approx(0.5)
    lost = np.array([[np.nan, 500.0, 0.0, 0.0]])
    assert total(bf.L1(weights={"age": 3.0}), lost) == pytest.approx(3.0)
    assert total(bf.L1(), lost, lost) == 0.0


def test_a_change_that_a_table_does_not_name_is_forbidden() -> None:
    assert np.isinf(total(bf.Table({"job": {("a", "b"): 1.0}})))
    assert total(bf.Table({"job": {"c": 2.0}})) == 2.0


def test_weights_are_checked() -> None:
    with pytest.raises(bf.errors.InputError, match="not negative"):
        -1 * bf.L1()
    with pytest.raises(bf.errors.InputError, match="weight of 'age'"):
        price(bf.L1(weights={"age": -1.0}), SPACE)
    with pytest.raises(bf.errors.UnknownColumnError, match="no column 'agee'"):
        price(bf.L1(weights={"agee": 1.0}), SPACE)
    with pytest.raises(bf.errors.InputError, match="two L-infinity terms"):
        price(bf.LInf() + bf.LInf(), SPACE)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_a_form_is_checked_in_its_own_size(size) -> None:
    columns = ("age", "income")
    indefinite, lopsided = np.array([[1.0, 5.0], [5.0, 1.0]]), np.array([[1.0, 1.0], [0.0, 1.0]])
    for wrong, said in ((indefinite, "negative eigenvalue"), (lopsided, "symmetric"), (np.nan * lopsided, "symmetric")):
        with pytest.raises(bf.errors.InputError, match=said):
            price(bf.Quadratic(size * wrong, columns), SPACE)
    rounded = np.array([[1.0, 1.0], [1.0 + 1e-12, 1.0]])
    form = price(bf.Quadratic(size * rounded, columns), SPACE).Q
    assert form is not None
    assert (form == form.T).all()
    assert form[:2, :2] == pytest.approx(size * rounded)


def test_costs_are_summed_by_sum() -> None:
    assert sum([bf.L1(), 0.5 * bf.L0()]) == bf.L1() + 0.5 * bf.L0()
