"""What a library of boosted trees saves: trees, a start of each sum, and a link. And the estimators that it makes.

They predict what the library would: the same comparisons, and the same sums in the same order and type of number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.estimator.boosters import AbstractNativeClassifier, AbstractNativeRegressor
from butfor.model.nodes import Nodes, leaves_added
from butfor.space import frames


@dataclass(frozen=True, eq=False)
class AbstractDump(ABC):
    """A saved model.

    - `nodes`: the trees;
    - `base` (scores): what each sum starts from, in the type of number in which the library adds;
    - `names`: the columns, if they are known by name; `width`: how many there are;
    - `classes`: what is predicted; empty for a value.
    """

    nodes: Nodes
    base: NDArray[Any]
    names: list[str] | None
    width: int
    classes: tuple[Any, ...]

    library: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse nodes that are no trees. The compiled loops would run out of the arrays, or never end."""
        nodes, inner = self.nodes, self.nodes.feature >= 0
        children = np.concatenate([nodes.left[inner], nodes.right[inner], nodes.roots])
        inside = (children >= 0).all() and (children < len(inner)).all() and nodes.feature.max(initial=0) < self.read
        if not inside or len(np.unique(children)) < len(children):
            raise InputError(f"the nodes in the saved model of {self.library} are no trees.", "It must be unchanged.")
        if not (np.isfinite(nodes.value).all() and np.isfinite(self.base).all()):
            raise InputError(
                f"the saved model of {self.library} holds a leaf that is no number.", "It must be unchanged."
            )

    @property
    def read(self) -> int:
        """How many numbers of a row the trees read."""
        return self.width

    def sums(self, table: Any) -> NDArray[Any]:
        """The raw scores, one row per row of the table."""
        if table.shape[1] != self.width:
            raise InputError(f"the table has {table.shape[1]} columns.", f"The model reads {self.width}.")
        return self.added(self.numbers(table))

    def added(self, X: FloatArray) -> NDArray[Any]:
        """What all trees add up to, one row per row of numbers."""
        return leaves_added(self.nodes, X, self.base)

    @abstractmethod
    def numbers(self, table: Any) -> FloatArray:
        """A table as the trees read it. Categories are numbers, missing values NaN."""

    @abstractmethod
    def answers(self, sums: NDArray[Any]) -> NDArray[Any]:
        """What is predicted: a value, the probability of the second class, or those of all classes."""


class FromDump:
    """Predicts with a saved model."""

    booster: AbstractDump

    def answers(self, X: Any) -> NDArray[Any]:
        """What the library would predict."""
        return self.booster.answers(self.booster.sums(X))


class DumpedClassifier(FromDump, AbstractNativeClassifier):
    """A saved model with an objective over classes."""

    def __init__(self, dump: AbstractDump) -> None:
        super().__init__(dump, dump.names, dump.width, dump.classes)


class DumpedRegressor(FromDump, AbstractNativeRegressor):
    """A saved model with any other objective."""

    def __init__(self, dump: AbstractDump) -> None:
        super().__init__(dump, dump.names, dump.width)


def as_numbers(table: Any, codes: Mapping[int, FloatArray]) -> FloatArray:
    """A table as float64. In place of some columns, their codes are taken."""
    names = frames.names(table)
    if not codes:
        if frames.is_array(table) and table.dtype.kind in "fiub":
            return np.asarray(table, dtype=np.float64)
        plain = frames.plain_numbers(table, names)
        if plain is not None:
            return plain
    return np.column_stack([codes[j] if j in codes else frames.numbers(table, name, j) for j, name in enumerate(names)])


def coded(table: Any, j: int, categories: list[Any], library: str) -> FloatArray:
    """A column's categories as their positions. A missing one is NaN, and one that the model does not know is refused."""
    name = frames.names(table)[j]
    try:
        return frames.looked_up(table, name, j, {category: float(k) for k, category in enumerate(categories)})
    except (KeyError, TypeError) as unknown:
        raise InputError(
            f"column {name!r} holds {unknown.args[0]!r}, which is no category that the saved model of {library} knows.",
            f"It knows {categories[:8]}.",
        ) from None


def softmax(scores: NDArray[Any]) -> NDArray[Any]:
    """Probabilities that are proportional to the exponentials."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
