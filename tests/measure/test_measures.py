"""Each measure by hand on small sets, and what must hold of any set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import butfor as bf
from butfor.space.infer import infer
from tests.shorter import first

DATA = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60],  # median 40, deviations 20 10 0 10 20: MAD 10
        "debt": [0.0, 0.0, 0.0, 0.0, 8.0],  # MAD 0: its range, 8, is used
        "job": ["clerk", "nurse", "pilot", "clerk", "clerk"],
        "owns": [False, True, False, True, True],
    }
)
SPACE = infer(DATA)
FACTUAL = DATA.iloc[[2]]  # 40, 0, pilot, False


def answers(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(DATA.columns))


TWO = answers((60, 0.0, "pilot", True), (30, 4.0, "nurse", False))


def test_proximity_by_hand() -> None:
    # first: 20 / 10 and 0 / 8; second: 10 / 10 and 4 / 8
    assert bf.measure.proximity(FACTUAL, TWO, SPACE) == pytest.approx((2.0 + 0.0 + 1.0 + 0.5) / 4)


def test_categorical_proximity_by_hand() -> None:
    # first: owns; second: job
    assert bf.measure.categorical_proximity(FACTUAL, TWO, SPACE) == 0.5


def test_sparsity_by_hand() -> None:
    # first: age and owns; second: age, debt and job; of four columns
    assert bf.measure.sparsity(FACTUAL, TWO, SPACE) == 5 / 8


def test_diversity_by_hand() -> None:
    # 30 / 10, 4 / 8, another job, another owns: over four columns
    assert bf.measure.diversity(TWO, SPACE) == pytest.approx((3.0 + 0.5 + 1 + 1) / 4)


def test_diversity_of_three_by_hand() -> None:
    third = answers((60, 0.0, "pilot", False))  # from the first: 1; from the second: 3 + 0.5 + 1
    assert bf.measure.diversity(pd.concat([TWO, third]), SPACE) == pytest.approx((5.5 + 1 + 4.5) / 3 / 4)


def test_normalised_diversity_by_hand() -> None:
    """Eq. 15 of Shekhar et al., with plain loops: each pair, divided by how far both have moved."""
    third = answers((50, 0.0, "pilot", False))
    x, points = FACTUAL.iloc[0], list(pd.concat([TWO, third]).itertuples(index=False))
    mads = {"age": 10.0, "debt": 8.0}  # the debt's own is 0, so its range stands in for it

    def far(a, b) -> float:
        return (
            sum(abs(p - q) / mads[name] if name in mads else p != q for name, p, q in zip(DATA, a, b, strict=True)) / 4
        )

    pairs = [(0, 1), (0, 2), (1, 2)]
    known = [far(points[i], points[j]) / (far(points[i], x) + far(points[j], x)) for i, j in pairs]
    assert bf.measure.normalised_diversity(FACTUAL, pd.concat([TWO, third]), SPACE) == pytest.approx(np.mean(known))
    assert 0 < np.mean(known) < 1


def test_normalised_diversity_has_no_unit() -> None:
    """Ten times as far in all directions is as diverse: that is what it is normalised by."""
    rng = np.random.default_rng(0)
    data, moves = rng.normal(size=(50, 5)), rng.normal(size=(4, 5))
    space = infer(data)
    near, far = (bf.measure.normalised_diversity(data[:1], data[:1] + scale * moves, space) for scale in (0.1, 1.0))
    assert near == pytest.approx(far)
    assert bf.measure.diversity(data[:1] + moves, space) == pytest.approx(
        10 * bf.measure.diversity(data[:1] + 0.1 * moves, space)
    )


def test_standardised_diversity_by_hand() -> None:
    age, debt = np.std([20, 30, 40, 50, 60]), np.std([0, 0, 0, 0, 8])
    assert bf.measure.standardised_diversity(TWO, SPACE) == pytest.approx((30 / age + 4 / debt + 1 + 1) / 4)


def test_a_constant_column_has_no_spread() -> None:
    wide = DATA.assign(one=3.0, word="x")
    set_ = TWO.assign(one=[3.0, 5.0], word="x")
    assert bf.measure.standardised_diversity(set_, infer(wide)) == bf.measure.standardised_diversity(TWO, SPACE)
    assert np.isnan(bf.measure.standardised_diversity(set_, infer(wide), constant="undefined"))
    assert np.isnan(bf.measure.standardised_diversity(set_[["one"]], infer(wide[["one"]])))


def test_nothing_but_constants_left_out_changes_nothing() -> None:
    assert bf.measure.standardised_diversity(TWO, SPACE) == bf.measure.standardised_diversity(TWO, SPACE, "undefined")


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ([(50, 0.0, "pilot", False), (30, 0.0, "pilot", False)], 1.0),  # up and down
        ([(50, 0.0, "pilot", False), (60, 4.0, "pilot", False)], 0.0),  # both up
        ([(50, 0.0, "clerk", False), (50, 0.0, "nurse", False)], 0.0),  # jobs have no order
        ([(50, 0.0, "pilot", False), (30, 0.0, "pilot", False), (40, 1.0, "pilot", False)], 1 / 3),
        ([(50, 0.0, "pilot", False)], 0.0),
    ],
)
def test_contradiction_by_hand(rows, share) -> None:
    assert bf.measure.contradiction(FACTUAL, answers(*rows), SPACE) == pytest.approx(share)


def test_ordered_levels_contradict_too() -> None:
    space = infer(DATA[["job"]], {"job": bf.Ordinal(["clerk", "nurse", "pilot"])})
    both = DATA[["job"]].iloc[[0, 2]]
    assert bf.measure.contradiction(DATA[["job"]].iloc[[1]], both, space) == 1.0


def test_missing_values_count_one() -> None:
    data = DATA.assign(debt=[1.0, np.nan, 2.0, 3.0, 4.0])
    space, factual = infer(data), data.iloc[[2]]
    lost = factual.assign(debt=np.nan)
    assert bf.measure.proximity(factual, lost, space) == 0.5
    assert bf.measure.proximity(lost, factual, space) == 0.5
    assert bf.measure.proximity(lost, lost, space) == 0.0
    assert bf.measure.sparsity(factual, lost, space) == 0.25
    assert bf.measure.diversity(pd.concat([factual, lost, lost]), space) == 0.25
    assert bf.measure.contradiction(lost, pd.concat([factual, factual.assign(debt=0.0)]), space) == 0.0


def test_proximity_is_what_the_cost_mad_minimises() -> None:
    numbers = DATA[["age", "debt"]]
    space, set_ = infer(numbers), TWO[["age", "debt"]]
    from butfor.problem.costs import price

    start, points = space.encode(FACTUAL[["age", "debt"]]), space.encode(set_)
    costs = price(bf.MAD(), space).total(np.repeat(start, 2, axis=0), points)
    assert bf.measure.proximity(FACTUAL[["age", "debt"]], set_, space) == pytest.approx(costs.mean() / 2)


OF_PAIRS = (bf.measure.normalised_diversity, bf.measure.contradiction)
OF_FACTUAL = (bf.measure.proximity, bf.measure.categorical_proximity, bf.measure.sparsity, *OF_PAIRS)
OF_SET = (bf.measure.diversity, bf.measure.standardised_diversity)


@pytest.mark.parametrize("measure", OF_FACTUAL)
def test_the_factual_itself_is_no_change(measure) -> None:
    assert measure(FACTUAL, FACTUAL, SPACE) == 0.0


@pytest.mark.parametrize("measure", OF_SET)
def test_one_answer_is_not_diverse(measure) -> None:
    assert measure(TWO.iloc[:1], SPACE) == 0.0


@pytest.mark.parametrize("measure", OF_FACTUAL + OF_SET)
def test_no_answer_has_no_value(measure) -> None:
    given = (FACTUAL,) if measure in OF_FACTUAL else ()
    assert np.isnan(measure(*given, TWO.iloc[:0], SPACE))


def test_no_columns_of_a_kind_have_no_value() -> None:
    assert np.isnan(bf.measure.proximity(FACTUAL[["job"]], TWO[["job"]], infer(DATA[["job"]])))
    assert np.isnan(bf.measure.categorical_proximity(FACTUAL[["age"]], TWO[["age"]], infer(DATA[["age"]])))


def drawn(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 9))
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 61, rows + 1),
            "debt": rng.choice([0.0, 2.5, 8.0], rows + 1),
            "job": rng.choice(["clerk", "nurse", "pilot"], rows + 1),
            "owns": rng.random(rows + 1) < 0.5,
        }
    )
    return table.iloc[:1], table.iloc[1:]


def all_measures(factual: Any, set_: Any) -> list[float]:
    return [m(factual, set_, SPACE) for m in OF_FACTUAL] + [m(set_, SPACE) for m in OF_SET]


@pytest.mark.parametrize("seed", first(4, range(15)))
def test_properties_of_any_set(seed) -> None:
    factual, set_ = drawn(seed)
    found = all_measures(factual, set_)
    assert all(value >= 0 for value in found)
    assert all(share <= 1 for share in found[1:4])
    shuffled = set_.sample(frac=1, random_state=seed)
    assert all_measures(factual, shuffled) == pytest.approx(found)
    order = ["owns", "job", "age", "debt"]
    assert all_measures(factual[order], set_[order].assign(note="x")) == pytest.approx(found)
    assert all_measures(pl.from_pandas(factual), pl.from_pandas(set_.reset_index(drop=True))) == pytest.approx(found)


@pytest.mark.parametrize("seed", first(4, range(15)))
def test_an_answer_given_again_adds_nothing(seed) -> None:
    factual, set_ = drawn(seed)
    again = pd.concat([set_, set_.iloc[[0, 0, -1]]])
    assert [m(again, SPACE) for m in OF_SET] == pytest.approx([m(set_, SPACE) for m in OF_SET])
    assert bf.measure.contradiction(factual, again, SPACE) == pytest.approx(
        bf.measure.contradiction(factual, set_, SPACE)
    )


@pytest.mark.parametrize("seed", first(3, range(10)))
def test_the_mean_of_single_answers(seed) -> None:
    factual, set_ = drawn(seed)
    for measure in (bf.measure.proximity, bf.measure.categorical_proximity, bf.measure.sparsity):
        singles = [measure(factual, set_.iloc[[i]], SPACE) for i in range(len(set_))]
        assert measure(factual, set_, SPACE) == pytest.approx(np.mean(singles))
