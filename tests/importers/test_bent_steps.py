"""Steps that bend a column: exact before trees, refused by name before networks, and then searched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.importers.libraries.sklearn_bent_steps import RISING, falls
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import NUMBERS, REST, SKLEARN, TEXT, answers, people
from tests.shorter import diagonal


def positive(seed: int = 0) -> pd.DataFrame:
    """Numbers that are far enough from zero for every logarithm."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "amount": np.round(rng.uniform(20, 90, 150), 2),
            "years": rng.integers(5, 30, 150),
            "share": rng.uniform(1, 2, 150),
        }
    )


def approved(X: pd.DataFrame) -> pd.Series:
    return (X["amount"] + X["years"] + 20 * X["share"]).rank() > len(X) / 2


STEPS: dict[str, Callable[[], Any]] = {
    "yeo johnson": PowerTransformer,
    "box cox": lambda: PowerTransformer(method="box-cox", standardize=False),
    "quantiles": lambda: QuantileTransformer(n_quantiles=30),
    "normal quantiles": lambda: QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    "logarithm and scale": lambda: make_pipeline(FunctionTransformer(np.log), StandardScaler()),
    "bins of a logarithm": lambda: make_pipeline(
        FunctionTransformer(np.log1p), KBinsDiscretizer(4, strategy="uniform", encode="ordinal")
    ),
}
MODELS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("name", "model"), diagonal(STEPS, MODELS))
def test_trees_after_a_bent_column(name, model) -> None:
    for seed in range(2):
        X = positive(seed)
        X = X.astype(np.float32) if seed else X
        check_importer(make_pipeline(STEPS[name](), MODELS[model]()).fit(X, approved(X)), X)


@pytest.mark.parametrize("function", RISING, ids=lambda function: function.__name__)
def test_rising_functions(function) -> None:
    X = positive() / 10 + 1
    pipeline = make_pipeline(FunctionTransformer(function), MODELS["tree"]()).fit(X, approved(positive()))
    if falls(function):  # on some processors
        assert "falls between neighbouring numbers" in why_unread(pipeline, X)
    else:
        check_importer(pipeline, X)


def test_a_function_that_falls_by_a_last_bit_is_refused(monkeypatch) -> None:
    def shaken(x: np.ndarray) -> np.ndarray:
        return np.cbrt(x) - np.spacing(2.0) * (np.round(np.asarray(x) / np.spacing(x)) % 2)

    assert falls(shaken)
    assert not any(falls(known) for known in RISING if known is not np.cbrt)
    monkeypatch.setattr("butfor.importers.libraries.sklearn_bent_steps.RISING", (*RISING, shaken))
    X = positive()
    pipeline = make_pipeline(FunctionTransformer(shaken), MODELS["tree"]()).fit(X, approved(X))
    assert "falls between neighbouring numbers" in why_unread(pipeline, X)


def test_answers_after_a_bent_column_are_those_of_the_plain_tree() -> None:
    """A forest of the same splits: bending a column moves no training row across a cut."""
    X = positive()
    plain, bent = (
        make_pipeline(FunctionTransformer(function), MODELS["forest"]()).fit(X.rank(), approved(X))
        for function in (None, np.square)
    )
    assert "FunctionTransformer(square)" in why_unread(bent, X.rank())
    logged = make_pipeline(FunctionTransformer(np.log), MODELS["forest"]()).fit(X.rank(), approved(X))
    for start in range(3):
        answer = bf.Explainer(logged, X.rank()).explain(X.rank().iloc[[start]])
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert logged.predict(answer.point)[0] != logged.predict(X.rank().iloc[[start]])[0]
    assert plain.predict(X.rank()).shape == (150,)


UNDEFINED = pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered:RuntimeWarning")
"""numpy warns where a function is not defined."""

ROOT: dict[str, Callable[[], Any]] = {
    "alone": lambda: FunctionTransformer(np.sqrt),
    "scaled": lambda: make_pipeline(FunctionTransformer(np.sqrt), StandardScaler()),
    "twice": lambda: make_pipeline(
        FunctionTransformer(np.cbrt), FunctionTransformer(np.sqrt), FunctionTransformer(np.sqrt)
    ),
    "quantiles": lambda: make_pipeline(
        FunctionTransformer(np.sqrt), QuantileTransformer(n_quantiles=20, output_distribution="normal")
    ),
    "filled": lambda: make_pipeline(FunctionTransformer(np.sqrt), SimpleImputer()),
    "filled and flagged": lambda: make_pipeline(FunctionTransformer(np.sqrt), SimpleImputer(add_indicator=True)),
    "bins of what is filled": lambda: make_pipeline(
        FunctionTransformer(np.sqrt), SimpleImputer(), KBinsDiscretizer(4, encode="ordinal", strategy="uniform")
    ),
    "beside itself": lambda: make_union("passthrough", FunctionTransformer(np.sqrt)),
}


def signed(kind: type = np.float64) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers on both sides of 0."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": np.round(rng.uniform(-9, 9, 400)), "z": np.round(rng.uniform(1, 9, 400))}).astype(kind)
    return X, (np.abs(X["x"]) + X["z"] + rng.normal(0, 0.5, 400) > 9).to_numpy()


