"""LightGBM: boosters and its scikit-learn interface, read from the saved text.

What is saved is read in `estimator/dumps/`, from a live booster as from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import (
    AbstractNative,
    AbstractNativeClassifier,
    AbstractNativeRegressor,
    known_classes,
    register_native,
)
from butfor.estimator.dumps.dump import FromDump
from butfor.estimator.dumps.lightgbm_dump import (
    CLASS_OBJECTIVES_OF_LIGHTGBM,
    LightGBMDump,
    LightGBMFile,
    lightgbm_dump,
    without_tiny,
)
from butfor.importers.fold.column import Column
from butfor.importers.fold.leaf_lines import linear_leaves_over
from butfor.importers.fold.nodes import trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.linked import value_behind
from butfor.model.readout import Argmax, Sign
from butfor.model.trees import Trees, exact


def read_estimator(model: Any, columns: list[Column]) -> Imported:
    """LGBMClassifier and LGBMRegressor, up to the best iteration if training stopped early."""
    return read_booster(model.booster_, columns, known_classes(model))


def read_native(native: AbstractNative, columns: list[Column]) -> Imported:
    """A booster up to its best iteration. Its own `predict` uses the same trees."""
    return read_booster(native.booster, columns, known_classes(native))


def read_booster(booster: Any, columns: list[Column], classes: tuple[Any, ...]) -> Imported:
    """The trees of a booster, up to its best iteration."""
    return read_dump(lightgbm_dump(booster.model_to_string(), classes), columns)


def read_file(estimator: FromDump, columns: list[Column]) -> Imported:
    """What a file holds."""
    dump = estimator.booster
    assert isinstance(dump, LightGBMDump)
    return read_dump(dump, columns)


def read_dump(dump: LightGBMDump, columns: list[Column]) -> Imported:
    """The trees of a saved model."""
    scale = dump.sigmoid / dump.averaged
    nodes, lines = replace(dump.nodes, value=scale * dump.nodes.value), dump.lines
    columns = _coded(columns, dump)
    asked = [column if _words(column) else column.map(without_tiny) for column in columns]
    if lines is None:
        model: Trees | LinearLeaves = trees_over(asked, nodes, dump.base, folded=not exact(scale))
    else:
        lines = replace(lines, constant=scale * lines.constant, weight=scale * lines.weight)
        model = linear_leaves_over(columns, asked, nodes, lines, dump.base)
    if not dump.classes:
        return model, value_behind(dump.link)
    if len(dump.base) == 1:
        return model, Sign(dump.classes, "logistic")
    return model, Argmax(dump.classes, "softmax" if dump.objective == "multiclass" else "ovr")


def _coded(columns: list[Column], dump: LightGBMDump) -> list[Column]:
    """The columns, with categories replaced by the numbers that LightGBM gives them. Any other level is missing."""
    out = list(columns)
    for i, known in zip(_places(columns, dump), dump.categories, strict=True):
        out[i] = columns[i].coded(known)
    return out


def _places(columns: list[Column], dump: LightGBMDump) -> list[int]:
    """The columns of which the saved text lists the categories: in the order of the data frame, but without their names.

    Each column of text is one of them, and each of them has levels. So it is settled if there are as many as lists. Else the
    levels tell which columns of numbers are meant.
    """
    if not dump.categories:
        return []
    words = [i for i, column in enumerate(columns) if _words(column)]
    every = [i for i, column in enumerate(columns) if column.table is not None]
    looser = (_fitting(columns, dump, RULES_OF_LEVELS[:count]) for count in range(1, len(RULES_OF_LEVELS) + 1))
    for found in (words, every, *looser):
        if len(found) == len(dump.categories) and set(words) <= set(found):
            return found
    raise UnsupportedModelError(
        f"LightGBM was trained on {len(dump.categories)} category columns, the first with the values "
        f"{dump.categories[0][:8]}.",
        "The data must tell which columns these are: their values are not enough.",
        "Give the data that the model was trained on.",
    )


Levels = list[Any]

RULES_OF_LEVELS: tuple[Callable[[Levels, Levels, str], bool], ...] = (
    lambda levels, known, info: levels == known,
    lambda levels, known, info: set(levels) == set(known),
    lambda levels, known, info: set(levels) > set(known),
    lambda levels, known, info: set(levels) < set(known) and not info.startswith("["),
)
"""When a column of numbers may be one of categories, the strictest first. An info that begins with "[" is the range of a number,
or of categories in an order."""


def _fitting(
    columns: list[Column], dump: LightGBMDump, rules: Sequence[Callable[[Levels, Levels, str], bool]]
) -> list[int]:
    """The columns of text, and those of numbers that fit the next list by one of the rules; cut short where a text has none."""
    found: list[int] = []
    for i, (column, info) in enumerate(zip(columns, dump.infos, strict=True)):
        if column.table is None or len(found) == len(dump.categories):
            continue
        known, levels = dump.categories[len(found)], column.table[:-1].tolist()
        named = any(isinstance(one, str) for one in known)
        if _words(column) and not named:
            return found
        if _words(column) or (_are_positions(info, len(known)) and any(rule(levels, known, info) for rule in rules)):
            found.append(i)
    return found


def _are_positions(info: str, count: int) -> bool:
    """Whether what is known of a column fits the positions of so many categories; -1 is a missing one."""
    return info == "none" or all(-1 <= float(number) < count for number in info.strip("[]").split(":"))


def _words(column: Column) -> bool:
    return column.table is not None and column.table.dtype == object


class _LightGBM:
    """Calls a booster of LightGBM."""

    booster: Any

    def answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.booster.predict(X))


class LightGBMBoosterClassifier(_LightGBM, AbstractNativeClassifier):
    """A LightGBM booster with an objective over classes."""


class LightGBMBoosterRegressor(_LightGBM, AbstractNativeRegressor):
    """A LightGBM booster with any other objective."""


def adapt(booster: Any) -> AbstractNative:
    """A booster as an estimator."""
    model = booster.dump_model(num_iteration=1)
    names, width = booster.feature_name(), booster.num_feature()
    known = None if names == [f"Column_{i}" for i in range(width)] else names
    if model.get("objective", "custom").split()[0] in CLASS_OBJECTIVES_OF_LIGHTGBM:
        return LightGBMBoosterClassifier(booster, known, width, range(max(model["num_class"], 2)))
    return LightGBMBoosterRegressor(booster, known, width)


register_importer("lightgbm.LGBMClassifier", read_estimator)
register_importer("lightgbm.LGBMRegressor", read_estimator)
register_importer(_LightGBM, read_native)
register_importer(LightGBMFile, read_file)
register_native("lightgbm.Booster", adapt)
