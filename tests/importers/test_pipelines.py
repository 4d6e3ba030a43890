"""Every pipeline step, in any nesting, over every kind of table: folded onto the raw columns and equal to the estimator."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.importers.fidelity import disagreements, probes
from butfor.importers.read import read
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import KINDS, NUMBERS, QUANTILES, REST, SKLEARN, TEXT, answers, people, skip_polars
from tests.shorter import diagonal

MODELS: dict[str, Callable[[], Any]] = {
    "linear": lambda: LogisticRegression(max_iter=300, tol=0.1),
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "network": lambda: MLPClassifier((4, 3), tol=10.0, n_iter_no_change=3, random_state=0),
}

NUMERIC_STEPS: dict[str, Callable[[], Any]] = {
    "passthrough": lambda: "passthrough",
    "standard": StandardScaler,
    "standard without mean": lambda: StandardScaler(with_mean=False),
    "standard without scale": lambda: StandardScaler(with_std=False),
    "min max": lambda: MinMaxScaler((-1, 3)),
    "max abs": MaxAbsScaler,
    "robust": RobustScaler,
    "robust without center": lambda: RobustScaler(with_centering=False),
    "robust without scale": lambda: RobustScaler(with_scaling=False),
    "two scalers": lambda: make_pipeline(MinMaxScaler(), RobustScaler(), StandardScaler()),
    "bins": lambda: KBinsDiscretizer(4, **QUANTILES),
    "bins ordinal": lambda: KBinsDiscretizer(5, encode="ordinal", strategy="uniform"),
    "bins dense": lambda: KBinsDiscretizer(3, encode="onehot-dense", strategy="kmeans", random_state=0),
    "bins of scaled": lambda: make_pipeline(StandardScaler(), KBinsDiscretizer(4, strategy="uniform")),
    "scaled bins": lambda: make_pipeline(
        KBinsDiscretizer(4, encode="ordinal", strategy="uniform"), StandardScaler()
    ),
    "number and its bins": lambda: make_union(StandardScaler(), KBinsDiscretizer(4, strategy="uniform")),
    "two kinds of bins": lambda: make_union(
        KBinsDiscretizer(3, strategy="uniform"), KBinsDiscretizer(4, encode="ordinal", strategy="uniform")
    ),
    "bins of bins": lambda: make_pipeline(
        KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform"), KBinsDiscretizer(2, strategy="uniform")
    ),
    "identity": FunctionTransformer,
    "selection": lambda: VarianceThreshold(0.1),
    "best": lambda: SelectKBest(k=1),
    "one hot of numbers": lambda: OneHotEncoder(handle_unknown="ignore", max_categories=6),
}  # fmt: skip


@pytest.mark.shorter(8)
@pytest.mark.parametrize(("name", "model"), diagonal(NUMERIC_STEPS, MODELS))
def test_steps_of_numbers(name, model) -> None:
    X = people().assign(income=lambda X: X["income"].round(-3))
    columns = ColumnTransformer([("numbers", NUMERIC_STEPS[name](), NUMBERS), ("rest", "passthrough", REST)])
    check_importer(make_pipeline(columns, MODELS[model]()).fit(X, answers(X)), X)


@pytest.mark.parametrize("scaler", [MinMaxScaler, MaxAbsScaler])
def test_clipping_is_read_by_trees_and_linear_models_and_refused_by_networks(scaler) -> None:
    if scaler is MaxAbsScaler and SKLEARN < (1, 8):
        pytest.skip("this scikit-learn has no MaxAbsScaler(clip=True)")
    X = people()[NUMBERS]
    y = answers(people())
    for model in (DecisionTreeClassifier(max_depth=5), LogisticRegression()):
        check_importer(make_pipeline(scaler(clip=True), model).fit(X, y), X)
    assert "clip" in why_unread(make_pipeline(scaler(clip=True), MODELS["network"]()).fit(X, y), X)


IMPUTERS: dict[str, Callable[[], Any]] = {
    "mean": SimpleImputer,
    "median": lambda: SimpleImputer(strategy="median"),
    "most frequent": lambda: SimpleImputer(strategy="most_frequent"),
    "constant": lambda: SimpleImputer(strategy="constant", fill_value=-7),
    "indicator": lambda: SimpleImputer(add_indicator=True),
    "indicator then scaler": lambda: make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
    "then bins": lambda: make_pipeline(SimpleImputer(), KBinsDiscretizer(4, strategy="uniform")),
    "after scaler": lambda: make_pipeline(StandardScaler(), SimpleImputer()),
}


@pytest.mark.shorter(8)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", IMPUTERS)
def test_imputers(name, model) -> None:
    X = people(lost=tuple(NUMBERS))
    columns = ColumnTransformer([("numbers", IMPUTERS[name](), NUMBERS), ("rest", "passthrough", REST)])
    reading = check_importer(make_pipeline(columns, MODELS[model]()).fit(X, answers(X)), X)
    assert [reading.space[name].missing for name in NUMBERS] == [True, True]


def text_steps(impute: bool) -> dict[str, Callable[[], Any]]:
    steps: dict[str, Callable[[], Any]] = {
        "one hot": OneHotEncoder,
        "drop first": lambda: OneHotEncoder(drop="first"),
        "drop if binary": lambda: OneHotEncoder(drop="if_binary"),
        "drop named": lambda: OneHotEncoder(drop=["nurse", "b"]),
        "ignore": lambda: OneHotEncoder(handle_unknown="ignore"),
        "min frequency": lambda: OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist"),
        "max categories": lambda: OneHotEncoder(max_categories=3),
        "dense": lambda: OneHotEncoder(sparse_output=False),
        "fewer categories": lambda: OneHotEncoder(
            categories=[["clerk", "nurse"], ["a", "b", "c"]], handle_unknown="ignore"
        ),
        "more categories": lambda: OneHotEncoder(
            categories=[["clerk", "judge", "nurse", "pilot", "smith"], ["z", "a", "c", "b"]]
        ),
        "ordinal": OrdinalEncoder,
        "ordinal in order": lambda: OrdinalEncoder(
            categories=[["smith", "clerk", "nurse", "pilot"], ["c", "a", "b"]]
        ),
        "ordinal unknown": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        "ordinal frequent": lambda: OrdinalEncoder(max_categories=3),
        "scaled": lambda: make_pipeline(OrdinalEncoder(), StandardScaler()),
        "scaled one hot": lambda: make_pipeline(OneHotEncoder(), StandardScaler(with_mean=False)),
    }  # fmt: skip
    if not impute:
        return steps
    return {
        name: lambda make=make: make_pipeline(SimpleImputer(strategy="most_frequent"), make())
        for name, make in steps.items()
    }


@pytest.mark.shorter(8)
@pytest.mark.parametrize(
    ("name", "how"), diagonal(text_steps(False), [(False, "linear"), (False, "tree"), (True, "tree")])
)
def test_steps_of_categories(name, how) -> None:
    impute, model = how
    X = people(lost=tuple(TEXT) if impute else ()).astype(dict.fromkeys(TEXT, object))
    columns = ColumnTransformer([("text", text_steps(impute)[name](), TEXT), ("rest", "passthrough", REST)])
    reading = check_importer(make_pipeline(columns, MODELS[model]()).fit(X, answers(X)), X)
    lenient = ("ignore", "min frequency", "fewer categories", "ordinal unknown")
    assert reading.space["job"].missing == (impute or name in lenient)


@pytest.mark.shorter(8)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["one hot", "drop first", "ignore", "min frequency", "max categories"])
def test_missing_is_a_category_of_its_own(name, model) -> None:
    X = people(lost=tuple(TEXT)).astype(dict.fromkeys(TEXT, object))
    columns = ColumnTransformer([("text", text_steps(False)[name](), TEXT), ("rest", "passthrough", REST)])
    reading = check_importer(make_pipeline(columns, MODELS[model]()).fit(X, answers(X)), X)
    assert reading.space["job"].missing


@pytest.mark.parametrize("lost_as", [np.nan, -2.0])
def test_ordinal_codes_of_missing_values(lost_as) -> None:
    X = people(lost=tuple(TEXT)).astype(dict.fromkeys(TEXT, object))
    encoder = OrdinalEncoder(encoded_missing_value=lost_as)
    columns = ColumnTransformer([("text", encoder, TEXT), ("rest", "passthrough", REST)])
    reading = check_importer(make_pipeline(columns, MODELS["tree"]()).fit(X, answers(X)), X)
    assert reading.space["job"].missing


@pytest.mark.shorter(8)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table(kind, model) -> None:
    skip_polars(kind)
    X = people(lost=("income",))
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
            ("text", OneHotEncoder(), TEXT),
            ("rest", "passthrough", REST),
        ]
    )
    table = KINDS[kind](X)
    fitted = make_pipeline(columns, MODELS[model]()).fit(X if kind == "arrow" else table, answers(X))
    reading = check_importer(fitted, table)
    assert [feature.kind for feature in reading.space] == [
        "integer", "continuous", "categorical", "categorical", "binary", "integer",
    ]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", [object, np.float64, np.float32, np.int64])
def test_arrays(dtype, model) -> None:
    X = people()
    by_number = ColumnTransformer(
        [("text", OneHotEncoder(), [2, 3] if dtype is object else [3]), ("drop", "drop", [5])],
        remainder=StandardScaler(),
    )
    rows = X.to_numpy() if dtype is object else X.assign(job=X["income"], town=X["rooms"]).to_numpy().astype(dtype)
    if dtype is object:
        by_number.set_params(remainder="passthrough")
    check_importer(make_pipeline(by_number, MODELS[model]()).fit(rows, answers(X)), rows)


def nested() -> dict[str, Callable[[], Any]]:
    inner = lambda: make_column_transformer(  # noqa: E731
        (make_pipeline(SimpleImputer(), StandardScaler()), [0]), (KBinsDiscretizer(3, strategy="uniform"), [1])
    )
    return {
        "columns in a pipeline in columns": lambda: ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(), inner(), StandardScaler(with_mean=False)), NUMBERS),
                ("text", Pipeline([("nothing", "passthrough"), ("codes", OneHotEncoder())]), TEXT),
            ],
            remainder="passthrough",
        ),
        "selectors": lambda: make_column_transformer(
            (OneHotEncoder(), make_column_selector(pattern="job|town")),
            (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include=["int64", "float64"])),
        ),
        "one column twice": lambda: make_column_transformer(
            (SimpleImputer(), NUMBERS), (make_pipeline(SimpleImputer(), RobustScaler()), ["income"]),
            (make_pipeline(SimpleImputer(), KBinsDiscretizer(4, strategy="uniform")), NUMBERS),
            (OneHotEncoder(), TEXT), (OrdinalEncoder(), ["job"]), remainder="drop",
        ),
        "remainder is encoded": lambda: make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS), ("drop", ["owns"]), remainder=OneHotEncoder()
        ),
        "union": lambda: make_column_transformer(
            (FeatureUnion([("a", SimpleImputer()), ("b", make_pipeline(SimpleImputer(), MaxAbsScaler()))]), NUMBERS),
            (OrdinalEncoder(), [*TEXT, "owns"]),
        ),
        "boolean mask": lambda: ColumnTransformer(
            [("m", SimpleImputer(), [True, True, False, False, False, False]), ("s", OneHotEncoder(), slice("job", "town"))]
        ),
        "empty selection": lambda: ColumnTransformer(
            [("none", StandardScaler(), []), ("some", SimpleImputer(), NUMBERS)], remainder="drop"
        ),
    }  # fmt: skip


@pytest.mark.shorter(7)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", nested())
def test_nesting(name, model) -> None:
    X = people(lost=("income",))
    check_importer(make_pipeline(nested()[name](), MODELS[model]()).fit(X, answers(X)), X)


WEIGHTS: dict[str, dict[str, Any]] = {
    "broken": {"text": 0.3, "numbers": 3.0, "rest": 0.1},
    "whole, and one of numpy": {"text": 5, "numbers": np.float64(0.7)},
    "below 0 for levels": {"text": -2.0, "numbers": 1e-3},
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_of_transformers(name, model) -> None:
    """Also beside float32, in a sparse table, and for columns that are passed through."""
    for kind, sparse in ((np.float64, 0), (np.float32, 1.0)):
        X = people().astype(dict.fromkeys(NUMBERS, kind))
        columns = ColumnTransformer(
            [
                ("text", OneHotEncoder(dtype=kind), TEXT),
                ("numbers", StandardScaler(), NUMBERS),
                ("rest", "passthrough", REST),
            ],
            transformer_weights=WEIGHTS[name],
            sparse_threshold=sparse,
        )
        check_importer(make_pipeline(columns, MODELS[model]()).fit(X, answers(X)), X)
        both = FeatureUnion([("numbers", StandardScaler()), ("rest", "passthrough")], transformer_weights={"rest": 0.1})
        check_importer(make_pipeline(both, MODELS[model]()).fit(X[NUMBERS], answers(X)), X[NUMBERS])


@pytest.mark.parametrize("weight", [0, -1.5])
def test_a_weight_that_turns_numbers_around_is_searched(weight) -> None:
    X = people()[NUMBERS]
    both = FeatureUnion([("numbers", StandardScaler()), ("rest", "passthrough")], transformer_weights={"rest": weight})
    reason = why_unread(make_pipeline(both, MODELS["tree"]()).fit(X, answers(people())), X)
    assert f"FeatureUnion(transformer_weights) multiplies columns by {weight:g}" in reason


def test_pipeline_in_a_pipeline_and_a_regressor() -> None:
    X = people(lost=("income",))
    inner = make_pipeline(StandardScaler(with_mean=False), Ridge())
    check_importer(make_pipeline(nested()["selectors"](), inner).fit(X, X["age"]), X)


def test_frames_between_the_steps() -> None:
    X = people(lost=("income",))
    pipeline = make_pipeline(nested()["remainder is encoded"](), VarianceThreshold(), MODELS["linear"]())
    pipeline[0].transformers[0] = ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS)
    pipeline.set_params(columntransformer__remainder=OneHotEncoder(sparse_output=False)).set_output(transform="pandas")
    check_importer(pipeline.fit(X, answers(X)), X)


LEVELS: list[list[Any]] = [[1, 2, 3], [1.5, 2.5, 4.0], [True, False], ["u", "v"], ["1", "2", "10"]]


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("values", "typed"), diagonal(LEVELS, ["plain", "category", "ordered", "object"]), ids=str)
def test_categories_of_any_type(values, typed) -> None:
    rng = np.random.default_rng(0)
    column = pd.Series(np.array(values)[rng.integers(len(values), size=120)])
    if typed in ("category", "ordered"):
        column = pd.Series(pd.Categorical(column, categories=values, ordered=typed == "ordered"))
    X = pd.DataFrame({"c": column.astype(object) if typed == "object" else column, "x": rng.normal(size=120)})
    y = (rng.random(120) < 0.2) ^ (X["c"] == values[0]).to_numpy()
    columns = make_column_transformer(
        (OneHotEncoder(), ["c"]),
        (OneHotEncoder(drop="first"), ["c"]),
        (OrdinalEncoder(), ["c"]),
        remainder="passthrough",
    )
    for model in MODELS.values():
        reading = check_importer(make_pipeline(columns, model()).fit(X, y), X)
        assert set(reading.space["c"].levels) == set(values)
        assert reading.space["c"].ordered or typed != "ordered"


@pytest.mark.parametrize("first", [SimpleImputer, lambda: make_column_transformer((SimpleImputer(), [0, 1, 2]))])
@pytest.mark.parametrize("kinds", ["fff", "ffd", "ddd"])
def test_float32_beside_float64(first, kinds) -> None:
    """One array holds what an imputer or a column transformer hands on: a single float64 column makes all of it float64."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=150).astype(kind) for name, kind in zip("abc", kinds, strict=True)})
    X.iloc[3] = np.nan
    y = X.rank().sum(axis=1) > 230
    scaler = make_column_transformer((RobustScaler(), [0]), remainder=StandardScaler())
    reading = check_importer(make_pipeline(first(), scaler, DecisionTreeClassifier()).fit(X, y), X)
    assert [feature.single for feature in reading.space] == [kind == "f" for kind in kinds]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("gather", ["transformer", "union"])
