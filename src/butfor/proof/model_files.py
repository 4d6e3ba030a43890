"""The file of a model from which the checker reads it, and the rows as the model gets them."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.dumps.dump import as_numbers
from butfor.estimator.dumps.xgboost_dump import categories_of
from butfor.estimator.source import Begun, Source
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.space import frames
from butfor.space.space import Space

PROVEN = (
    "XGBoost (XGBClassifier, XGBRegressor and their forests, JSON), LightGBM (LGBMClassifier, LGBMRegressor), CatBoost, "
    "scikit-learn's decision trees, random and extra forests, gradient boosting, histogram gradient boosting and linear models, "
    "Cox models of scikit-survival, and of what is read as a sum of trees, of steps or of weights, as one oblique tree, or as a "
    "network of ReLU"
)
"""The models of which proofs are made."""

Tells = Literal["sums", "probabilities", "class", "target"]
"""What an estimator tells of a row, with which a file of it is compared."""

DECLARED_TYPES = ("category", "ordered")
"""The types of columns that declare their values."""

BITS_OF_SUMS = {UNIT_DOUBLE: 53, UNIT_SINGLE: 24}
"""The binary digits of a sum, by its unit roundoff."""


def not_proven(what: str) -> UnsupportedModelError:
    """The error about a model of which no proof is made yet."""
    return UnsupportedModelError(f"{what}: no proof is made of it yet.", f"Proofs are made of {PROVEN}.")


@dataclass(frozen=True)
class ModelFile:
    """The file of a model.

    - `name`, `kind`: how it is called, and which reader of the checker it is for;
    - `content`: its bytes;
    - `score`: what the estimator says for rows of features, before any link: what the trees add up to. One number a row, or
      one for each of several classes;
    - `tells`: what it says: "sums", or the "probabilities" of all classes, or the position of the "class", or only whether
      a row has what is wanted (the "target").
    """

    name: str
    kind: str
    content: bytes
    of: str
    score: Callable[[Any], Any]
    tells: Tells = "sums"

    def recorded(self, said: Any) -> Any:
        """What the estimator says of a row, as it stands in a question."""
        return recorded(said, self.tells)


def recorded(said: Any, tells: Tells) -> Any:
    """What an estimator says of a row, as it stands in a question."""
    if tells == "probabilities":
        return {"probabilities": hexes(said)}
    if tells == "class":
        return {"class": int(said)}
    if tells == "target":
        return {"met": bool(said)}
    return hexes(said) if np.ndim(said) and len(said) > 1 else float(np.ravel(said)[0]).hex()


def has_own_file(source: Source) -> bool:
    """Whether the checker has a reader for the file of the last step of an estimator."""
    last, _ = estimator_of(source)
    return (library_of(last), type(last).__name__) in MODEL_WRITERS


def own_file(source: Source) -> ModelFile:
    """The file of the last step of an estimator. Raises an error if the checker has no reader for it."""
    last, of = estimator_of(source)
    writer = MODEL_WRITERS.get((library_of(last), type(last).__name__))
    if writer is None:
        raise not_proven(f"a {type(last).__name__}")
    return writer(last, of)


def estimator_of(source: Source) -> tuple[Any, str]:
    """The last step of an estimator, and what it is in words."""
    begun = source.begun(source.trial)
    last = begun.last if isinstance(begun, Begun) else source.estimator
    last = getattr(last, "stands_for", last)
    version = getattr(sys.modules.get(library_of(last)), "__version__", "")
    return last, f"{type(last).__name__} of {library_of(last)} {version}".rstrip()


def library_of(estimator: Any) -> str:
    """The library that an estimator is of."""
    return type(estimator).__module__.partition(".")[0]


def _xgboost(model: Any, of: str) -> ModelFile:
    booster = model.get_booster()
    content = bytes(booster.save_raw("json"))
    return ModelFile("model.json", "xgboost", content, of, lambda X: np.asarray(model.predict(X, output_margin=True)))


def _lightgbm(model: Any, of: str) -> ModelFile:
    content = model.booster_.model_to_string().encode()
    return ModelFile("model.txt", "lightgbm", content, of, lambda X: np.asarray(model.predict(X, raw_score=True)))


def _catboost(model: Any, of: str) -> ModelFile:
    if hasattr(model, "get_probability_threshold") and model.get_probability_threshold() != 0.5:
        raise not_proven(f"a {of} with a threshold of its own")
    if model.get_cat_feature_indices():
        raise not_proven(f"a {of} with categories of its own")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        content = file.read_bytes()
    return ModelFile(
        "model.json", "catboost", content, of,
        lambda X: np.asarray(model.predict(X, prediction_type="RawFormulaVal")),
    )  # fmt: skip


def _copied(
    of: str, score: Callable[[Any], FloatArray], trees: list[Any], reads: str, adds: str, base: FloatArray, *,
    mean: bool = False, scale: float = 1.0,
) -> ModelFile:  # fmt: skip
    """A copy of the arrays of trees. `base`: of each sum."""
    begins = hexes(base.tolist())
    told = {
        "format": "butfor.forest/1", "of": of, "reads": reads, "sum": adds, "mean": mean,
        "base": begins if len(begins) > 1 else begins[0],
        "scale": scale.hex(), "trees": trees,
    }  # fmt: skip
    return ModelFile("model.json", "arrays", json.dumps(told, separators=(",", ":")).encode(), of, score)


def hexes(values: Iterable[Any]) -> list[Any]:
    """Numbers as hexadecimal floats, and None for what is missing, in lists as they were."""
    return [hexes(one) if isinstance(one, list) else None if np.isnan(one) else float(one).hex() for one in values]


def _tree(fitted: Any, shares: bool) -> dict[str, Any]:
    """The arrays of one of scikit-learn's trees."""
    tree = fitted.tree_
    value = tree.value[:, 0, :].tolist() if shares else tree.value[:, 0, 0].tolist()
    return {
        "feature": tree.feature.tolist(),
        "cut": hexes(tree.threshold.tolist()),
        "left": tree.children_left.tolist(),
        "right": tree.children_right.tolist(),
        "missing": tree.missing_go_to_left.tolist(),
        "value": hexes(value),
    }


