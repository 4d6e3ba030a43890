"""A network, written down sum by sum as its library computes it, and laid out in layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.model.linear import Linear
from butfor.model.network import Computation, Layer, Network

SCORES = -1
"""The number by which the scores stand beside the groups."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Some numbers of a network: `constant + sum_k weight[k] @ units k`.

    Group 0 of units are the columns that reach the network, and each further group was written down by a `Tape`.
    """

    weight: Mapping[int, FloatArray]
    constant: FloatArray

    @property
    def width(self) -> int:
        """How many numbers these are."""
        return len(self.constant)


@dataclass(frozen=True, eq=False)
class Group:
    """Units that are computed together: their sums, and the slope below 0 by which they are bent (1: not at all)."""

    sums: Sums
    leak: FloatArray

    @property
    def straight(self) -> bool:
        """Whether none of them is bent."""
        return bool((self.leak == 1).all())


class Tape:
    """Writes a network down while it is read, one sum after the other."""

    def __init__(self, width: int) -> None:
        self.inputs = _units(0, width)
        self._groups: dict[int, Group] = {}

    def mixed(self, x: Sums, weight: FloatArray, intercept: FloatArray) -> Sums:
        """`intercept + weight @ x`, with `weight` (numbers, numbers of `x`)."""
        weight, intercept = np.asarray(weight, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
        return self._kept(_mixed(x, weight, intercept), np.ones(len(weight)))

    def scaled(self, x: Sums, factor: FloatArray | float, shift: FloatArray | float = 0.0) -> Sums:
        """`factor x + shift`, number by number."""
        return self.mixed(x, np.diag(np.broadcast_to(factor, x.width)), np.broadcast_to(shift, x.width))

    def added(self, x: Sums, y: Sums) -> Sums:
        """The sum of two, number by number. A single number is added to each of the others."""
        wide = np.ones((max(x.width, y.width), 1))
        x, y = (one if one.width == len(wide) else _mixed(one, wide, np.zeros(len(wide))) for one in (x, y))
        return self._kept(_added(x, y), np.ones(len(wide)))

    def stacked(self, parts: Sequence[Sums]) -> Sums:
        """The numbers of several, one below the other."""
        groups = {k for part in parts for k in part.weight}
        width = {k: next(part.weight[k].shape[1] for part in parts if k in part.weight) for k in groups}
        weight = {
            k: np.concatenate([part.weight.get(k, np.zeros((part.width, width[k]))) for part in parts]) for k in groups
        }
        return Sums(weight, np.concatenate([part.constant for part in parts]))

    def bent(self, x: Sums, leak: FloatArray | float) -> Sums:
        """`max(x, leak x)`, with slopes `leak` from 0 to 1."""
        return self._kept(self._before(x), np.array(np.broadcast_to(leak, x.width), dtype=np.float64))

    def started(self, x: Sums, constant: FloatArray) -> Sums | None:
        """`x` plus constants, as one sum that starts from them; None if `x` is no weighted sum of columns."""
        sums = self._before(x)
        if set(sums.weight) != {0} or sums.constant.any():
            return None
        return self.mixed(self.inputs, sums.weight[0], np.broadcast_to(constant, x.width))

    def are_opposite(self, x: Sums) -> bool:
        """Whether these are two numbers, the second of which is always the negative of the first."""
        sums = self._fused(x)[1]
        rows = [*sums.weight.values(), sums.constant[:, None]]
        return x.width == 2 and all(np.array_equal(row[0], -row[1]) for row in rows)

    def model(self, scores: Sums, columns: list[Column], unit: float) -> Linear | Network:
        """The model with these scores, over the columns that reach the network. `unit`: its own unit roundoff.

        Sums that are not bent are put into those that follow, unless no sum is bent at all.
        """
        scores, width = self._before(scores), len(columns)
        if set(scores.weight) == {0}:
            return _one_sum(columns, scores)
        fused = self._fused(scores)
        bends = set(fused[-1].weight) != {0}
        first, *layers = _layers(*(fused if bends else (self._groups, scores)), width)
        computed = Computation(
            linear_over(columns, np.eye(width), np.zeros(width)), _layers(self._groups, scores, width), unit
        )
        return Network(linear_over(columns, first.weight, first.intercept), tuple(layers), computed)

    def _kept(self, sums: Sums, leak: FloatArray) -> Sums:
        number = len(self._groups) + 1
        self._groups[number] = Group(sums, leak)
        return _units(number, sums.width)

    def _before(self, x: Sums) -> Sums:
        """The sums of a straight group, if `x` is that group: bending it, or reading it as scores, rounds nothing."""
        number, *others = x.weight
        if others or number == 0 or not self._groups[number].straight:
            return x
        same = np.array_equal(x.weight[number], np.eye(x.width)) and not x.constant.any()
        return self._groups[number].sums if same else x

    def _fused(self, scores: Sums) -> tuple[dict[int, Group], Sums]:
        """The groups and the scores with every straight group put into the sums that read it."""
        groups: dict[int, Group] = {}
        for number, group in self._groups.items():
            groups[number] = replace(group, sums=_without(group.sums, groups))
        return groups, _without(scores, groups)


def _units(group: int, width: int) -> Sums:
    return Sums({group: np.eye(width)}, np.zeros(width))


def _mixed(x: Sums, weight: FloatArray, intercept: FloatArray) -> Sums:
    return Sums({k: _product(weight, one) for k, one in x.weight.items()}, intercept + weight @ x.constant)


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """`a @ b`. Many of these matrices are diagonal."""
    if _is_diagonal(a):
        return b * np.diagonal(a)[:, None]
    return a * np.diagonal(b) if _is_diagonal(b) else a @ b


def _is_diagonal(a: FloatArray) -> bool:
    return a.shape[0] == a.shape[1] and bool(np.count_nonzero(a) == np.count_nonzero(np.diagonal(a)))


def _added(x: Sums, y: Sums) -> Sums:
    weight = dict(x.weight)
    for k, one in y.weight.items():
        weight[k] = weight[k] + one if k in weight else one
    return Sums(weight, x.constant + y.constant)


def _without(sums: Sums, groups: Mapping[int, Group]) -> Sums:
    """The same numbers without units of straight groups. The sums of these have none already."""
    out = Sums({k: one for k, one in sums.weight.items() if k == 0 or not groups[k].straight}, sums.constant)
    for k in sums.weight.keys() - out.weight.keys():
        out = _added(out, _mixed(groups[k].sums, sums.weight[k], np.zeros(sums.width)))
    return out


def _one_sum(columns: list[Column], scores: Sums) -> Linear:
    """A network without hidden units."""
    weight = scores.weight[0]
    model = linear_over(columns, weight, scores.constant)
    middle = np.abs(linear_over(columns, np.eye(len(columns)), np.zeros(len(columns))).intercept)
    return replace(model, cancelled=np.abs(scores.constant) + np.abs(weight) @ middle)


def _layers(groups: Mapping[int, Group], scores: Sums, width: int) -> tuple[Layer, ...]:
    """The sums in layers: each reads the units of the one before, and the last gives the scores.

    A group stands one layer after the last that it reads. Until it is read for the last time, its units are passed on.
    The first layer reads the columns, which are not bent.
    """
    level, needed = _levels(groups, scores)
    present, layers = {0: Group(_units(0, width), np.ones(width))}, []
    for at in range(1, level[SCORES] + 1):
        reached = {
            k: replace(group, sums=_units(k, group.sums.width)) for k, group in present.items() if needed[k] > at
        }
        reached |= {k: groups[k] for k in needed if level[k] == at}
        rows = [group.sums for group in reached.values()] or [scores]
        weight = np.concatenate([_row(sums, present) for sums in rows])
        leak = np.concatenate([group.leak for group in present.values()])
        layers.append(Layer(leak, weight, np.concatenate([sums.constant for sums in rows])))
        present = {
            k: group if level[k] == at else replace(group, leak=np.ones(len(group.leak)))
            for k, group in reached.items()
        }
    return tuple(layers)


def _levels(groups: Mapping[int, Group], scores: Sums) -> tuple[dict[int, int], dict[int, int]]:
    """For each group that the scores depend on, and for them, its layer; and the last layer that reads the group."""
    used = {0, *scores.weight}
    for k in sorted(groups, reverse=True):
        used |= set(groups[k].sums.weight) if k in used else set()
    reads = {k: set(groups[k].sums.weight) for k in sorted(used - {0})} | {SCORES: set(scores.weight)}
    level, needed = {0: 0}, dict.fromkeys(used, 0)
    for k, read in reads.items():
        level[k] = 1 + max(level[i] for i in read)
        for i in read:
            needed[i] = max(needed[i], level[k])
    return level, needed


def _row(sums: Sums, present: Mapping[int, Group]) -> FloatArray:
    """The weights of some sums over all units that are present."""
    return np.hstack([sums.weight.get(k, np.zeros((sums.width, len(group.leak)))) for k, group in present.items()])