def test_columns_keep_their_types_in_a_frame_between_the_steps(gather, library) -> None:
    """`set_output` makes a frame in place of one array. A float32 column stays float32 in it, beside a float64 one."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"e": rng.normal(size=300).astype(np.float32), "a": rng.normal(size=300)})
    first = (
        make_column_transformer(("passthrough", ["e"]), (StandardScaler(), ["a"]))
        if gather == "transformer"
        else make_union(
            make_column_transformer(("passthrough", ["e"])), make_column_transformer((RobustScaler(), ["a"]))
        )
    ).set_output(transform=library)
    codes = KBinsDiscretizer(15, encode="ordinal", strategy="quantile")
    second = make_column_transformer((make_pipeline(StandardScaler(), codes), [0]), remainder="passthrough")
    tree = DecisionTreeClassifier(max_depth=7, random_state=0)
    check_importer(make_pipeline(first, second, tree).fit(X, rng.random(300) < 0.5), X)


@pytest.mark.parametrize("step", ["passthrough", StandardScaler(), SimpleImputer(strategy="most_frequent")], ids=str)
@pytest.mark.parametrize("at", [0, 1])
def test_short_whole_numbers_beside_float32(at, step) -> None:
    """An array of both is float32. But what a step has made of them alone is float64, and so is the array."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"s": rng.integers(-300, 300, 300).astype(np.int16), "e": rng.normal(size=300).astype(np.float32)})
    first = make_column_transformer((step, ["s"]), ("passthrough", ["e"]))
    codes = KBinsDiscretizer(15, encode="ordinal", strategy="quantile")
    second = make_column_transformer((make_pipeline(StandardScaler(), codes), [at]), remainder="passthrough")
    model = make_pipeline(first, second, DecisionTreeClassifier(max_depth=7, random_state=0))
    reading = read(model.fit(X, rng.random(300) < 0.5), X)
    rows = probes(reading.space, reading.model, reading.space.encode(X)[:60], rng)
    rows = rows[~np.isnan(rows).any(axis=1) & (rows[:, 0] == np.rint(rows[:, 0]))]  # others would be another type
    table = reading.space.decode(rows, X.iloc[np.zeros(len(rows), dtype=int)]).astype(X.dtypes)
    assert not disagreements(reading.source, reading.space, reading.model, reading.readout, table)


