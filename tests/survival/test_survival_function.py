"""Any function that returns survival functions is explained, by the swarm."""

from __future__ import annotations

import numpy as np
import pytest

import butfor as bf

S = bf.survival
TIMES = np.arange(10.0, 310.0, 10.0)


def hazard(X: np.ndarray) -> np.ndarray:
    return 0.004 * np.exp(np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2])


def function(X: np.ndarray) -> np.ndarray:
    return np.exp(-np.outer(hazard(X), TIMES))


@pytest.mark.parametrize("target", [S.mean_gain(20.0), S.median_gain(15.0), S.survival_at(100.0, 0.5)], ids=repr)
def test_the_swarm_answers(target) -> None:
    X = np.random.default_rng(0).random((80, 3))
    explainer = bf.Explainer(S.black_box(function, TIMES), data=X)
    row = X[[int(np.argmax(hazard(X)))]]
    answer = explainer.explain(row, target=target, solver=bf.Swarm(particles=30, iterations=20))
    assert answer.certificate.status is bf.Status.VALID
    before, after = function(row)[0], function(answer.point)[0]
    mean = 10.0 + 10.0 * before[:-1].sum()
    if target == S.mean_gain(20.0):
        assert 10.0 + 10.0 * after[:-1].sum() >= mean + 20.0
        assert answer.before == pytest.approx(mean)
    if target == S.survival_at(100.0, 0.5):
        assert after[9] >= 0.5


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda X: np.ones((len(X), 3)), "shape"),
        (lambda X: 1 - function(X), "rise"),
        (lambda X: 1.5 * function(X), "leave"),
        (lambda X: function(X) * np.nan, "NaN"),
        (lambda X: np.full((len(X), len(TIMES)), "a"), "label"),
    ],
)
def test_what_is_no_survival_function_is_refused(returned, said) -> None:
    X = np.random.default_rng(0).random((20, 3))
    with pytest.raises(bf.ButforError, match=said):
        bf.Explainer(S.black_box(returned, TIMES), data=X).explain(X[:1], target=S.mean_gain(10.0))


def test_a_function_without_any_event() -> None:
    X = np.random.default_rng(0).random((20, 3))
    model = S.black_box(lambda X: np.ones((len(X), len(TIMES))), TIMES)
    with pytest.raises(bf.errors.InputError, match=r"must lie in \(0, 0\]"):
        bf.Explainer(model, data=X).explain(X[:1], target=S.mean_gain(10.0))


@pytest.mark.parametrize("times", [[], [0.0, 1.0], [2.0, 1.0], [1.0, 1.0], [1.0, np.inf], [[1.0]]])
def test_times(times) -> None:
    with pytest.raises(bf.errors.InputError, match="positive and rise"):
        S.black_box(function, times)


def test_a_function_is_needed() -> None:
    with pytest.raises(bf.errors.InputTypeError, match="function"):
        S.black_box(3, TIMES)
