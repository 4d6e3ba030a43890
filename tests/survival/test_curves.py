"""What is asked of survival functions, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

from butfor.importers.read import read
from butfor.model.survival.curves import Chance, MeanTime, QuantileTime, StepCurves
from tests.survival.samples import CURVED, own_mean, weibull

CURVES = StepCurves(np.array([2.0, 5.0, 9.0]), np.array([[0.8, 0.5, 0.2], [1.0, 1.0, 0.6], [0.0, 0.0, 0.0]]))


@pytest.mark.parametrize(
    ("quantity", "values"),
    [
        (MeanTime(), [2 + 0.8 * 3 + 0.5 * 4, 2 + 3 + 4, 2]),
        (MeanTime(tail=10.0), [2 + 0.8 * 3 + 0.5 * 4 + 2, 2 + 3 + 4 + 6, 2]),
        (MeanTime(horizon=6.0), [2 + 0.8 * 3 + 0.5, 6, 2]),
        (MeanTime(horizon=1.5), [1.5, 1.5, 1.5]),
        (Chance(1.999), [1, 1, 1]),
        (Chance(2.0), [0.8, 1, 0]),
        (Chance(8.0), [0.5, 1, 0]),
        (Chance(9.0), [0.2, 0.6, 0]),
        (QuantileTime(0.5), [5, np.inf, 2]),
        (QuantileTime(0.25), [5, 9, 2]),
    ],
)
def test_definitions(quantity, values) -> None:
    assert quantity.of(CURVES) == pytest.approx(values)
    assert quantity.of(CURVES.take(np.array([2, 0]))) == pytest.approx([values[2], values[0]])


@pytest.mark.parametrize("name", list(CURVED))
def test_means_are_those_of_the_step_functions(name) -> None:
    X, y = weibull()
    model = CURVED[name]().fit(X, y)
    curves = read(model, X).source.curves(X[:30])
    for tail, horizon in ((0.0, None), (50.0, None), (0.0, 300.0)):
        assert MeanTime(tail, horizon).of(curves) == pytest.approx(own_mean(model, X[:30], tail, horizon), rel=1e-12)


def test_rows_do_not_change_each_other() -> None:
    rng = np.random.default_rng(0)
    curves = StepCurves(np.arange(1.0, 400.0), np.sort(rng.random((50, 399)))[:, ::-1])
    alone = np.array([MeanTime().of(curves.take(np.array([row])))[0] for row in range(50)])
    assert (MeanTime().of(curves) == alone).all()


def test_words() -> None:
    assert MeanTime(horizon=60.0).words("months") == "mean time to event within 60 months"
    assert MeanTime(5.0).settled((1.0, 95.0)).words("days") == "mean time to event within 100 days"
    assert repr(QuantileTime(0.9)) == "time by which 90 % have had the event"
