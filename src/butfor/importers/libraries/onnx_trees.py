"""Tree ensembles of ONNX-ML: the nodes as onnxruntime walks through them.

It compares in the type of the input (in float32, if that is of whole numbers), and adds up in float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import trees_over
from butfor.model.nodes import Nodes
from butfor.model.trees import Trees

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
"""What a node asks, in the order in which `TreeEnsemble` counts it. A leaf asks nothing."""

POST_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")

MOST_CATEGORIES = 100_000
"""No category has a larger number. More would not be listed."""


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree ensemble as its attributes tell it, one entry per node.

    - `roots` (trees), `yes`, `no` (nodes): numbers of nodes: the root of each tree, and the children of each node;
    - `feature`, `threshold`, `mode`, `tracks` (nodes): the column that is asked, what about it, and whether a missing
      value goes where yes goes. The mode of a leaf is empty;
    - `value` (nodes, scores): what a leaf adds to each score, and `has` (nodes, scores): whether it adds anything;
    - `members`: for each node that asks for members of a set, the set.
    """

    roots: IntArray
    feature: IntArray
    threshold: FloatArray
    mode: Sequence[str]
    yes: IntArray
    no: IntArray
    tracks: BoolArray
    value: FloatArray
    has: BoolArray
    members: Mapping[int, FloatArray]

    @property
    def leaf(self) -> BoolArray:
        """Which nodes are leaves."""
        return np.array([mode == "" for mode in self.mode], dtype=np.bool_)


def grown(said: Mapping[str, Any], of: str, scores: int) -> Grown:
    """The nodes of a `TreeEnsembleClassifier` or `TreeEnsembleRegressor`. `of` is "class" or "target"."""
    trees, own = (np.asarray(said[f"nodes_{name}"], dtype=np.intp) for name in ("treeids", "nodeids"))
    number = {key: i for i, key in enumerate(zip(trees.tolist(), own.tolist(), strict=True))}
    mode = ["" if one == b"LEAF" else one.decode() for one in said["nodes_modes"]]

    def children(name: str) -> IntArray:
        listed = zip(trees.tolist(), said[f"nodes_{name}nodeids"], mode, strict=True)
        return np.array([-1 if kind == "" else number[tree, child] for tree, child, kind in listed], dtype=np.intp)

    count = len(own)
    value, has = np.zeros((count, scores)), np.zeros((count, scores), dtype=np.bool_)
    places = zip(
        said[f"{of}_treeids"], said[f"{of}_nodeids"], said[f"{of}_ids"], floats_of(said, f"{of}_weights"), strict=True
    )
    for tree, node, score, weight in places:
        value[number[tree, node], score] += weight
        has[number[tree, node], score] = True
    starts = np.append(True, trees[1:] != trees[:-1])
    tracks = np.zeros(count, dtype=np.bool_)
    told = np.asarray(said.get("nodes_missing_value_tracks_true", []), dtype=np.bool_)
    tracks[: len(told)] = told
    return Grown(
        roots=np.flatnonzero(starts),
        feature=np.asarray(said["nodes_featureids"], dtype=np.intp),
        threshold=floats_of(said, "nodes_values"),
        mode=mode,
        yes=children("true"),
        no=children("false"),
        tracks=tracks,
        value=value,
        has=has,
        members={},
    )


def grown_newer(said: Mapping[str, Any]) -> Grown:
    """The nodes of a `TreeEnsemble`: its leaves have a list of their own, and stand behind the other nodes here."""
    from onnx import numpy_helper

    def tensor(name: str) -> Any:
        return numpy_helper.to_array(said[name])

    mode = [MODES[k] for k in tensor("nodes_modes").tolist()]
    inner, target = len(mode), np.asarray(said["leaf_targetids"], dtype=np.intp)
    count, scores = inner + len(target), int(said.get("n_targets", 1))
    value, has = np.zeros((count, scores)), np.zeros((count, scores), dtype=np.bool_)
    value[np.arange(inner, count), target], has[np.arange(inner, count), target] = tensor("leaf_weights"), True

    def children(name: str) -> IntArray:
        at, is_leaf = (np.asarray(said[f"nodes_{name}{what}"], dtype=np.intp) for what in ("nodeids", "leafs"))
        return np.append(at + inner * is_leaf, np.full(len(target), -1))

    def padded(values: Any) -> Any:
        return np.append(values, np.zeros(len(target), dtype=np.asarray(values).dtype))

    yes, no = children("true"), children("false")
    for i in np.flatnonzero(yes[:inner] == no[:inner]):  # so a tree is written that is nothing but a leaf
        mode[i], value[i], has[i] = "", value[yes[i]], has[yes[i]]
    members: dict[int, FloatArray] = {}
    if "membership_values" in said:
        listed = tensor("membership_values").astype(np.float64)
        sets = [part[~np.isnan(part)] for part in np.split(listed, np.flatnonzero(np.isnan(listed)))]
        members = dict(zip([i for i, one in enumerate(mode) if one == "BRANCH_MEMBER"], sets, strict=False))
    tracks = np.asarray(said.get("nodes_missing_value_tracks_true") or np.zeros(inner), dtype=np.bool_)
    return Grown(
        roots=np.asarray(said["tree_roots"], dtype=np.intp),
        feature=padded(np.asarray(said["nodes_featureids"], dtype=np.intp)),
        threshold=padded(tensor("nodes_splits").astype(np.float64)),
        mode=[*mode, *[""] * len(target)],
        yes=yes,
        no=no,
        tracks=padded(tracks),
        value=value,
        has=has,
        members=members,
    )


