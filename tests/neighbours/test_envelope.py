"""The planes above units: nothing that a unit passes on in the box lies above one, and at a corner one touches it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from butfor.neighbours.networks.envelope import envelope
from tests.shorter import first


def random_units(seed: int):
    rng = np.random.default_rng(seed)
    units, features = 6, 4
    low = rng.normal(size=features) * 10.0 ** rng.integers(-3, 4)
    high = low + rng.choice([0.0, 1e-6, 0.5, 3.0], features)
    reach = rng.normal(size=(units, features)) * rng.choice([0.0, 1.0], (units, features), p=[0.2, 0.8])
    constant = rng.normal(size=units) - reach @ ((low + high) / 2)
    return rng, reach, constant, rng.choice([0.0, 0.25, 1.0], units), low, high


@pytest.mark.parametrize("seed", first(15, range(60)))
def test_no_unit_passes_a_plane_and_at_corners_one_touches_it(seed: int) -> None:
    rng, reach, constant, leak, low, high = random_units(seed)
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    inside = np.concatenate([corners, rng.uniform(low, high, (200, len(low)))])
    z = constant + inside @ reach.T
    passed, size = np.maximum(z, leak * z), 1 + np.abs(constant)
    for at in inside[:40]:
        planes = envelope(reach, constant, leak, low, high, at)
        assert (planes.offset + inside @ planes.slope.T >= passed - 1e-12 * size).all()
    for at, reached in zip(corners, passed, strict=False):
        planes = envelope(reach, constant, leak, low, high, at)
        assert planes.offset + planes.slope @ at == pytest.approx(reached, abs=1e-9 * size.max())


def test_of_all_planes_over_the_corners_it_is_the_lowest() -> None:
    """The concave envelope at a point is the best average of corners that have the point as their average."""
    from scipy.optimize import linprog

    for seed in range(30):
        rng, reach, constant, leak, low, high = random_units(seed)
        corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
        at = rng.uniform(low, high)
        planes = envelope(reach, constant, leak, low, high, at)
        for unit in range(len(reach)):
            z = constant[unit] + corners @ reach[unit]
            value = np.maximum(z, leak[unit] * z)
            share = (corners - low) / np.where(high > low, high - low, 1.0)
            means = np.vstack([share.T, np.ones(len(corners))])
            aim = np.append((at - low) / np.where(high > low, high - low, 1.0), 1.0)
            best = -linprog(-value, A_eq=means, b_eq=aim).fun
            assert planes.offset[unit] + planes.slope[unit] @ at == pytest.approx(best, abs=1e-7 * (1 + abs(best)))
