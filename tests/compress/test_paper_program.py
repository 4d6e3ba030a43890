"""The paper's program, solved as it stands by another solver, crosses the thresholds that the discretiser finds."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from sklearn.ensemble import GradientBoostingClassifier

import butfor as bf

pytestmark = [
    pytest.mark.skipif(
        not (Path(__file__).resolve().parents[2] / "reproductions").is_dir(),
        reason="the reproductions are not part of the source distribution",
    ),
    pytest.mark.skipif(
        tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15),
        reason="HiGHS, as older versions of SciPy have it, calls programs impossible that are not",
    ),
]

EPS = 0.004
"""A distance that many rows do not keep, as with the paper's eps_j: these must move away from a cut, or across it."""


@cache
def made() -> tuple[Any, Any, Any]:
    """A table, labels, and boosted stumps."""
    rng = np.random.default_rng(3)
    X = rng.random((120, 4))
    X[:2] = [[0.0] * 4, [1.0] * 4]
    y = ((X @ [1.0, -0.8, 0.6, 0.0] + 0.1 * rng.normal(size=120)) > 0.4).astype(int)
    return X, y, GradientBoostingClassifier(n_estimators=40, max_depth=1, random_state=0).fit(X, y)


def cuts(model: Any) -> set[tuple[int, float]]:
    return {(int(tree.tree_.feature[0]), float(tree.tree_.threshold[0])) for tree in model.estimators_.ravel()}


@cache
def counted(eps: float, fixed: tuple[int, ...] = ()) -> Counter[tuple[int, float]]:
    """How often the paper's program and formula cross each cut of the model."""
    from reproductions.fcca import program

    X, y, model = made()
    read = program.read(model, X)
    np.testing.assert_allclose([read.base + read.added(row) for row in X], model.decision_function(X))
    search = program.Program(read, np.full(4, eps), fixed=fixed)
    chosen = np.flatnonzero(model.predict(X) == y)
    found = [search.counterfactual(X[row], 1 - y[row]) for row in chosen]
    there = [n for n, answer in enumerate(found) if answer is not None]
    own = sorted(cuts(model))
    crossed = Counter[tuple[int, float]]()
    for j, at in program.thresholds(X[chosen[there]], np.array([found[n] for n in there]), search.eps):
        (nearest,) = [cut for k, cut in own if k == j and abs(cut - at) < 1e-3 * eps]  # the formula gives a cut
        crossed[j, nearest] += 1
    return crossed


def counts(disc: bf.compress.CounterfactualDiscretizer) -> Counter[tuple[int, float]]:
    return Counter({(one.feature, round(one.at, 6)): one.count for one in disc.crossings_.columns})


def rounded(found: Counter[tuple[int, float]]) -> Counter[tuple[int, float]]:
    return Counter({(j, round(cut, 6)): count for (j, cut), count in found.items()})


@pytest.mark.long
def test_the_formula_gives_cuts_of_the_model() -> None:
    """With constraints (3)-(4), each threshold of (10)-(11) is a cut, and ours are the same ones, as often."""
    X, y, model = made()
    with_distance = bf.compress.CounterfactualDiscretizer(model, quantile=0.0, constraints=[bf.margin(EPS)]).fit(X, y)
    assert counts(with_distance) == rounded(counted(EPS))
    for disc in (with_distance, bf.compress.CounterfactualDiscretizer(model, quantile=0.0).fit(X, y)):
        for one in disc.thresholds_:
            cut = min((cut for j, cut in cuts(model) if j == one.feature), key=lambda cut: abs(cut - one.at))
            assert abs(one.at - cut) <= np.spacing(np.float32(cut))  # the model compares in single precision
            np.testing.assert_array_equal(X[:, one.feature] > one.at, X[:, one.feature] > cut)


@pytest.mark.long
def test_a_vanishing_distance_changes_no_threshold() -> None:
    X, y, model = made()
    disc = bf.compress.CounterfactualDiscretizer(model, quantile=0.0).fit(X, y)
    assert counts(disc) == rounded(counted(1e-5))


@pytest.mark.long
@pytest.mark.parametrize("fixed", [(0,), (1, 2)])
def test_no_threshold_arises_on_a_fixed_column(fixed: tuple[int, ...]) -> None:
    """The plausibility set X^0 of constraint (7): all other counts are those of the program without these columns."""
    X, y, model = made()
    rules = [bf.fixed(f"x{j}") for j in fixed]
    disc = bf.compress.CounterfactualDiscretizer(model, quantile=0.0, constraints=rules).fit(X, y)
    assert not {one.feature for one in disc.thresholds_} & set(fixed)
    assert counts(disc) == rounded(counted(1e-5, fixed))
    free = bf.compress.CounterfactualDiscretizer(model, quantile=0.0).fit(X, y)
    assert counts(free) != counts(disc)
