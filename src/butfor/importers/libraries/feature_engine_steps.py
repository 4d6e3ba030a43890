"""feature-engine's steps for numbers and gaps: each column by itself."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import boxcox
from scipy.stats import yeojohnson

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.bent import bent
from butfor.importers.fold.calculated import of_formulas
from butfor.importers.fold.column import Column, Values, in_numbers, last_where
from butfor.importers.libraries.encoder_steps import chosen
from butfor.importers.libraries.sklearn_steps import clipped, fill_missing, missing, missing_flag
from butfor.importers.registry import read_step, register_step
from butfor.model.formula import Formula

Function = Callable[[Values], Values]

LOGARITHMS: dict[str, Function] = {"e": np.log, "10": np.log10}


def each(step: Any, columns: list[Column], change: Callable[[Any, Column], Column]) -> list[Column]:
    """The columns with `change(name, column)` for each that the step works on."""
    own = chosen(step, columns)
    return [
        change(name, column) if i in own else column
        for i, (name, column) in enumerate(zip(step.feature_names_in_, columns, strict=True))
    ]


def imputer(step: Any, columns: list[Column]) -> list[Column]:
    """A missing value of a chosen column becomes a number or a word."""
    return each(
        step,
        columns,
        lambda name, column: column.map(
            partial(fill_missing, step.imputer_dict_[name], missing), short=column.short, boolean=column.boolean
        ),
    )


def missing_indicator(step: Any, columns: list[Column]) -> list[Column]:
    """Columns that say which values were missing, behind the others."""
    names = list(step.feature_names_in_)
    return [*columns, *(missing_flag(columns[names.index(name)]) for name in step.variables_)]


def logarithm(step: Any, name: Any) -> Function:
    """The logarithm, which may be shifted first."""
    shift = getattr(step, "C_", 0.0)
    shift = shift[name] if isinstance(shift, dict) else shift
    return lambda x: LOGARITHMS[step.base](x.astype(np.float64) + shift)


def power(step: Any, _: Any) -> Function:
    """x to a power that rises: odd, or below 1, where no number below zero is taken."""
    if not (0 < step.exp < 1 or (step.exp > 0 and step.exp % 2 == 1)):
        raise UnsupportedModelError(
            f"PowerTransformer(exp={step.exp:g}) cannot be folded into raw columns.",
            "The power must be odd, or between 0 and 1, so that it rises.",
            "Apply it to the data beforehand. Until then, the swarm searches.",
        )
    return lambda x: np.power(x.astype(np.float64), step.exp)


BENDS: dict[str, Callable[[Any, Any], Function]] = {
    "LogTransformer": logarithm,
    "LogCpTransformer": logarithm,
    "PowerTransformer": power,
    "ArcSinhTransformer": lambda step, _: lambda x: np.arcsinh((x.astype(np.float64) - step.loc) / step.scale),
    "ArcsinTransformer": lambda step, _: lambda x: np.arcsin(np.sqrt(x)),
    "BoxCoxTransformer": lambda step, name: lambda x: np.where(x > 0, boxcox(x, step.lambda_dict_[name]), -np.inf),
    "YeoJohnsonTransformer": lambda step, name: lambda x: np.asarray(yeojohnson(x, lmbda=step.lambda_dict_[name])),
}
"""The transformers that bend a column and never turn it around, and what they compute."""


CURVES: dict[str, Callable[[Any], tuple[float, ...]]] = {
    "PowerTransformer": lambda step: (0.0,),
    "ArcSinhTransformer": lambda step: (float(step.loc),),
    "ArcsinTransformer": lambda step: (0.5,),
}
"""Where those that are convex on one side and concave on the other change. The others are one of both everywhere."""


@dataclass(frozen=True, eq=False)
class Bending:
    """What a transformer makes of one column."""

    step: Any
    name: Any

    def __call__(self, x: Values) -> Values:
        return np.asarray(BENDS[type(self.step).__name__](self.step, self.name)(x), dtype=np.float64)


def bend(step: Any, columns: list[Column]) -> list[Column]:
    """Each chosen column after a rising function."""
    kind = type(step).__name__
    at = CURVES[kind](step) if kind in CURVES else ()

    def change(name: Any, column: Column) -> Column:
        BENDS[kind](step, name)  # it may refuse
        return bent(column, Bending(step, name), kind, at, single=False)

    return each(step, columns, change)


def capped(step: Any, columns: list[Column]) -> list[Column]:
    """Numbers beyond an end become the end."""
    if getattr(step, "add_indicators", False):
        raise UnsupportedModelError(
            "Winsorizer(add_indicators=True) cannot be folded into raw columns.",
            "It makes further columns.",
            "Leave add_indicators at its default. Until then, the swarm searches.",
        )

    def change(name: Any, column: Column) -> Column:
        low, high = step.left_tail_caps_.get(name, -np.inf), step.right_tail_caps_.get(name, np.inf)
        return clipped(column, (low, high), type(step).__name__)

    return each(step, columns, change)


def mean_normalisation(step: Any, columns: list[Column]) -> list[Column]:
    """(x - mean) / range, in float64."""

    def change(name: Any, column: Column) -> Column:
        mean, width = step.mean_[name], step.range_[name]
        scaled = partial(_scaled, mean, width)
        return column.map(scaled, slope=column.slope / width, single=False)

    return each(step, columns, change)


def _scaled(mean: float, width: float, x: Values) -> Values:
    return (in_numbers(x).astype(np.float64) - mean) / width


def discretiser(step: Any, columns: list[Column]) -> list[Column]:
    """The number of a value's interval. Intervals hold their upper ends."""

    def change(name: Any, column: Column) -> Column:
        ends = np.asarray(step.binner_dict_[name], dtype=np.float64)
        if getattr(step, "return_boundaries", False) or getattr(step, "bin_output", "bin_number") == "boundaries":
            raise _unbinned(step, "It writes intervals as text.", "Let it return numbers.")
        if np.isfinite(ends[[0, -1]]).any():
            raise _unbinned(step, "Its intervals do not hold all numbers.", "Begin with -inf and end with inf.")
        return _binned(column, ends[1:-1], lambda x: np.searchsorted(ends[1:-1], x).astype(np.float64))

    return each(step, columns, change)


