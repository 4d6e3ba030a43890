"""Kernels are compiled for each type and layout of their arrays. So there is one, wherever a model comes from."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from butfor.model.nodes import Nodes
from butfor.solvers.swarm.hypercube import hypercube
from butfor.space.space import Space
from butfor.testing.problems import Kinds, random_problem


def test_nodes_that_a_library_keeps_as_columns_of_a_table_are_copied() -> None:
    numbers = np.array([[0, 1, 2], [-1, 1, 1], [-1, 2, 2]])
    feature, left, right = numbers.T
    kept = np.array([[0.5, 1.0], [0.0, 2.0], [0.0, 3.0]])
    lost = np.zeros((3, 2), dtype=np.bool_)[:, 0]
    nodes = Nodes(np.zeros(1, np.intp), feature, kept[:, 0], lost, left, right, kept[:, 1:], single=False)
    arrays = [getattr(nodes, each.name) for each in fields(nodes)]
    assert not kept[:, 0].flags.c_contiguous
    assert all(array.flags.c_contiguous for array in arrays if isinstance(array, np.ndarray))
    assert nodes.threshold.tolist() == [0.5, 0.0, 0.0]
    assert nodes.left.tolist() == [1, 1, 2]


def test_the_units_of_whole_numbers_are_floats() -> None:
    problem = random_problem(0, "trees", Kinds(continuous=False, levels=False, missing=False))
    told = Space([replace(feature, low=0, high=9) for feature in problem.space])
    assert isinstance(told.features[0].range, int), "as it was told"
    assert hypercube(replace(problem, space=told)).width.dtype == np.float64
