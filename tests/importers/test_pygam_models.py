"""pygam: terms and links, what is refused, and answers that no row of a fine grid is cheaper than."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.shorter import first

pygam = pytest.importorskip("pygam")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning", "ignore::UserWarning")
s, line, f, te = (getattr(pygam, name) for name in ("s", "l", "f", "te"))


def table(seed: int = 0, rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=rows) * 10, "b": rng.uniform(0, 100, rows), "c": rng.integers(0, 4, rows),
            "d": rng.normal(size=rows),
        }
    )  # fmt: skip
    return X, np.asarray(
        2 * np.sin(X["a"] / 5) + 0.02 * X["b"] + (X["c"] == 2) - X["d"] ** 2 + rng.normal(size=rows) / 3
    )


MIXED = s(0, n_splines=8) + s(1, spline_order=1) + f(2, coding="dummy") + s(3, spline_order=0)
MODELS = {
    "default": lambda X, y: pygam.LogisticGAM().fit(X, y > 1),
    "terms": lambda X, y: pygam.LogisticGAM(s(0) + s(1, spline_order=2) + f(2) + line(3)).fit(X, y > 1),
    "lines": lambda X, y: pygam.LinearGAM(MIXED).fit(X, y),
    "counts": lambda X, y: pygam.PoissonGAM(s(0) + s(1) + f(2) + s(3)).fit(X, np.exp(y / 3).round()),
    "gamma": lambda X, y: pygam.GammaGAM().fit(X, np.exp(y / 3)),
    "probability": lambda X, y: pygam.GAM(distribution="binomial", link="logit").fit(X, y > 1),
    "expectile": lambda X, y: pygam.ExpectileGAM(s(0, spline_order=4) + line(1), expectile=0.2).fit(X, y),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name) -> None:
    X, y = table()
    check_importer(MODELS[name](X.to_numpy(float), y), X)


@pytest.mark.parametrize("terms", [te(0, 1) + line(2), s(0, by=1) + line(2), s(0, basis="cp") + line(2)])
def test_what_cannot_be_read_says_so(terms) -> None:
    X, y = table()
    assert "l(), f(), or s()" in why_unread(pygam.LinearGAM(terms).fit(X.to_numpy(float), y), X)


@pytest.mark.parametrize("seed", first(1, range(8)))
def test_no_row_of_a_fine_grid_is_cheaper(seed) -> None:
    X, y = table(seed)
    X = X[["a", "d"]]
    model = pygam.LogisticGAM(s(0, n_splines=10) + s(1)).fit(X.to_numpy(float), y > 1)
    explainer = bf.Explainer(model, X)
    sides = [np.linspace(X[name].min(), X[name].max(), 201) for name in X]
    every = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    taken = every[model.predict(every)]
    rows = X[~model.predict(X.to_numpy(float))].iloc[:5]
    ranges = np.array([explainer.space[name].range for name in X])
    for answer, row in zip(explainer.explain(rows, target=True), rows.to_numpy(), strict=True):
        least = (np.abs(taken - row) / ranges).sum(axis=1).min()
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert least - 2 / 200 <= answer.cost <= least + 1e-9  # the grid is that wide
        assert model.predict(answer.point.to_numpy())[0]


def test_its_answers_are_proven_for_all_kinds_of_targets() -> None:
    X, y = table()
    model = pygam.LogisticGAM().fit(X.to_numpy(float), y > 1)
    row = X[~model.predict(X.to_numpy(float))].iloc[[0]]
    explainer = bf.Explainer(model, X)
    answer = explainer.explain(row, target=True)
    assert answer.score.of == "probability of True"
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert explainer.explain(row, target=bf.probability(True, 0.7)).score.after >= 0.7
    of_values = bf.Explainer(pygam.LinearGAM().fit(X.to_numpy(float), y), X)
    assert of_values.explain(row, target=bf.relative_change(0.5)).certificate.status is bf.Status.PROVEN_OPTIMAL
