"""How the time grows with the number of trees, their depth and the number of features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from benchmarks.data import Table, table
from benchmarks.ensembles.exact import answers, small
from benchmarks.ensembles.models import ask, boosting, forest
from benchmarks.ensembles.scale import Line, Scale
from benchmarks.harness import where

TREES = (10, 20, 50, 100, 200, 500)
DEPTHS = (2, 3, 4, 5, 6, 8, 10, None)
FEATURES = (3, 5, 10, 20, 30)
ROWS = 5


def measure(scale: Scale) -> Iterator[Line]:
    """Forests and boosting of scikit-learn, one size after the other."""
    breast = table("breast")
    assert breast is not None
    main = ("pima" in scale.tables and table("pima")) or breast
    small_steps = slice(2 if scale.shrink > 1 else None)
    scale = small(scale, ROWS, scale.limit)
    for make, name in ((forest, "RF"), (boosting, "GB")):
        depth = 5 if make is forest else 3
        for trees in TREES[small_steps]:
            yield from _point(main, make(trees, depth), scale, model=f"{name} depth {depth}", axis="trees", size=trees)
        for deep in DEPTHS[small_steps] if make is forest else ():
            model = make(scale.trees(100), deep)
            yield from _point(main, model, scale, model=f"{name} 100 trees", axis="depth", size=deep)
        for count in FEATURES[small_steps]:
            some = replace(breast, X=breast.X.iloc[:, :count])
            model = make(scale.trees(100), depth)
            label = f"{name} 100 trees, depth {depth}"
            yield from _point(some, model, scale, model=label, axis="features", size=count)


def _point(of: Table, estimator: Any, scale: Scale, **about: Any) -> Iterator[Line]:
    question = ask(of, estimator, scale.rows)
    for line in answers(question, scale):
        yield {
            "kind": "row", "table": of.name, **about, "leaves": question.leaves, "limit": scale.limit, **line, **where()
        }  # fmt: skip