def _one_tree(model: Any, of: str) -> ModelFile:
    return _mean_of([model], model, of)


def _forest(model: Any, of: str) -> ModelFile:
    return _mean_of(model.estimators_, model, of)


def _mean_of(fitted: Any, model: Any, of: str) -> ModelFile:
    if getattr(model, "n_outputs_", 1) != 1:
        raise not_proven(f"a {of} of several outputs")
    shares, classes = hasattr(model, "classes_"), len(getattr(model, "classes_", "1"))

    def score(X: Any) -> FloatArray:
        if not shares:
            return np.asarray(model.predict(X))
        return np.asarray(model.predict_proba(X)[:, 1 if classes == 2 else slice(None)])

    if shares and classes < 2:
        raise not_proven(f"a {of} of one class")
    trees = [_tree(one, shares) for one in fitted]
    return _copied(of, score, trees, "float32", "shares" if shares else "value", np.zeros(classes), mean=True)


def _sum_of(classes: int) -> str:
    """What is made of the sums of a boosted model, of one sum or of one for each class."""
    return "largest" if classes > 2 else "logistic" if classes else "value"


def _boosted(model: Any, of: str) -> ModelFile:
    classes = len(getattr(model, "classes_", ()))
    if model.loss == "exponential" or model.init not in (None, "zero"):
        raise not_proven(f"a {of} with loss={model.loss!r} and init={model.init!r}")
    base = np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))

    def score(X: Any) -> FloatArray:
        return np.asarray(model.decision_function(X) if classes else model.predict(X))

    trees = [{**_tree(one, False), "of": k} for each in model.estimators_ for k, one in enumerate(each)]
    return _copied(of, score, trees, "float32", _sum_of(classes), base.ravel(), scale=float(model.learning_rate))