@pytest.mark.parametrize("library", ["default", "pandas"])
def test_booleans_passed_through_beside_float32(library) -> None:
    """pandas makes an array of objects of both, and the next step float64. In a frame, float32 stays float32."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"e": rng.normal(size=300).astype(np.float32), "d": rng.random(300) < 0.5})
    first = make_column_transformer(("passthrough", ["e", "d"])).set_output(transform=library)
    codes = KBinsDiscretizer(15, encode="ordinal", strategy="quantile")
    second = make_column_transformer((make_pipeline(StandardScaler(), codes), [0]), remainder="passthrough")
    tree = DecisionTreeClassifier(max_depth=7, random_state=0)
    check_importer(make_pipeline(first, second, tree).fit(X, rng.random(300) < 0.5), X)


def test_a_declared_order_is_kept_whatever_the_encoder_says() -> None:
    X = people()
    order = ["smith", "pilot", "nurse", "clerk"]
    columns = make_column_transformer((OrdinalEncoder(), ["job"]), remainder="drop")
    for model in MODELS.values():
        fitted = make_pipeline(columns, model()).fit(X, answers(X))
        reading = check_importer(fitted, X, space={"job": bf.Ordinal(order)})
        assert reading.space["job"].levels == tuple(order)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "Normalizer": (Normalizer, "register_step"),
    "PolynomialFeatures": (PolynomialFeatures, "one column at a time"),
    "FunctionTransformer": (lambda: FunctionTransformer(np.square), "Apply it to the data before"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_step_that_cannot_be_folded_is_refused_by_name(name) -> None:
    step, advice = REFUSED[name]
    X = people()[NUMBERS]
    fitted = make_pipeline(StandardScaler(with_mean=False, with_std=False), step(), MODELS["tree"]()).fit(
        X, answers(people())
    )
    assert re.search(f"{name}.*cannot be folded.*{advice}", why_unread(fitted, X))
    bound = bf.Explainer(fitted, X)
    assert "cannot be folded" in bound.explain(X.iloc[[0]], solver=bf.Swarm(iterations=5)).certificate.solver
    assert bound.explain(X.iloc[[0]], constraints=[bf.candidates(X)]).found


def test_explained_over_every_kind_of_table() -> None:
    """The whole way: the same answer in the user's own kind of table, with a missing value and whole numbers."""
    X = people(lost=("income", "town"))
    columns = make_column_transformer(
        (SimpleImputer(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), TEXT), ("passthrough", REST)
    )
    row = int(np.flatnonzero(X["income"].isna())[0])
    said = {}
    for kind in KINDS.keys() - {"pandas nullable"}:  # scikit-learn's encoders take no pandas.NA
        if kind.startswith("polars") and SKLEARN < (1, 8):
            continue
        table = KINDS[kind](X)
        pipeline = make_pipeline(columns, DecisionTreeClassifier(max_depth=5, random_state=0))
        fitted = pipeline.fit(X if kind == "arrow" else table, answers(X))
        one = table[row : row + 1]
        answer = bf.Explainer(fitted, table).explain(one, constraints=[bf.fixed("job")])
        assert type(answer.point) is type(one)
        said[kind] = (answer.certificate.status.name, answer.cost, [(c.name, c.after) for c in answer.changes])
    assert {status for status, *_ in said.values()} == {"PROVEN_OPTIMAL"}
    assert len({cost for _, cost, _ in said.values()}) == 1, said