def floats_of(said: Mapping[str, Any], name: str) -> FloatArray:
    """Numbers of an attribute, or of the tensor that takes its place for float64."""
    from onnx import numpy_helper

    tensor = said.get(f"{name}_as_tensor")
    found = said.get(name, []) if tensor is None else numpy_helper.to_array(tensor)
    return np.asarray(found, dtype=np.float64)


def trees_of(columns: list[Column], trees: Grown, base: FloatArray, *, single: bool, folded: bool = False) -> Trees:
    """The trees over raw features. `single`: whether onnxruntime compares in float32."""
    order, first = _in_order(trees)
    place = np.full(len(trees.mode), -1, dtype=np.intp)
    place[order] = np.arange(len(order))
    leaf = trees.leaf
    mode = np.asarray(trees.mode, dtype=object)
    turned = np.isin(mode, ["BRANCH_GTE", "BRANCH_GT", "BRANCH_NEQ"])  # its no is the question that goes left
    below = np.isin(mode, ["BRANCH_LT", "BRANCH_GTE"])
    down = np.nextafter(trees.threshold.astype(np.float32), np.float32(-np.inf)) if single else None
    strict = np.nextafter(trees.threshold, -np.inf) if down is None else down.astype(np.float64)
    group, groups = _groups(columns, trees)
    lost = np.where(turned, ~trees.tracks, trees.tracks) & (mode != "BRANCH_NEQ")
    nodes = Nodes(
        roots=first,
        feature=np.where(leaf, -1, trees.feature),
        threshold=np.where(leaf | (group >= 0), 0.0, np.where(below, strict, trees.threshold)),
        missing_left=lost,
        left=place[np.where(turned, trees.no, trees.yes)],
        right=place[np.where(turned, trees.yes, trees.no)],
        value=trees.value,
        single=single,
        group=group,
        groups=groups,
    )
    picked = {
        name: getattr(nodes, name)[order]
        for name in ("feature", "threshold", "missing_left", "left", "right", "value", "group")
    }
    return trees_over(columns, replace(nodes, **picked), base, folded=folded)


def _in_order(trees: Grown) -> tuple[IntArray, IntArray]:
    """The nodes tree by tree, each with its root first; and where each tree starts."""
    order: list[int] = []
    first, seen = [], np.zeros(len(trees.mode), dtype=np.bool_)
    for root in trees.roots.tolist():
        first.append(len(order))
        ahead = [root]
        while ahead:
            node = ahead.pop()
            if seen[node]:
                raise UnsupportedModelError(
                    "two nodes of a tree in the ONNX file have the same child.",
                    "Each node must have one parent.",
                    "Let the swarm search: it needs only predictions.",
                )
            seen[node] = True
            order.append(node)
            ahead += [] if trees.mode[node] == "" else [int(trees.no[node]), int(trees.yes[node])]
    return np.array(order, dtype=np.intp), np.array(first, dtype=np.intp)


def _groups(columns: list[Column], trees: Grown) -> tuple[IntArray, BoolArray]:
    """For each node that asks for a value or a set of values, the row of categories that go left."""
    group = np.full(len(trees.mode), -1, dtype=np.intp)
    asked = [i for i, mode in enumerate(trees.mode) if mode in ("BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")]
    sets = [trees.members[i] if i in trees.members else trees.threshold[[i]] for i in asked]
    known = np.concatenate([np.empty(0), *sets])
    tables = [columns[trees.feature[i]] for i in asked]
    held = [column.level_values() for column in tables if column.table is not None]
    if any((part != np.round(part)).any() for part in (known, *held)) or (
        len(known) and not 0 <= known.min() <= known.max() < MOST_CATEGORIES
    ):
        raise UnsupportedModelError(
            "a tree of the ONNX file asks whether a number equals one that is no category (0, 1, 2, ...).",
            "Such questions are read of categories.",
            "Let the swarm search: it needs only predictions.",
        )
    groups = np.zeros((len(asked), 2 + int(known.max(initial=0))), dtype=np.bool_)
    for row, (i, members) in enumerate(zip(asked, sets, strict=True)):
        group[i] = row
        groups[row, members.astype(np.intp)] = True
    return group, groups
