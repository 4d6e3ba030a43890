"""Answers in round balls: chords above zones, and rows judged one by one."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from butfor.model.questions import evaluate
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.trees.counterpart import on_grid
from butfor.problem.form import ConstraintKind, CostTerm
from butfor.problem.problem import Problem
from butfor.solvers.choose import PROVING
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Status
from butfor.solvers.reduction import Handing
from butfor.solvers.robust.exact import RobustExact
from butfor.solvers.robust.round import round_zones
from butfor.solvers.robust.round.round_zones import KNOWN_CONSTRAINTS, KNOWN_TERMS, RoundZones, honours
from butfor.solvers.robust.round.shared_replies import bound_by_shares, inner_box
from butfor.solvers.robust.round.zones import SURELY, Zones
from butfor.solvers.robust.trees_in_ball import TreesInBall
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem, random_row
from tests.shorter import first

ROBUST = RobustExact(PROVING)
ROUND = [BallNorm.L2, BallNorm.L1]
KINDS = Kinds(
    costs=("l1", "l2", "l0", "mix", "table", "linf", "form", "form+linf"),
    relations=("at most", "linear", "implies"),
    features=4,
    classes=2,
    bins=False,
)


@pytest.mark.parametrize("form", ["tree", "ensemble"])
def test_what_parcels_do_not_know_is_refused(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relation or a term of a cost that parcels would overlook makes no round ball, though the inner solvers take it."""
    plain = random_problem(0, form, KINDS, trees=3)
    nothing = np.zeros(len(plain.space))
    for norm in BallNorm:
        problem = plain.with_demands(ball=Ball(norm, nothing + 0.1, nothing, nothing))
        asked = replace(problem.form(), cost=frozenset({CostTerm.L1}), constraints=frozenset({ConstraintKind.ROBUST}))
        assert ROBUST.accepts(asked)
        for term in [*CostTerm]:
            assert bool(honours(replace(asked, cost=asked.cost | {term}))) is (term in KNOWN_TERMS)
        for kind in [*ConstraintKind]:
            assert bool(honours(replace(asked, constraints=asked.constraints | {kind}))) is (kind in KNOWN_CONSTRAINTS)
        with monkeypatch.context() as patch:
            patch.setattr(round_zones, "KNOWN_TERMS", frozenset({CostTerm.L0}))
            said = ROBUST.accepts(asked)
            assert bool(said) is (norm is BallNorm.LINF)
            assert said or said.why == "round balls of sums of trees do not know l1"


def test_a_price_that_is_only_known_where_it_is_called_is_honoured() -> None:
    """The ball moves one column alone, so all norms are the same, and the box is solved by other means."""
    alone = replace(KINDS, costs=("l1",), relations=(), missing=False, whole=False, levels=False)
    for seed in range(12):
        problem = random_problem(seed, "ensemble", alone, trees=3)
        roots = {0: ((1.0, lambda before, after: np.sqrt(np.abs(after - before))),)}
        nothing = np.zeros(len(problem.space))
        radius = np.where(np.arange(len(nothing)) == 0, 0.2, 0.0)
        problem = replace(problem, prices=replace(problem.prices, calls=roots))
        asked = [problem.with_demands(ball=Ball(norm, radius, nothing, nothing)) for norm in (BallNorm.LINF, *ROUND)]
        box, *balls = [ROBUST.solve(one, Budget(20.0)) for one in asked]
        for ball in balls:
            assert ball.status() == box.status(), f"seed {seed}"
            assert np.allclose(ball.cost, box.cost, atol=2e-6), f"seed {seed}"


def test_nothing_but_the_door_is_imported_from_outside() -> None:
    source = Path(bf.__file__).parent
    folder = source / "solvers" / "robust" / "round"
    others = [path for path in source.rglob("*.py") if path.parent != folder]
    known = {name for path in others for name in re.findall(r"solvers\.robust\.round\b[.\w]*", path.read_text("utf-8"))}
    assert known == {"solvers.robust.round.round_zones"}
    assert RoundZones.__experimental__