def _unbinned(step: Any, why: str, cure: str) -> UnsupportedModelError:
    name = type(step).__name__
    return UnsupportedModelError(
        f"{name} cannot be folded into raw columns.", why, f"{cure} Until then, the swarm searches."
    )


def _binned(column: Column, ends: Values, function: Function) -> Column:
    """A column after a function that changes only right after some values of the column."""
    edges = column.edges
    if column.table is None and edges is None:
        edges = last_where(column, lambda x: x <= ends, len(ends))
    return column.map(lambda x: _told(function, in_numbers(x)), edges=edges, slope=0.0, single=False)


def _told(function: Function, x: Values) -> Values:
    """The function of numbers. A missing one stays missing."""
    gone = np.isnan(x)
    return np.where(gone, np.nan, function(np.where(gone, 0.0, x)))


def tree_discretiser(step: Any, columns: list[Column]) -> list[Column]:
    """What a small tree of one column predicts."""
    if step.bin_output != "prediction":
        return discretiser(step, columns)

    def change(name: Any, column: Column) -> Column:
        search = step.binner_dict_[name]
        tree = search.best_estimator_.tree_
        ends = np.unique(tree.threshold[tree.feature == 0])

        def predicted(x: Values) -> Values:
            said = search.best_estimator_.predict if step.regression else search.best_estimator_.predict_proba
            out = said(_named(name, x))
            out = np.asarray(out if step.regression else out[:, 1])
            return out if step.precision is None else np.round(out, step.precision)

        return _binned(column.map(lambda x: in_numbers(x).astype(np.float32)), ends, predicted)

    return each(step, columns, change)


def _named(name: Any, x: Values) -> Any:
    import pandas as pd

    return pd.DataFrame({name: x})


def dropped(step: Any, columns: list[Column]) -> list[Column]:
    """The columns that the step does not drop."""
    gone = set(step.features_to_drop_)
    return [column for name, column in zip(step.feature_names_in_, columns, strict=True) if name not in gone]


def wrapper(step: Any, columns: list[Column]) -> list[Column]:
    """A transformer of scikit-learn on some columns."""
    if hasattr(step, "features_to_drop_"):
        return dropped(step, columns)
    names = list(step.feature_names_in_)
    own = [names.index(name) for name in step.variables_]
    new = read_step(step.transformer_, [columns[i] for i in own])
    if type(step.transformer_).__name__ == "OneHotEncoder":
        return [*(column for i, column in enumerate(columns) if i not in own), *new]
    if len(new) != len(own):
        raise UnsupportedModelError(
            f"SklearnTransformerWrapper of {type(step.transformer_).__name__} cannot be folded into raw columns.",
            "It must make as many columns as it gets.",
            "Put the transformer into a ColumnTransformer, or let the swarm search.",
        )
    after = dict(zip(own, new, strict=True))
    return [after.get(i, column) for i, column in enumerate(columns)]


