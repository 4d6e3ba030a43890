"""The model, as `dice_ml.Model`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from butfor.compat.dice.constants import BackEndTypes, ModelTypes
from butfor.compat.dice.exceptions import SystemException, UserConfigValidationException
from butfor.errors import InputError
from butfor.experimental import experimental
from butfor.explain.notices import users_line

OHE_MIN_MAX = "ohe-min-max"
"""The name of DiCE's own encoding."""

PICKLES = (".pkl", ".pickle", ".sav", ".joblib", ".pth", ".pt", ".h5", ".keras")
"""Files that run code when they are opened, or that only their library opens."""


class Transformer:
    """What makes of rows what the model reads: nothing, DiCE's encoding, or a function of the user's."""

    def __init__(self, func: Callable[..., Any] | str | None, kw_args: Mapping[str, Any] | None = None) -> None:
        if isinstance(func, str) and func != OHE_MIN_MAX:
            raise UserConfigValidationException(
                f"func={func!r} was given.", f"It must be {OHE_MIN_MAX!r} or a function."
            )
        self.func, self.kw_args = func, dict(kw_args or {})

    def feed_data_params(self, data_interface: Any) -> None:
        """Tell it of the data."""
        self.kw_args["data_interface"] = data_interface

    def initialize_transform_func(self) -> None:
        """Nothing: it is ready."""

    def transform(self, data: Any) -> Any:
        """Rows as the model reads them."""
        if self.func == OHE_MIN_MAX:
            return self.kw_args["data_interface"].get_ohe_min_max_normalized_data(data)
        return self.func(data, **self.kw_args) if callable(self.func) else data

    def inverse_transform(self, data: Any) -> Any:
        """The rows of which DiCE's encoding made these."""
        if self.func == OHE_MIN_MAX:
            return self.kw_args["data_interface"].get_inverse_ohe_min_max_normalized_data(data)
        return data


@experimental
class Model:
    """A fitted model, as `dice_ml.Model`.

    - `model`: the fitted estimator or pipeline. What it is, butfor finds out;
    - `model_path`: a file that `bf.Explainer` reads, in place of `model`. A pickle is refused: load it yourself;
    - `backend`: accepted, and not needed;
    - `model_type`: "classifier" or "regressor";
    - `func`: what makes of rows what the model reads: "ohe-min-max" for DiCE's encoding, or a function of a table. With a
      function, the model is searched and nothing is proven; a pipeline is the better way;
    - `kw_args`: further arguments of the function. It is also given `data_interface`.
    """

    def __init__(
        self,
        model: Any = None,
        model_path: str = "",
        backend: Any = BackEndTypes.Sklearn,
        model_type: str = ModelTypes.Classifier,
        func: Callable[..., Any] | str | None = None,
        kw_args: Mapping[str, Any] | None = None,
    ) -> None:
        if backend not in BackEndTypes.ALL:
            words = f"{backend} backend not in supported backends {','.join(BackEndTypes.ALL)}. butfor reads the model itself."
            warnings.warn(words, UserWarning, stacklevel=users_line())
        if model_type not in ModelTypes.ALL:
            raise UserConfigValidationException(
                f"{model_type} model type not in supported model types {','.join(ModelTypes.ALL)}"
            )
        if model is None and not model_path:
            raise InputError(
                "neither model nor model_path was given.",
                "You should provide either a trained model or the path to a model.",
            )
        self.model, self.model_path, self.backend, self.model_type = model, str(model_path), backend, model_type
        self.transformer = Transformer(func, kw_args)

    def load_model(self) -> None:
        """Refuse a file that only running its code would open. Others are read by `bf.Explainer`."""
        if self.model is None and Path(self.model_path).suffix in PICKLES:
            raise UserConfigValidationException(
                f"model_path={self.model_path!r} was given.",
                "butfor does not open files that run code.",
                "Load it yourself, and pass model=.",
            )

    def readable(self, data_interface: Any) -> Any:
        """What `bf.Explainer` is given: the model, its file, or the model behind the encoding."""
        self.load_model()
        self.transformer.feed_data_params(data_interface)
        if self.model is None or self.transformer.func is None:
            return self.model_path if self.model is None else self.model
        if self.transformer.func == OHE_MIN_MAX and not _out_of_order(data_interface):
            return _encoded(self.model, data_interface)
        return (EncodedClassifier if hasattr(self.model, "predict_proba") else EncodedModel)(self)

    def get_output(self, input_instance: Any, model_score: bool = True) -> NDArray[Any]:
        """Probabilities of a classifier, and numbers of a regressor; with `model_score=False`, what is predicted."""
        rows = self.transformer.transform(input_instance)
        chances = model_score and self.model_type == ModelTypes.Classifier
        return np.asarray(self.model.predict_proba(rows) if chances else self.model.predict(rows))

    def get_gradient(self) -> Any:
        """Nothing: butfor needs no gradients."""
        raise NotImplementedError("butfor needs no gradients, so this model has none.")

    def get_num_output_nodes2(self, input_instance: Any) -> int:
        """How many classes a classifier has."""
        if self.model_type == ModelTypes.Regressor:
            raise SystemException("the number of output nodes was asked for.", "Only a classifier has classes.")
        return int(self.get_output(input_instance).shape[1])


class EncodedModel:
    """A model behind a function of the user's. Nothing is known of it but what it predicts."""

    def __init__(self, interface: Model) -> None:
        self.interface = interface
        if hasattr(interface.model, "classes_"):
            self.classes_ = interface.model.classes_

    def predict(self, rows: Any) -> Any:
        """What the model predicts."""
        return self.interface.get_output(rows, model_score=False)


class EncodedClassifier(EncodedModel):
    """The same, of a model that predicts probabilities."""

    _estimator_type: ClassVar[str] = "classifier"

    def predict_proba(self, rows: Any) -> Any:
        """The probability of each class."""
        return self.interface.model.predict_proba(self.interface.transformer.transform(rows))


def _encoded(model: Any, data: Any) -> Any:
    """A pipeline of DiCE's encoding and a fitted model, which is read like any other."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

    numbers, levels, rows = data.continuous_feature_names, data.categorical_feature_names, data.rows
    known = [sorted(rows[name].dropna().unique().tolist(), key=str) for name in levels]  # in the order of their texts
    encoder = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False)
    parts = [("numbers", MinMaxScaler(), numbers), ("levels", encoder, levels)]
    whole = ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=False)
    if hasattr(model, "feature_names_in_"):
        whole.set_output(transform="pandas")
    return Pipeline([("encoding", whole.fit(rows)), ("model", model)])


def _out_of_order(data: Any) -> bool:
    """Whether some levels are numbers that are in another order as text, such as 2 and 10. Encoders refuse that."""
    known = [sorted(data.rows[name].dropna().unique().tolist()) for name in data.categorical_feature_names]
    return any(levels != sorted(levels, key=str) for levels in known)
