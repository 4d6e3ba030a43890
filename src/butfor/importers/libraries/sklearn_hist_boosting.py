"""scikit-learn's histogram gradient boosting.

It has thresholds in float64, native categories, and a direction for missing values in each node.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.sklearn_encoders import encoder
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.monotone import Exponential
from butfor.model.nodes import Nodes, in_score, numbered
from butfor.model.readout import Argmax, Sign


def read_hist_boosting(boosting: Any, columns: list[Column]) -> Imported:
    """A constant plus a sum of trees, with one tree per iteration and score."""
    stages = boosting._predictors
    scores = len(stages[0])
    predictors = [predictor for stage in stages for predictor in stage]
    counts = [len(predictor.nodes) for predictor in predictors]
    nodes, first = np.concatenate([predictor.nodes for predictor in predictors]), numbered(counts)
    shift = np.repeat(first, counts)
    bits = [predictor.raw_left_cat_bitsets for predictor in predictors]
    category = nodes["is_categorical"].astype(np.bool_)
    group = np.where(category, nodes["bitset_idx"] + np.repeat(numbered([len(b) for b in bits]), counts), -1)
    leaf = nodes["is_leaf"].astype(np.bool_)
    score = np.repeat(np.tile(np.arange(scores), len(stages)), counts)
    model = trees_over(
        _prepared(boosting, columns),
        Nodes(
            roots=first,
            feature=np.where(leaf, -1, nodes["feature_idx"]).astype(np.intp),
            threshold=np.where(category, 0.0, nodes["num_threshold"]),
            missing_left=nodes["missing_go_to_left"].astype(np.bool_),
            left=nodes["left"].astype(np.intp) + shift,
            right=nodes["right"].astype(np.intp) + shift,
            value=in_score(nodes["value"], score, scores),
            single=False,
            group=group.astype(np.intp),
            groups=_groups(np.concatenate(bits)),
        ),
        np.ravel(boosting._baseline_prediction).astype(np.float64),
    )
    if not hasattr(boosting, "classes_"):
        logarithm = boosting.loss in ("gamma", "poisson")
        return model, value_behind(Exponential() if logarithm else None)
    classes = tuple(boosting.classes_.tolist())
    return model, Sign(classes, "logistic") if scores == 1 else Argmax(classes, "softmax")


def _groups(bits: Any) -> Any:
    """One row of bits per set of categories. The last entry, for any other number, is no.

    An unknown category has already been turned into a missing value.
    """
    words = np.ascontiguousarray(bits, dtype="<u4").view(np.uint8)
    left = np.unpackbits(words, axis=1, bitorder="little").astype(np.bool_)
    return np.column_stack([left, np.zeros(len(left), dtype=np.bool_)])


def _prepared(boosting: Any, columns: list[Column]) -> list[Column]:
    """The columns that reach the trees. Categories come first, as numbers."""
    if boosting._preprocessor is None:
        return columns
    chosen = boosting.is_categorical_
    step = boosting._preprocessor.named_transformers_["encoder"]
    words = encoder(step, [column for column, is_word in zip(columns, chosen, strict=True) if is_word])
    return [*words, *(column for column, is_word in zip(columns, chosen, strict=True) if not is_word)]


for name in ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"):
    register_importer(name, read_hist_boosting)