def test_a_frozen_estimator_in_a_pipeline() -> None:
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator
    X = people()[NUMBERS]
    inner = DecisionTreeClassifier(max_depth=4).fit(X, answers(people()))
    check_importer(frozen(inner), X)


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("ordered", [False, True])
def test_a_category_that_no_row_has_is_not_a_level(encoder, ordered) -> None:
    """Rows were left out, and the type still declares their category. The encoder was fitted without it."""
    rng = np.random.default_rng(0)
    kind = pd.CategoricalDtype(list("zuvw"), ordered=ordered)
    X = pd.DataFrame({"c": pd.Series(rng.choice(list("uvw"), 60), dtype=kind), "a": rng.normal(size=60)})
    transformer = make_column_transformer((clone(encoder), ["c"]), remainder="passthrough")
    model = make_pipeline(transformer, DecisionTreeClassifier(random_state=0)).fit(X, (X.a > 0) | (X.c == "u"))
    explainer = bf.Explainer(model, data=X)
    assert explainer.space["c"].levels == ("u", "v", "w")
    assert explainer.space["c"].ordered is ordered
    answer = explainer.explain(X[X.c == "v"].iloc[[0]], constraints=[bf.fixed("a")])
    assert not answer.only.found or answer.point["c"].dtype == kind
    held = X.assign(c=X.c.where(X.a < 1, "z"))
    with pytest.raises(bf.errors.InputError, match=r"encoder does not know 'z'.*It knows.*fitted on"):
        bf.Explainer(model, data=held)


