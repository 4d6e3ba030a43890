"""Models in files, of the kinds that are read without running code in them.

See docs/decisions/050-files-without-their-library.md for who reads them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from butfor.errors import InputError, InputTypeError, MissingExtraError, UnsupportedModelError
from butfor.estimator.dumps.catboost_binary import read_cbm
from butfor.estimator.dumps.catboost_dump import catboost_in_file
from butfor.estimator.dumps.lightgbm_dump import lightgbm_in_file
from butfor.estimator.dumps.ubjson import read_ubjson
from butfor.estimator.dumps.xgboost_dump import xgboost_in_file
from butfor.estimator.onnx_graphs import onnx_model
from butfor.estimator.pmml.models import pmml_estimator
from butfor.estimator.pmml.reading import read_pmml

LOADERS = {
    (".joblib",): "joblib.load({path!r})",
    (".pkl", ".pickle", ".sav"): "pickle.load(open({path!r}, 'rb'))",
    (".pt", ".pth"): "bf.torch_model(module, classes=[...])",
    (".keras", ".h5"): "bf.keras_model(keras.models.load_model({path!r}), classes=[...])",
}
"""What a user writes for a file that butfor does not load, by its ending."""


def is_path(model: Any) -> bool:
    """Whether the path of a file was given as the model."""
    return isinstance(model, str | os.PathLike)


def from_file(given: str | os.PathLike[str]) -> Any:
    """The model in a file. Of boosted trees, their library says what it predicts if it is installed, and else butfor."""
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
    held = path.read_bytes()  # if that fails, it is the system's own error, whatever the library would say
    try:
        return READERS_OF_MODELS[ending](path, held)
    except (InputError, InputTypeError, UnsupportedModelError, MissingExtraError):
        raise
    except ImportError as error:
        library = str(error.name).split(".")[0]
        raise MissingExtraError(
            f"the model in {str(path)!r} needs {library}.", "", f'Run: pip install "butfor[{library}]"'
        ) from None
    except Exception as error:  # each library has errors of its own for a file that it does not take
        raise _not_read(path, f"{type(error).__name__}: {error}".replace("\n", " "), held) from error


def is_model_file(path: Path) -> bool:
    """Whether a file has the ending of one that is read here."""
    return path.suffix.lower() in READERS_OF_MODELS


def _not_read(path: Path, why: str, held: bytes, needed: str = "") -> InputError:
    begins_like = next((ending for begin, ending in BEGINNINGS if begin.match(held)), path.suffix.lower())
    return InputError(
        f"the model in {str(path)!r} cannot be read ({why}).",
        needed or "A whole file, as its library saved it, is needed.",
        "" if begins_like == path.suffix.lower() else f"It begins like a file that ends in {begins_like}: rename it.",
    )


def _library(name: str) -> Any:
    """A library; None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def _without(library: str, read: Callable[[Any], Any], parsed: Any, path: Path, held: bytes) -> Any:
    """What a file holds, read by butfor itself. What it does not read, the library may."""
    try:
        return read(parsed() if callable(parsed) else parsed)
    except UnsupportedModelError as refusal:
        raise UnsupportedModelError(
            f"the model in {str(path)!r} cannot be read without {library}: {refusal.given}",
            refusal.needed,
            f'To search with {library} itself, run: pip install "butfor[{library}]"',
        ) from None
    except InputError as error:
        raise _not_read(path, error.given.rstrip("."), held, error.needed) from None
    except KeyError as error:
        raise _not_read(path, f"it lacks {error}", held) from error
    except (IndexError, ValueError, TypeError, AttributeError) as error:
        raise _not_read(path, f"what stands in it is no such model: {type(error).__name__}: {error}", held) from error


