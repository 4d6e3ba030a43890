"""Means of monotone functions: what is sure and what is in doubt, and lines above the functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp

from butfor.model.blend import FIRM, PERHAPS, Blend, Blends, both
from butfor.model.blended import Blended, Voted
from butfor.model.monotone import Complement, Jump, MonotoneFunction
from butfor.model.readout import Argmax
from butfor.model.scores import Doubt
from tests.model.test_monotone import FUNCTIONS
from tests.shorter import first

NAMES = [*FUNCTIONS, "jump"]
EVERY = {**FUNCTIONS, "jump": MonotoneFunction((Jump(0.3, strict=True),))}


def blend_of(name: str, **given) -> Blend:
    return Blend(np.ones((1, 1)), np.ones(1), (EVERY[name],), 0.5, **given)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", NAMES)
def test_a_line_is_above_the_function_and_close_to_it_where_it_is_asked(name, sign) -> None:
    rng = np.random.default_rng(0)
    curve = blend_of(name, sign=sign, off=np.array([1e-12]), side=PERHAPS)
    for _ in range(20):
        low, high = np.sort(rng.uniform(-3, 3, 2))
        at = float(rng.uniform(low, high))
        slope, height = curve.line(0, low, high, at)
        x = np.concatenate([rng.uniform(low, high, 500), [low, high, at]])
        assert (slope * x + height >= curve.part(0, x)).all()
        narrow = curve.line(0, at - 1e-7, at + 1e-7, at)
        assert narrow[0] * at + narrow[1] <= curve.part(0, np.array([at + 1e-6 * sign, at - 1e-6])).max() + 1e-5


@pytest.mark.parametrize("label", [0, 1])
def test_what_is_sure_lies_in_what_is_perhaps(label) -> None:
    chances = tuple((function.then(Complement()), function) for function in (EVERY["logistic"], EVERY["knots"]))
    readout = Blended(("a", "b"), np.eye(2), np.array([0.4, 0.6]), chances)
    rng = np.random.default_rng(0)
    scores = rng.uniform(-3, 3, (300, 2))
    doubt = Doubt(np.zeros(0), np.full(2, 1e-3), np.zeros(0))
    for p in (0.2, 0.5, 0.8):
        for below in (False, True):
            (part,) = readout.probability_sets(label, p, below=below)
            met = readout.probabilities(scores)[:, label]
            met = met <= p if below else met >= p
            sure, perhaps = part.surely(scores, doubt), part.perhaps(scores, doubt)
            assert not (sure & ~met).any()
            assert not (met & ~perhaps).any()
            assert 0 < sure.sum() <= perhaps.sum()
            np.testing.assert_array_equal(part.holds(scores), met)
    low, high = readout.probabilities_between(scores, np.full(300, 1e-3))
    assert (low < readout.probabilities(scores)).all()
    assert (readout.probabilities(scores) < high).all()


@pytest.mark.parametrize("weights", [[1.0, 1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0], [0.3, 0.3, 0.6]])
def test_the_first_class_wins_a_tie_of_votes(weights) -> None:
    weights = np.array(weights)
    jump = MonotoneFunction((Jump(0.0),))
    chances = ((jump.then(Complement()), jump),) * len(weights)
    readout = Voted(("a", "b"), np.eye(len(weights)), weights / weights.sum(), chances, total=weights.sum())
    scores = np.stack(np.meshgrid(*[[-1.0, 1.0]] * len(weights)), axis=-1).reshape(-1, len(weights))
    second = (scores > 0) @ weights > weights.sum() / 2 + 1e-12
    for label in (0, 1):
        (part,) = readout.class_sets(label)
        none = Doubt(np.zeros(0), np.zeros(len(weights)), np.zeros(0))
        if (weights == np.round(weights)).all():
            np.testing.assert_array_equal(part.surely(scores, none), second == bool(label))
            np.testing.assert_array_equal(part.perhaps(scores, none), second == bool(label))
        assert not ((second == bool(label)) & ~part.perhaps(scores, none)).any()


def test_sides_are_told_apart() -> None:
    for name in NAMES:
        x = np.linspace(-3, 3, 50)
        least, most = (blend_of(name, off=np.array([1e-9]), side=side).part(0, x) for side in (FIRM, PERHAPS))
        assert (least <= most).all()


def several(rng: np.random.Generator) -> Blends:
    """Two sums of four functions of rising and falling parts, with weights of either sign."""
    functions = tuple(EVERY[name] for name in rng.choice(NAMES, 4))
    off = np.full(4, 1e-12)
    return Blends(
        tuple(
            Blend(np.eye(4), rng.normal(size=4), functions, float(rng.normal()), off=off, side=PERHAPS)
            for _ in range(2)
        )
    )


@pytest.mark.parametrize("seed", first(5, range(20)))
def test_half_spaces_hold_all_that_is_in_the_set(seed) -> None:
    rng = np.random.default_rng(seed)
    curve = several(rng)
    for _ in range(10):
        low, high = np.sort(rng.uniform(-3, 3, (2, 4)), axis=0)
        sums = rng.uniform(low, high, (500, 4))
        slopes, least = curve.half_spaces(low, high, rng.uniform(low, high))
        inside = curve.excesses(sums) <= 0
        assert (sums[inside] @ slopes.T >= least).all()
        if curve.is_missed(low, high):
            assert not inside.any()


def test_half_spaces_of_a_single_row_are_exact() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        curve, at = several(rng), rng.uniform(-3, 3, 4)
        slopes, least = curve.half_spaces(at, at, at)
        np.testing.assert_allclose(least - slopes @ at, curve.excesses_of(at), atol=1e-9)


@pytest.mark.parametrize("p", [1e-6, 0.2, 0.5, 0.999])
@pytest.mark.parametrize("label", [0, 2])
def test_the_odds_of_other_classes_say_what_a_softmax_is(p, label) -> None:
    """Both sides of an end: what is sure is true of every softmax, and what is true is perhaps."""
    readout = Argmax((0, 1, 2), "softmax")
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 4, (400, 3))
    others = logsumexp(np.delete(scores, label, axis=1), axis=1)
    scores[:, label] = others + logit(p) + rng.normal(0, 1e-3, 400)
    doubt = Doubt(np.zeros(0), np.full(3, 1e-4), np.zeros(0))
    chance = readout.probabilities(scores)[:, label]
    (most,) = readout.probability_sets(label, p, below=True)
    higher = float(expit(logit(p) + 1e-3))
    between = both([readout.probability_sets(label, p)[0], readout.probability_sets(label, higher, below=True)[0]])
    for part, met in ((most, chance <= p), (between, (chance >= p) & (chance <= higher))):
        assert not (part.surely(scores, doubt) & ~met).any()
        assert not (met & ~part.perhaps(scores, doubt)).any()
        np.testing.assert_array_equal(part.holds(scores), met)
        assert 0 < met.sum() < 400