def random_zones(rng: np.random.Generator, norm: BallNorm) -> Zones:
    """Zones around boxes that overlap, some without an end, with features that the ball does not move."""
    d, none = 3, np.zeros(3)
    radius = np.where(rng.random(d) < 0.2, 0.0, rng.uniform(0.2, 1.5, d))
    zones = Zones(Ball(norm, radius, none, none), np.empty((0, d)), np.empty((0, d)))
    for _ in range(6):
        low = rng.uniform(-2, 2, d)
        high = low + rng.exponential(1.0, d)
        zones.add(np.where(rng.random(d) < 0.2, -np.inf, low), np.where(rng.random(d) < 0.2, np.inf, high), {})
    return zones


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seeds", first(1, [range(100), range(100, 300)]))
@pytest.mark.parametrize("norm", ROUND)
def test_rows_outside_of_a_zone_lie_above_its_chords(norm: BallNorm, seeds: range) -> None:
    outside = inside = tight = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        zones = random_zones(rng, norm)
        low = rng.uniform(-3, 2, 3)
        high = low + rng.exponential(1.5, 3) * (rng.random(3) < 0.9)
        start = np.clip(rng.uniform(-3, 3, 3), low, high)
        rows = np.concatenate(
            [rng.uniform(low, high, (200, 3)), np.array(list(itertools.product(*zip(low, high, strict=True))))]
        )
        depth = np.array([zones.depths(row, {}) for row in rows])
        chords = zones.chords(low, start, high, np.ones(len(zones), dtype=np.bool_))
        rise, fall = np.maximum(rows - start, 0), np.maximum(start - rows, 0)
        spare = rise @ chords.up.T + fall @ chords.down.T - chords.lack
        out = depth[:, chords.zone] >= SURELY
        assert (spare[out] >= -1e-9).all(), f"seed {seed}"
        silent = np.setdiff1d(np.arange(len(zones)), chords.zone)
        assert (depth[:, silent] >= SURELY - 1e-9).all(), f"seed {seed}: a zone that says nothing has rows"
        if zones.around(low, high, {}):
            assert (depth.min(axis=1) < SURELY).all(), f"seed {seed}"
            inside += 1
        outside, tight = outside + int(out.sum()), tight + int((spare < 0).sum())
    assert min(outside, tight) > 34 * len(seeds)
    assert inside > 0.033 * len(seeds)


def still_numbers(seed: int, norm: BallNorm) -> Problem:
    """A problem whose numbers without a grid stay as they are, but may be shifted by the ball."""
    problem = random_problem(seed, "ensemble", KINDS, trees=2 + seed % 4)
    real = [j for j, f in enumerate(problem.space) if f.levels is None and not f.step]
    nothing = np.zeros(len(problem.space))
    domain = problem.domain.without_moves(np.isin(np.arange(len(nothing)), real))
    radius = nothing.copy()
    radius[real] = np.random.default_rng(seed).choice([0.25, 0.5, 1.0, 2.0], len(real))
    return replace(problem, domain=domain).with_demands(ball=Ball(norm, radius, nothing, nothing))


def choices(problem: Problem) -> np.ndarray:
    """All rows that a row may become, if only levels, whole numbers and missing values may change."""
    ways = []
    for j, feature in enumerate(problem.space):
        x, values = problem.factuals[0, j], np.empty(0)
        if feature.levels is not None:
            values = np.arange(len(feature.levels), dtype=float)
        elif feature.step:
            values = np.arange(np.floor(feature.low), np.ceil(feature.high) + feature.step, feature.step)
        ways.append(np.unique(np.concatenate([values, [x], [np.nan] if feature.missing else []])))
    rows = np.array(list(itertools.product(*ways)))
    return rows[[bool(problem.admits(row[None])[0]) for row in rows]]


def costs(problem: Problem, row: np.ndarray) -> float:
    """What a row costs, with what its target adds. Infinite if some cell that its ball meets misses every target."""
    ball, ways = problem.demands.ball, []
    for j, value in enumerate(row):
        cuts, r = problem.model.cells[j].edges, ball.radius[j]
        beyond = np.nextafter(cuts, np.inf)
        near = np.concatenate(
            [cuts[(cuts < value) & (cuts >= value - r)], beyond[(beyond > value) & (beyond <= value + r)]]
        )
        ways.append(np.append(near, value) if r > 0 else np.array([value]))
    every = np.array(list(itertools.product(*ways)))
    scores = evaluate(problem.model, every[ball.holds(np.nan_to_num(every - row))])
    offset = min([part.offset for part in problem.score_sets if part.holds(scores).all()], default=np.inf)
    return float(problem.prices.total(problem.factuals, row[None])[0]) + offset


@pytest.mark.parametrize("seeds", first(1, [range(10), range(10, 150)]))
@pytest.mark.parametrize("norm", ROUND)
@pytest.mark.shorter(1)
def test_the_cheapest_of_all_rows_is_found_where_they_can_be_listed(norm: BallNorm, seeds: range) -> None:
    changed = impossible = 0
    for seed in seeds:
        problem = still_numbers(seed, norm)
        if not ROBUST.accepts(problem.form()):
            continue
        best = min([costs(problem, row) for row in choices(problem)], default=np.inf)
        found = ROBUST.solve(problem, Budget(60.0))
        assert found.cost[0] == pytest.approx(best, abs=1e-6), f"seed {seed}"
        assert found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE), f"seed {seed}"
        changed, impossible = changed + (0 < best < np.inf), impossible + (best == np.inf)
    assert changed > 0.2 * len(seeds)
    assert impossible > 0.066 * len(seeds)


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(40), range(40, 150)])
@pytest.mark.parametrize("norm", ROUND)
def test_no_row_of_any_kind_below_the_bound_survives(norm: BallNorm, seeds: range) -> None:
    judged = proven = 0
    for seed in seeds:
        rng, problem = np.random.default_rng(seed), random_problem(seed, "ensemble", KINDS, trees=2 + seed % 4)
        radius, nothing = rng.choice([0.1, 0.25, 0.5], len(problem.space)), np.zeros(len(problem.space))
        radius[[f.levels is not None or f.step > 0 for f in problem.space]] = 0.0
        problem = problem.with_demands(ball=Ball(norm, radius, nothing, nothing))
        if not ROBUST.accepts(problem.form()):
            continue
        found = ROBUST.solve(problem, Budget(20.0))
        assert found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE), f"seed {seed}"
        proven += 1
        if found.found()[0]:
            assert costs(problem, found.points[0]) <= found.cost[0] + 1e-9, f"seed {seed}"
        rows = np.array([random_row(rng, problem.space) for _ in range(100)])
        keep = rng.random(rows.shape) < 0.5  # rows that change little are the cheap ones
        rows = np.where(keep, problem.factuals[0], rows)
        for row in rows:
            if problem.admits(row[None])[0]:
                assert costs(problem, row) >= found.bound[0] - 1e-6, f"seed {seed}: {row} costs less than the bound"
                judged += 1
    assert judged > 14 * len(seeds)
    assert proven > 0.93 * len(seeds)