def _json_model(path: Path, held: bytes) -> Any:
    """A model that XGBoost or CatBoost saved as JSON. What the file holds tells which."""
    try:
        found = json.loads(held)
    except json.JSONDecodeError as error:
        several = error.msg == "Extra data"
        raise _not_read(
            path, str(error), held, "A file that holds one model is needed, and nothing after it." if several else ""
        ) from None
    if isinstance(found, list):
        raise _not_read(
            path,
            f"it is a list of {len(found)}",
            held,
            "One model, as save_model writes it, is needed: dump_model leaves out what the trees are added to.",
        )
    if isinstance(found, dict) and "learner" in found:
        return _xgboost_model(path, held, found)
    if isinstance(found, dict) and "features_info" in found:
        return _catboost_model(path, held, found)
    if isinstance(found, dict) and "tree_info" in found:
        raise _not_read(path, "dump_model of LightGBM wrote it", held, "Write booster.save_model('model.txt') instead.")
    raise _not_read(path, "it is no model of XGBoost or CatBoost", held)


def _catboost_model(path: Path, held: bytes, parsed: Any = None) -> Any:
    catboost = _library("catboost")
    if catboost is not None:
        model = catboost.CatBoost()
        model.load_model(str(path), format=path.suffix.lower()[1:])
        return model
    return _without("catboost", catboost_in_file, parsed or partial(read_cbm, held), path, held)


def _xgboost_model(path: Path, held: bytes, parsed: Any = None) -> Any:
    """A booster, or the estimator that wrote the file: it stops at its best iteration, and a booster does not."""
    xgboost = _library("xgboost")
    if xgboost is None:
        return _without("xgboost", xgboost_in_file, parsed or partial(read_ubjson, held), path, held)
    model = xgboost.Booster(model_file=str(path))
    kind = json.loads(model.attr("scikit_learn") or "{}").get("_estimator_type")
    if kind in ("classifier", "regressor"):
        model = xgboost.XGBClassifier() if kind == "classifier" else xgboost.XGBRegressor()
        model.load_model(str(path))
    return model


def _lightgbm_model(path: Path, held: bytes) -> Any:
    lightgbm = _library("lightgbm")
    if lightgbm is None:
        return _without("lightgbm", lightgbm_in_file, held.decode, path, held)
    return lightgbm.Booster(model_file=str(path))


def _skops_model(path: Path, held: bytes) -> Any:
    """Whatever skops saved, if it is made of nothing but what skops itself trusts."""
    io = import_module("skops.io")
    unknown = io.get_untrusted_types(data=held)
    if unknown:
        raise InputTypeError(
            f"the file {str(path)!r} holds what skops does not trust: {', '.join(unknown)}.",
            "To load it may run code of these, so butfor does not.",
            f"If you trust them, load it and give what you get: skops.io.load({str(path)!r}, trusted={list(unknown)}).",
        )
    return io.loads(held)


def _pmml_model(path: Path, held: bytes) -> Any:
    """What a PMML file holds, by butfor itself: no library is needed."""
    try:
        return pmml_estimator(read_pmml(held))
    except InputError as error:
        raise _not_read(path, error.given.rstrip("."), held, error.needed) from None


def _treelite_model(path: Path, held: bytes) -> Any:
    return import_module("treelite").Model.deserialize_bytes(held)


def _onnx_network(path: Path, held: bytes) -> Any:
    try:
        return onnx_model(path)
    except InputError as error:
        if "classes=" not in error.remedy:
            raise
        raise InputError(error.given, error.needed, f"Write bf.onnx_model({str(path)!r}, classes=[...]).") from None


READERS_OF_MODELS: dict[str, Callable[..., Any]] = {
    ".cbm": _catboost_model,
    ".json": _json_model,
    ".ubj": _xgboost_model,
    ".txt": _lightgbm_model,
    ".onnx": _onnx_network,
    ".skops": _skops_model,
    ".pmml": _pmml_model,
    ".tl": _treelite_model,
}
"""How a model is read, by the ending of its file: from its path and from what it holds."""

BEGINNINGS = (
    (re.compile(rb"CBM1"), ".cbm"),
    (re.compile(rb"tree\r?\n"), ".txt"),
    (re.compile(rb"\{[iUIlL]"), ".ubj"),
    (re.compile(rb"\s*[{\[]"), ".json"),
    (re.compile(rb"PK"), ".skops"),
    (re.compile(rb"(\xef\xbb\xbf)?\s*<"), ".pmml"),
)
"""How files begin, to tell one that has the wrong ending."""
