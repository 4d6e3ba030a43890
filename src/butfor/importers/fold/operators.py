"""The operators that networks of all libraries are made of, written onto a tape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.networks import AbstractNetwork, End
from butfor.importers.fold.column import Column
from butfor.importers.fold.sums import Sums, Tape
from butfor.importers.registry import Imported
from butfor.model.readout import AbstractReadout, Argmax, Sign, Value
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE

ALL_ROWS = object()
"""In place of the number of rows, in a shape."""


@dataclass(frozen=True, eq=False)
class Ended:
    """Scores that went through the function at the end of a network."""

    scores: Sums
    end: End


class Operators:
    """Writes operators down. `single`: whether the network computes in float32."""

    def __init__(self, width: int, *, single: bool) -> None:
        self.tape, self.single = Tape(width), single

    def linear(self, x: Sums, weight: Any, intercept: Any) -> Sums:
        """`intercept + weight @ x`."""
        weight = np.asarray(weight, dtype=np.float64)
        if weight.ndim != 2 or weight.shape[1] != x.width:
            raise InputError(
                f"a layer reads {weight.shape[-1]} numbers, and {x.width} reach it.",
                "They must be as many.",
                "Compare the columns (after before=...) with those that the network was trained on.",
            )
        return self.tape.mixed(x, weight, np.broadcast_to(0.0 if intercept is None else intercept, len(weight)))

    def bent(self, x: Sums, slope: float) -> Sums:
        """ReLU, with a slope below 0."""
        leak = float(self._number(slope))
        if not 0 <= leak <= 1:
            raise UnsupportedModelError(
                f"LeakyReLU has the slope {leak} below 0.", "It must be from 0 to 1.", "Let the swarm search."
            )
        return self.tape.bent(x, leak)

    def normalised(self, x: Sums, mean: Any, variance: Any, eps: float, factor: Any, shift: Any) -> Sums:
        """Batch norm outside of training."""
        scale = np.sqrt(np.asarray(variance, dtype=np.float64) + eps)
        centred = self.tape.scaled(x, 1.0, -np.asarray(mean, dtype=np.float64))
        factor = np.asarray(1.0 if factor is None else factor, dtype=np.float64)
        return self.tape.scaled(centred, factor / scale, np.asarray(0.0 if shift is None else shift, dtype=np.float64))

    def reshaped(self, x: Sums | Ended, shape: tuple[Any, ...]) -> Sums | Ended:
        """The same numbers. Each row stays a row; a single number per row may lose its axis."""
        width = (x.scores if isinstance(x, Ended) else x).width
        flat = len(shape) == 1 and width == 1
        table = len(shape) == 2 and shape[1] in (-1, width) and shape != (-1, -1)
        if not (flat or table) or shape[0] not in (ALL_ROWS, -1):
            raise UnsupportedModelError(
                f"the network reshapes its numbers to {tuple('rows' if one is ALL_ROWS else one for one in shape)}.",
                "Each row must stay a row.",
                "Let the swarm search: it needs only predictions.",
            )
        return x

    def plus(self, a: Any, b: Any) -> Sums:
        """The sum of two values of the network, or of one and constants."""
        if isinstance(a, Sums) and isinstance(b, Sums):
            return self.tape.added(a, b)
        x, constant = (a, b) if isinstance(a, Sums) else (b, a)
        return self.tape.scaled(*self._spread(x, self._number(1.0), self._number(constant)))

    def minus(self, a: Any, b: Any) -> Sums:
        """A difference."""
        return self.plus(a, self.times(b, -1.0) if isinstance(b, Sums) else -np.asarray(b, dtype=np.float64))

    def times(self, a: Any, b: Any) -> Sums:
        """A product of which one factor is constant."""
        if isinstance(a, Sums) and isinstance(b, Sums):
            raise UnsupportedModelError(
                "two values of the network are multiplied.", "It must be piecewise linear.", "Let the swarm search."
            )
        x, constant = (a, b) if isinstance(a, Sums) else (b, a)
        return self.tape.scaled(*self._spread(x, self._number(constant), self._number(0.0)))

    def divided(self, a: Any, b: Any) -> Sums:
        """A quotient of which the divisor is constant."""
        if isinstance(b, Sums):
            raise UnsupportedModelError(
                "the network divides by one of its values.", "It must be piecewise linear.", "Let the swarm search."
            )
        return self.tape.scaled(*self._spread(a, 1.0 / self._number(b), self._number(0.0)))

    def _spread(self, x: Sums, factor: NDArray[Any], shift: NDArray[Any]) -> tuple[Sums, NDArray[Any], NDArray[Any]]:
        """The arguments of a scaling, as wide as the widest of them. A single number may meet several."""
        wide = max(x.width, factor.size, shift.size)
        if x.width != wide:
            x = self.tape.stacked([x] * wide)
        return x, np.broadcast_to(factor.ravel(), wide), np.broadcast_to(shift.ravel(), wide)

    def _number(self, value: Any) -> NDArray[Any]:
        """Constants in the network's type, as it computes with them."""
        return np.asarray(value, dtype=np.float32 if self.single else np.float64).astype(np.float64)


def imported(found: Sums | Ended, operators: Operators, columns: list[Column], classes: tuple[Any, ...]) -> Imported:
    """The model and the readout for what a network returns."""
    scores, end = (found.scores, found.end) if isinstance(found, Ended) else (found, End.SCORES)
    readout: AbstractReadout = Value()
    if classes and scores.width == 1:
        readout = Sign(classes, "logistic")
    elif classes and len(classes) == 2:
        scores = operators.tape.mixed(scores, np.array([[-1.0, 1.0]]), np.zeros(1))
        readout = Sign(classes, "logistic")
    elif classes:
        readout = Argmax(classes, "softmax")
    elif end is not End.SCORES:
        raise UnsupportedModelError(f"a regressor ends in {end}.", "It must end in sums.", "Let the swarm search.")
    return operators.tape.model(scores, columns, UNIT_SINGLE if operators.single else UNIT_DOUBLE), readout


def unknown(operator: str, known: Any) -> UnsupportedModelError:
    """The refusal of an operator, by name."""
    return UnsupportedModelError(
        f"the operator {operator} of the network cannot be read.",
        f"The known operators are {', '.join(sorted(known))}.",
        "Train it with ReLU in its place, or let the swarm search: it needs only predictions.",
    )


def network_width(network: AbstractNetwork, columns: list[Column]) -> int:
    """How many columns reach a network. It must read as many."""
    width = getattr(network, "n_features_in_", len(columns))
    if width != len(columns):
        raise InputError(
            f"the network reads {width} numbers, and {len(columns)} reach it.",
            "They must be as many.",
            "Compare the columns (after before=...) with those that it was trained on.",
        )
    return len(columns)
