"""The coefficients of linear scores, the rows that they are multiplied with, and what is known of how sure they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.estimator.by_class import ByClass
from butfor.estimator.inside import is_pipeline
from butfor.estimator.source import Begun
from butfor.importers.fold.column import Column, raw_columns
from butfor.importers.read import Reading
from butfor.importers.registry import through_steps
from butfor.space import short_types


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A linear score `weights @ x` of an estimator.

    - `weights` (terms);
    - `columns`: each term of x, as a function of a raw column;
    - `rows`: the rows x of a table, as the estimator's own steps make them;
    - `covariance` (terms, terms): that of the weights, if the estimator knows it.
    """

    weights: FloatArray
    columns: list[Column]
    rows: Callable[[Any], FloatArray]
    covariance: FloatArray | None = None


ReadCoefficients = Callable[[Any, list[Column]], Coefficients]

_readers: ByClass[ReadCoefficients] = ByClass()


def register_coefficients(estimator_class: type | str, read: ReadCoefficients) -> None:
    """Say what the coefficients of an estimator are. `read(estimator, columns)` gets the columns that reach it."""
    _readers[estimator_class] = read


def coefficients_of(reading: Reading) -> Coefficients:
    """The coefficients of the estimator that was read. One without a single linear score is refused."""
    source = reading.source
    last = source.estimator.steps[-1][1] if is_pipeline(source.estimator) else source.estimator
    read = _readers.of(last)
    if read is None:
        raise UnsupportedProblemError(
            f"the coefficients of {type(last).__name__} are not known.",
            "A linear score with coefficients is needed.",
            "Give a linear or logistic model, or what fit of statsmodels returns.",
        )
    columns = raw_columns(reading.space.features, short_types.short_names(reading.data))
    if is_pipeline(source.estimator):
        columns = through_steps(source.estimator, columns)
    found = read(last, columns)

    def rows(table: Any) -> FloatArray:
        begun = source.begun(table)
        return found.rows(begun.rows if isinstance(begun, Begun) else source.inputs(begun))

    return replace(found, rows=rows)
