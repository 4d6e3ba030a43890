"""Small networks of other libraries behind a fitted preprocessor, made of scikit-learn's perceptrons."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from butfor.estimator.onnx_graphs import onnx_model
from butfor.estimator.torch_modules import torch_model

SHAPES = ("plain", "norm", "skip")
"""What is between the two layers: a ReLU; a batch norm and a ReLU; or a ReLU beside a connection that skips it."""


class AbstractFuzzedNetwork(ABC):
    """Fits a perceptron to the rows that leave the preprocessor, and hands it over as a network of another library.

    `end` is "sigmoid", "softmax" or "" (scores). For several classes, a sigmoid becomes a softmax. `fit` returns the
    model that butfor is given.
    """

    predicts_values = False

    def __init__(self, before: Any = None, *, units: int = 3, shape: str = "plain", end: str = "") -> None:
        self.before, self.units, self.shape, self.end = before, units, shape, end

    def fit(self, X: Any, y: Any) -> Any:
        """The fitted model."""
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        ready = X if self.before is None else self.before.fit(X, y).transform(X)
        kind = MLPRegressor if self.predicts_values else MLPClassifier
        rows = np.asarray(ready, dtype=np.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = kind(hidden_layer_sizes=(self.units,), solver="lbfgs", max_iter=60, random_state=0, alpha=0.1).fit(
                rows, y
            )
        weights = [w.T.astype(np.float32) for w in made.coefs_] + [b.astype(np.float32) for b in made.intercepts_]
        if self.end == "softmax" and len(weights[1]) == 1:  # one output for each of the two classes
            weights[1], weights[3] = np.vstack([0 * weights[1], weights[1]]), np.append(0 * weights[3], weights[3])
        if self.end == "sigmoid" and len(weights[1]) > 1:
            self.end = "softmax"
        rng = np.random.default_rng(0)
        skip = rng.normal(size=(len(weights[1]), rows.shape[1])).astype(np.float32) / 10
        norm = np.abs(rng.normal(size=(2, self.units)).astype(np.float32)) + np.float32(0.5)
        classes = None if self.predicts_values else made.classes_.tolist()
        columns = None if self.before is not None or not hasattr(X, "columns") else [str(name) for name in X.columns]
        return self.handed_over([*weights, skip, norm], classes, columns)

    @abstractmethod
    def handed_over(self, weights: list[Any], classes: Any, columns: Any) -> Any:
        """The weights of both layers, their intercepts, those that skip a layer, and those of a norm, as a model."""

    @property
    def last(self) -> str:
        """The function at the end."""
        return "" if self.predicts_values else self.end


class TorchNetworkClassifier(AbstractFuzzedNetwork):
    """A PyTorch module."""

    def handed_over(self, weights: list[Any], classes: Any, columns: Any) -> Any:
        import torch

        first, second, b1, b2, skip, norm = (torch.from_numpy(one) for one in weights)
        shape, last = self.shape, self.last

        class Module(torch.nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.a, self.b = torch.nn.Linear(*first.shape[::-1]), torch.nn.Linear(*second.shape[::-1])
                self.norm, self.skip = torch.nn.BatchNorm1d(len(b1)), torch.nn.Linear(*skip.shape[::-1], bias=False)
                held = {self.a.weight: first, self.a.bias: b1, self.b.weight: second, self.b.bias: b2}
                held |= {self.skip.weight: skip, self.norm.weight: torch.sqrt(norm[1] + self.norm.eps)}
                held |= {self.norm.bias: norm[0], self.norm.running_mean: norm[0], self.norm.running_var: norm[1]}
                with torch.no_grad():
                    for mine, one in held.items():
                        mine.copy_(one)

            def forward(self, x: Any) -> Any:
                z = self.a(x)
                z = self.norm(z) if shape == "norm" else z
                z = self.b(torch.relu(z))
                z = z + self.skip(x) if shape == "skip" else z
                return torch.sigmoid(z) if last == "sigmoid" else torch.softmax(z, 1) if last == "softmax" else z

        return torch_model(Module().eval(), classes=classes, columns=columns, before=self.before)


class TorchNetworkRegressor(TorchNetworkClassifier):
    """The same for values."""

    predicts_values = True


class OnnxNetworkClassifier(AbstractFuzzedNetwork):
    """An ONNX file."""

    def handed_over(self, weights: list[Any], classes: Any, columns: Any) -> Any:
        from onnx import TensorProto, helper, numpy_helper

        names = ("a", "b", "p", "q", "skip", "norm")
        held = {**dict(zip(names, weights, strict=True)), "mean": weights[5][0], "variance": weights[5][1]}
        held |= {"scale": np.sqrt(held["variance"] + np.float32(1e-5)), "skipped": held["skip"].T.copy()}
        nodes = [helper.make_node("Gemm", ["x", "a", "p"], ["z"], transB=1)]
        if self.shape == "norm":
            nodes.append(
                helper.make_node("BatchNormalization", ["z", "scale", "mean", "mean", "variance"], ["n"], epsilon=1e-5)
            )
        nodes.append(helper.make_node("Relu", ["n" if self.shape == "norm" else "z"], ["h"]))
        nodes.append(helper.make_node("Gemm", ["h", "b", "q"], ["s"], transB=1))
        if self.shape == "skip":
            nodes += [helper.make_node("MatMul", ["x", "skipped"], ["v"]), helper.make_node("Add", ["s", "v"], ["t"])]
        if self.last:
            nodes.append(helper.make_node(self.last.capitalize(), [nodes[-1].output[0]], ["y"]))
        float32 = TensorProto.FLOAT
        graph = helper.make_graph(
            nodes,
            "network",
            [helper.make_tensor_value_info("x", float32, ["rows", len(weights[0][0])])],
            [helper.make_tensor_value_info(nodes[-1].output[0], float32, ["rows", len(weights[1])])],
            [numpy_helper.from_array(one, name) for name, one in held.items() if name not in ("skip", "norm")],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        return onnx_model(made.SerializeToString(), classes=classes, columns=columns, before=self.before)


class OnnxNetworkRegressor(OnnxNetworkClassifier):
    """The same for values."""

    predicts_values = True
