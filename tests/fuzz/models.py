"""Random small models as source text: an estimator, and what stands before it in the pipeline."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tests.fuzz.columns import DataColumn, Random
from tests.fuzz.networks import SHAPES
from tests.fuzz.tables import TrainingTable

SKLEARN = {
    "linear_model": "LogisticRegression RidgeClassifier SGDClassifier Perceptron LinearRegression Ridge Lasso ElasticNet "
    "BayesianRidge SGDRegressor TweedieRegressor",
    "svm": "LinearSVC LinearSVR",
    "discriminant_analysis": "LinearDiscriminantAnalysis",
    "tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
    "ensemble": "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor "
    "GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier HistGradientBoostingRegressor "
    "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor VotingClassifier StackingClassifier "
    "StackingRegressor",
    "multiclass": "OneVsRestClassifier",
    "model_selection": "FixedThresholdClassifier",
    "neural_network": "MLPClassifier MLPRegressor",
    "calibration": "CalibratedClassifierCV",
    "preprocessing": "StandardScaler MinMaxScaler MaxAbsScaler OneHotEncoder OrdinalEncoder TargetEncoder KBinsDiscretizer "
    "PowerTransformer QuantileTransformer",
    "impute": "SimpleImputer",
    "compose": "ColumnTransformer",
    "pipeline": "make_pipeline",
}
HOMES = {name: f"sklearn.{part}" for part, names in SKLEARN.items() for name in names.split()} | {
    "XGBClassifier": "xgboost",
    "XGBRegressor": "xgboost",
    "LGBMClassifier": "lightgbm",
    "LGBMRegressor": "lightgbm",
    "CalibratedLinear": "sklearn",
    "CalibratedShares": "sklearn",
    "UnlikeVotes": "sklearn",
    "BaggedModels": "sklearn",
    "BaggedLinear": "sklearn",
    **dict.fromkeys(("BinaryEncoder", "HelmertEncoder", "CountEncoder"), "category_encoders"),
    "LinearVotes": "sklearn",
    "StackedTrees": "sklearn",
    "StackedLinear": "sklearn",
    "StackedRegressor": "sklearn",
    "CatBoostClassifier": "catboost",
    "CatBoostRegressor": "catboost",
    "TAOClassifier": "butfor.trees",
    "TAORegressor": "butfor.trees",
    "TorchNetworkClassifier": "tests.fuzz.networks",
    "TorchNetworkRegressor": "tests.fuzz.networks",
    "OnnxNetworkClassifier": "tests.fuzz.networks",
    "OnnxNetworkRegressor": "tests.fuzz.networks",
}
"""Where each name that a text may use is imported from."""

NEEDS = {"TorchNetwork": ("torch",), "OnnxNetwork": ("onnx", "onnxruntime")}
"""What else must be installed for names that begin so."""

GAPPY = re.compile("DecisionTree|ExtraTree|RandomForest|HistGradient|XGB|LGBM|CatBoost|Bagging")
"""Estimators that take missing values themselves."""
PRICKLY = re.compile(
    "SGD|Perceptron|LinearSV|Logistic|TAO|MLP|Network|Tweedie|CalibratedLinear|BaggedLinear|LinearVotes|StackedLinear"
)
"""Estimators that are scaled, as they would not converge on large numbers."""
OWN_LEVELS = re.compile("HistGradient|LGBM|XGB|CatBoost")
"""Estimators that read categories themselves."""
NAMED_LEVELS = re.compile("CatBoost")
"""Those that are told which columns are categories, and take no missing ones."""
TAKES_SPARSE = re.compile("XGB|LGBM|Forest|Tree|^GradientBoosting|Bagging|AdaBoost|Logistic|LinearSV|CatBoost")
"""Estimators that take sparse tables, which are not all that do."""
PREDICT_VALUES = re.compile("Regressor|^(LinearRegression|Ridge|Lasso|ElasticNet|BayesianRidge|LinearSVR)$")

LINEAR = {
    "LogisticRegression": "LogisticRegression(C={C})",
    "RidgeClassifier": "RidgeClassifier(alpha={alpha})",
    "SGDClassifier": "SGDClassifier(loss={loss!r}, random_state=0)",
    "Perceptron": "Perceptron(random_state=0)",
    "LinearSVC": "LinearSVC(C={C}, random_state=0)",
    "LinearDiscriminantAnalysis": "LinearDiscriminantAnalysis()",
    "OneVsRestClassifier": "OneVsRestClassifier(LogisticRegression(C={C}))",
    "FixedThresholdClassifier": "FixedThresholdClassifier(LogisticRegression(C={C}), threshold={threshold}, pos_label={label!r})",
    "LinearRegression": "LinearRegression()",
    "Ridge": "Ridge(alpha={alpha})",
    "Lasso": "Lasso(alpha=0.01)",
    "ElasticNet": "ElasticNet(alpha=0.01)",
    "BayesianRidge": "BayesianRidge()",
    "LinearSVR": "LinearSVR(random_state=0)",
    "SGDRegressor": "SGDRegressor(random_state=0)",
}
NETWORKS = {
    "MLPClassifier": "{name}(hidden_layer_sizes={layers}, activation={activation!r}, solver='lbfgs', max_iter=60, "
    "random_state=0)",
    "MLPRegressor": "{name}(hidden_layer_sizes={layers}, activation={activation!r}, solver='lbfgs', max_iter=60, "
    "random_state=0)",
    "TorchNetworkClassifier": "{name}({before}, units={units}, shape={shape!r}, end={end!r})",
    "TorchNetworkRegressor": "{name}({before}, units={units}, shape={shape!r})",
    "OnnxNetworkClassifier": "{name}({before}, units={units}, shape={shape!r}, end={end!r})",
    "OnnxNetworkRegressor": "{name}({before}, units={units}, shape={shape!r})",
}
TREES = {
    "DecisionTree": "{name}(max_depth={depth}, random_state=0)",
    "ExtraTree": "{name}(max_depth={depth}, random_state=0)",
    "RandomForest": "{name}(n_estimators={trees}, max_depth={depth}, random_state=0)",
    "ExtraTrees": "{name}(n_estimators={trees}, max_depth={depth}, random_state=0)",
    "GradientBoosting": "{name}(n_estimators={trees}, max_depth={depth}, learning_rate={rate}, random_state=0)",
    "HistGradientBoosting": "{name}(max_iter={trees}, max_depth={depth}, min_samples_leaf=3, learning_rate={rate}, "
    "categorical_features='from_dtype')",
    "AdaBoost": "{name}(n_estimators={trees}, random_state=0)",
    "Bagging": "{name}(n_estimators={trees}, random_state=0)",
    "XGB": "{name}(n_estimators={trees}, max_depth={depth}, learning_rate={rate}, enable_categorical=True, n_jobs=1)",
    "LGBM": "{name}(n_estimators={trees}, max_depth={depth}, learning_rate={rate}, min_child_samples=3, n_jobs=1, "
    "verbose=-1)",
    "CatBoost": "{name}(iterations={trees}, depth={depth}, learning_rate={rate}, thread_count=1, verbose=False, "
    "allow_writing_files=False, cat_features={levels!r}, one_hot_max_size={few}, max_ctr_complexity=3)",
    "TAO": "{name}(max_depth={depth}, alpha=1.5, max_iter=3, warm_up=2, random_state=0)",
}
BOOSTING = (
    "('boosting', GradientBoostingClassifier(n_estimators={trees}, max_depth={depth}, learning_rate={rate}, "
    "random_state=0))"
)
FOREST = "('forest', RandomForestClassifier(n_estimators={trees}, max_depth=2, random_state=0))"
LOGISTIC = "('line', LogisticRegression(C={C}))"
"""Members of votes and stacks."""

FORMS = LINEAR | NETWORKS | {
    stem + kind: text
    for stem, text in TREES.items()
    for kind in ("Classifier", "Regressor")
    if stem + kind in HOMES
} | {
    "TweedieRegressor": "TweedieRegressor(power=0, link='log', max_iter=20)",
    "CalibratedClassifierCV": "CalibratedClassifierCV({inside}, method={method!r}, ensemble={ensemble}, cv=2)",
    "CalibratedLinear": "CalibratedClassifierCV(LogisticRegression(C={C}), method={method!r}, ensemble={ensemble}, cv=2)",
    "CalibratedShares": "CalibratedClassifierCV({inside}, method={method!r}, ensemble=False, cv=2)",
    "BaggedModels": "BaggingClassifier({inside}, n_estimators={trees}, max_features=0.8, random_state=0)",
    "BaggedLinear": "BaggingClassifier(LogisticRegression(C={C}), n_estimators=2, max_samples=0.9, random_state=0)",
    "UnlikeVotes": f"VotingClassifier([{BOOSTING}, {FOREST}], voting={{voting!r}}, weights={{weights}})",
    "LinearVotes": f"VotingClassifier([{LOGISTIC}, {FOREST}], voting={{voting!r}}, weights={{weights}})",
    "StackedTrees": f"StackingClassifier([{BOOSTING}, {FOREST}], {{last}}, cv=2)",
    "StackedLinear": f"StackingClassifier([{FOREST}, {LOGISTIC}], {{last}}, cv=2)",
    "StackedRegressor": "StackingRegressor([('tree', DecisionTreeRegressor(max_depth={depth}, random_state=0)), "
    "('forest', RandomForestRegressor(n_estimators={trees}, max_depth=2, random_state=0))], Ridge(alpha={alpha}), cv=2)",
    "VotingClassifier": "VotingClassifier([('tree', DecisionTreeClassifier(max_depth={depth}, random_state=0)), "
    "('forest', RandomForestClassifier(n_estimators={trees}, max_depth=2, random_state=0))], voting='soft')",
}  # fmt: skip
"""Estimators by name, with their settings open."""

TWO_CLASSES = (
    "FixedThresholdClassifier", "CalibratedClassifierCV", "CalibratedLinear", "UnlikeVotes", "LinearVotes",
    "BaggedModels", "BaggedLinear",
    "StackedTrees", "StackedLinear",
)  # fmt: skip
"""Estimators that are read with two classes only."""

SPARSE, MOSTLY_ZEROS = "sparse_output=True", 0.95
"""An encoder that puts out a sparse table, and the share of numbers below which the whole table is one."""

CALIBRATED_INSIDE = (
    "DecisionTreeClassifier(max_depth=2, random_state=0)",
    "RandomForestClassifier(n_estimators=3, max_depth=2, random_state=0)",
    "GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0)",
    "HistGradientBoostingClassifier(max_iter=3, max_depth=2, min_samples_leaf=3)",
)
"""What is calibrated, or bagged."""

ENDS = (
    "LogisticRegression(C=1.0)",
    "LogisticRegression(C=100.0)",
    "RidgeClassifier(alpha=0.1)",
    "DecisionTreeClassifier(max_depth=2, random_state=0)",
)
"""What a stack ends with."""


@dataclass(frozen=True)
class Recipe:
    """A pipeline: the estimator's name and settings, a scaler, an encoder, an imputer or bins before it."""

    estimator: str
    settings: tuple[tuple[str, Any], ...]
    scaler: str = ""
    encoder: str = ""
    imputer: str = ""
    bins: str = ""

    @property
    def classifies(self) -> bool:
        """Whether it predicts classes."""
        return not PREDICT_VALUES.search(self.estimator)

    def with_setting(self, name: str, value: Any) -> Recipe:
        """The recipe with one setting changed."""
        return replace(self, settings=tuple((n, value if n == name else v) for n, v in self.settings))

    def text(self, columns: tuple[DataColumn, ...], labels: list[Any]) -> str:
        """The source text of the unfitted pipeline for these columns."""
        texts = [column.name for column in columns if column.has_levels and column.dtype not in ("bool", "boolean")]
        own = [] if self.encoder else texts
        filled = {"name": self.estimator, "label": labels[-1], "levels": own, **dict(self.settings)}
        steps = [*self._numbers(), self.estimator]
        if self.encoder and texts:
            others = [column.name for column in columns if column.name not in texts]
            numbers = (
                f"make_pipeline({', '.join(steps[:-1])})" if len(steps) > 2 else (steps[:-1] or ["'passthrough'"])[0]
            )
            parts = f"('levels', {self.encoder}, {texts!r}), ('others', {numbers}, {others!r})"
            sparse = f", sparse_threshold={MOSTLY_ZEROS}" if SPARSE in self.encoder else ""
            steps = [f"ColumnTransformer([{parts}]{sparse})", steps[-1]]
        form, before = FORMS[self.estimator], steps[:-1]
        if "{before}" in form:  # it takes its preprocessor itself
            return form.format(before=_piped(before) if before else None, **filled)
        return _piped([*before, form.format(**filled)])

    def _numbers(self) -> list[str]:
        return [step for step in (self.imputer, self.bins, self.scaler) if step]


