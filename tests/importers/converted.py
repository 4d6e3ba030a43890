"""Pipelines of scikit-learn, XGBoost and LightGBM, converted to ONNX."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tests.importers.samples import NUMBERS, REST, TEXT, people

OPSETS = {"": 15, "ai.onnx.ml": 3}


def table(seed: int = 0, rows: int = 120, *, lost: tuple[str, ...] = ()) -> pd.DataFrame:
    """People as a converted pipeline reads them: ages and incomes are floats, and truth is a number."""
    X = people(seed, rows, lost=lost)
    return X.astype({"age": float, "owns": int})


def before(encoder: Any = None, *, scaled: bool = True) -> Any:
    """The first steps of a usual pipeline. Scaled in float32, a number may pass a threshold that it met in float64."""
    numbers = make_pipeline(SimpleImputer(), *([StandardScaler()] if scaled else []))
    encoder = OneHotEncoder(handle_unknown="ignore") if encoder is None else encoder
    return make_column_transformer((numbers, NUMBERS), (encoder, TEXT), ("passthrough", REST), sparse_threshold=0)


def taught() -> Any:
    """skl2onnx, which was taught the converters of onnxmltools where these are there."""
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: pip install skl2onnx")
    shapes = skl2onnx.common.shape_calculator
    for library, kinds, place in (("xgboost", "XGB", "XGBoost"), ("lightgbm", "LGBM", "LightGbm")):
        try:
            module = import_module(library)
            where = f"onnxmltools.convert.{library}.operator_converters.{place}"
            convert = getattr(import_module(where), f"convert_{library}")
        except ImportError:
            continue
        for kind, shape, options in (
            (
                "Classifier",
                shapes.calculate_linear_classifier_output_shapes,
                {"nocl": [True, False], "zipmap": [True, False]},
            ),
            ("Regressor", shapes.calculate_linear_regressor_output_shapes, {"split": None}),
        ):
            name = f"{kinds}{kind}"
            skl2onnx.update_registered_converter(getattr(module, name), name, shape, convert, options=options)
    return skl2onnx


def converted(fitted: Any, X: Any, **options: Any) -> bytes:
    """The file of a fitted pipeline: one input per column of a frame, or one for an array."""
    skl2onnx = taught()
    with patch("skl2onnx.common._container.make_node", plain_node):
        return _converted(skl2onnx, fitted, X, options)


def _converted(skl2onnx: Any, fitted: Any, X: Any, options: dict[str, Any]) -> bytes:
    if isinstance(X, np.ndarray):
        return bytes(
            skl2onnx.to_onnx(fitted, X[:1], target_opset=OPSETS, options=_of(fitted, options)).SerializeToString()
        )
    kinds = skl2onnx.common.data_types
    of = {"f": kinds.FloatTensorType, "i": kinds.Int64TensorType}
    types = [(name, of.get(X[name].dtype.kind, kinds.StringTensorType)([None, 1])) for name in X]
    made = skl2onnx.to_onnx(fitted, initial_types=types, target_opset=OPSETS, options=_of(fitted, options))
    return bytes(made.SerializeToString())


def _of(fitted: Any, options: dict[str, Any]) -> Any:
    return {id(fitted): options} if options else None


def plain_node(*given: Any, **said: Any) -> Any:
    """A node as onnx takes it since 1.19: skl2onnx 1.20 writes truth values and unsigned numbers of histogram boosting."""
    from onnx.helper import make_node

    whole = bool | np.integer | np.bool_
    listed = {
        name: [int(one) if isinstance(one, whole) else one for one in values] if isinstance(values, list) else values
        for name, values in said.items()
    }
    return make_node(*given, **listed)