def _numbered(step: Any) -> dict[Any, Formula]:
    """The columns of a step by name, as formulas of themselves."""
    return {name: Formula.column(i) for i, name in enumerate(step.feature_names_in_)}


def _with_created(step: Any, columns: list[Column], made: list[Formula], used: set[Any]) -> list[Column]:
    """The columns and those that the step makes. It may drop those from which they are made."""
    strict = step.missing_values == "raise"
    kept = [
        column
        for name, column in zip(step.feature_names_in_, columns, strict=True)
        if not (step.drop_original and name in used)
    ]
    return [
        *kept,
        *(replace(column, refuses_missing=column.refuses_missing or strict) for column in of_formulas(columns, made)),
    ]


def relative(step: Any, columns: list[Column]) -> list[Column]:
    """Sums, differences, products and quotients of columns and their references."""
    known = {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "truediv": operator.truediv,
    }
    unknown = [name for name in step.func if name not in known]
    if unknown or step.fill_value is not None:
        raise UnsupportedModelError(
            f"RelativeFeatures(func={step.func}) cannot be folded into raw columns.",
            f"The known functions are {', '.join(known)}, without fill_value.",
            "Let the swarm search.",
        )
    at = _numbered(step)
    made = [
        known[name](at[variable], at[reference])
        for name in step.func
        for reference in step.reference
        for variable in step.variables
    ]
    return _with_created(step, columns, made, {*step.variables, *step.reference})


def sums_and_means(step: Any, columns: list[Column]) -> list[Column]:
    """Sums, means and products of columns."""
    functions = step.func if isinstance(step.func, list) else [step.func]
    known = {"sum": operator.add, "mean": operator.add, "prod": operator.mul}
    if any(not isinstance(name, str) or name not in known for name in functions):
        raise UnsupportedModelError(
            f"MathFeatures(func={step.func!r}) cannot be folded into raw columns.",
            f"The known functions are {', '.join(known)}.",
            "Let the swarm search.",
        )
    if step.missing_values != "raise":
        raise UnsupportedModelError(
            f"MathFeatures(missing_values={step.missing_values!r}) cannot be folded into raw columns.",
            "It leaves missing values out of its sums.",
            "Let it raise an error, or let the swarm search.",
        )
    at, variables = _numbered(step), getattr(step, "variables_", step.variables)
    made = []
    for name in functions:
        found = functools.reduce(known[name], [at[variable] for variable in variables])
        made.append(found / len(variables) if name == "mean" else found)
    return _with_created(step, columns, made, set(variables))


SELECTIONS = (
    "DropFeatures", "DropConstantFeatures", "DropDuplicateFeatures", "DropCorrelatedFeatures",
    "SmartCorrelatedSelection", "DropHighPSIFeatures", "SelectByShuffling", "SelectBySingleFeaturePerformance",
    "SelectByTargetMeanPerformance", "SelectByInformationValue", "RecursiveFeatureElimination",
    "RecursiveFeatureAddition", "ProbeFeatureSelection", "MRMR",
)  # fmt: skip

BY_READER = {
    imputer: ("MeanMedianImputer", "CategoricalImputer", "ArbitraryNumberImputer", "EndTailImputer"),
    missing_indicator: ("AddMissingIndicator",),
    bend: tuple(BENDS),
    capped: ("Winsorizer", "ArbitraryOutlierCapper"),
    mean_normalisation: ("MeanNormalizationScaler",),
    discretiser: (
        "EqualWidthDiscretiser", "EqualFrequencyDiscretiser", "GeometricWidthDiscretiser", "ArbitraryDiscretiser",
    ),
    tree_discretiser: ("DecisionTreeDiscretiser",),
    dropped: SELECTIONS,
    relative: ("RelativeFeatures",),
    sums_and_means: ("MathFeatures",),
    wrapper: ("SklearnTransformerWrapper",),
}  # fmt: skip

for read, names in BY_READER.items():
    for name in names:
        register_step(f"feature_engine.{name}", read)
