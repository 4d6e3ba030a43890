"""Several networks as one that has all of their scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from butfor.model.linear import Linear
from butfor.model.network import Computation, Layer, Network
from butfor.model.side_by_side import lines_side_by_side


def networks_side_by_side(models: Sequence[Network]) -> Network:
    """Networks of the same depth as one. No unit is connected to one of another network."""
    how = [_computation(model) for model in models]
    computed = Computation(
        lines_side_by_side([one.columns for one in how]),
        layers_side_by_side([one.layers for one in how]),
        max(one.unit for one in how),
    )
    first = lines_side_by_side([model.first for model in models])
    return Network(first, layers_side_by_side([model.layers for model in models]), computed)


def _computation(model: Network) -> Computation:
    return model.computed or Computation(model.first, model.layers, model.unit)


def layers_side_by_side(layers: Sequence[Sequence[Layer]]) -> tuple[Layer, ...]:
    """The layers of several networks of the same depth as those of one."""
    return tuple(
        Layer(
            np.concatenate([layer.leak for layer in at]),
            block_diag(*(layer.weight for layer in at)),
            np.concatenate([layer.intercept for layer in at]),
        )
        for at in zip(*layers, strict=True)
    )


def alike(models: Sequence[Network]) -> bool:
    """Whether networks have the same depth, and their first layers the same cells."""
    how = [_computation(model) for model in models]
    depths = {(len(model.layers), len(one.layers)) for model, one in zip(models, how, strict=True)}
    same = _over_same_cells([model.first for model in models]) and _over_same_cells([one.columns for one in how])
    return len(depths) == 1 and same


def _same_cells(a: Linear, b: Linear) -> bool:
    """Whether two linear models are over the same cells."""
    if len(a.cells) != len(b.cells):
        return False
    return all(np.array_equal(x.edges, y.edges) and x.levels == y.levels for x, y in zip(a.cells, b.cells, strict=True))


def _over_same_cells(models: Sequence[Linear]) -> bool:
    return all(_same_cells(models[0], model) for model in models)