def _histogram(model: Any, of: str) -> ModelFile:
    classes = len(getattr(model, "classes_", ()))
    if model._preprocessor is not None:
        raise not_proven(f"a {of} with categories of its own")
    if not classes and type(model._loss.link).__name__ != "IdentityLink":
        raise not_proven(f"a {of} with loss={model.loss!r}")

    def score(X: Any) -> FloatArray:
        return np.asarray(model.decision_function(X) if classes else model.predict(X))

    trees = [_nodes(one.nodes, k) for each in model._predictors for k, one in enumerate(each)]
    return _copied(of, score, trees, "float64", _sum_of(classes), np.asarray(model._baseline_prediction).ravel())


def _nodes(nodes: Any, k: int) -> dict[str, Any]:
    """The arrays of one of the trees of histogram gradient boosting, which adds to the sum of a class."""
    leaf = nodes["is_leaf"].astype(bool)
    return {
        "feature": np.where(leaf, -1, nodes["feature_idx"].astype(int)).tolist(),
        "cut": hexes(np.where(leaf, 0.0, nodes["num_threshold"]).tolist()),
        "left": np.where(leaf, -1, nodes["left"].astype(int)).tolist(),
        "right": np.where(leaf, -1, nodes["right"].astype(int)).tolist(),
        "missing": nodes["missing_go_to_left"].tolist(),
        "value": hexes(nodes["value"].tolist()),
        "of": k,
    }


def _linear(model: Any, of: str) -> ModelFile:
    """A copy of weights. What is a probability by the logistic function says so."""
    weights = np.atleast_2d(model.coef_)
    base, classes = np.broadcast_to(np.ravel(model.intercept_), len(weights)), len(getattr(model, "classes_", ()))
    if weights.dtype != np.float64 or len(weights) != (classes if classes > 2 else 1):
        raise not_proven(f"a {of} of other sums than classes, or of float32")
    if classes == 2 and getattr(model, "multi_class", "auto") not in ("auto", "ovr", "deprecated", "warn"):
        raise not_proven(f"a {of} with multi_class={model.multi_class!r}")
    logistic = hasattr(model, "predict_proba") and getattr(model, "loss", "log_loss") == "log_loss"
    kind = "largest" if classes > 2 else "logistic" if logistic else "score" if classes else "value"

    def score(X: Any) -> FloatArray:
        return np.asarray(model.decision_function(X) if classes else model.predict(X))

    return weights_file(of, kind, base, weights, score)


def weights_file(
    of: str,
    kind: str,
    base: FloatArray,
    weights: FloatArray,
    score: Callable[[Any], FloatArray],
    *,
    off: FloatArray | None = None,
    tells: Tells = "sums",
    more: dict[str, Any] | None = None,
) -> ModelFile:
    """Weights (sums, features), what each sum starts from, and by how much it may be off besides its additions.

    `more`: what is made of several sums.
    """
    several = len(weights) > 1
    told = {
        "format": "butfor.linear/1", "of": of, "sum": kind,
        "base": hexes(base.tolist()) if several else float(base[0]).hex(),
        "weights": hexes((weights.T if several else weights[0]).tolist()),
        **({} if off is None else {"off": hexes(off.tolist())}),
        **(more or {}),
    }  # fmt: skip
    content = json.dumps(told, separators=(",", ":")).encode()
    return ModelFile("model.json", "linear", content, of, score, tells)


def _cox(model: Any, of: str) -> ModelFile:
    """The weights of a risk score; of several penalties the last, as in `predict`."""
    coef, offset = model._get_coef(None) if hasattr(model, "_get_coef") else (model.coef_, 0.0)
    return weights_file(
        of, "value", -np.atleast_1d(np.asarray(offset, dtype=np.float64)), np.atleast_2d(coef), model.predict
    )


