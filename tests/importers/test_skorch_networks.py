"""skorch's estimators are read like the modules inside, with what skorch adds at their end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.importers.fold.column import raw_columns
from butfor.importers.libraries.skorch_networks import read_classifier, read_regressor
from butfor.space.infer import infer
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import check_caught, why_unread

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install butfor[torch]")
skorch = pytest.importorskip("skorch", reason="skorch is not installed")
nn = torch.nn

WIDTH = 4
FEW = {"max_epochs": 4, "verbose": 0, "lr": 0.1}


def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(120, WIDTH)).astype(np.float32)


def whole() -> np.ndarray:
    return (rows()[:, 0] > 0).astype(np.int64)


def layers(out: int, *end: Any) -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(WIDTH, 3), nn.ReLU(), nn.Linear(3, out), *end)


NETS: dict[str, Callable[[], Any]] = {
    "two scores": lambda: skorch.NeuralNetClassifier(layers(2), criterion=nn.CrossEntropyLoss, **FEW).fit(
        rows(), whole()
    ),
    "three scores": lambda: skorch.NeuralNetClassifier(layers(3), criterion=nn.CrossEntropyLoss, **FEW).fit(
        rows(), whole() + (rows()[:, 1] > 0)
    ),
    "softmax": lambda: skorch.NeuralNetClassifier(layers(2, nn.Softmax(-1)), **FEW).fit(rows(), whole()),
    "one score": lambda: skorch.NeuralNetBinaryClassifier(layers(1), **FEW).fit(rows(), whole().astype(np.float32)),
    "sigmoid": lambda: skorch.NeuralNetBinaryClassifier(layers(1, nn.Sigmoid()), criterion=nn.BCELoss, **FEW).fit(
        rows(), whole().astype(np.float32)
    ),
    "value": lambda: skorch.NeuralNetRegressor(layers(1), **FEW).fit(rows(), rows()[:, :1]),
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", NETS)
def test_every_estimator_is_read(name) -> None:
    reading = check_importer(NETS[name](), rows())
    assert reading.unit == 2.0**-24


@pytest.mark.parametrize("name", ["two scores", "one score", "value"])
def test_inside_a_pipeline(name) -> None:
    net = NETS[name]()
    target = rows()[:, :1] if name == "value" else whole().astype(np.float32 if name == "one score" else np.int64)
    pipeline = make_pipeline(StandardScaler(), net).fit(rows(), target)
    check_importer(pipeline, rows())
    wanted = bf.relative_change(0.1) if name == "value" else "other"
    answer = bf.Explainer(pipeline, rows()).explain(rows()[:1], target=wanted)
    assert answer.certificate.bound <= answer.cost


@pytest.mark.parametrize("split", [None, False])
@pytest.mark.parametrize("kind", ["classes", "value"])
def test_dropout_without_validation_rows(kind, split) -> None:
    """Without them, skorch leaves the module in training mode after fit. It asks it in eval mode."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(WIDTH, 3), nn.ReLU(), nn.Dropout(0.4), nn.Linear(3, 1 + (kind == "classes")))
    if kind == "classes":
        net = skorch.NeuralNetClassifier(module, criterion=nn.CrossEntropyLoss, train_split=split, **FEW)
        net.fit(rows(), whole())
    else:
        net = skorch.NeuralNetRegressor(module, train_split=split, **FEW).fit(rows(), rows()[:, :1])
    assert net.module_.training
    columns = raw_columns(infer(rows()).features)
    (read_classifier if kind == "classes" else read_regressor)(net, columns)
    assert all(part.training for part in net.module_.modules())  # the user's own module is as it was
    check_importer(net, rows())


def test_a_wrong_importer_is_caught(monkeypatch) -> None:
    def wrong(net: Any, columns: Any) -> Any:
        with torch.no_grad():
            net.module_[0].bias[0] += 0.1
        try:
            return read_classifier(net, columns)
        finally:
            with torch.no_grad():
                net.module_[0].bias[0] -= 0.1

    check_caught(wrong, NETS["two scores"](), rows(), monkeypatch)


def test_what_is_not_fitted_is_refused() -> None:
    with pytest.raises(bf.errors.NotFittedError, match="not fitted"):
        bf.Explainer(skorch.NeuralNetClassifier(layers(2)), rows())


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "threshold": (lambda: NETS["one score"]().set_params(threshold=0.3), "threshold=0.3"),
    "nonlinearity": (lambda: NETS["two scores"]().set_params(predict_nonlinearity=torch.sigmoid), "must be 'auto'"),
    "scores as probabilities": (
        lambda: skorch.NeuralNetClassifier(layers(2), criterion=nn.MultiMarginLoss, **FEW).fit(rows(), whole()),
        "MultiMarginLoss gives no probabilities",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_named(name) -> None:
    make, words = REFUSED[name]
    assert words in why_unread(make(), rows())
