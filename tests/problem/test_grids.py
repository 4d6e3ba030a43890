"""Grids in floats against the same grids in fractions, over many magnitudes."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.model.grid_points import grid_down, grid_point, grid_up, on_grid, shifted
from butfor.model.lattice import Lattice, meant
from butfor.problem.domain import open_domain
from butfor.space.feature import Feature
from butfor.space.space import Space

STEPS = st.one_of(
    st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 999), st.integers(-12, 9)),
    st.sampled_from([1 / 3, 2 / 7, 0.1, 0.25, 1.0, 12.0, np.pi]),
)
ANCHORS = st.one_of(
    st.just(0.0), st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(-99, 99), st.integers(-9, 12))
)
VALUES = st.one_of(st.floats(-1e12, 1e12), st.floats(-10, 10), st.integers(-(10**9), 10**9).map(float))


def rounding(*numbers: float) -> Fraction:
    """What floats of these sizes may be off."""
    return 4 * sum(Fraction(abs(number)) for number in numbers) / 2**52


@settings(max_examples=600, deadline=None)
@given(STEPS, ANCHORS, VALUES)
def test_the_grid_points_beside_a_number(step, anchor, x) -> None:
    lattice = Lattice.of(step, anchor)
    floats = lattice.in_floats()
    up, down = (float(found(np.array([x]), *floats)[0]) for found in (grid_up, grid_down))
    assert down <= x <= up
    off = rounding(x, step, floats[1]) + lattice.step * Fraction(1, 10**9)
    above = lattice.anchor + lattice.step * ceil((Fraction(x) - lattice.anchor) / lattice.step)
    below = lattice.anchor + lattice.step * floor((Fraction(x) - lattice.anchor) / lattice.step)
    on_a_point = min(above - Fraction(x), Fraction(x) - below) <= off
    # beside a point that x may be, the next one is right as well
    assert abs(Fraction(up) - above) <= off or (on_a_point and abs(Fraction(up) - above) <= lattice.step + off)
    assert abs(Fraction(down) - below) <= off or (on_a_point and abs(Fraction(down) - below) <= lattice.step + off)


@settings(max_examples=600, deadline=None)
@given(STEPS, ANCHORS, VALUES, st.floats(0.1, 0.9))
def test_a_point_is_on_its_grid_and_the_numbers_between_are_not(step, anchor, x, part) -> None:
    lattice = Lattice.of(step, anchor)
    k = round((Fraction(x) - lattice.anchor) / lattice.step)
    point = lattice.anchor + lattice.step * k
    floats = lattice.in_floats()
    near = floats[1] + k * floats[0]
    assert on_grid(np.array([near, float(point)]), *floats).all()
    near = float(grid_point(np.array([k], dtype=np.float64), *floats)[0])
    for found in (grid_up, grid_down):
        assert abs(found(np.array([near]), *floats)[0] - near) <= float(rounding(x, step, floats[1]))
    between = float(point + lattice.step * Fraction(part))
    if rounding(between, floats[1]) < lattice.step / 50:
        assert not on_grid(np.array([between]), *floats)[0]


@settings(max_examples=400, deadline=None)
@given(STEPS, ANCHORS, STEPS, ANCHORS)
def test_the_common_grid_of_two(step, anchor, other_step, other_anchor) -> None:
    one, other = Lattice.of(step, anchor), Lattice.of(other_step, other_anchor)
    both = one.meet(other)
    measure = Fraction(np.gcd.reduce([int(lattice.step * 10**40 * 21) for lattice in (one, other)]), 21 * 10**40)
    exact = {one.step, other.step} <= {
        lattice for lattice in (one.step, other.step) if (lattice * 21 * 10**40).denominator == 1
    }
    if both is None:
        assert not exact or ((other.anchor - one.anchor) / measure).denominator > 1
        return
    slack = min(one.step, other.step) / 10**8
    for lattice in (one, other):
        assert (both.step / lattice.step).denominator == 1
        apart = (both.anchor - lattice.anchor) / lattice.step
        assert abs(apart - round(apart)) * lattice.step <= slack
    assert not exact or both.step == one.step * other.step / measure


@pytest.mark.parametrize(
    ("step", "anchor"), [("0.1", "0"), ("0.3", "0"), ("0.15", "0.05"), ("1.1", "-3.3"), ("0.007", "2")]
)
def test_points_are_the_numbers_that_one_writes(step: str, anchor: str) -> None:
    k = np.arange(-3000.0, 3000.0)
    written = [float(Fraction(anchor) + Fraction(step) * int(one)) for one in k]
    assert grid_point(k, float(step), float(anchor)).tolist() == written
    beside = grid_point(k[:, None], np.array([float(step), 1.0]), np.array([float(anchor), 0.0]))
    assert beside.T.tolist() == [written, k.tolist()]
    assert shifted(np.array(written[:1]), np.array([7.0]), float(step), float(anchor)).tolist() == written[7:8]
    off = written[0] + float(step) / 3
    assert shifted(np.array([off]), np.array([7.0]), float(step), float(anchor)).tolist() == [off + 7 * float(step)]


def test_what_a_float_means() -> None:
    assert meant(0.1) == Fraction(1, 10)
    assert meant(1 / 3) == Fraction(1, 3)
    assert meant(1e-7) == Fraction(1, 10**7)
    assert meant(np.float64(1e-300)) == Fraction(1, 10**300)
    assert meant(1234567.8901234) == Fraction("1234567.8901234")


@pytest.mark.parametrize(
    ("own", "step", "anchor", "common", "start"),
    [
        (1.0, 1e-7, 0.0, 1.0, 0.0),
        (1.0, 1e-12, 0.0, 1.0, 0.0),
        (1.0, 1 / 3, 0.0, 1.0, 0.0),
        (1.0, 1.5, 0.0, 3.0, 0.0),
        (1.0, 0.1, 1e9, 1.0, 0.0),
        (4.0, 6.0, 2.0, 12.0, -4.0),
        (0.1, 0.25, 0.3, 0.5, -0.2),
        (0.1, 0.2, 0.1 * 3, 0.2, 0.1),
        (1e-7, 1.0, 0.5, 1.0, 0.5),
        (1e9, 1e-300, 0.0, 1e9, 0.0),
    ],
)
def test_common_grids_by_hand(own, step, anchor, common, start) -> None:
    domain = open_domain(Space((Feature("x", low=0.0, high=60.0, step=own),)), np.array([[3.0]]))
    domain = domain.coarsened(0, step, anchor)
    assert domain.step[0] == pytest.approx(common, rel=1e-15)
    assert (domain.anchor[0] - start) % common == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("anchor", [0.0, 0.3, -7e-5, 1e9, -1e15])
@pytest.mark.parametrize("step", [0.1, 1e-9, 1e-15, 1e-17, 1e-300, 1e200])
def test_the_domain_and_the_rule_agree_on_fine_and_far_grids(step, anchor) -> None:
    space = Space((Feature("x", low=-10.0, high=10.0),))
    before = np.array([[0.377]])
    wish = bf.step("x", step, anchor=anchor)
    domain = wish.narrowed(open_domain(space, before), space)
    cells = np.array([[-np.inf, 1.0, 2.5, 0.5]]), np.array([[-3.0, 2.0, 10.0, 0.6]])
    found = domain.nearest(0, *cells)[0]
    assert np.isnan(found).all() == (step > 100)
    for value in found[~np.isnan(found)]:
        assert domain.admits(np.array([[value]]))[0]
        assert wish.holds_between(space, before, np.array([[value]]))[0]


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)], ids=repr)
@pytest.mark.parametrize(
    ("name", "step", "anchor"),
    [("b", 1e-7, 0.0), ("b", 1e-12, 0.0), ("b", 1 / 3, 0.0), ("a", 0.1, 1e9), ("a", 1e-17, 0.0), ("a", 1e-5, 1e6)],
)
def test_answers_on_fine_and_far_grids(model, name, step, anchor) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(0, 3, 80), "b": rng.integers(0, 20, 80)})
    model = model.fit(X, np.where(X["a"] + X["b"] / 4 + rng.normal(0, 0.5, 80) > 2.5, "p", "q"))
    row, other = X[model.predict(X) == "q"].iloc[[0]], "ba"["ba".index(name) - 1]
    explainer = bf.Explainer(model, data=X)
    free = explainer.explain(row, target="p", constraints=[bf.fixed(other)])
    found = explainer.explain(row, target="p", constraints=[bf.fixed(other), bf.step(name, step, anchor=anchor)])
    if not free.found:
        assert found.certificate.status is bf.Status.PROVEN_INFEASIBLE
        return
    assert found.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert free.cost - 1e-6 <= found.cost <= free.cost + step / explainer.space[name].range + 1e-6


@pytest.mark.shorter(8)
@pytest.mark.parametrize("low", [0.1 * 3, 0.3, 0.1 * 6, 0.7000000000000001, 0.29999999999999993, 0.39999999999999997])
@pytest.mark.parametrize(
    "model",
    [LinearSVC(random_state=0), DecisionTreeClassifier(max_depth=1, random_state=0), LogisticRegression()],
    ids=repr,
)
def test_an_end_that_means_a_grid_point_is_kept_to_the_last_digit(low, model) -> None:
    x = np.arange(11)[:, None] * 0.1
    explainer = bf.Explainer(model.fit(x, x.ravel() > 0.25), x, space={"x0": bf.Step(0.1, 0.0, 1.0)})
    for high in (0.9, low):
        constraints = [bf.between("x0", low, high)]
        for solver in ("auto", "milp", "swarm"):
            answer = explainer.explain(x[:1], target=True, constraints=constraints, solver=solver).only
            assert answer.found, solver
            assert low <= answer.point[0, 0] <= high


@pytest.mark.parametrize(("step", "want"), [(0.3, 0.9), (0.7, 2.1), (1.1, 3.3), (0.15, 0.45)])
def test_a_point_of_the_users_own_data_is_found_to_the_last_digit(step: float, want: float) -> None:
    """Three times 0.3 is 0.8999999999999999 in floats, and a scorecard begins a bin at 0.9."""
    X = pd.DataFrame({"dose": [float(f"{k * step:.12g}") for k in range(12)]})
    for model, row in ((lambda X: X["dose"] >= want, 0), (lambda X: X["dose"] <= want, -1)):
        card = bf.black_box(lambda X, model=model: model(X).to_numpy(), classes=[False, True])
        explainer = bf.Explainer(card, X, space={"dose": bf.Step(step)})
        answer = explainer.explain(X.iloc[[row]], target=True, solver=bf.Swarm(particles=20)).only
        assert answer.point["dose"].iloc[0] == want
    card = bf.Scorecard({"dose": {f"(-inf, {want})": 0, f"[{want}, inf)": 10}})
    answer = bf.Explainer(card, X, space={"dose": bf.Step(step)}).explain(X.iloc[[0]], target=bf.value(at_least=5)).only
    assert answer.point["dose"].iloc[0] == want
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
