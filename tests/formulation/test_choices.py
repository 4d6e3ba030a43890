"""The table of choices, judged by asking the domain about one value after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from butfor.formulation.choices import ChoiceTable, FeatureChoices, choice_table, choices_of
from butfor.formulation.tables import tabulate
from butfor.model.cells import level_cells, number_cells
from butfor.model.linear import Linear
from butfor.model.scores import at_least
from butfor.problem.costs import L0, L1, L2, price
from butfor.problem.domain import open_domain
from butfor.problem.prices import Prices
from butfor.problem.problem import Problem, state
from butfor.space.feature import Feature
from butfor.space.space import Space, same

KINDS = ("levels", "real", "grid", "float32", "float32 grid")


def all_prices(space: Space) -> Prices:
    return price(L1() + 0.5 * L2() + 0.25 * L0(), space)


def drawn(kind: str, seed: int, rows: int = 1) -> Problem:
    """A problem with one feature, whose own value may be missing, off its grid, at an end, or outside."""
    rng = np.random.default_rng(seed)
    missing = bool(rng.random() < 0.5)
    if kind == "levels":
        feature = Feature("x", levels=tuple("abcde"), missing=missing, typical=0.0)
        own = rng.integers(0, 5, rows).astype(np.float64)
    else:
        step = float(rng.choice({"grid": [1.0, 0.5, 0.1], "float32 grid": [1.0, 0.5]}.get(kind, [0.0])))
        feature = Feature("x", low=-2.0, high=3.0, step=step, single="32" in kind, missing=missing, typical=0.3)
        own = rng.choice([-2.0, 3.0, 0.3, 1.0, float(rng.uniform(-2, 3)), 4.25], rows)
    own = np.where(rng.random(rows) < 0.3 * missing, np.nan, own)
    space = Space((feature,))
    domain = open_domain(space, own[:, None])
    problem = state(space, plain(feature), own[:, None], (at_least(np.ones(1), 0.0),), all_prices(space), ())
    lost = np.isnan(own)[:, None]
    domain = replace(domain, missing=~lost & missing & (rng.random((rows, 1)) < 0.7))
    if kind == "levels":
        domain = replace(domain, levels={0: rng.random((rows, 5)) < 0.6}, stay=rng.random((rows, 1)) < 0.6)
    elif rng.random() < 0.7:
        low = np.full((rows, 1), float(rng.choice([-2.0, 0.1 + 0.2, rng.uniform(-2, 1)])))
        high = low + float(rng.choice([0.0, 2.0, rng.uniform(0, 3)]))
        inside = (own[:, None] >= low) & (own[:, None] <= high)
        domain = replace(domain, low=low, high=high, stay=np.where(lost, rng.random((rows, 1)) < 0.5, inside))
    return replace(problem, domain=domain)


def plain(feature: Feature) -> Linear:
    if feature.levels is None:
        return Linear(np.zeros(1), np.ones((1, 1)), (number_cells(np.empty(0)),), (np.zeros((1, 2)),))
    return Linear(np.zeros(1), np.zeros((1, 1)), (level_cells(5),), (np.arange(6.0)[None],))


def admitted(problem: Problem, row: int, values: np.ndarray) -> np.ndarray:
    """The values that one row may have in the end, one by one."""
    many = problem.domain.take(np.full(len(values), row))
    fine = many.admits(values[:, None])
    if problem.domain.single[0]:
        fine &= same(values, values.astype(np.float32).astype(np.float64)) | same(values, many.factuals[:, 0])
    return values[fine]


def tried(problem: Problem, row: int) -> np.ndarray:
    """Values of all kinds: levels, or finer than any grid here, with what lies beside ends; own and missing ones."""
    own = problem.factuals[row, 0]
    if 0 in problem.domain.levels:
        return np.append(np.arange(5.0), np.nan)
    ends = np.array([problem.domain.low[row, 0], problem.domain.high[row, 0], own, -1.0, 0.3, 1.05, 2.0])
    if problem.domain.step[0]:  # a value beside a grid point means the point
        return np.unique(np.concatenate([ends, np.arange(-40, 61) / 10, [np.nan]]))
    near = np.concatenate([ends, np.nextafter(ends, -np.inf), np.nextafter(ends, np.inf), ends.astype(np.float32)])
    near = np.concatenate([near, *(np.nextafter(ends.astype(np.float32), np.float32(to)) for to in (-9, 9))])
    fine = np.linspace(-3, 5, 161).astype(np.float32).astype(np.float64)
    return np.unique(np.concatenate([near, fine, [np.nan]]))


def as_set(values: np.ndarray) -> set[str]:
    return {f"{value + 0.0:.9g}" for value in values.tolist()}


def beside(problems: Sequence[Problem]) -> Problem:
    """Problems with one feature each as one with all of them."""
    features = tuple(replace(one.space.features[0], name=f"x{j}") for j, one in enumerate(problems))
    parts, space = [one.domain for one in problems], Space(features)
    columns = {name: np.hstack([getattr(part, name) for part in parts]) for name in ("factuals", "low", "high", "stay")}
    grids = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("step", "anchor", "single", "typical")
    }
    domain = replace(
        parts[0],
        **columns,
        **grids,
        missing=np.hstack([part.missing for part in parts]),
        levels={j: part.levels[0] for j, part in enumerate(parts) if part.levels},
    )
    model = Linear(
        np.zeros(1),
        np.hstack([one.model.slope for one in problems]),
        tuple(one.model.cells[0] for one in problems),
        tuple(one.model.steps[0] for one in problems),
    )
    one = problems[0]
    whole = state(space, model, domain.factuals, one.score_sets, all_prices(space), ())
    return replace(whole, domain=domain)


def test_tables_of_many_features_are_those_of_each() -> None:
    """Numbers that share a grid are tabulated together."""
    edges = number_cells(np.array([-1.0, 0.3, 1.05, 2.0]))
    for seed in range(40):
        each = [drawn(kind, seed + 100 * at, rows=3) for at, kind in enumerate((*KINDS, *KINDS))]
        cells = [edges if one.space.features[0].levels is None else level_cells(5) for one in each]
        cells[1] = number_cells(np.empty(0))
        found = tabulate(beside(each), tuple(cells))
        for j, (one, own) in enumerate(zip(each, cells, strict=True)):
            single, at = tabulate(one, (own,)), slice(found.start[j], found.start[j + 1])
            assert same(found.value[:, at], single.value).all()
            assert (found.price[:, at] == single.price).all()
            assert (found.home[:, [j]] == single.home).all()
            assert (found.near[:, [j]] == single.near).all()


@pytest.mark.parametrize("kind", ["levels", "grid"])
def test_every_value_is_what_the_domain_admits(kind) -> None:
    found = 0
    for seed in range(300):
        problem = drawn(kind, seed)
        every = choices_of(problem, 0).every()
        assert as_set(every) == as_set(admitted(problem, 0, tried(problem, 0)))
        assert len(every) == len(as_set(every)), "none twice"
        if problem.domain.stay[0, 0]:
            assert same(every[:1], problem.factuals[0]).all()
        found += len(every)
    assert found > 600


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_of_a_cell_is_nearer_than_the_nearest(kind) -> None:
    edges = number_cells(np.array([-1.0, 0.3, 1.05, 2.0]))
    open_cells = 0
    for seed in range(80):
        problem = drawn(kind, seed, rows=3)
        choices = choices_of(problem, 0) if kind == "levels" else FeatureChoices(problem, 0, edges)
        nearest, price_of = choices.nearest(), choices.price(choices.nearest())
        assert nearest.value.shape == (3, choices.cells.count + 1)
        for row in range(3):
            own, fine = problem.factuals[row, 0], admitted(problem, row, tried(problem, row))
            start = 0.3 if np.isnan(own) else own
            for cell in range(choices.cells.count + 1):
                value, here = nearest.value[row, cell], fine[choices.cells.index(fine) == cell]
                if not nearest.able[row, cell]:
                    assert not len(here)
                    assert np.isinf(price_of[row, cell])
                    continue
                open_cells += 1
                assert len(admitted(problem, row, np.array([value]))) == 1
                assert choices.cells.index(np.array([value]))[0] == cell
                assert np.isfinite(price_of[row, cell])
                assert (np.abs(here - start) >= np.abs(value - start) - 1e-12).all() or np.isnan(value)
    assert open_cells > 300


@pytest.mark.parametrize("kind", KINDS[1:])
def test_nothing_lies_beyond_the_ends_of_a_cell(kind) -> None:
    for seed in range(80):
        problem = drawn(kind, seed, rows=2)
        choices = FeatureChoices(problem, 0, number_cells(np.array([-1.0, 0.3, 1.05, 2.0])))
        first, last = choices.ends
        for row in range(2):
            fine = admitted(problem, row, tried(problem, row))
            others = fine[~same(fine, problem.factuals[row]) & ~np.isnan(fine)]
            for cell in range(5):
                here = others[choices.cells.index(others) == cell]
                assert ((first[row, cell] <= here) & (here <= last[row, cell])).all()
                if first[row, cell] <= last[row, cell]:
                    ends = np.array([first[row, cell], last[row, cell]])
                    assert len(admitted(problem, row, ends)) == 2
                    assert (choices.cells.index(ends) == cell).all()


def along(table: ChoiceTable, row: int, choice: int, lengths: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Values of a choice, and what they cost by the table."""
    step, length = table.step[choice], table.length[row, choice]
    far = np.arange(round(length / step) + 1) * step if step else np.linspace(0, length, lengths if length else 1)
    pick = np.full((len(table.begin), len(table.features)), table.start[0])
    pick[row] = choice
    values = [table.values(pick, np.full(pick.shape, one))[row, 0] for one in far.tolist()]
    return np.array(values), table.cost[row, choice] + table.slope[row, choice] * far + table.curve[
        row, choice
    ] * far**2


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", KINDS)
def test_runs_and_points_are_all_that_a_row_may_become_at_its_price(kind) -> None:
    """On grids and among levels each value stands in one choice; else none lies outside, and the ends are values."""
    edges = number_cells(np.array([-1.0, 0.3, 1.05, 2.0]))
    found = 0
    for seed in range(60):
        problem = drawn(kind, seed, rows=2)
        choices = choices_of(problem, 0) if kind == "levels" or seed % 2 else FeatureChoices(problem, 0, edges)
        table = choice_table(problem, np.array([0]), [choices.runs()])
        assert table.start.tolist() == [0, len(table.way)]
        for row in range(2):
            fine = admitted(problem, row, tried(problem, row))
            there = np.flatnonzero(np.isfinite(table.cost[row]))
            assert (0 in there) == problem.domain.stay[row, 0]
            listed = [np.empty(0)]
            for choice in there.tolist():
                values, costs = along(table, row, choice)
                own = np.repeat(problem.factuals[[row]], len(values), axis=0)
                assert costs == pytest.approx(problem.prices.total(own, values[:, None]), rel=1e-12)
                assert len(np.unique(choices.cells.index(values))) == 1, "a run lies in one cell"
                if not np.isnan(own[0, 0]):
                    assert (np.diff(np.abs(values - own[:, 0])) > 0).all(), "it leads away from the own value"
                if table.way[choice] and not table.step[choice] and not np.isnan(own[0, 0]):
                    ends = np.sort(values)[[0, -1]]
                    inside = fine[(fine >= ends[0]) & (fine <= ends[1])]
                    values = np.append(inside, ends)
                    assert len(admitted(problem, row, ends)) == 2
                elif np.isnan(own[0, 0]) and table.way[choice]:
                    ends = np.array([table.begin[row, choice], table.end[row, choice]])
                    values = fine[(fine >= ends[0]) & (fine <= ends[1])]
                listed.append(np.unique(values))
            assert as_set(np.concatenate(listed)) >= as_set(fine)
            if kind in ("levels", "grid", "float32 grid"):
                assert as_set(np.concatenate(listed)) == as_set(fine)
                assert len(np.concatenate(listed)) == len(as_set(fine)), "none twice"
            found += len(there)
    assert found > 200


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_hull_of_a_cell_holds_the_own_number_if_it_may_stay(kind) -> None:
    odd = 0
    for seed in range(80):
        problem = drawn(kind, seed, rows=2)
        choices = FeatureChoices(problem, 0, number_cells(np.array([-1.0, 0.3, 1.05, 2.0])))
        low, high = choices.hull
        for row in range(2):
            own, fine = problem.factuals[row, 0], admitted(problem, row, tried(problem, row))
            for cell in range(5):
                here = fine[choices.cells.index(fine) == cell]
                assert (low[row, cell] <= high[row, cell]) == bool(len(here))
                if len(here):
                    assert (low[row, cell], high[row, cell]) == pytest.approx((here.min(), here.max()), abs=1e-7)
            off = not np.isnan(own) and not len(admitted(replaced(problem, row), 0, np.array([own])))
            assert choices.odd[row, 0] == (bool(problem.domain.stay[row, 0]) and "grid" in kind and off)
            odd += int(choices.odd[row, 0])
    assert odd > 10 or "grid" not in kind


def replaced(problem: Problem, row: int) -> Problem:
    """The row with a missing own value, a wide range, and no leave to stay: its numbers are those of the grid."""
    one, wide = problem.take(np.array([row])), np.array([[9.0]])
    lost = np.array([[np.nan]])
    domain = replace(one.domain, factuals=lost, low=-wide, high=wide, missing=wide > 0, stay=wide < 0)
    return replace(one, factuals=lost, domain=domain)
