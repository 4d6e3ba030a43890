"""Bounds of whole-number programs by our own branching, against enumeration in fractions, and against a HiGHS that lies."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import highspy
import numpy as np
import pytest

from butfor.compiled.clock import now
from butfor.programs import program as programs
from butfor.programs.branching import lowest_cost
from butfor.programs.cost_claim import CostClaim
from butfor.programs.highs import Said
from butfor.programs.program import Program, Sum

KINDS = ("plain", "big M", "odd units", "wide")


def drawn(seed: int, kind: str) -> Program:
    """Three whole numbers and two binaries in three rows. All coefficients are floats, and no variable is real."""
    rng, program = np.random.default_rng(seed), Program()
    width = 6 if kind != "wide" else 4
    numbers = [program.variable(*sorted(rng.integers(-width, width, 2).tolist()), integer=True) for _ in range(3)]
    switches = [program.binary() for _ in range(2)]
    unit = {"odd units": 10.0 ** rng.integers(-7, 8), "wide": 1e9}.get(kind, 1.0)
    for row in range(3):
        of = sum((float(w) * v for w, v in zip(unit * rng.normal(size=3).round(2), numbers, strict=True)), Sum())
        if kind == "big M" and row:
            of = of + 10.0 ** rng.integers(3, 9) * switches[row % 2]
        program.at_least(of, unit * float(rng.normal(0.0, 3.0)))
    program.minimise(sum((float(w) * v for w, v in zip(rng.random(5), [*numbers, *switches], strict=True)), Sum()))
    return program


def truth(program: Program) -> Fraction | None:
    """The least cost of all points, in fractions; None if there is none."""
    best: Fraction | None = None
    for x in itertools.product(*(range(int(a), int(b) + 1) for a, b in zip(program.low, program.high, strict=True))):
        if all(exact(row, x) >= Fraction(low) - Fraction(row.constant) for row, low, _ in program.rows):
            cost = exact(program.objective, x)
            best = cost if best is None else min(best, cost)
    return best


def exact(expression: Sum, x: tuple[int, ...]) -> Fraction:
    return sum((Fraction(weight) * x[v] for v, weight in expression.terms.items()), Fraction(0))


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bound_is_never_above_the_optimum_and_reaches_it(kind: str) -> None:
    impossible = 0
    for seed in range(60):
        program = drawn(seed, kind)
        model = program._model(highspy, [], None, curves=False, whole=False)
        best = truth(program)
        for goal in (np.inf, 0.0 if best is None else float(best) - 1e-7):
            bound = lowest_cost(highspy, model, np.flatnonzero(program.integer), goal)
            if best is None:
                assert bound == goal, f"seed {seed}"
            else:
                assert bound <= float(best) + 1e-12, f"seed {seed}"
                assert bound >= min(goal, float(best) - 1e-7 * (1 + abs(float(best)))), f"seed {seed}"
        impossible += best is None
    assert 2 < impossible < 58


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_called_optimal_or_infeasible_is(kind: str) -> None:
    for seed in range(60):
        program = drawn(seed, kind)
        found, best = program.solve(60.0, [], exact=False), truth(program)
        if best is None:
            assert found.status in ("infeasible", "optimal"), f"seed {seed}"  # HiGHS may miss a row by its tolerance
            assert found.claim.proven() == np.inf or found.x is not None
        else:
            assert not found.claim.is_none, f"seed {seed}"
            assert found.claim.proven() <= float(best) + 1e-9, f"seed {seed}"


@pytest.mark.shorter(1)
@pytest.mark.parametrize("lie", ["infeasible", "too high"])
def test_highs_is_not_believed(monkeypatch, lie: str) -> None:
    """Each answer of HiGHS is made a false one. None of them is passed on."""
    honest, lies = programs.read, 0

    def read(*given, mip: bool) -> Said:
        nonlocal lies
        said = honest(*given, mip=mip)
        lies += 1
        return Said("infeasible", None, np.inf) if lie == "infeasible" else replace(said, bound=said.bound + 0.1)

    monkeypatch.setattr(programs, "read", read)
    for seed in range(30):
        program = drawn(seed, "plain")
        best = truth(program)
        if best is not None:
            found = program.solve(60.0, [], exact=False)
            assert found.claim.reaches(float(best) + 0.05)
            assert not found.claim.holds
            assert float(best) - 1e-5 <= found.claim.proven() <= float(best) + 1e-12
    assert lies >= 10


def test_a_convex_program_is_bounded_by_its_tangent(monkeypatch) -> None:
    honest = programs.read
    monkeypatch.setattr(programs, "read", lambda *given, mip: replace(honest(*given, mip=mip), bound=999.0))
    for seed in range(20):
        rng, program = np.random.default_rng(seed), Program()
        x = [program.variable(-1.0, 1.0) for _ in range(3)]
        root = rng.normal(size=(3, 3))
        program.minimise_square(tuple(part + float(rng.normal()) for part in x), root @ root.T)
        program.at_least(sum((float(w) * v for w, v in zip(rng.normal(size=3), x, strict=True)), Sum()), 0.2)
        found = program.solve(60.0, [], exact=True)
        assert found.x is not None
        cost = program.curves[0].at(found.x)
        assert found.claim.proven() == pytest.approx(cost, abs=1e-6)
        assert found.claim.proven() <= cost + 1e-12


def test_a_proof_that_ends_early_tells_the_bound_of_the_boxes_that_are_left() -> None:
    before = -np.inf
    for seed in range(30):
        program = drawn(seed, "plain")
        model = program._model(highspy, [], None, curves=False, whole=False)
        asked = highspy, model, np.flatnonzero(program.integer), np.inf
        assert lowest_cost(*asked, until=now()) == -np.inf
        bounds = [lowest_cost(*asked, steps=steps) for steps in (0, 3, 10, np.inf)]
        assert bounds == sorted(bounds)
        before = max(before, bounds[-1] - bounds[1])
    assert before > 0


def test_what_is_said_steers_and_only_what_is_proven_is_a_number() -> None:
    derived = []

    def claim(said: float, own: float, until: float = np.inf) -> CostClaim:
        return CostClaim(said, lambda: derived.append(said) or own, until)

    low, high, none = claim(1.0, 0.5), claim(2.0, 2.0), claim(np.inf, 3.0)
    assert low.higher(high) is high
    assert high.higher(low) is high
    assert none.is_none
    assert not low.and_no_less(none).is_none
    assert low.and_no_less(high).reaches(1.0)
    assert not low.and_no_less(high).reaches(1.5)
    assert derived == []
    assert [one.proven() for one in (low.and_no_less(high), high.and_no_less(none), none.and_no_less(CostClaim.of(9.0)))] == [
        0.5, 2.0, 3.0,
    ]  # fmt: skip
    assert [one.holds for one in (low, high, none, CostClaim.of(4.0))] == [False, True, False, True]
    assert sorted(derived) == [1.0, 2.0, np.inf]  # each once
    early, over = claim(1.0, 1.0, now() + 60), claim(1.0, 1.0, now())
    for one, late in ((early, False), (over, True), (early.and_no_less(over), True), (CostClaim.of(1.0), False)):
        one.proven()
        assert one.late is late