def test_a_pipeline_that_passes_its_columns_on_knows_their_names() -> None:
    """A missing truth value in the first row is pandas' own marker, which no array of numbers holds."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": pd.array(rng.random(80) < 0.5, dtype="boolean")})
    y = (X.a > 0).to_numpy()
    X.loc[X.index[:9], "b"] = pd.NA
    forest = RandomForestClassifier(7, random_state=0)
    for model in (forest, make_pipeline("passthrough", clone(forest))):
        explainer = bf.Explainer(model.fit(X, y), data=X)
        assert [feature.missing for feature in explainer.space] == [True, True]
        assert explainer.explain(X.iloc[[0]]).only.found


def test_missing_values_of_a_frame_reach_a_model_of_arrays() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": pd.array(rng.normal(size=80), dtype="Float64"), "b": pd.array(rng.random(80) < 0.5, dtype="boolean")}
    )
    X.loc[X.index[:9], "b"] = pd.NA
    rows = X.to_numpy(dtype=float, na_value=np.nan)
    explainer = bf.Explainer(RandomForestClassifier(7, random_state=0).fit(rows, rows[:, 0] > 0), data=X)
    assert explainer.space["b"].missing
    assert explainer.explain(X.iloc[[0]]).only.found


def test_a_calibrated_model_beside_one_float32_column_computes_in_float64() -> None:
    """Scores near a time in seconds would be lost in the rounding of float32, and with them every answer."""
    X = pd.DataFrame(
        {
            "time": [1699999996.4, 1699999995.2, 1699999996.4, 1699999995.2, 1699999996.4, 1699999996.4],
            "year": np.array([2003, 2003, 2000, 2004, 2001, 2003], dtype=np.float32),
        }
    )
    y = np.array([1, 0, 1, 0, 1, 1])
    calibrated = CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=2)
    model = make_pipeline(StandardScaler(), calibrated).fit(X, y)
    answer = bf.Explainer(model, X).explain(X.iloc[[0]], target=0)[0]
    assert answer.certificate.status.name == "PROVEN_OPTIMAL"
    assert bf.Explainer(model, X).reading.unit < 1e-12
    short = X.astype(np.float32)[["year"]]
    alone = make_pipeline(StandardScaler(), calibrated).fit(short, y)
    member = alone[-1].calibrated_classifiers_[0].estimator  # before scikit-learn 1.7 it computes in float64
    types = member.decision_function(alone[:-1].transform(short)).dtype
    assert bf.Explainer(alone, short).reading.unit == np.finfo(types).eps / 2


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    "gather",
    [
        lambda one, other: VotingClassifier([("a", one), ("b", other)], voting="soft"),
        lambda one, other: StackingClassifier([("a", one), ("b", other)], cv=2),
        lambda one, other: BaggingClassifier(one, 3, random_state=0),
    ],
    ids=["vote", "stack", "bag"],
)
def test_members_with_imputers_of_their_own_take_missing_values(gather) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :3].mask(np.random.default_rng(0).random((len(X), 3)) < 0.1)
    one = make_pipeline(SimpleImputer(), DecisionTreeClassifier(max_depth=3, random_state=0))
    other = make_pipeline(SimpleImputer(strategy="median"), RandomForestClassifier(4, max_depth=3, random_state=0))
    model = gather(one, other).fit(X, y)
    explainer = bf.Explainer(model, X)
    assert all(feature.missing for feature in explainer.space)
    lacking = X[(model.predict(X) == 0) & X.isna().any(axis=1)].iloc[:3]
    answers = explainer.explain(lacking, target=1, time_limit=20)
    assert all(answer.found for answer in answers)
    assert (model.predict(pd.concat([answer.point for answer in answers])) == 1).all()
