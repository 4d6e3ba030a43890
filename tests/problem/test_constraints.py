"""What a constraint does to a domain and what it says of an answer are the same rule."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.problem.constraints.admissible import admissible
from butfor.problem.constraints.restrictions import MayVanish, Restriction
from butfor.problem.domain import open_domain
from butfor.problem.spec import from_spec, to_spec
from butfor.space.feature import Feature
from butfor.space.space import Space
from butfor.testing.problems import Kinds, random_constraints, random_row, random_space
from tests.shorter import first


@pytest.mark.parametrize("count", first(1, [500, 1500]))
def test_domain_and_judgement_agree_on_random_points(count: int) -> None:
    agreed = {True: 0, False: 0}
    for seed in range(count):
        rng = np.random.default_rng(seed)
        space = random_space(rng, Kinds())
        factual = random_row(rng, space)[None]
        listed = [c for c in random_constraints(rng, space, Kinds(relations=())) if isinstance(c, Restriction)]
        try:
            domain = admissible(space, factual, listed)
        except bf.errors.UnsupportedProblemError:
            continue
        free = admissible(space, factual, [c for c in listed if isinstance(c, MayVanish)])
        for _ in range(6):
            point = np.where(rng.random(len(space)) < 0.4, factual[0], random_row(rng, space))[None]
            if not free.admits(point)[0]:
                continue
            said = all(constraint.holds_between(space, factual, point)[0] for constraint in listed)
            assert domain.admits(point)[0] == said, (seed, listed, factual, point)
            agreed[said] += 1
    assert min(agreed.values()) > count / 5


def test_nearest_is_the_cheapest_admissible_value_of_a_cell() -> None:
    for seed in range(800):
        rng = np.random.default_rng(seed)
        step = float(rng.choice([0.0, 1.0, 0.5, 0.3]))
        single = bool(rng.random() < 0.3 and not step)
        feature = Feature("x", low=-3.0, high=4.0, step=step, typical=1.0, single=single)
        space = Space((feature,))
        factual = np.array([[rng.choice([np.nan, rng.uniform(-3, 4), float(rng.integers(-3, 5))])]])
        factual = factual.astype(np.float32).astype(np.float64) if single else factual
        domain = open_domain(space, factual)
        ends = np.sort(rng.choice([rng.uniform(-4, 5), float(rng.integers(-3, 5)), 0.6, 0.3], 2))
        value = domain.nearest(0, ends[None, :1], ends[None, 1:])[0, 0]
        grid = np.arange(-40, 41) * step if step else np.linspace(-3, 4, 7001)
        inside = grid[(grid > ends[0]) & (grid <= ends[1]) & (grid >= domain.low[0, 0]) & (grid <= domain.high[0, 0])]
        start = 1.0 if np.isnan(factual[0, 0]) else factual[0, 0]
        if np.isnan(value):
            assert not len(inside) or single or not step
            continue
        assert ends[0] < value <= ends[1]
        assert domain.admits(np.array([[value]]))[0]
        if len(inside):
            assert abs(value - start) <= np.abs(inside - start).min() + (1e-6 if single else 1e-9)


@pytest.mark.parametrize(
    "thing",
    [
        bf.fixed("a", "b"), bf.only_up("a"), bf.only_down("a"), bf.between("a", 0, 3.5), bf.within("a", 0.1),
        bf.step("a", 0.25, anchor=0.1), bf.whole("a"), bf.allowed("c", ["x", "y"]), bf.moves("c", {"x": ["y"], "y": []}),
        bf.may_be_missing("a"), bf.at_most_changes(2), bf.linear({"a": 1, "b": -2.5}, "<=", 3), bf.margin(0.1),
        bf.implies(bf.rises("a"), bf.becomes("c", "y")), bf.L1(), bf.L1(weights={"a": 2.0}, scale="mad"), bf.L2(scale="none"),
        bf.LInf(scale={"a": 3.0}), bf.L0(), bf.Gower(), bf.MAD(), 2 * bf.L1() + 0.5 * bf.L0(),
        bf.Table({"c": {("x", "y"): 1.0}}), bf.classes("yes", "no"), bf.other(), bf.class_costs({"yes": 0.0, "no": 1.0}),
        bf.probability("yes", at_least=0.7), bf.value(at_least=3), bf.value(1, 2), bf.relative_change(-0.3),
    ],
    ids=repr,
)  # fmt: skip
def test_questions_survive_as_data(thing) -> None:
    import json

    assert from_spec(json.loads(json.dumps(to_spec(thing)))) == thing


def test_what_cannot_be_written_is_described() -> None:
    with pytest.raises(LookupError, match="lambda"):
        from_spec(to_spec(bf.Table({"a": lambda before, after: 1.0})))
    with pytest.raises(LookupError, match="candidates"):
        from_spec(to_spec(bf.candidates(np.zeros((2, 2)))))


def test_two_grids_meet_in_their_common_multiples() -> None:
    space = Space((Feature("x", low=0.0, high=60.0, step=4.0),))
    domain = open_domain(space, np.array([[3.0]]))
    domain = bf.step("x", 6.0).narrowed(domain, space)
    assert domain.step[0] == 12.0
    with pytest.raises(bf.errors.UnsupportedProblemError, match="share a point"):
        bf.step("x", 6.0, anchor=1.0).narrowed(domain, space)


def test_no_domain_is_changed_by_making_a_narrower_one() -> None:
    space = Space((Feature("x", low=0.0, high=60.0, step=4.0, missing=True), Feature("c", levels=("a", "b", "d"))))
    domain = open_domain(space, np.array([[3.0, 1.0], [8.0, 2.0]])).with_missing(0)
    before = pickle.dumps(domain)
    narrower = [
        domain.narrowed(0, 4.0, 20.0), domain.coarsened(0, 6.0, 0.0), domain.without_missing(0), domain.all_missing(0),
        domain.at_levels(1, np.array([True, False, True])), domain.without_moves(np.array([True, True])),
        domain.without_moves(np.array([[True, False], [False, True]])),
    ]  # fmt: skip
    assert pickle.dumps(domain) == before
    assert [one.movable.tolist() for one in narrower] == [[True, True]] * 5 + [[False, False], [True, True]]
    assert narrower[0].stay.tolist() == [[False, True], [True, True]]
    assert narrower[4].stay.tolist() == [[True, False], [True, True]]
    assert narrower[3].stay.tolist() == [[False, True], [False, True]]
    assert narrower[3].admits(np.array([[np.nan, 1.0], [np.nan, 0.0]])).all()


@pytest.mark.parametrize("word", ["fixed", "only_up", "only_down", "may_be_missing"])
@pytest.mark.parametrize(
    "given",
    [
        ("a", "b"),
        (["a", "b"],),
        ({"b", "a"},),
        (pd.Index(["a", "b"]),),
        (np.array(["a", "b"]),),
        ("a", ["b"]),
    ],
    ids=lambda given: "-".join(type(part).__name__ for part in given),
)
def test_names_may_come_in_a_list(word, given) -> None:
    assert repr(getattr(bf, word)(*given)) == f"{word}('a', 'b')"


def test_an_end_may_be_left_out() -> None:
    space = Space((Feature("x", low=0.0, high=10.0), Feature("c", levels=("l", "m", "h"), ordered=True)))
    before = np.array([[1.0, 0.0]])
    for end, holds in ((bf.between("x", 2), [False, True]), (bf.between("x", high=2), [True, False])):
        assert [bool(end.holds_between(space, before, np.array([[x, 0.0]]))[0]) for x in (1.0, 3.0)] == holds
        assert from_spec(to_spec(end)) == end
    low, high = bf.between("c", "m"), bf.between("c", high="m")
    assert [bool(low.holds_between(space, before, np.array([[1.0, c]]))[0]) for c in (0.0, 1.0, 2.0)] == [
        False,
        True,
        True,
    ]
    assert [bool(high.holds_between(space, before, np.array([[1.0, c]]))[0]) for c in (0.0, 1.0, 2.0)] == [
        True,
        True,
        False,
    ]
    assert (repr(low), repr(high)) == ("between('c', 'm')", "between('c', high='m')")


@pytest.mark.parametrize("levels", [(99, 1, 2, 3), (3, 2, 1), (1, 5, 2, 4), (0.5, -1, 2)], ids=repr)
@pytest.mark.parametrize("ends", [(2, None), (None, 2), (1, 3), (2, 2), (50, 60)], ids=repr)
def test_of_levels_that_are_numbers_only_those_between_the_ends_pass(levels, ends) -> None:
    """Whatever their order is: what lies between two of them in the order may be any number."""
    space = Space((Feature("grade", levels=levels, ordered=True, missing=True),))
    rule, (low, high) = bf.between("grade", *ends), (-np.inf if ends[0] is None else ends[0], ends[1] or np.inf)
    wanted = [low <= level <= high for level in levels]
    rule.validate(space)
    assert rule.atoms() == (rule,)
    assert from_spec(to_spec(rule)) == rule
    points = np.arange(len(levels), dtype=float)[:, None]
    assert rule.holds_between(space, points, points).tolist() == wanted
    assert rule.holds_between(space, points[:1], np.array([[np.nan]])).tolist() == [True]
    domain = admissible(space, points, [rule])
    assert domain.levels[0].tolist() == [wanted] * len(levels)
    assert domain.stay[:, 0].tolist() == wanted
    event = bf.implies(rule, bf.becomes("grade", levels[0]))
    assert event.holds_between(space, points, points).tolist() == [
        not inside or level == levels[0] for inside, level in zip(wanted, levels, strict=True)
    ]


def test_ends_of_levels_that_are_numbers_are_numbers() -> None:
    space = Space((Feature("grade", levels=(99, 1, 2), ordered=True),))
    for ends, said in ((("a", None), "two numbers"), ((float("nan"), None), "NaN"), ((2, 1), "must not exceed")):
        with pytest.raises(bf.errors.ButforError, match=said):
            bf.between("grade", *ends).validate(space)


def test_an_equation_is_off_by_the_rounding_of_a_number_that_may_move_and_of_no_constant() -> None:
    """Seconds as float32 are off by up to 64. They may be those that a count asks for, if there are others."""
    row, point = np.array([[1.7e9, 4.0]]), np.array([[1.7e9, 6.0]])
    rule = bf.linear({"seconds": 0.5, "count": 0.5}, "==", 849_999_997.5)
    for low, held in ((1.6e9, True), (1.7e9, False)):
        seconds = Feature("seconds", low=low, high=1.7e9, single=True)
        space = Space((seconds, Feature("count", low=4.0, high=6.0, step=1.0)))
        assert rule.holds_between(space, row, point).tolist() == [held]
