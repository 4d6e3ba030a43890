"""Keras models: every layer that is read says what Keras says, and everything else is refused by name."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.errors import InputError, InputTypeError, UnsupportedModelError
from butfor.importers.libraries import keras_networks
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.shorter import first

os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras", reason="Keras is not installed: pip install keras")
L = keras.layers
pytestmark = pytest.mark.filterwarnings("ignore")

WIDTH = 4
TWO, THREE = ["no", "yes"], ["a", "b", "c"]


def in_a_row(*layers: Any) -> Any:
    return keras.Sequential([keras.Input((WIDTH,)), *layers])


def residual() -> Any:
    x = keras.Input((WIDTH,))
    h = L.LeakyReLU(negative_slope=0.3)(L.Dense(WIDTH)(x))
    y = L.Concatenate()([L.Add()([h, x]), L.Subtract()([h, x]), L.Rescaling(0.5, offset=1.0)(x)])
    return keras.Model(x, L.Dense(3, activation="softmax")(y))


def nested() -> Any:
    inner = keras.Sequential([keras.Input((WIDTH,)), L.Dense(3, activation="relu")])
    x = keras.Input((WIDTH,))
    return keras.Model(x, L.Dense(1)(inner(L.Flatten()(x))))


MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "values": (lambda: in_a_row(L.Dense(5, activation="relu"), L.Dense(1)), None),
    "no bias": (lambda: in_a_row(L.Dense(5, activation="leaky_relu", use_bias=False), L.Dense(1)), None),
    "nested": (nested, None),
    "scores of two": (lambda: in_a_row(L.Dense(5), L.ReLU(), L.Dense(1)), TWO),
    "two scores": (lambda: in_a_row(L.Dense(5), L.Activation("relu"), L.Dense(2)), TWO),
    "sigmoid": (lambda: in_a_row(L.Dense(5, activation="relu"), L.Dropout(0.3), L.Dense(1, activation="sigmoid")), TWO),
    "norm": (
        lambda: in_a_row(L.Dense(5), L.BatchNormalization(), L.ReLU(), L.Dense(3, activation="softmax")), THREE
    ),
    "norm without scale": (
        lambda: in_a_row(L.BatchNormalization(scale=False, center=False), L.Dense(3), L.Softmax()), THREE
    ),
    "scores of three": (lambda: in_a_row(L.Dense(4, activation="relu"), L.Dense(3), L.Dropout(0.1)), THREE),
    "residual": (residual, THREE),
}  # fmt: skip


def random_weights(model: Any, rng: np.random.Generator) -> Any:
    """The model with random weights; variances are positive."""
    held = model.get_weights()
    names = [weight.path for weight in model.weights]
    model.set_weights(
        [
            rng.uniform(0.3, 2, one.shape) if "variance" in name or "gamma" in name else rng.normal(size=one.shape)
            for name, one in zip(names, held, strict=True)
        ]
    )
    return model


@pytest.mark.parametrize("seed", first(1, range(8)))
@pytest.mark.parametrize("name", MODELS)
def test_models(name: str, seed: int, tmp_path: Any) -> None:
    make, classes = MODELS[name]
    rng = np.random.default_rng(seed)
    model, X = random_weights(make(), rng), rng.normal(size=(60, WIDTH))
    wrapped = bf.keras_model(model, classes=classes)
    check_importer(wrapped, X, seed)
    model.save(tmp_path / "model.keras")
    loaded = bf.keras_model(keras.models.load_model(tmp_path / "model.keras"), classes=classes)
    check_importer(loaded, X, seed)
    np.testing.assert_array_equal(loaded.predict(X), wrapped.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(wrapped)).predict(X), wrapped.predict(X))


def test_a_model_behind_a_preprocessor() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(5, 3, size=(80, WIDTH)), columns=list("abcd"))
    before = StandardScaler().fit(table)
    module = random_weights(in_a_row(L.Dense(5, activation="relu"), L.Dense(1)), rng)
    middle = float(np.median(bf.keras_model(module, before=before).predict(table)))
    module.set_weights([*module.get_weights()[:-1], module.get_weights()[-1] - middle])
    model = bf.keras_model(module, classes=TWO, before=before)
    check_importer(model, table)
    row = table[model.predict(table) == "no"].iloc[[0]]
    answer = bf.Explainer(model, table).explain(row, target="yes").only
    assert model.predict(answer.point).tolist() == ["yes"]
    assert 0 <= answer.certificate.gap < 0.01
    keras.config.set_floatx("float64")  # in which Keras computes only partly
    try:
        with pytest.raises(InputError, match="float32, float64"):
            model.predict(table)
        with pytest.raises(InputError, match="float32, float64"):
            bf.keras_model(module)
    finally:
        keras.config.set_floatx("float32")


@pytest.mark.parametrize("seed", first(1, range(6)))
def test_enumeration_finds_nothing_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 5, size=(100, WIDTH)), columns=list("abcd"))
    network = random_weights(in_a_row(L.Dense(6, activation="relu"), L.Dense(1)), rng)
    model = bf.keras_model(network, columns=list("abcd"))
    every = pd.DataFrame(product(range(5), repeat=WIDTH), columns=list("abcd"))
    value = model.predict(every)
    level = float(np.quantile(value, 0.9)) + 1e-3
    row = X[model.predict(X) < level].iloc[[0]]
    answer = bf.Explainer(model, X).explain(row, target=bf.value(at_least=level)).only
    best = (np.abs(every[value >= level] - row.to_numpy()).sum(axis=1) / 4).min()
    assert answer.cost == pytest.approx(best, rel=1e-6)
    assert answer.certificate.bound <= best + 1e-9


@pytest.mark.parametrize(
    ("layers", "told"),
    [
        ([L.Dense(3, activation="tanh"), L.Dense(1)], "tanh"),
        ([L.Dense(3, activation="sigmoid"), L.Dense(1)], "after the end"),
        ([L.ReLU(max_value=1.0), L.Dense(1)], "max_value"),
        ([L.LayerNormalization(), L.Dense(1)], "LayerNormalization"),
        ([L.Dense(3, activation=lambda x: x), L.Dense(1)], "another"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_other_layers_are_searched_by_name(layers: list[Any], told: str) -> None:
    assert told in why_unread(bf.keras_model(in_a_row(*layers)), np.random.default_rng(0).normal(size=(30, WIDTH)))


def test_bad_input_is_told() -> None:
    with pytest.raises(InputTypeError, match=r"keras\.Model"):
        bf.keras_model(StandardScaler())
    with pytest.raises(UnsupportedModelError, match="no graph"):
        bf.keras_model(keras.Sequential([L.Dense(1)]))
    x = keras.Input((WIDTH,))
    with pytest.raises(InputError, match="2 outputs"):
        bf.keras_model(keras.Model(x, [L.Dense(1)(x), L.Dense(1)(x)]))
    with pytest.raises(InputError, match="rows of numbers"):
        bf.keras_model(keras.Sequential([keras.Input((3, 2)), L.Dense(1)]))
    with pytest.raises(InputError, match="3 numbers"):
        bf.keras_model(in_a_row(L.Dense(3)), classes=TWO)
    broken = in_a_row(L.Dense(1))
    broken.set_weights([np.full((WIDTH, 1), np.nan), np.zeros(1)])
    with pytest.raises(InputError, match="NaN"):
        bf.keras_model(broken)
    with pytest.raises(InputError, match="compute in"):
        bf.keras_model(in_a_row(L.Dense(1, dtype="float16")))


def test_a_wrong_importer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keras_networks, "LEAK", 0.21)
    model = random_weights(in_a_row(L.Dense(5, activation="leaky_relu"), L.Dense(1)), np.random.default_rng(0))
    with pytest.raises(bf.errors.FidelityError):
        check_importer(bf.keras_model(model), np.random.default_rng(1).normal(size=(40, WIDTH)))
