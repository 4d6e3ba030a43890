"""Where functions that fall come down to levels: against what is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.model.survival.roots import border

FALLING = {
    "line": (lambda u: -3.0 * u, lambda level: -level / 3.0),
    "exponential": (lambda u: np.exp(-u), lambda level: -np.log(level)),
    "double exponential": (lambda u: np.exp(-np.exp(u)), lambda level: np.log(-np.log(level))),
    "cube": (lambda u: -(u**3), lambda level: np.cbrt(-level)),
}


@pytest.mark.parametrize("name", list(FALLING))
@pytest.mark.parametrize("count", [1, 7, 3000])
@pytest.mark.parametrize("mirrored", [False, True])
def test_comes_down_where_it_does(name, count, mirrored) -> None:
    function, inverse = FALLING[name]
    sign = -1.0 if mirrored else 1.0
    levels = np.random.default_rng(0).uniform(0.01, 0.99, count)
    calls = []

    def held(u):
        calls.append(len(u))
        return function(sign * u)

    found = border(held, levels, -300.0 * sign, 300.0 * sign)
    digits = 1e-13 if count < 400 else 1e-12  # by way of a polynomial
    assert sign * found == pytest.approx(inverse(levels), rel=digits, abs=digits)
    assert (function(sign * found) >= levels).all()
    assert sum(calls) <= (max(10 * count, 140) if count < 400 else count / 4)


def test_steps_and_levels_beyond() -> None:
    def held(u):
        return np.where(u <= 1 / 3, 2.0, -2.0)

    found = border(held, np.array([3.0, 2.0, 0.0, -2.0, -3.0, np.inf, -np.inf]), -10.0, 10.0)
    assert found.tolist()[0] == -np.inf
    assert found[1:3] == pytest.approx(1 / 3, abs=1e-15)
    assert (found[1:3] <= 1 / 3).all()
    assert found[3:].tolist() == [np.inf, np.inf, -np.inf, np.inf]
