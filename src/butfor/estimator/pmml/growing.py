"""Trees of PMML as trees whose nodes ask one question with two answers, and send missing values to one side.

A node of PMML has any number of children, each with a predicate. The first that is true is taken. So the way on is a chain of
questions, of which those are left out that are settled by what was asked before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.estimator.pmml.predicates import Cut, Known, Lost, OneOf, Predicate, Question, State, truth
from butfor.model.nodes import Nodes

BEYOND_NUMBERS = 1e200
"""No number of a column is so large: only missing values are not at most this."""

WhereMissing = Literal["none", "defaultChild", "lastPrediction", "nullPrediction"]


@dataclass(frozen=True, eq=False)
class PmmlNode:
    """A node of PMML: the predicate that leads to it, its own value (None: it has none), and its children."""

    predicate: Predicate
    value: FloatArray | None
    children: tuple[PmmlNode, ...] = ()
    name: str = ""
    default: str = ""


class Standstill(Enum):
    """Where a row may end that goes to no child: at the node's own value, or without any."""

    OWN = "own"
    NOTHING = "nothing"


@dataclass(frozen=True)
class AskedFirst:
    """A question, the ways of yes and no, and whether a missing value goes with yes."""

    question: Question
    yes: Grown
    no: Grown
    missing_with_yes: bool = False


Grown = AskedFirst | FloatArray


class _NothingForMissing(Exception):  # noqa: N818 - not an error: the tree is made again without these missing values
    """A row has no prediction if these values are missing."""

    def __init__(self, reads: set[int]) -> None:
        self.reads = reads


@dataclass
class Growing:
    """Makes trees of one PMML tree after the other.

    - `start`: what is known of each value at the root;
    - `refused`: the values that must not be missing: some row without them has no prediction.
    """

    start: State
    refused: set[int] = field(default_factory=set)
    missing: WhereMissing = "none"
    last: bool = False

    def tree(self, root: PmmlNode, missing: WhereMissing, last: bool) -> Grown:
        """The tree. `last`: whether a row for which no child is true gets the value of the node where it stands."""
        self.missing, self.last = missing, last
        while True:
            known = {k: replace(one, lost=False) if k in self.refused else one for k, one in self.start.items()}
            try:
                return self._grown(root, known)
            except _NothingForMissing as found:
                self.refused |= found.reads

    def _grown(self, node: PmmlNode, state: State) -> Grown:
        if not node.children:
            return self._ended(Standstill.OWN, node, state)
        way = self._way(node, state)
        if isinstance(way, PmmlNode | Standstill):
            return self._ended(way, node, state)
        known = state[way.read]

        def after(answer: bool, **more: Any) -> State:
            told = known.told(way, answer)
            return {**state, way.read: told if not more else Known(None, told.above, told.most, told.levels)}

        if isinstance(way, Lost) or known.lost is False:
            return AskedFirst(way, self._grown(node, after(True)), self._grown(node, after(False)))
        lost = {**state, way.read: Known(lost=True)}
        gone, yes, no = (self._way(node, one) for one in (lost, after(True), after(False)))
        if gone is yes:
            return AskedFirst(
                way, self._ended(yes, node, after(True, perhaps=True)), self._grown(node, after(False)), True
            )
        if gone is no:
            return AskedFirst(
                way, self._grown(node, after(True)), self._ended(no, node, after(False, perhaps=True)), False
            )
        asked = AskedFirst(way, self._grown(node, after(True)), self._grown(node, after(False)))
        return AskedFirst(Lost(way.read), self._grown(node, lost), asked)

    def _way(self, node: PmmlNode, state: State) -> PmmlNode | Standstill | Question:
        """Where a row goes from a node; what to ask first, if that is not settled."""
        for one in node.children:
            found = truth(one.predicate, state)
            if found is True:
                return one
            if found is None and self.missing != "none":
                return self._where_missing(node)
            if not isinstance(found, bool | None):
                return found
        return Standstill.OWN if self.last else Standstill.NOTHING

    def _where_missing(self, node: PmmlNode) -> PmmlNode | Standstill:
        if self.missing != "defaultChild":
            return Standstill.OWN if self.missing == "lastPrediction" else Standstill.NOTHING
        found = next((one for one in node.children if one.name == node.default and one.name), None)
        if found is None:
            raise InputError("a Node has no defaultChild among its children.", "Missing values go to it.")
        return found

    def _ended(self, way: PmmlNode | Standstill | Question, node: PmmlNode, state: State) -> Grown:
        if isinstance(way, PmmlNode):
            return self._grown(way, state)
        if way is Standstill.OWN and node.value is not None:
            return node.value
        if isinstance(way, Standstill):
            lost = {read for read, known in state.items() if known.lost}
            if lost:
                raise _NothingForMissing(lost)
            raise InputError("a tree has no prediction for some rows.", "Every row needs one.")
        return self._grown(node, state)


def written(trees: list[Grown], scores: int) -> Nodes:
    """Trees as the arrays of their nodes. A level goes left if the answer is yes."""
    rows: list[tuple[int, float, bool, int, int, int]] = []
    values: list[FloatArray] = []
    sets: dict[tuple[int, ...], int] = {}
    width = 1 + max((_widest(tree) for tree in trees), default=0)

    def write(tree: Grown) -> int:
        at = len(rows)
        rows.append((-1, 0.0, False, -1, -1, -1))
        values.append(np.zeros(scores) if isinstance(tree, AskedFirst) else tree)
        if isinstance(tree, AskedFirst):
            question = tree.question
            lost = isinstance(question, Lost)
            yes, no = (tree.no, tree.yes) if lost else (tree.yes, tree.no)  # what is not missing goes left
            group = -1
            if isinstance(question, OneOf):
                own = tuple(int(min(k, question.count) in question.levels) for k in range(width))
                group = sets.setdefault(own, len(sets))
            last = question.last if isinstance(question, Cut) else BEYOND_NUMBERS
            rows[at] = (question.read, last, tree.missing_with_yes and not lost, write(yes), write(no), group)
        return at

    roots = np.array([write(tree) for tree in trees], dtype=np.intp)
    table = np.array(rows, dtype=np.float64)
    feature, left, right, group = (table[:, at].astype(np.intp) for at in (0, 3, 4, 5))
    groups = np.array([*sets], dtype=np.bool_).reshape(len(sets), width)
    return Nodes(
        roots, feature, table[:, 1], table[:, 2].astype(np.bool_), left, right, np.array(values), single=False,
        group=group if sets else None, groups=groups if sets else np.zeros((0, 1), dtype=np.bool_),
    )  # fmt: skip


def _widest(tree: Grown) -> int:
    """How many levels the widest question of a tree knows."""
    if not isinstance(tree, AskedFirst):
        return 0
    own = tree.question.count if isinstance(tree.question, OneOf) else 0
    return max(own, _widest(tree.yes), _widest(tree.no))
