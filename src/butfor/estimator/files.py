"""Models in files, of the kinds that are read without running code in them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from butfor.errors import InputError, InputTypeError, MissingExtraError
from butfor.estimator.onnx_graphs import onnx_model

LOADERS = {
    (".joblib",): "joblib.load({path!r})",
    (".pkl", ".pickle", ".sav"): "pickle.load(open({path!r}, 'rb'))",
    (".skops",): "skops.io.load({path!r}, trusted=[...])",
    (".pt", ".pth"): "bf.torch_model(module, classes=[...])",
    (".keras", ".h5"): "bf.black_box(keras.models.load_model({path!r}).predict, classes=[...])",
}
"""What a user writes for a file that butfor does not load, by its ending."""


def is_path(model: Any) -> bool:
    """Whether the path of a file was given as the model."""
    return isinstance(model, str | os.PathLike)


def from_file(given: str | os.PathLike[str]) -> Any:
    """The model in a file of CatBoost, XGBoost, LightGBM or ONNX."""
    path = Path(given)
    ending = path.suffix.lower()
    instead = next((written for endings, written in LOADERS.items() if ending in endings), None)
    if instead is not None:
        raise InputTypeError(
            f"the file {str(path)!r} was given as the model.",
            "To load it may run code that it holds, so butfor does not.",
            f"If you trust it, load it and give what you get: {instead.format(path=str(path))}.",
        )
    if ending not in READERS_OF_MODELS:
        raise InputTypeError(
            f"{str(path)!r} was given as the model.",
            f"A fitted estimator, a function of rows, or a file that ends in {', '.join(READERS_OF_MODELS)} is needed.",
            "Load the model with its own library, and give what you get.",
        )
    with path.open("rb"):
        pass  # a file that cannot be opened gives the system's own error, whatever the library would say
    try:
        return READERS_OF_MODELS[ending](path)
    except (InputError, MissingExtraError):
        raise
    except ImportError as error:
        raise MissingExtraError(
            f"the model in {str(path)!r} needs {error.name}.", "", f'Run: pip install "butfor[{error.name}]"'
        ) from None
    except Exception as error:  # each library has errors of its own for a file that it does not take
        raise _not_read(path, f"{type(error).__name__}: {error}".replace("\n", " ")) from error


def is_model_file(path: Path) -> bool:
    """Whether a file has the ending of one that is read here."""
    return path.suffix.lower() in READERS_OF_MODELS


def _not_read(path: Path, why: str) -> InputError:
    return InputError(
        f"the model in {str(path)!r} cannot be read ({why}).", "A whole file, as its library saved it, is needed."
    )


def _json_model(path: Path) -> Any:
    """A model that XGBoost or CatBoost saved as JSON. What the file holds tells which."""
    held = json.loads(path.read_bytes())
    if isinstance(held, dict) and "learner" in held:
        return _xgboost_model(path)
    if isinstance(held, dict) and "features_info" in held:
        return _catboost_model(path, "json")
    raise _not_read(path, "it is no model of XGBoost or CatBoost")


def _catboost_model(path: Path, form: str = "cbm") -> Any:
    model = import_module("catboost").CatBoost()
    model.load_model(str(path), format=form)
    return model


def _xgboost_model(path: Path) -> Any:
    """A booster, or the estimator that wrote the file: it stops at its best iteration, and a booster does not."""
    xgboost = import_module("xgboost")
    model = xgboost.Booster(model_file=str(path))
    kind = json.loads(model.attr("scikit_learn") or "{}").get("_estimator_type")
    if kind in ("classifier", "regressor"):
        model = xgboost.XGBClassifier() if kind == "classifier" else xgboost.XGBRegressor()
        model.load_model(str(path))
    return model


def _lightgbm_model(path: Path) -> Any:
    return import_module("lightgbm").Booster(model_file=str(path))


def _onnx_network(path: Path) -> Any:
    try:
        return onnx_model(path)
    except InputError as error:
        if "classes=" not in error.remedy:
            raise
        raise InputError(error.given, error.needed, f"Write bf.onnx_model({str(path)!r}, classes=[...]).") from None


READERS_OF_MODELS: dict[str, Callable[[Path], Any]] = {
    ".cbm": _catboost_model,
    ".json": _json_model,
    ".ubj": _xgboost_model,
    ".txt": _lightgbm_model,
    ".onnx": _onnx_network,
}
"""How a model is read, by the ending of its file."""
