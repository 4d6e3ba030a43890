"""A piecewise linear network: linear scores, bent and mixed layer by layer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.cells import Cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.scores import UNIT_DOUBLE


@dataclass(frozen=True, eq=False)
class Layer:
    """Units that are bent and then mixed: `intercept + weight @ max(z, leak z)`.

    - `leak` (units): the slope of each unit below 0, from 0 (ReLU) to 1 (a unit that passes its value on);
    - `weight` (units of the next layer, units), `intercept` (units of the next layer).
    """

    leak: FloatArray
    weight: FloatArray
    intercept: FloatArray

    def bent(self, z: FloatArray) -> FloatArray:
        """What the units pass on, given what reaches them."""
        return np.asarray(np.maximum(z, self.leak * z))


@dataclass(frozen=True, eq=False)
class Computation:
    """How the estimator computes the scores of a network, one sum after the other. Only rounding depends on it.

    - `columns`: the numbers that reach its first sums, as linear scores of the row;
    - `layers`: all of its sums. A unit with leak 1 is a sum that it does not bend;
    - `unit`: the unit roundoff of these sums.
    """

    columns: Linear
    layers: tuple[Layer, ...]
    unit: float


@dataclass(frozen=True, eq=False)
class Network:
    """Linear scores of the row, one per unit of the first hidden layer, sent through `layers`. The last gives the scores.

    A connection that skips layers is a row of units with leak 1. Sums that are not bent are made one: `computed` tells
    how the estimator adds them up (None: as it is written here).
    """

    first: Linear
    layers: tuple[Layer, ...]
    computed: Computation | None = None

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return len(self.layers[-1].intercept)

    @property
    def unit(self) -> float:
        """The unit roundoff in which the estimator computes the scores, whatever type it returns them in."""
        return UNIT_DOUBLE if self.computed is None else self.computed.unit

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells that the first layer reads."""
        return self.first.cells


def evaluate_network(model: Network, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    z = evaluate_linear(model.first, X)
    for layer in model.layers:
        z = layer.intercept + layer.bent(z) @ layer.weight.T
    return z


def units_of_sums(model: Network, A: FloatArray) -> FloatArray:
    """For each sum `A s` of the scores a power of two near the heaviest weight in it, as scores have any size.

    In this unit, a tolerance means the same for a network whose scores are tiny. Dividing by it rounds nothing.
    """
    heaviest = np.abs(A @ model.layers[-1].weight).max(axis=1, initial=0.0)
    return np.asarray(np.exp2(np.round(np.log2(np.where(heaviest > 0, heaviest, 1.0)))))


def shifted_network(model: Network, shift: FloatArray) -> Network:
    """The network that gives c the scores of `c + shift`."""
    computed = model.computed
    if computed is not None:
        columns = replace(computed.columns, centre=computed.columns.centre - shift)
        computed = replace(computed, columns=columns)
    return replace(model, first=replace(model.first, centre=model.first.centre - shift), computed=computed)