def _piped(steps: list[str]) -> str:
    """Steps as a pipeline."""
    return f"make_pipeline({', '.join(steps)})" if len(steps) > 1 else steps[0]


def installed() -> list[str]:
    """The estimators that can be made here."""
    return [name for name in FORMS if all(map(find_spec, _needed(name)))]


def _needed(name: str) -> tuple[str, ...]:
    """The packages that an estimator needs."""
    return next((found for stem, found in NEEDS.items() if name.startswith(stem)), (HOMES[name].split(".")[0],))


def names_in(text: str) -> list[str]:
    """The names in a text that must be imported."""
    return sorted(set(re.findall(r"\w+", text)) & set(HOMES))


def evaluated(text: str, **known: Any) -> Any:
    """The value of a text, with the names that it may use."""
    import numpy as np
    import pandas as pd

    import butfor as bf

    scope = {name: getattr(import_module(HOMES[name]), name) for name in names_in(text)}
    return eval(text, {"np": np, "pd": pd, "bf": bf, "nan": np.nan, **scope, **known})


def fitted(text: str, X: Any, y: Any) -> Any:
    """The fitted pipeline of a text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluated(text).fit(X, y)


def random_recipe(rng: Random, estimator: str, label: Any) -> tuple[Recipe, Mapping[str, bool]]:
    """A recipe, and what its table may hold: `levels`, `missing`, and whether it must be a `frame`."""
    odd = rng.random() < 0.06
    settings = {
        "C": float(rng.choice([1e-9, 1e-7] if odd else [0.1, 1.0, 10.0])),
        "alpha": float(rng.choice([1e12] if odd else [0.1, 1.0])),
        "loss": str(rng.choice(["hinge", "log_loss", "modified_huber"])),
        "threshold": float(rng.choice([0.3, 0.5, 0.6])),
        "inside": str(rng.choice(CALIBRATED_INSIDE)),
        "method": str(rng.choice(["sigmoid", "isotonic"])),
        "ensemble": bool(rng.random() < 0.4),
        "voting": str(rng.choice(["soft", "soft", "hard"])),
        "weights": [None, [2, 1], [0.3, 0.7], [1, 0], [1.5, -0.5]][int(rng.integers(5))],
        "last": str(rng.choice(ENDS)),
        "trees": int(rng.integers(2, 5)),
        "depth": int(rng.integers(1, 4)),
        "layers": tuple(rng.integers(2, 5, size=int(rng.integers(1, 3))).tolist()),
        "units": int(rng.integers(2, 6)),
        "activation": str(rng.choice(["relu", "relu", "relu", "identity"])),
        "shape": str(rng.choice(SHAPES)),
        "end": str(rng.choice(["", "sigmoid", "softmax"])),
        "few": int(rng.choice([1, 2, 6])),
        "rate": 1e-9 if odd and not estimator.startswith("CatBoost") else float(rng.choice([0.1, 0.3, 0.5])),
    }
    used = tuple((name, value) for name, value in settings.items() if re.search(rf"\{{{name}\b", FORMS[estimator]))
    trees = bool(GAPPY.search(estimator))
    scaled = bool(PRICKLY.search(estimator)) or rng.random() < (0.2 if trees else 0.5)
    scaler = (
        str(rng.choice(["StandardScaler()", "StandardScaler()", "MinMaxScaler()", "MaxAbsScaler()"])) if scaled else ""
    )
    if trees and rng.random() < 0.15:
        scaler = str(rng.choice(["PowerTransformer()", "QuantileTransformer(n_quantiles=9)"]))
    bins = ""
    if rng.random() < 0.1:
        how = rng.choice(["ordinal", "onehot-dense"])
        bins = f"KBinsDiscretizer(n_bins=3, encode={str(how)!r}, strategy='uniform')"
    imputer = f"SimpleImputer(strategy={str(rng.choice(['mean', 'median', 'most_frequent']))!r})"
    missing = bool(rng.random() < 0.4)
    imputer = imputer if missing and (not trees or bins or rng.random() < 0.2) else ""
    own = bool(OWN_LEVELS.search(estimator)) and not (scaler or bins or imputer) and rng.random() < 0.7
    levels = own or rng.random() < 0.6
    codes = "handle_unknown='use_encoded_value', unknown_value=-1" if rng.random() < 0.5 else ""
    encoder = "OneHotEncoder(sparse_output=False, handle_unknown='ignore')"
    if rng.random() < 0.4:
        encoder = "OneHotEncoder(sparse_output=False)" if rng.random() < 0.5 else f"OrdinalEncoder({codes})"
    if rng.random() < 0.15:
        encoder = encoder.replace("Encoder(", "Encoder(dtype=np.float32, ")
    if rng.random() < 0.15 and find_spec("category_encoders"):
        encoder = str(rng.choice(["BinaryEncoder()", "HelmertEncoder()", "CountEncoder()"]))
    if rng.random() < 0.15:
        encoder = "TargetEncoder(cv=2, random_state=0)"
    if TAKES_SPARSE.search(estimator) and rng.random() < 0.3:
        encoder = encoder.replace("sparse_output=False", SPARSE)
    recipe = Recipe(estimator, used, scaler, encoder if levels and not own else "", imputer, bins)
    return recipe, {"levels": bool(levels), "missing": missing, "frame": bool(levels)}


def fits_levels(sheet: TrainingTable, recipe: Recipe) -> TrainingTable:
    """The table with every category column of the type that the recipe can take."""
    if recipe.encoder:
        gone = "OrdinalEncoder" in recipe.encoder or "handle" not in recipe.encoder
        return replace(sheet, columns=tuple(_plain(column, gone) for column in sheet.columns))
    if NAMED_LEVELS.search(recipe.estimator):
        words = ("category", "ordered", "object", "str")
        return replace(sheet, columns=tuple(_plain(column, column.dtype in words) for column in sheet.columns))
    return replace(
        sheet,
        columns=tuple(
            replace(column, dtype="category") if column.dtype in ("object", "str", "ordered") else column
            for column in sheet.columns
        ),
    )


def _plain(column: DataColumn, all_known: bool) -> DataColumn:
    """A column without missing values, where an encoder might refuse them or code them as NaN."""
    if not column.has_levels or not all_known:
        return column
    first = next(value for value in column.values if value is not None)
    return replace(column, values=tuple(first if value is None else value for value in column.values))
