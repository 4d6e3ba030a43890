"""The rivals of the swarm in a few plain lines each, without butfor's solvers: encoded rows in, encoded answers out.

Every one gets a `Field`, an encoded factual, how many answers are wanted, a generator and how many points it may ask about.
Numbers are looked at as shares of their range; a changed category counts 1. What is made up stays in the box of the
data and on each column's grid. An answer may be given twice, and answers may be fewer than wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import NearestNeighbors

import butfor as bf
from benchmarks.baselines import distance
from benchmarks.rivals import Answered
from butfor.arrays import BoolArray, FloatArray
from butfor.measure.plausibility import place

LAYER, HALVINGS = 1000, 40
"""Points a layer of growing spheres, and how often the first ball is halved at most."""

SAMPLE = 1000
"""Points that random search changes one feature more of, round after round."""

POPULATION, CALM = 10, 5
"""Members an answer of the genetic search, and the generations without a gain after which it ends."""

STEP, LAYERS = 0.02, 200
"""How far the spheres of CARLA grow from layer to layer, in shares of the ranges, and at most how often."""

NEIGHBOURS, RADIUS = 20, 0.25
"""Neighbours of each row in FACE's graph, or how near they must be, in shares of the ranges."""


@dataclass(frozen=True, eq=False)
class Field:
    """What a rival may know: the columns, the data (encoded) and what a model says of any points: P(the class wanted)."""

    space: bf.Space
    data: FloatArray
    ask: Callable[[FloatArray], FloatArray]

    def meets(self, points: FloatArray) -> BoolArray:
        """Whether the model puts points in the class wanted."""
        return np.asarray(self.ask(points) > 0.5) if len(points) else np.zeros(0, dtype=np.bool_)

    @cached_property
    def met(self) -> FloatArray:
        """The rows of the data that are in the class wanted, each once."""
        return np.unique(self.data[self.meets(self.data)], axis=0)

    @cached_property
    def graph(self) -> Graph:
        """FACE's graph of the data, of nearest neighbours."""
        return Graph.of(np.unique(self.data, axis=0), self.space)

    @cached_property
    def graph_within(self) -> Graph:
        """FACE's graph of the data, of all neighbours within a radius."""
        return Graph.of(np.unique(self.data, axis=0), self.space, RADIUS)

    @cached_property
    def width(self) -> FloatArray:
        """The range of each column."""
        return np.array([feature.range for feature in self.space])

    @cached_property
    def levels(self) -> NDArray[np.intp]:
        """How many levels each column has, 0 for a number."""
        return np.array([len(feature.levels or ()) for feature in self.space])

    def drawn(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Points drawn evenly from the box."""
        low = np.array([feature.low for feature in self.space])
        even = rng.random((count, len(self.levels)))
        return self.snapped(np.where(self.levels > 0, np.floor(even * self.levels), low + even * self.width))

    def snapped(self, points: FloatArray) -> FloatArray:
        """Numbers moved into the box and to the nearest point of their grid."""
        out = points.copy()
        for j, feature in enumerate(self.space):
            if feature.levels is None:
                step = feature.step or 1.0
                grid = feature.anchor + np.round((out[:, j] - feature.anchor) / step) * step
                out[:, j] = np.clip(grid if feature.step else out[:, j], feature.low, feature.high)
        return out

    def gaps(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """How far each column has moved."""
        return np.where(self.levels > 0, before != after, np.abs(after - before) / self.width)


Rival = Callable[[Field, FloatArray, int, np.random.Generator, int], FloatArray]


def nearest_rows(field: Field, factual: FloatArray, k: int, rng: np.random.Generator, budget: int) -> FloatArray:
    """The nearest rows of the data in the class wanted: nearest unlike neighbours."""
    return field.met[np.argsort(distance(field.space, factual, field.met, 1), kind="stable")[:k]]


def growing_spheres(field: Field, factual: FloatArray, k: int, rng: np.random.Generator, budget: int) -> FloatArray:
    """A ball shrinks until it holds no point of the class wanted, then grows in layers until one does (Laugel et al., IPMU 2018).

    The nearest point of that layer is made sparser: the smallest changes are taken back while it stays in the class. A
    category is drawn anew with a probability of the layer's radius. An answer is a search of its own.
    """
    found = [_nearest_in_spheres(field, factual, rng, budget // k) for _ in range(k)]
    return _stacked([_smallest_taken_back(field, factual, point) for point in found if point is not None], factual)


def growing_spheres_by_steps(
    field: Field, factual: FloatArray, k: int, rng: np.random.Generator, budget: int
) -> FloatArray:
    """The same as CARLA has it (Pawelczyk et al., 2021): layers of one width from the factual on, and nothing made sparser."""
    found = []
    for _ in range(k):
        for layer in range(LAYERS):
            points = _layer(field, factual, layer * STEP, (layer + 1) * STEP, rng)
            met = field.meets(points)
            if met.any():
                found.append(_nearest(field, factual, points[met]))
                break
    return _stacked(found, factual)


def _nearest_in_spheres(field: Field, factual: FloatArray, rng: np.random.Generator, budget: int) -> FloatArray | None:
    radius, asked = 1.0, 0
    nearest = None
    for _ in range(HALVINGS):
        points = _layer(field, factual, 0.0, radius, rng)
        met = field.meets(points)
        asked += LAYER
        if not met.any():
            break
        nearest = _nearest(field, factual, points[met])
        radius /= 2
    low = radius
    while asked < budget:
        points = _layer(field, factual, low, low + radius, rng)
        met = field.meets(points)
        asked += LAYER
        if met.any():
            return _nearest(field, factual, points[met])
        low += radius
    return nearest


def _layer(field: Field, factual: FloatArray, low: float, high: float, rng: np.random.Generator) -> FloatArray:
    """Points drawn evenly from the layer between two spheres around the factual."""
    numbers = field.levels == 0
    d = max(int(numbers.sum()), 1)
    step = rng.standard_normal((LAYER, len(numbers))) * numbers
    share = rng.random((LAYER, 1))
    radius = high * (share + (1 - share) * (low / high) ** d) ** (1 / d)
    step *= radius / np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-300)
    anew = ~numbers & (rng.random(step.shape) < high)
    return field.snapped(np.where(anew, field.drawn(rng, LAYER), factual + step * field.width))


def _nearest(field: Field, factual: FloatArray, points: FloatArray) -> FloatArray:
    return np.asarray(points[np.argmin((field.gaps(factual, points) ** 2).sum(axis=1))])


def _smallest_taken_back(field: Field, factual: FloatArray, point: FloatArray) -> FloatArray:
    """The smallest changes taken back, one after the other, up to the first that may not be."""
    gaps = field.gaps(factual, point)
    order = np.argsort(gaps, kind="stable")[int((gaps == 0).sum()) : -1]
    back = np.repeat(point[None], len(order) + 1, axis=0)
    for n, j in enumerate(order, start=1):
        back[n:, j] = factual[j]
    lost = np.flatnonzero(~field.meets(back[1:]))
    return np.asarray(back[lost[0] if len(lost) else len(order)])


def random_search(field: Field, factual: FloatArray, k: int, rng: np.random.Generator, budget: int) -> FloatArray:
    """Copies of the factual in which one more feature is drawn anew, round after round, until enough are in the class wanted.

    The k nearest of those are made sparser. As DiCE's random method (Mothilal, Sharma and Tan, FAT* 2020), plainly.
    """
    points, everything = np.repeat(factual[None], SAMPLE, axis=0), np.arange(SAMPLE)
    found = np.empty((0, len(factual)))
    for count in range(min(len(factual), budget // SAMPLE)):
        j = rng.integers(len(factual), size=SAMPLE)
        points[everything, j] = field.drawn(rng, SAMPLE)[everything, j]
        found = np.unique(np.concatenate([found, points[field.meets(points)]]), axis=0)
        if len(found) >= k and count:
            break
    best = np.argsort(distance(field.space, factual, found, 1), kind="stable")[:k]
    return _stacked([_sparser(field, factual, point) for point in found[best]], factual)


def genetic_search(field: Field, factual: FloatArray, k: int, rng: np.random.Generator, budget: int) -> FloatArray:
    """A population of rows and random points; the better half has children, feature by feature of either parent or drawn anew.

    Fitness is what lacks to the class wanted, plus 0.2 times the mean change and 0.2 times the share of columns changed. The k
    best in the class are made sparser. As DiCE's genetic method (after Schleich et al., VLDB 2021), plainly; of what is
    drawn anew, half are the factual's own values.
    """
    size = POPULATION * k
    start = nearest_rows(field, factual, size // 2, rng, budget)
    points = np.concatenate([start, field.drawn(rng, size - len(start))])
    loss = _loss(field, factual, points)
    best, calm = np.inf, 0
    for _ in range(budget // size - 1):
        fit = points[np.argsort(loss, kind="stable")[: size // 2]]
        one, other = fit[rng.integers(len(fit), size=(2, size))]
        draw = rng.random(one.shape)
        anew = np.where(draw < 0.9, factual, field.drawn(rng, size))
        points = np.concatenate([fit, np.where(draw < 0.4, one, np.where(draw < 0.8, other, anew))])
        points = np.unique(points, axis=0)
        loss = _loss(field, factual, points)
        order = np.argsort(loss, kind="stable")[:size]
        points, loss = points[order], loss[order]
        total = float(loss[:k].sum())
        calm = calm + 1 if total > best - 1e-3 else 0
        best = min(best, total)
        if calm == CALM:
            break
    return _stacked([_sparser(field, factual, point) for point in points[field.meets(points)][:k]], factual)


def _loss(field: Field, factual: FloatArray, points: FloatArray) -> FloatArray:
    gaps = field.gaps(factual, points)
    lacking = np.maximum(0.0, 1 - 2 * field.ask(points))
    return np.asarray(lacking + 0.2 * gaps.mean(axis=1) + 0.2 * (gaps > 0).mean(axis=1))


def _sparser(field: Field, factual: FloatArray, point: FloatArray) -> FloatArray:
    """Every change taken back that may be, round after round the one that saves most."""
    while True:
        gaps = field.gaps(factual, point)
        changed = np.flatnonzero(gaps)
        back = np.repeat(point[None], len(changed), axis=0)
        back[np.arange(len(changed)), changed] = factual[changed]
        met = field.meets(back)
        if not met.any():
            return point
        point = back[np.argmax(np.where(met, gaps[changed], -1.0))]


def face(field: Field, factual: FloatArray, k: int, rng: np.random.Generator, budget: int) -> FloatArray:
    """The rows of the class wanted to which the shortest paths lead, over rows and through where data is dense.

    Poyiadzi et al., AIES 2020.
    """
    return _along_paths(field, field.graph, factual, k)


def face_within(field: Field, factual: FloatArray, k: int, rng: np.random.Generator, budget: int) -> FloatArray:
    """The same over the graph that joins all rows within a radius. A row without neighbours has no answer."""
    return _along_paths(field, field.graph_within, factual, k)


def _along_paths(field: Field, graph: Graph, factual: FloatArray, k: int) -> FloatArray:
    length = graph.lengths(place(factual[None], field.space))
    length[~field.meets(graph.rows)] = np.inf
    best = np.argsort(length, kind="stable")[:k]
    return np.asarray(graph.rows[best[np.isfinite(length[best])]])


@dataclass(frozen=True, eq=False)
class Graph:
    """Distinct rows, each joined to its nearest, or to all within a radius (`radius`).

    With nearest neighbours, an edge of length l counts l (1 + d log(l / the shortest)): FACE's weight -log(density) l with
    their density, k / (N volume(l)), taken relative to the densest edge, so that no weight is negative. Distances are
    those of Gower. Within a radius they are Euclidean, over ranges, and an edge counts its length.
    """

    rows: FloatArray
    nearest: NearestNeighbors
    shortest: float
    edges: coo_array
    radius: float | None = None

    @classmethod
    def of(cls, rows: FloatArray, space: bf.Space, radius: float | None = None) -> Graph:
        """The graph of some rows."""
        if radius is not None:
            nearest = NearestNeighbors(radius=radius).fit(place(rows, space))
            return cls(rows, nearest, 0.0, nearest.radius_neighbors_graph(mode="distance").tocoo(), radius)
        nearest = NearestNeighbors(n_neighbors=min(NEIGHBOURS + 1, len(rows)), metric="manhattan")
        gap, to = nearest.fit(place(rows, space)).kneighbors()
        made = cls(rows, nearest, float(gap.min()), coo_array((len(rows), len(rows))))
        start = np.repeat(np.arange(len(rows)), gap.shape[1])
        edges = coo_array((made.weights(gap.ravel()), (start, to.ravel())), shape=(len(rows), len(rows)))
        return cls(rows, nearest, made.shortest, edges)

    def weights(self, gap: FloatArray) -> FloatArray:
        """What edges of these lengths count."""
        return gap * (1 + self.rows.shape[1] * np.log(np.maximum(gap / self.shortest, 1.0)))

    def lengths(self, place: FloatArray) -> FloatArray:
        """The length of the shortest path from a place to each row."""
        gap, to = self.nearest.kneighbors(place) if self.radius is None else self.nearest.radius_neighbors(place)
        count = len(self.rows)
        own = self.weights(gap[0]) if self.radius is None else gap[0]
        row = np.concatenate([self.edges.row, np.full(len(own), count)])
        col = np.concatenate([self.edges.col, to[0]])
        data = np.concatenate([self.edges.data, np.maximum(own, 1e-12)])
        whole = coo_array((data, (row, col)), shape=(count + 1, count + 1)).tocsr()
        return np.asarray(dijkstra(whole, directed=False, indices=count)[:count])


def _stacked(points: list[FloatArray], factual: FloatArray) -> FloatArray:
    return np.array(points).reshape(-1, len(factual))


DRAWS_NOTHING = ("nearest rows", "FACE k-NN", "FACE epsilon")
"""Rivals that give the same with every seed."""

PLAIN: dict[str, Rival] = {
    "nearest rows": nearest_rows,
    "growing spheres": growing_spheres,
    "growing spheres by steps": growing_spheres_by_steps,
    "random search": random_search,
    "genetic search": genetic_search,
    "FACE k-NN": face,
    "FACE epsilon": face_within,
}


def answered(name: str, model: Any, X: pd.DataFrame, rows: pd.DataFrame, k: int, seed: int, points: int) -> Answered:
    """A rival's answers of class 1 to rows, with so many `points` to ask about for each; the first row pays for the graph."""
    space, rng = bf.Explainer(model, X).space, np.random.default_rng(seed)

    def table(codes: FloatArray) -> pd.DataFrame:
        return space.decode(codes, X.iloc[np.zeros(len(codes), dtype=int)].reset_index(drop=True))

    field = Field(space, space.encode(X), lambda codes: model.predict_proba(table(codes))[:, 1])
    out = Answered(about={"points": points})
    for factual in space.encode(rows):
        out.ask(lambda factual=factual: table(PLAIN[name](field, factual, k, rng, points)))
    return out
