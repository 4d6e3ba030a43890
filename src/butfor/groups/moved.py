"""Which columns the answers of a batch change: how often, how far, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.experimental import experimental
from butfor.groups.firsts import Batch, Firsts, firsts, named, parts_of
from butfor.space.feature import Feature


@experimental
def changes(answers: Batch | Firsts, by: str | Iterable[Any] | None = None) -> Any:
    """How often each column changes and by how much, by group.

    Choose it to see what a model asks of people, and whether it asks the same of every group.

    `answers` and `by` are as for `statuses`. The table has a line per group and column that any answer changes:

    - `rows`, `share`: how many answers of the group change it, and their share of all that change something;
    - `up`, `down`: how many raise and how many lower it (None if its levels have no order);
    - `least`, `median`, `most`: the signed changes of a number, by size (None for levels);
    - `becomes`: the most frequent new level (None for a number).
    """
    known = firsts(answers)
    moved = known.moved
    often = moved.sum(axis=0)
    shown = [int(j) for j in np.argsort(-often, kind="stable") if often[j]]
    groups, lines = list[Any](), list[dict[str, Any]]()
    for group, rows in parts_of(known, by).items():
        changing = int(moved[rows].any(axis=1).sum())
        for j in shown:
            its = rows[moved[rows, j]]
            share = len(its) / changing if changing else None
            told = _by_how_much(known.space.features[j], known.start[its, j], known.points[its, j])
            groups.append(group)
            lines.append({"column": known.space.names[j], "rows": len(its), "share": share, **told})
    names = ("column", "rows", "share", "up", "down", "least", "median", "most", "becomes")
    return known.framed(named(groups, {name: [line[name] for line in lines] for name in names}))


def _by_how_much(feature: Feature, before: FloatArray, after: FloatArray) -> dict[str, Any]:
    """What the changes of one column have in common. Changes from and to a missing value have no size."""
    sizes = (after - before)[~np.isnan(after - before)]
    has_order = feature.levels is None or feature.ordered
    told: dict[str, Any] = {
        "up": int((sizes > 0).sum()) if has_order else None,
        "down": int((sizes < 0).sum()) if has_order else None,
    }
    ends: dict[str, Any] = dict.fromkeys(("least", "median", "most", "becomes"))
    if feature.levels is not None:
        counted = Counter(str(feature.value(code)) for code in after.tolist())
        ends["becomes"] = min(counted, key=lambda level: (-counted[level], level)) if counted else None
    elif len(sizes):
        by_size = sizes[np.argsort(np.abs(sizes), kind="stable")]
        ends |= {"least": float(by_size[0]), "median": float(np.median(sizes)), "most": float(by_size[-1])}
    return told | ends


@experimental
def shifts(answers: Batch | Firsts) -> Any:
    """How far each answer moves each column, as a share of its range: the table behind a heat map.

    Choose it to see at a glance which rows get the same advice. It has a line per answer that changes something and a
    column per raw column that any answer changes, after `row`, the row's own label. A share is signed. A level that
    changes counts 1 (-1 if it falls in its order), and so does a number that becomes known or missing. Rows that change
    the same columns stand together.
    """
    known = firsts(answers)
    moved = known.moved
    share = shares_of(known)
    rows = np.flatnonzero(moved.any(axis=1))
    columns = [int(j) for j in np.argsort(-moved.sum(axis=0), kind="stable") if moved[:, j].any()]
    keys = [share[rows, j] for j in reversed(columns)] + [~moved[rows, j] for j in reversed(columns)]
    rows = rows[np.lexsort(keys)] if columns else rows
    named_row = {"row": [known.labels[i] for i in rows.tolist()]}
    for j in columns:
        name = known.space.names[j]
        named_row[name if name != "row" else f"{name} (column)"] = share[rows, j].tolist()
    return known.framed(named_row)


def shares_of(known: Firsts) -> FloatArray:
    """The signed change of each column in each answer, as a share of its range (rows, features)."""
    gap = known.points - known.start
    out = np.zeros(gap.shape)
    for j, feature in enumerate(known.space):
        own = gap[:, j] / feature.range
        if feature.levels is not None:
            own = np.sign(gap[:, j]) if feature.ordered else np.ones(len(gap))
        out[:, j] = np.where(known.moved[:, j], np.where(np.isnan(gap[:, j]), 1.0, own), 0.0)
    return out