@pytest.mark.long
def test_every_row_of_a_failing_box_fails() -> None:
    judged = 0
    real = replace(KINDS, costs=("l1",), relations=(), missing=False, whole=False, levels=False, features=3)
    for seed in range(60):
        rng, nothing = np.random.default_rng(seed), np.zeros(3)
        problem = random_problem(seed, "ensemble", real, trees=2 + seed % 4)
        nothing = nothing[: len(problem.space)]
        ball = Ball(BallNorm.L2, nothing + [0.1, 0.25, 0.4][seed % 3], nothing, nothing)
        problem = problem.with_demands(ball=ball)
        for score_set in problem.score_sets:
            search = RoundZones(
                TreesInBall(Handing(PROVING).cheapest, problem, score_set, ball, on_grid(problem.model, ball))
            )
            search.solve(np.inf, Budget(20.0))
            extent, zones = problem.domain.extent, search.outside.zones
            rows = rng.uniform(extent.low - ball.radius, extent.high + ball.radius, (300, len(nothing)))
            failing = ~score_set.holds(evaluate(problem.model, rows))
            for low, high in zip(zones.low, zones.high, strict=True):
                inside = ((low <= rows) & (rows <= high)).all(axis=1)
                assert failing[inside].all(), f"seed {seed}"
                judged += int(inside.sum())
    assert judged > 1_000


@pytest.mark.long
@pytest.mark.parametrize("some", [slice(2), slice(2, 5)])
@pytest.mark.parametrize("norm", ROUND)
def test_where_the_box_around_the_ball_allows_nothing_there_is_soon_an_answer(
    norm: BallNorm, some: slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = make_classification(400, 6, n_informative=5, n_redundant=0, random_state=3)
    data = pd.DataFrame(X, columns=list("abcdef"))
    model = RandomForestClassifier(20, random_state=0).fit(data, y)
    explainer, refused = bf.Explainer(model, data), data[model.predict(data) == 0].iloc[some]
    monkeypatch.setattr(TreesInBall, "counterpart", lambda *_: SetAnswer(None, np.inf, 0.0))
    found = explainer.explain(refused, target=1, constraints=[bf.robust(0.03, norm=norm.value)], time_limit_per_row=2)
    assert all(answer.found for answer in found)
    rows = pd.concat([answer.point for answer in found])
    assert (model.predict(rows) == 1).all()
    assert all(answer.certificate.bound <= answer.cost + 1e-9 for answer in found)


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(40), range(40, 150)])
@pytest.mark.parametrize("norm", ROUND)
def test_replies_that_share_out_the_ball_bound_all_rows_that_can_be_listed(norm: BallNorm, seeds: range) -> None:
    raised = 0
    for seed in seeds:
        problem = still_numbers(seed, norm)
        ball, best = problem.demands.ball, min([costs(problem, row) for row in choices(problem)], default=np.inf)
        plain, bound = np.inf, np.inf
        for part in problem.score_sets:
            trees = TreesInBall(Handing(PROVING).cheapest, problem, part, ball, on_grid(problem.model, ball))
            bound = min(bound, part.offset + bound_by_shares(trees, np.inf, Budget(5.0)))
            plain = min(plain, part.offset + trees.under([trees.model], [], np.inf, Budget(5.0)).bound)
        assert bound <= best + 1e-6, f"seed {seed}"
        raised += bound > plain + 1e-6
    assert raised > 0.05 * len(seeds)


@pytest.mark.parametrize("norm", ROUND)
def test_a_box_that_shares_out_a_ball_lies_in_it(norm: BallNorm) -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        step = np.where(rng.random(5) < 0.3, 0.25, 0.0)
        ball = Ball(norm, np.where(rng.random(5) < 0.2, 0.0, rng.choice([0.5, 1.0, 2.0], 5)), step, np.zeros(5))
        shift, wish = ball.sample(rng, 4)[seed % 4], rng.dirichlet(np.ones(5)) * (ball.radius > 0)
        box = inner_box(ball, shift, wish)
        assert (np.abs(shift) <= box.radius).all()
        assert ball.holds(box.radius[None])[0], f"seed {seed}"
        assert (np.floor(box.radius[step > 0] / 0.25) * 0.25 == box.radius[step > 0]).all(), f"seed {seed}"