@UNDEFINED
@pytest.mark.skipif(SKLEARN < (1, 4), reason="this scikit-learn's forest takes no missing values")
@pytest.mark.parametrize(("name", "model"), diagonal(ROOT, MODELS))
def test_where_a_function_is_not_defined_its_column_is_missing(name, model) -> None:
    """Answers are compared with all whole numbers."""
    for kind in (np.float64, np.float32):
        X, y = signed(kind)
        fitted = make_pipeline(ROOT[name](), MODELS[model]()).fit(X, y)
        check_importer(fitted, X)
        explainer = bf.Explainer(fitted, X, space={"x": bf.Step(1), "z": bf.Step(1)})
        grid = pd.DataFrame({"x": np.repeat(np.arange(-9.0, 10), 9), "z": np.tile(np.arange(1.0, 10), 19)}).astype(kind)
        taken, width = fitted.predict(grid), X.max() - X.min()
        rows = X[~fitted.predict(X)].iloc[:4]
        for answer, (_, row) in zip(explainer.explain(rows, target=True), rows.iterrows(), strict=True):
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
            assert answer.cost == pytest.approx(((grid - row).abs() / width).sum(axis=1)[taken].min())


@UNDEFINED
@pytest.mark.parametrize("name", MODELS)
def test_what_becomes_infinite_within_the_range_is_searched(name) -> None:
    X, y = signed()
    X = X + 0.25
    fitted = make_pipeline(FunctionTransformer(np.log1p), MODELS[name]()).fit(X, y)
    assert "log1p) is not defined for all numbers of the range" in why_unread(fitted, X)
    if name != "histogram":
        return  # its estimator refuses what is infinite
    row = X[~fitted.predict(X)].iloc[[0]]
    answer = bf.Explainer(fitted, X).explain(row, target=True, seed=0).only
    assert answer.certificate.status is bf.Status.VALID
    assert fitted.predict(answer.point)[0]


@UNDEFINED
def test_a_linear_model_of_what_is_filled_where_it_is_not_defined_is_searched() -> None:
    X, y = signed()
    fitted = make_pipeline(ROOT["filled"](), LogisticRegression()).fit(X, y)
    assert "a later step fills in what is missing" in why_unread(fitted, X)


@UNDEFINED
def test_a_ratio_that_is_bent_is_read_where_it_is_defined() -> None:
    X = positive()
    share = FunctionTransformer(lambda X: X.assign(part=X["amount"] / X["years"]))
    for function in (np.log, np.sqrt):
        check_importer(make_pipeline(share, FunctionTransformer(function), MODELS["forest"]()).fit(X, approved(X)), X)
    X, y = signed()
    share = FunctionTransformer(lambda X: X.assign(part=X["x"] / (X["z"] + 2)))
    check_importer(make_pipeline(share, FunctionTransformer(np.sqrt), MODELS["histogram"]()).fit(X, y), X)


@pytest.mark.parametrize("name", [name for name in STEPS if "bins" not in name])
def test_a_network_after_a_bent_column_is_refused_by_name(name) -> None:
    X = positive()
    fitted = make_pipeline(STEPS[name](), MLPClassifier((2,), tol=10.0, n_iter_no_change=3)).fit(X, approved(X))
    step = {
        "y": "PowerTransformer",
        "b": "PowerTransformer",
        "q": "QuantileT",
        "n": "QuantileT",
        "l": "FunctionTransformer(log)",
    }
    assert f"not affine: {step[name[0]]}" in why_unread(fitted, X)


def test_a_linear_model_after_bins_of_a_bent_column_is_read() -> None:
    X = positive()
    check_importer(make_pipeline(STEPS["bins of a logarithm"](), LogisticRegression()).fit(X, approved(X)), X)


@pytest.mark.parametrize(
    "function", [np.square, np.abs, np.sign, lambda x: np.minimum(x, 3)], ids=["square", "abs", "sign", "own"]
)
def test_functions_that_are_not_known_to_rise_are_refused(function) -> None:
    X = positive()
    assert "The known functions are log," in why_unread(
        make_pipeline(FunctionTransformer(function), MODELS["tree"]()).fit(X, approved(X)), X
    )


def test_small_types_are_refused() -> None:
    X = positive().astype({"years": np.int8})
    fitted = make_pipeline(FunctionTransformer(np.log1p), MODELS["tree"]()).fit(X, approved(X))
    assert "float16" in why_unread(fitted, X)


@pytest.mark.skipif(SKLEARN < (1, 4), reason="this scikit-learn's encoder knows two classes only")
@pytest.mark.parametrize("model", [*MODELS, "linear"])
@pytest.mark.parametrize("kind", ["two classes", "several classes"])
def test_target_encoder(kind, model) -> None:
    from sklearn.preprocessing import TargetEncoder

    X = people(lost=("job",))
    y = answers(X) if kind == "two classes" else X["age"] // 25
    columns = make_column_transformer((TargetEncoder(), TEXT), ("passthrough", [*NUMBERS, *REST]))
    make = {**MODELS, "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression())}[model]
    reading = check_importer(make_pipeline(columns, make()).fit(X, y), X)
    assert reading.space["job"].missing


def test_expit_of_scipy_is_the_known_one() -> None:
    assert expit in RISING
