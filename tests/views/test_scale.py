"""Scales: even for most columns, bent for skewed ones, and always in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

import butfor as bf
from butfor.space.feature import Feature
from butfor.views.scale import APART, scale_of
from tests.shorter import first
from tests.views.answers import made

GAINS = Feature("gain", 0.0, 99_999.0, step=1.0, typical=0.0, mad=0.0, std=7_400.0)
EVEN = Feature("age", 17.0, 90.0, step=1.0, typical=37.0, mad=10.0, std=13.0)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("seed", first(5, range(20)))
def test_a_scale_keeps_the_order_and_its_ticks_have_room(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.exp(rng.normal(rng.normal(0, 5), rng.uniform(0.1, 3), 200)) * rng.choice([-1, 1])
    middle = float(np.median(values))
    feature = Feature(
        "x", float(values.min()), float(values.max()), typical=middle,
        mad=float(np.median(np.abs(values - middle))), std=float(values.std()),
    )  # fmt: skip
    scale = scale_of(feature)
    places = [scale.place(value) for value in np.sort(values).tolist()]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0.0, 1.0)
    ticks = [scale.place(tick) for tick in scale.ticks()]
    assert (ticks[0], ticks[-1]) == (0.0, 1.0)
    assert min(b - a for a, b in pairwise(ticks)) >= APART


def test_the_data_decide_which_scale_is_even() -> None:
    assert scale_of(EVEN).ticks() == [17.0, 90.0]
    assert scale_of(EVEN).place(53.5) == 0.5
    assert scale_of(Feature("constant", 3.0, 3.0, typical=3.0)).place(3.0) == 0.0
    assert len(scale_of(GAINS).ticks()) > 2


def test_a_change_is_seen_on_a_skewed_column() -> None:
    """3,000 of 99,999 is 3 % of the width where values are drawn evenly."""
    ax = made((0.0,), (3000.0,), space=bf.Space((GAINS,))).plot()
    was, now = (float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o")
    assert now - was > 0.15
    ticks = [text.get_text() for text in ax.texts if text.get_text()][2:]
    assert sorted(ticks, key=float) == ["0", "10000", "50000", "99999"]
