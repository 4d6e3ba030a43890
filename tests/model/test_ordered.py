"""Ordered classes: every target is an interval of the score, or what is outside it, up to the last digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import logistic, norm

from butfor.model.monotone import Logistic, Normal
from butfor.model.ordered import OrderedClasses
from butfor.model.scores import Doubt
from tests.shorter import first

RANDOM = 300
"""How many scores are drawn around the thresholds."""

THEIRS = {Logistic: logistic, Normal: norm}


def drawn(seed: int) -> OrderedClasses:
    """Thresholds of which some leave a class no score at which it is the most probable one, or are equal."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6))
    steps = np.where(rng.random(count) < 0.2, 0.0, rng.exponential(rng.choice([0.02, 1.0, 8.0]), count))
    thresholds = rng.normal(scale=rng.choice([1.0, 1000.0])) + np.cumsum(steps)
    return OrderedClasses(tuple("abcdef"[: count + 1]), thresholds, Normal() if seed % 2 else Logistic())


def theirs(readout: OrderedClasses, s: np.ndarray) -> np.ndarray:
    """The probabilities, as statsmodels computes them."""
    ends = np.concatenate([[-np.inf], readout.thresholds, [np.inf]])
    cdf = THEIRS[type(readout.distribution)].cdf
    return np.maximum(cdf(ends[1:] - s[:, None]) - cdf(ends[:-1] - s[:, None]), 0)


def scores_to_ask(readout: OrderedClasses, sets, rng: np.random.Generator) -> np.ndarray:
    """Random scores, and those at the ends of sets and a few numbers beside."""
    t = readout.thresholds
    some = [rng.uniform(t[0] - 5, t[-1] + 5, RANDOM), rng.uniform(t[0] - 60, t[-1] + 60, 100), t]
    for part in sets:
        for (way,), end in zip(part.A.tolist(), part.b.tolist(), strict=True):
            if way:
                low = high = way * end
                for _ in range(4):
                    some.append(np.array([low, high]))
                    low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return np.concatenate(some)


NEAR = 1e-12
"""A probability so near to a threshold may be on either side of it by rounding."""


def check(
    readout: OrderedClasses, sets, wanted, rng: np.random.Generator, near=lambda p: np.zeros(len(p), bool)
) -> None:
    """`wanted` says of rows of probabilities whether the estimator takes them for what the sets are about.

    `near` says where rounding decides: a class that is far wider than the noise has the probability 1 over whole stretches.
    """
    s = scores_to_ask(readout, sets, rng)
    given, true = theirs(readout, s), np.zeros(len(s), dtype=bool)
    perhaps, surely, nominal = true.copy(), true.copy(), true.copy()
    for part in sets:
        none = Doubt(np.zeros(len(part.b)), np.zeros(1), np.zeros(len(part.b)))
        perhaps |= part.perhaps(s[:, None], none)
        surely |= part.surely(s[:, None], none)
        nominal |= part.holds(s[:, None])
    true = wanted(given)
    assert not (true & ~perhaps).any(), "a proof would leave out an answer"
    assert not (surely & ~true).any(), "an answer is none"
    assert ((true == nominal) & (perhaps == surely) | near(given))[:RANDOM].mean() > 0.99, "little is in doubt"


SEEDS = first(4, range(60))


@pytest.mark.shorter(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_class_is_one_interval(seed) -> None:
    readout, rng = drawn(seed), np.random.default_rng(seed)
    for label in range(len(readout.classes)):
        check(readout, readout.class_sets(label), lambda p, k=label: p.argmax(axis=1) == k, rng)
        check(readout, readout.other_sets(label), lambda p, k=label: p.argmax(axis=1) != k, rng)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_probability_is_an_interval_or_what_is_outside(seed) -> None:
    readout, rng = drawn(seed), np.random.default_rng(seed)
    typical = theirs(readout, rng.uniform(readout.thresholds[0] - 3, readout.thresholds[-1] + 3, 1))
    for label in range(len(readout.classes)):
        t = readout.thresholds
        most = theirs(readout, np.array([t[max(label - 1, 0) : label + 1].mean()]))[:, label]
        for p in (float(typical[0, label]), float(most[0]), 0.3, 1e-9):
            if p > 0:
                strict = bool(rng.random() < 0.5)

                def more(q, k=label, p=p, strict=strict):
                    return q[:, k] > p if strict else q[:, k] >= p

                def less(q, k=label, p=p, strict=strict):
                    return q[:, k] < p if strict else q[:, k] <= p

                def near(q, k=label, p=p):
                    return np.abs(q[:, k] - p) < NEAR

                check(readout, readout.probability_sets(label, p, strict=strict), more, rng, near)
                check(readout, readout.probability_sets(label, p, below=True, strict=strict), less, rng, near)


def test_a_middle_class_may_be_out_of_reach() -> None:
    readout = OrderedClasses(("few", "some", "many"), np.array([0.0, 0.1]), Logistic())
    (some,) = readout.class_sets(1)
    s = np.linspace(-5, 5, 1001)[:, None]
    assert not some.holds(s).any()
    (everything,) = readout.other_sets(1)
    assert everything.holds(s).all()
    (never,) = readout.probability_sets(1, 0.5)
    assert not never.holds(s).any()
    assert len(readout.probability_sets(1, 0.01, below=True)) == 2


def test_probabilities_of_0_and_1_are_refused_or_certain() -> None:
    readout = drawn(0)
    with pytest.raises(ValueError, match="only by rounding"):
        readout.probability_sets(1, 0.0, below=True)
    assert readout.probability_sets(1, 0.0)[0].holds(np.zeros((1, 1))).all()
    assert not readout.probability_sets(1, 1.5)[0].holds(np.zeros((1, 1))).any()
