"""Several answers: each is the cheapest that differs from the earlier ones by the rule that was named."""

from __future__ import annotations

import numpy as np
import pytest

import butfor as bf
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.parted.far import FarApart
from tests.explain.several.small_worlds import LEVELS, MODELS, NUMBERS, world
from tests.shorter import first, one_in

RANGES = {name: count - 1 for name, count in NUMBERS.items()}


def other_columns(here, point) -> np.ndarray:
    """Which points leave a column alone that this one changes."""
    mine = (point != here.row.to_numpy()[0]).astype(bool)
    return ~here.changed[:, mine].all(axis=1)


def far(here, point, distance) -> np.ndarray:
    """Which points are far from this one, and do not change all that it changes as far or farther."""
    away, dominated = np.zeros(len(here.points), dtype=bool), np.ones(len(here.points), dtype=bool)
    for name, value, start in zip(here.points, point, here.row.to_numpy()[0], strict=True):
        column = here.points[name]
        if name == "level":
            away |= column != value
            dominated &= (column == value) | (value == start)
        else:
            away |= (column - value).abs() >= distance * RANGES[name] - 1e-9
            dominated &= (column >= value if value > start else column <= value) | (value == start)
    return away & ~dominated


@pytest.mark.shorter(2)
@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("different", one_in(2, ["columns", 0.2, 0.5, 1.0]))
@pytest.mark.parametrize("seed", first(1, range(3)))
def test_each_answer_is_the_cheapest_by_the_rule(kind, different, seed) -> None:
    here = world(kind, seed)
    answers = here.explainer.explain(here.row, target=1, k=4, different=different)
    allowed, cost = here.met.copy(), here.costs(bf.L1())
    for answer in answers:
        assert answer.cost == pytest.approx(cost[allowed].min(initial=np.inf))
        assert answer.certificate.status.name.startswith("PROVEN")
        assert bf.check(bf.Explanation.from_json(answer.to_json()), here.explainer.model).passed
        if answer.found:
            point = answer.point.to_numpy()[0]
            allowed &= other_columns(here, point) if different == "columns" else far(here, point, different)
    assert len(answers) == 4 or not allowed.any()


@pytest.mark.parametrize("seed", first(3, range(8)))
def test_leaves_that_others_dominate_are_left_out(seed) -> None:
    here = world("tree", seed)
    answers = here.explainer.explain(here.row, target=1, k=4, different="leaves")
    leaf, cost = here.explainer.model[:-1].transform(here.points), here.costs(bf.L1())
    leaf = here.explainer.model[-1].apply(leaf)
    cheapest = sorted(
        (cost[(leaf == one) & here.met].min(), one) for one in np.unique(leaf[here.met])
    )  # each leaf with its cost
    points = [answer.point.to_numpy()[0] for answer in answers if answer.found]
    for place, point in enumerate(points):
        assert all(far(here, earlier, 0.0)[_place(here, point)] for earlier in points[:place])
    own = [leaf[_place(here, point)] for point in points]
    assert len(set(own)) == len(own)
    listed = {one: value for value, one in cheapest}
    assert [answer.cost for answer in answers if answer.found] == pytest.approx([listed[one] for one in own])
    if points:
        left = [one for value, one in cheapest if one not in own and value < answers[-1].cost - 1e-9]
        for one in left:  # every leaf that would have come earlier has only cheapest points that are dominated
            best = np.flatnonzero((leaf == one) & here.met & (cost <= listed[one] + 1e-9))
            assert any(not far(here, earlier, 0.0)[best].all() for earlier in points)
    assert all(bf.check(answer, here.explainer.model).passed for answer in answers)


def _place(here, point) -> int:
    return int(np.flatnonzero((here.points.to_numpy() == point).all(axis=1))[0])


def test_trees_answer_by_columns_too() -> None:
    here = next(one for one in (world("tree", seed) for seed in range(20)) if len(_answers(one, None)) > 2)
    sets = [frozenset(change.name for change in answer.changes) for answer in _answers(here, "columns")]
    assert all(not earlier <= later for k, later in enumerate(sets) for earlier in sets[:k])


def _answers(here, different):
    return here.explainer.explain(here.row, target=1, k=5, different=different)


@pytest.mark.parametrize("different", ["columns", 0.3])
def test_every_row_has_its_first_answer_before_any_has_its_second(different, monkeypatch) -> None:
    here, asked, depth = world("boosting", 1), [], []
    for solver in (EnsembleBranchBound, FarApart):
        monkeypatch.setattr(solver, "solve", _told(solver.solve, asked, depth))
    rows = here.points[~here.met].iloc[:6]
    here.explainer.explain(rows, target=1, k=3, different=different)
    first = [relations for relations, inner in asked if not inner]
    assert first == sorted(first)


def _told(solve, asked, depth):
    def told(self, problem, budget, k=1, seed=0):
        asked.extend([(len(problem.relations), bool(depth))] * len(problem))
        depth.append(None)
        try:
            return solve(self, problem, budget, k, seed)
        finally:
            depth.pop()

    return told


def test_the_user_s_own_solver_gives_the_first_answer() -> None:
    here = world("forest", 1)
    answers = here.explainer.explain(here.row, target=1, k=2, different=0.3, solver="milp")
    names = [answer.certificate.solver.partition(":")[0] for answer in answers]
    assert names[0] == "milp"
    assert "milp" not in names[1:]


def test_time_that_is_up_leaves_a_bound() -> None:
    here = world("forest", 1)
    answers = here.explainer.explain(here.row, target=1, k=3, different=0.3, time_limit=1e-6)
    best = here.cheapest(here.met, bf.L1())
    assert answers[0].certificate.bound <= best + 1e-6


@pytest.mark.parametrize("different", ["leaf", 0, -0.1, 1.5, True, "0.1"])
def test_rules_that_make_no_sense(different) -> None:
    here = world("tree", 0)
    with pytest.raises((bf.errors.InputError, bf.errors.InputTypeError), match="different="):
        here.explainer.explain(here.row, target=1, k=2, different=different)


def test_a_sum_of_trees_has_no_leaves_that_decide() -> None:
    here = world("forest", 0)
    with pytest.raises(bf.errors.InputError, match="Only a single tree"):
        here.explainer.explain(here.row, target=1, k=2, different="leaves")


def test_levels_are_never_near() -> None:
    here = world("linear", 2)
    answers = here.explainer.explain(here.row, target=1, k=5, different=1.0)
    points = [answer.point for answer in answers if answer.found]
    assert set(LEVELS) >= {point["level"].item() for point in points}
    assert len(points) > 1
