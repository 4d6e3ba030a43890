"""Steps that bend a column before one oblique tree: every leaf is some inequalities over functions of single columns."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    SplineTransformer,
)

import butfor as bf
from butfor.errors import UnsupportedProblemError
from butfor.model.bent_tree import BentTree
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.samples import NUMBERS, QUANTILES, TEXT, answers, people
from tests.importers.test_additive import STEPS, positive, score
from tests.shorter import diagonal, first

CLASSES = bf.trees.TAOClassifier(2, init="random", alpha=0.3, random_state=0)
VALUES = bf.trees.TAORegressor(2, init="random", alpha=0.3, random_state=0)


class TestPowers(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = positive(int(rng.integers(99)))
        return make_pipeline(PowerTransformer(), CLASSES).fit(X, score(X) > 8.5), X


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("step", "kind"), diagonal(STEPS, [np.float64, np.float32]))
def test_each_step_is_read(step, kind) -> None:
    X = positive().astype(kind)
    for tree, y in ((CLASSES, score(X) > np.median(score(X))), (VALUES, score(X))):
        model = make_pipeline(STEPS[step](), tree).fit(X, y)
        reading = check_importer(model, X)
        assert type(reading.model) is BentTree
        again = check_importer(pickle.loads(pickle.dumps(model)), X)
        assert again.model.tree.value.tolist() == reading.model.tree.value.tolist()


def test_beside_levels_bins_and_plain_columns() -> None:
    X = people()
    columns = make_column_transformer(
        (SplineTransformer(3), NUMBERS), (OneHotEncoder(sparse_output=False), TEXT),
        (KBinsDiscretizer(3, strategy="quantile", encode="ordinal", **QUANTILES), ["income"]), remainder="passthrough",
    )  # fmt: skip
    model = make_pipeline(columns, CLASSES).fit(X, answers(X))
    assert type(check_importer(model, X).model) is BentTree
    for answer in bf.Explainer(model, X).explain(X.iloc[:3]):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


WIDTHS = (12, 9)
CELLS = pd.DataFrame(list(product(*(map(float, range(1, 1 + width)) for width in WIDTHS))), columns=["a", "b"])


@pytest.mark.shorter(2)
@pytest.mark.parametrize("seed", first(6, range(60)))
@pytest.mark.parametrize("cost", ["L1", "L2"])
def test_answers_over_whole_numbers_are_those_of_enumeration(seed, cost) -> None:
    rng = np.random.default_rng(seed)
    names = [name for name in STEPS if name != "powers"]
    step = STEPS[names[seed % len(names)]]() if seed % 4 else PolynomialFeatures(3)
    if isinstance(step, PolynomialFeatures):
        step = make_column_transformer((PolynomialFeatures(3, include_bias=False), [0]), remainder="passthrough")
    X = CELLS.sample(70, random_state=seed)
    y = np.round(2 * np.log(X["a"]) + rng.normal(size=len(X)) + (X["b"] - 4) ** 2 / 8 > 4)
    model = make_pipeline(step, CLASSES).fit(X, y)
    said = model.predict(CELLS).astype(bool)
    if said.all() or not said.any():
        pytest.skip("the tree tells no row from another")
    space = {name: bf.Integer(1, width) for name, width in zip(CELLS.columns, WIDTHS, strict=True)}
    explainer = bf.Explainer(model, X, space=space)
    rows = CELLS[~said].sample(min(5, int((~said).sum())), random_state=seed)
    for answer, (_, row) in zip(explainer.explain(rows, target=1, cost=cost), rows.iterrows(), strict=True):
        gap = np.abs(CELLS - row).to_numpy() / (np.array(WIDTHS) - 1)
        costs = (gap if cost == "L1" else gap**2).sum(axis=1)
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.certificate.solver.startswith("piece_programs")
        assert answer.cost == pytest.approx(costs[said].min(), abs=1e-6)


def test_what_is_not_proven_is_told() -> None:
    X = positive()
    model = make_pipeline(PowerTransformer(), CLASSES).fit(X, score(X) > 8.5)
    explainer = bf.Explainer(model, X)
    solvers = {solver.name: support for solver, support in explainer.solvers(X.iloc[[0]], cost="LInf")}
    assert "the cost has the terms" in solvers["piece_programs"].why
    with pytest.raises(UnsupportedProblemError, match="margin"):
        explainer.explain(X.iloc[[0]], constraints=[bf.margin(0.01)])
    bagged = make_pipeline(PowerTransformer(), BaggingClassifier(CLASSES, 2, random_state=0)).fit(X, score(X) > 8.5)
    assert "several oblique trees" in bf.Explainer(bagged, X).reading.model.why


def test_a_spent_budget_leaves_a_bound() -> None:
    X = positive()
    model = make_pipeline(SplineTransformer(4), CLASSES).fit(X, score(X) > 8.5)
    for answer in bf.Explainer(model, X).explain(X.iloc[:2], time_limit=0.02):
        assert answer.certificate.bound is None or answer.certificate.bound <= answer.cost
