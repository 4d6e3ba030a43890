"""Random small problems with everything that makes solvers stumble.

They have ties, whole numbers, categories and missing values. Everything is drawn from one numpy generator, so a seed
is a problem. `problems(...)` makes a hypothesis strategy from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.bent_tree import BentTree
from butfor.model.cells import Cells, level_cells, number_cells
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.network import Layer, Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model
from butfor.model.readout import AbstractReadout, Argmax, Sign, Value
from butfor.model.scores import ScoreSet, at_least
from butfor.model.side_by_side import added, plus, with_lines
from butfor.model.trees import Trees, with_cells
from butfor.problem.constraints import names as constraint
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.judged import Margin
from butfor.problem.costs import price
from butfor.problem.problem import Problem, state
from butfor.space.feature import Feature
from butfor.space.space import Space
from butfor.testing.random_costs import random_cost
from butfor.testing.shapes import with_shapes

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Random = np.random.Generator


@dataclass(frozen=True)
class Kinds:
    """What random problems may contain."""

    continuous: bool = True
    whole: bool = True
    levels: bool = True
    missing: bool = True
    bins: bool = True
    costs: tuple[str, ...] = ("l1", "l2", "l0", "linf", "mix", "table")
    relations: tuple[str, ...] = ("at most", "margin", "linear", "implies")
    classes: int = 3
    features: int = 3
    steps: tuple[float, ...] = (1.0, 1.0, 0.5)


def random_space(rng: Random, kinds: Kinds) -> Space:
    """A space of one to `kinds.features` features of the allowed kinds."""
    words = [word for word in ("continuous", "whole", "levels") if getattr(kinds, word)]
    return Space(
        tuple(
            _random_feature(rng, f"f{j}", str(rng.choice(words)), kinds)
            for j in range(rng.integers(1, kinds.features + 1))
        )
    )


def _random_feature(rng: Random, name: str, word: str, kinds: Kinds) -> Feature:
    missing = bool(kinds.missing and rng.random() < 0.3)
    if word == "levels":
        count = int(rng.integers(2, 5))
        numeric = rng.random() < 0.4
        levels: tuple[Any, ...] = tuple(range(count)) if numeric else tuple("abcd"[:count])
        return Feature(name, levels=levels, ordered=bool(numeric or rng.random() < 0.4), missing=missing, typical=0.0)
    low = float(rng.integers(-4, 1))
    high = low + float(rng.integers(2, 6))
    step = 0.0 if word == "continuous" else float(rng.choice(kinds.steps))
    return Feature(name, low=low, high=high, step=step, missing=missing, typical=low + 1.0, mad=0.5, std=1.0)


def random_row(rng: Random, space: Space) -> FloatArray:
    """A row of the space. Its numbers are often whole, so that they tie with cuts."""
    out = np.empty(len(space))
    for j, feature in enumerate(space.features):
        if feature.missing and rng.random() < 0.25:
            out[j] = np.nan
        elif feature.levels is not None:
            out[j] = rng.integers(len(feature.levels))
        elif feature.step or rng.random() < 0.5:
            grid = feature.step or 1.0
            out[j] = np.floor(rng.uniform(feature.low, feature.high + grid) / grid) * grid
        else:
            out[j] = rng.uniform(feature.low, feature.high)
        if feature.levels is None and not np.isnan(out[j]):
            out[j] = np.clip(out[j], feature.low, feature.high)
    return out


def random_linear(rng: Random, space: Space, scores: int) -> Linear:
    """A random linear model. Half of them have small whole weights, so that scores tie."""
    whole = rng.random() < 0.5
    draw = (
        (lambda *size: rng.integers(-2, 3, size).astype(np.float64)) if whole else (lambda *size: rng.normal(size=size))
    )
    slope = draw(scores, len(space))
    cells: list[Cells] = []
    steps = []
    for j, feature in enumerate(space.features):
        if feature.levels is not None:
            slope[:, j] = 0.0
            cells.append(level_cells(len(feature.levels)))
        elif rng.random() < 0.2:
            slope[:, j] *= rng.random() < 0.3
            cells.append(number_cells(np.round(rng.uniform(feature.low, feature.high, 2))))
        else:
            cells.append(number_cells(np.empty(0)))
        plain = feature.levels is None and cells[-1].count == 1
        step = draw(scores, cells[-1].count + 1)
        step[:, -1] *= feature.missing
        steps.append(step * np.append(np.full(cells[-1].count, 0.0 if plain else 1.0), 1.0))
    return Linear(draw(scores), slope, tuple(cells), tuple(steps))


def random_trees(rng: Random, space: Space, scores: int, trees: int = 1, depth: int = 4) -> Trees:
    """Random trees. Cuts are often whole numbers, and missing values go to a random side."""
    feature: list[int] = []
    cut: list[float] = []
    member: list[int] = []
    left: list[int] = []
    right: list[int] = []
    value: list[FloatArray] = []
    sets: list[np.ndarray] = []

    def grow(level: int) -> int:
        node = len(feature)
        for column in (feature, cut, member, left, right):
            column.append(-1)
        drawn = rng.dirichlet(np.ones(scores)) if scores > 1 else rng.normal(size=1)
        value.append(np.round(8 * drawn) / 8)  # sums of eighths are exact, so ties are ties
        if level == 0 or rng.random() < 0.15:
            return node
        j = int(rng.integers(len(space)))
        one = space.features[j]
        feature[node] = j
        if one.levels is not None:
            member[node] = len(sets)
            sets.append(rng.random(len(one.levels) + 1) < 0.5)
        else:
            cut[node] = float(np.round(rng.uniform(one.low, one.high), int(rng.integers(0, 2))))
        left[node], right[node] = grow(level - 1), grow(level - 1)
        return node

    roots = [grow(int(rng.integers(1, depth + 1))) for _ in range(trees)]
    made = Trees(
        np.array(roots), np.array(feature), np.array(cut, dtype=np.float64), np.array(member),
        rng.random(len(feature)) < 0.5, np.array(left), np.array(right), np.array(value), tuple(sets),
        np.zeros(scores), (),
    )  # fmt: skip
    return with_cells(made, tuple(level_cells(len(f.levels)) if f.levels is not None else None for f in space.features))


def random_linear_leaves(rng: Random, space: Space, scores: int, trees: int) -> LinearLeaves:
    """Random trees of which most leaves add a line to a score. Some leaves have the same one."""
    made = random_trees(rng, space, scores, trees, depth=2)
    count = 1 + int(np.count_nonzero(made.feature < 0))
    line = np.where(made.feature[:, None] < 0, rng.integers(-1, count, made.value.shape), -1)
    return with_lines(made, random_linear(rng, space, count), line)


def _with_bins(rng: Random, model: Trees) -> Trees:
    """Trees that sometimes read one of the numbers by sets of its bins, as after a `KBinsDiscretizer`."""
    numbers = [j for j, cells in enumerate(model.cells) if len(cells.edges)]
    if not numbers or rng.random() < 0.7:
        return model
    j = int(rng.choice(numbers))
    nodes = np.flatnonzero((model.feature == j) & (rng.random(len(model.feature)) < 0.7))
    member = model.member.copy()
    member[nodes] = len(model.cell_sets) + np.arange(len(nodes))
    sets = tuple(rng.random(model.cells[j].count + 1) < 0.5 for _ in nodes)
    return replace(model, member=member, cell_sets=model.cell_sets + sets)


def random_oblique(rng: Random, space: Space, scores: int, depth: int = 3) -> ObliqueTree:
    """A random oblique tree. Half of them have small whole weights, so that rows lie on their decisions."""
    gate, left, right = _random_shape(rng, depth)
    return _random_oblique(rng, random_linear(rng, space, max(1, gate.max() + 1)), gate, left, right, scores)


def random_oblique_forest(rng: Random, space: Space, scores: int, trees: int, depth: int = 2) -> ObliqueForest:
    """The sum of random oblique trees with common gates. The values are eighths, so that sums tie."""
    shapes = [_random_shape(rng, depth) for _ in range(trees)]
    last = np.cumsum([gate.max() + 1 for gate, _, _ in shapes])
    gates, made = random_linear(rng, space, max(1, int(last[-1]))), []
    for (gate, left, right), first in zip(shapes, [0, *last[:-1]], strict=True):
        own = np.where(gate < 0, -1, gate + first)
        made.append(_random_oblique(rng, gates, own, left, right, scores))
    return ObliqueForest(tuple(made))


def _random_shape(rng: Random, depth: int) -> tuple[IntArray, IntArray, IntArray]:
    """The gate and the children of each node."""
    gate: list[int] = []
    left: list[int] = []
    right: list[int] = []

    def grow(level: int) -> int:
        node = len(gate)
        for column in (gate, left, right):
            column.append(-1)
        if level == 0 or rng.random() < 0.15:
            return node
        gate[node] = max(gate) + 1
        left[node], right[node] = grow(level - 1), grow(level - 1)
        return node

    grow(int(rng.integers(1, depth + 1)))
    return np.array(gate), np.array(left), np.array(right)


def _random_oblique(
    rng: Random, gates: Linear, gate: IntArray, left: IntArray, right: IntArray, scores: int
) -> ObliqueTree:
    drawn = rng.dirichlet(np.ones(scores), len(gate)) if scores > 1 else rng.normal(size=(len(gate), 1))
    return ObliqueTree(gates, gate, left, right, np.round(8 * drawn) / 8)


def random_network(rng: Random, space: Space, scores: int, units: int = 4) -> Network:
    """A random network of one or two hidden layers, of up to `units` units each.

    Half of them have small whole weights, so that units lie on 0.
    """
    widths = [int(width) for width in rng.integers(2, units + 1, rng.integers(1, 3))]
    whole = rng.random() < 0.5

    def draw(*size: int) -> FloatArray:
        return rng.integers(-2, 3, size).astype(np.float64) if whole else rng.normal(size=size)

    layers = []
    for width, after in zip(widths, [*widths[1:], scores], strict=True):
        leak = np.where(rng.random(width) < 0.2, rng.choice([0.25, 1.0], width), 0.0)
        layers.append(Layer(leak, draw(after, width), draw(after)))
    return Network(random_linear(rng, space, widths[0]), tuple(layers))


def random_target(rng: Random, readout: AbstractReadout) -> tuple[ScoreSet, ...]:
    """A class, another class, a probability or an interval."""
    if isinstance(readout, Value):
        low = float(rng.normal())
        return (at_least(np.array([1.0]), low),) if rng.random() < 0.5 else (at_least(np.array([-1.0]), low),)
    label = int(rng.integers(len(readout.classes)))
    word = rng.choice(["class", "other", "costs"])
    if word == "other":
        return readout.other_sets(label)
    if word == "class":
        return readout.class_sets(label)
    return tuple(
        replace(part, offset=float(rng.integers(0, 3)) / 4)
        for k in range(len(readout.classes))
        for part in readout.class_sets(k)
    )


def random_readout(rng: Random, kinds: Kinds, scores: int) -> AbstractReadout:
    """A random readout: an argmax for several scores, else a value or a sign."""
    if scores == 1:
        return Value() if rng.random() < 0.5 else Sign(("no", "yes"))
    return Argmax(tuple("abcdef"[:scores]), "identity")


def random_constraints(rng: Random, space: Space, kinds: Kinds) -> list[AbstractConstraint]:
    """Up to three constraints that make sense in this space."""
    out: list[AbstractConstraint] = []
    for _ in range(int(rng.integers(0, 4))):
        feature = space.features[rng.integers(len(space))]
        out += _random_constraint(rng, space, feature, kinds)
    return out


def _random_constraint(rng: Random, space: Space, feature: Feature, kinds: Kinds) -> list[AbstractConstraint]:
    name = feature.name
    ordered = feature.levels is None or feature.ordered
    choices: list[Any] = [lambda: constraint.fixed(name)]
    if ordered:
        choices += [lambda: constraint.only_up(name), lambda: constraint.only_down(name)]
    if feature.levels is None:
        middle = (feature.low + feature.high) / 2
        choices += [
            lambda: constraint.between(name, feature.low + 1, feature.high),
            lambda: constraint.between(name, feature.low, middle),
        ]
        choices += [lambda: constraint.within(name, 0.5), lambda: constraint.step(name, 1.0)]
    else:
        levels = feature.levels
        choices += [
            lambda: constraint.allowed(name, levels[1:]),
            lambda: constraint.moves(name, {levels[0]: levels[1:]}),
        ]
    if feature.missing:
        choices.append(lambda: constraint.may_be_missing(name))
    if "at most" in kinds.relations:
        choices.append(lambda: constraint.at_most_changes(int(rng.integers(1, 3))))
    if "margin" in kinds.relations:
        choices.append(lambda: constraint.margin(float(rng.choice([0.05, 0.1]))))
    numeric = [f.name for f in space.features if f.levels is None or f.numbers is not None]
    if "linear" in kinds.relations and numeric:
        weights = {n: float(rng.integers(-2, 3)) or 1.0 for n in numeric}
        sense: Any = rng.choice(["<=", ">="])
        choices.append(lambda: constraint.linear(weights, str(sense), float(rng.integers(-3, 4))))  # type: ignore[arg-type]
    causes = [f for f in space.features if f.levels is None or f.ordered]
    if "implies" in kinds.relations and len(causes) > 1:
        a, b = rng.choice(len(causes), 2, replace=False)
        by = float(rng.choice([0.0, 1.0]))
        choices.append(
            lambda: constraint.implies(
                constraint.rises(causes[a].name, by=by), constraint.rises(causes[b].name, by=1.0)
            )
        )
    return [choices[rng.integers(len(choices))]()]


def random_problem(seed: int, form: str, kinds: Kinds = Kinds(), trees: int = 1) -> Problem:
    """The problem of a seed. It has one row, a model, a target, a cost and constraints.

    `form` is the kind of model: linear, additive, oblique tree, bent tree, oblique forest, oblique mixed (such and a
    linear model), network, mixed (trees and a linear model), linear leaves or trees.
    """
    rng = np.random.default_rng(seed)
    space = random_space(rng, kinds)
    scores = int(rng.integers(1, kinds.classes + 1))
    readout = random_readout(rng, kinds, scores)
    model: Model
    if form == "linear":
        model = random_linear(rng, space, scores)
    elif form == "additive":
        model = with_shapes(rng, space, random_linear(rng, space, scores))
    elif form == "oblique tree":
        model = random_oblique(rng, space, scores)
    elif form == "bent tree":
        tree = random_oblique(rng, space, scores, depth=2)
        gates = with_shapes(rng, space, tree.gates)
        model = BentTree(tree, gates.shapes) if gates.shapes else tree
    elif form == "oblique forest":
        model = random_oblique_forest(rng, space, scores, max(trees, 2))
    elif form == "oblique mixed":
        forest = random_oblique_forest(rng, space, scores, max(trees, 2))
        model = added([forest, random_linear(rng, space, scores)])
    elif form == "network":
        model = random_network(rng, space, scores)
    elif form == "mixed":
        model = plus(random_trees(rng, space, scores, trees, depth=2), random_linear(rng, space, scores))
    elif form == "linear leaves":
        model = random_linear_leaves(rng, space, scores, trees)
    else:
        model = random_trees(rng, space, scores, trees)
        if kinds.bins:
            model = _with_bins(np.random.default_rng([seed, 1]), model)
    factuals = random_row(rng, space)[None]
    listed = random_constraints(rng, space, kinds)
    prices = price(random_cost(rng, space, kinds.costs), space).in_coins
    problem = state(space, model, factuals, random_target(rng, readout), prices, listed)
    return problem.with_demands(margin=max((one.eps for one in listed if isinstance(one, Margin)), default=0.0))


def problems(form: str, kinds: Kinds = Kinds(), trees: int = 1) -> SearchStrategy[Problem]:
    """A hypothesis strategy of random problems."""
    from hypothesis import strategies as st

    return st.integers(0, 2**32 - 1).map(lambda seed: random_problem(seed, form, kinds, trees))
