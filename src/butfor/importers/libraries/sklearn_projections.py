"""scikit-learn's steps that add columns up with weights: decompositions, random projections, discriminants.

Each is computed as the step has it, so that its rounding is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.importers.fold.column import Column
from butfor.importers.fold.projected import projected
from butfor.importers.libraries.sklearn_steps import refuse_half, working_type
from butfor.importers.registry import register_step


def sums(step: Any, columns: list[Column], weight: NDArray[Any], centre: FloatArray | float = 0.0) -> list[Column]:
    """`weight @ (columns - centre)`, in the type that both have."""
    refuse_half(step, columns)
    single = np.result_type(working_type(columns), weight.dtype) == np.float32
    constant = -weight @ np.broadcast_to(np.asarray(centre, dtype=np.float64), weight.shape[1])
    return projected(columns, weight, constant, single=single)


def principal_components(step: Any, columns: list[Column]) -> list[Column]:
    """PCA: the components of the distance to the mean, scaled if they are whitened."""
    weight = step.components_
    if step.whiten:
        scale = np.sqrt(step.explained_variance_)
        weight = weight / np.maximum(scale, np.finfo(scale.dtype).eps)[:, None]
    return sums(step, columns, weight, step.mean_)


def components(step: Any, columns: list[Column]) -> list[Column]:
    """`components @ columns`: TruncatedSVD and learnt metrics."""
    return sums(step, columns, step.components_)


def independent_components(step: Any, columns: list[Column]) -> list[Column]:
    """FastICA: the components of the distance to the mean, or of the columns if it does not whiten."""
    return sums(step, columns, step.components_, step.mean_ if step.whiten else 0.0)


def factors(step: Any, columns: list[Column]) -> list[Column]:
    """FactorAnalysis: the expected factors are two products with matrices, one after the other."""
    scaled = step.components_ / step.noise_variance_
    spread = np.linalg.inv(np.eye(len(step.components_)) + scaled @ step.components_.T)
    return sums(step, sums(step, columns, scaled, step.mean_), spread.T)


def random_sums(step: Any, columns: list[Column]) -> list[Column]:
    """Random projections. Their weights may be sparse, and so may be what they make of a sparse table."""
    weight = step.components_
    weight = weight.toarray() if hasattr(weight, "toarray") else weight
    sparse = any(column.sparse is not None for column in columns) and not getattr(step, "dense_output", True)
    return [column.put(sparse=sparse) for column in sums(step, columns, np.asarray(weight))]


def discriminants(step: Any, columns: list[Column]) -> list[Column]:
    """LinearDiscriminantAnalysis as a step: the directions that part the classes."""
    weight = step.scalings_.T[: step._max_components]
    return sums(step, columns, weight, step.xbar_ if step.solver == "svd" else 0.0)


for name in ("PCA", "IncrementalPCA"):
    register_step(name, principal_components)
for name in ("TruncatedSVD", "NeighborhoodComponentsAnalysis"):
    register_step(name, components)
for name in ("GaussianRandomProjection", "SparseRandomProjection"):
    register_step(name, random_sums)
register_step("FastICA", independent_components)
register_step("FactorAnalysis", factors)
register_step("LinearDiscriminantAnalysis", discriminants)