MODEL_WRITERS: dict[tuple[str, str], Callable[[Any, str], ModelFile]] = {
    **{("xgboost", f"XGB{kind}"): _xgboost for kind in ("Classifier", "Regressor", "RFClassifier", "RFRegressor")},
    **{("lightgbm", f"LGBM{kind}"): _lightgbm for kind in ("Classifier", "Regressor")},
    **{("catboost", f"CatBoost{kind}"): _catboost for kind in ("Classifier", "Regressor")},
    **{("sklearn", f"{tree}Tree{kind}"): _one_tree for tree in ("Decision", "Extra") for kind in ("Classifier", "Regressor")},
    **{("sklearn", f"{kind}{what}"): writer
       for kind, writer in (("RandomForest", _forest), ("ExtraTrees", _forest), ("GradientBoosting", _boosted),
                            ("HistGradientBoosting", _histogram))
       for what in ("Classifier", "Regressor")},
    **{("sklearn", kind): _linear
       for kind in ("LogisticRegression", "LogisticRegressionCV", "LinearSVC", "SGDClassifier", "RidgeClassifier",
                    "RidgeClassifierCV", "Perceptron", "PassiveAggressiveClassifier", "LinearDiscriminantAnalysis",
                    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "SGDRegressor",
                    "LinearSVR", "HuberRegressor", "BayesianRidge")},
    **{("sksurv", f"Cox{kind}SurvivalAnalysis"): _cox for kind in ("PH", "net")},
}  # fmt: skip
"""Who writes the file of an estimator, by its library and its class."""


class AbstractInputs(ABC):
    """The rows as a file of a model has them."""

    @abstractmethod
    def rows(self, table: Any) -> FloatArray:
        """The features of the model, as numbers."""

    @abstractmethod
    def given(self, table: Any) -> Any:
        """The rows as the file's own `score` is asked about them."""


@dataclass(frozen=True, eq=False)
class ColumnInputs(AbstractInputs):
    """Numbers as they are, and behind them what a file tells of levels."""

    space: Space

    @abstractmethod
    def of_levels(self, codes: FloatArray) -> Sequence[FloatArray]:
        """What the file tells of levels, for rows that are encoded."""

    def rows(self, table: Any) -> FloatArray:
        codes = self.space.encode(frames.opened(table))
        numbers = np.where([feature.levels is None for feature in self.space], codes, 0.0)
        return np.column_stack([numbers, *self.of_levels(codes)])

    def given(self, table: Any) -> Any:
        return table


@dataclass(frozen=True, eq=False)
class ModelInputs(AbstractInputs):
    """The rows as the last step of an estimator gets them."""

    source: Source

    def leave_zeros_out(self, table: Any) -> bool:
        """Whether the last step gets sparse rows, and takes what they leave out for missing."""
        last, _ = estimator_of(self.source)
        return library_of(last) == "xgboost" and hasattr(self.given(table), "toarray")

    def rows(self, table: Any) -> FloatArray:
        begun = self.given(table)
        if hasattr(begun, "toarray"):
            begun = begun.toarray()
        if hasattr(begun, "columns"):
            return as_numbers(begun, _codes(begun, estimator_of(self.source)[0]))
        return np.asarray(begun, dtype=np.float64)

    def given(self, table: Any) -> Any:
        begun = self.source.begun(table)
        return begun.rows if isinstance(begun, Begun) else self.source.inputs(table)


def _codes(table: Any, model: Any) -> dict[int, FloatArray]:
    """The numbers of the categories of a data frame, as the model has them: it knows their names."""
    names = frames.names(table)
    own = {
        j: frames.categories(table, name) for j, name in enumerate(names) if frames.dtype(table, name) in DECLARED_TYPES
    }
    known: dict[int, Iterable[Any]] = {**own}
    if own and library_of(model) == "lightgbm":
        known = dict(zip(own, model.booster_.pandas_categorical or own.values(), strict=True))
    elif own and library_of(model) == "xgboost":
        its = categories_of(json.loads(bytes(model.get_booster().save_raw("json")))["learner"])
        known = {j: its.get(j) or every for j, every in own.items()}
    place = {j: {one: float(k) for k, one in enumerate(every)} for j, every in known.items()}
    return {
        j: np.array([at.get(x, np.nan) for x in frames.values(table, names[j], j)], dtype=np.float64)
        for j, at in place.items()
    }
