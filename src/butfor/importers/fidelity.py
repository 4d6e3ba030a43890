"""Check that the model that was read predicts what the estimator predicts.

They are compared on rows of the data. For tests, `probes` makes rows at every cut and one ulp beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import FidelityError
from butfor.estimator.source import Source
from butfor.importers.mismatch import blamed, first_of_each_kind, what_now
from butfor.model.additive import Additive
from butfor.model.bent_tree import BentTree
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model, ModelKind, cuts, evaluate, kind_of
from butfor.model.readout import PROBABILITY_STEPS, AbstractReadout, Value
from butfor.model.rounding import Extent, passed_on, rounding
from butfor.model.scores import UNIT_DOUBLE, Doubt, ScoreSet
from butfor.model.survival.readout import Survival, Wish
from butfor.model.trees import Trees
from butfor.space import frames
from butfor.space.space import Space

SAMPLE = 200
"""How many rows of the data are compared when a model is read."""

SURVIVAL = 1e-9
"""The share by which times to the event may differ. They are sums of hundreds of powers, in another order."""

ROWS_AT_EACH_CUT = 4
"""How many rows are moved onto each cut: the nearest ones, among them those that the cut was made for."""


@dataclass(frozen=True)
class Disagreement:
    """One row on which the model and the estimator differ, and how, in words."""

    row: int
    words: str


def check_fidelity(source: Source, space: Space, model: Model, readout: AbstractReadout, data: Any) -> None:
    """Raise `FidelityError` unless model and estimator agree on a sample of the data."""
    spread = np.linspace(0, frames.height(data) - 1, SAMPLE).astype(np.intp)
    rows = np.unique([*spread, *first_of_each_kind(space, data)])
    compared = frames.take(data, rows)
    found = disagreements(source, space, model, readout, compared)
    if not found:
        _check_other_levels(source, space, model, readout, compared)
        return

    def differ(table: Any) -> set[int]:
        return {one.row for one in disagreements(source, space, model, readout, table)}

    wrong = {one.row for one in found}
    cause = blamed(space, data, rows, wrong, differ)
    raise FidelityError(
        f"the model that was read disagrees with the estimator on {len(wrong)} of {len(rows)} "
        f"rows (row {rows[found[0].row]}: {found[0].words}). {cause.words}",
        "They must agree before anything is explained.",
        " ".join(filter(None, [cause.remedy, what_now(source)])),
    )


def _check_other_levels(source: Source, space: Space, model: Model, readout: AbstractReadout, table: Any) -> None:
    """Raise `FidelityError` unless model and estimator agree on these rows with each level that none of them holds.

    An answer may take such a level. Levels that the estimator refuses are left to it.
    """
    held = space.encode(table)
    for j, feature in enumerate(space.features):
        if feature.levels is None or feature.unread:
            continue
        others = np.setdiff1d(np.arange(len(feature.levels), dtype=np.float64), held[:, j])
        if feature.missing and not np.isnan(held[:, j]).any():
            others = np.append(others, np.nan)
        if not len(others):
            continue
        count = max(len(held), len(others))
        chosen = np.arange(count) % len(held)
        points = _with(held, chosen, j, np.resize(others, count))
        try:
            found = disagreements(source, space, model, readout, space.decode(points, frames.take(table, chosen)))
        except (ValueError, TypeError):
            found = []
        if found:
            first = feature.value(points[found[0].row, j])
            raise FidelityError(
                f"the model that was read disagrees with the estimator on {len({one.row for one in found})} of {count} rows "
                f"with other levels of {feature.name!r} than the data holds (with {first!r}: {found[0].words}).",
                "They must agree before anything is explained.",
                what_now(source),
            )


def disagreements(
    source: Source, space: Space, model: Model, readout: AbstractReadout, table: Any
) -> list[Disagreement]:
    """The rows of `table` on which the model and the estimator differ.

    Values or labels are compared, and probabilities if the readout knows them. A sum may differ in its last digits, so
    differences that depend only on those are not counted. A single tree whose leaves hold the predictions has no sums,
    so it must agree exactly.
    """
    X = space.encode(table)
    scores = evaluate(model, X)
    looked_up = model.looked_up if isinstance(model, Trees) else kind_of(model) is ModelKind.TREE
    added = not looked_up or readout.link != "identity"
    slack = _rounding(model, X, scores, readout.unit) if added else np.zeros(len(X))
    if isinstance(readout, Value):
        sums, off = readout.sums(scores), slack * np.abs(readout.row).sum()
        predicted, ours = source.values(table), readout.predicted(sums)
        found = [
            Disagreement(int(row), f"the estimator predicts {predicted[row]!r}, the model that was read {ours[row]!r}")
            for row in np.flatnonzero(readout.misses(sums, off, predicted))
        ]
        return [*found, *(_survival(source, readout, model, X, off, table) if isinstance(readout, Survival) else ())]
    return [*_labels(source, readout, scores, slack, table), *_probabilities(source, readout, scores, slack, table)]


def _labels(
    source: Source, readout: AbstractReadout, scores: FloatArray, slack: FloatArray, table: Any
) -> Iterator[Disagreement]:
    classes = list(readout.classes)
    for row, (label, choice) in enumerate(zip(source.labels(table), readout.decide(scores), strict=True)):
        if classes[choice] == label:
            continue
        sets = readout.class_sets(classes.index(label)) if slack[row] else ()
        if not any(part.perhaps(scores[[row]], _doubt(part, float(slack[row])))[0] for part in sets):
            yield Disagreement(
                row,
                f"the estimator predicts {label!r}, the model that was read {classes[choice]!r} (scores {scores[row]})",
            )


def _doubt(part: ScoreSet, slack: float) -> Doubt:
    """Each score, and each inequality, is off by at most `slack`."""
    width = len(part.b)
    return Doubt(np.full(width, slack), np.full(part.A.shape[1], slack), np.zeros(width))


def _probabilities(
    source: Source, readout: AbstractReadout, scores: FloatArray, slack: FloatArray, table: Any
) -> Iterator[Disagreement]:
    """Compare the probabilities, and the score sets of targets on probabilities.

    For each class and each quartile p of its probabilities, the score sets for "at least p" must contain exactly the
    rows to which the estimator gives at least p.
    """
    if not hasattr(source.estimator, "predict_proba"):
        return
    given = source.probabilities(table)
    ours = readout.probabilities(scores)
    low, high = readout.probabilities_between(scores, slack) or (given - slack[:, None], given + slack[:, None])
    if ours is not None:
        for row in np.flatnonzero(~((low <= given) & (given <= high)).all(axis=1)):
            yield Disagreement(
                int(row), f"the estimator gives the probabilities {given[row]}, the model that was read {ours[row]}"
            )
    for label in range(given.shape[1]):
        for p in np.unique(np.quantile(given[:, label], (0.25, 0.5, 0.75), method="nearest")):
            try:
                sets = readout.probability_sets(label, float(p))
            except ValueError:
                return
            reached = np.any([np.zeros(len(scores), dtype=np.bool_), *(part.holds(scores) for part in sets)], axis=0)
            doubtful = (low[:, label] <= p) & (p <= high[:, label]) & (low[:, label] < high[:, label])
            wrong = (reached != (given[:, label] >= p)) & ~doubtful
            for row in np.flatnonzero(wrong):
                word = "at least" if reached[row] else "less than"
                yield Disagreement(
                    int(row),
                    f"the estimator gives {readout.classes[label]!r} the probability {given[row, label]!r}, "
                    f"the model that was read {word} {p!r}",
                )


def _survival(
    source: Source, readout: Survival, model: Model, X: FloatArray, off: FloatArray, table: Any
) -> Iterator[Disagreement]:
    """Compare a quantity that can only agree if the survival functions do. The scores may be `off` by that much."""
    if readout.witness is None:
        return
    theirs = readout.witness.of(source.curves(table))
    focused = readout.focus(model, Wish(readout.witness, theirs, up=True))
    scores, moved = evaluate(focused, X), off[:, None] if focused is model else np.zeros((len(X), 1))
    ours, *ends = (readout.value(readout.witness, scores + sign * moved) for sign in (0.0, -1.0, 1.0))
    slack = SURVIVAL * (1 + np.abs(theirs))
    for row in np.flatnonzero(~((np.minimum(*ends) - slack <= theirs) & (theirs <= np.maximum(*ends) + slack))):
        yield Disagreement(
            int(row),
            f"the estimator's {readout.witness!r} is {theirs[row]!r}, that of the model that was read {ours[row]!r}",
        )


def _rounding(model: Model, X: FloatArray, scores: FloatArray, unit: float) -> FloatArray:
    """How much rounding may change the scores of each row. `unit` is the unit roundoff of the estimator.

    It is a share of the size of all terms, for each term of the sum. In oblique trees the sums of the decisions are
    rounded: if one of them may flip, the scores may change by any amount. A network passes its rounding on, sum by sum.
    """
    if isinstance(model, Network):
        return _passed_on(model, X, unit)
    if isinstance(model, Additive):
        known = np.nan_to_num(X)
        ends, none = (known.min(axis=0), known.max(axis=0)), np.zeros(X.shape[1])
        each = Extent(known[:1], *ends, none, none, none > 0)
        return np.full(len(X), 10 * rounding(model, np.eye(model.scores), each, unit).max() + PROBABILITY_STEPS * unit)
    if isinstance(model, ObliqueTree | ObliqueForest):
        gates = evaluate(model.gates, X)
        off = _rounding(model.gates, X, gates, unit)
        turns = np.abs(gates) <= off[:, None]
        if isinstance(model, ObliqueTree):
            return np.where(turns.any(axis=1), np.inf, 0.0)
        added = (10 + len(model.trees)) * 2 * unit * (1 + model.reach.max())
        if model.line is not None:
            added = added + off * np.abs(model.line).sum(axis=1).max()
        return np.where(turns[:, model.decisive].any(axis=1), np.inf, added)
    if isinstance(model, BentTree):
        gates = evaluate(model.gates, X)
        turns = np.abs(gates) <= _rounding(model.gates, X, gates, unit)[:, None]
        return np.where(turns.any(axis=1), np.inf, 0.0)
    if isinstance(model, Mixed):
        parts = (model.trees, model.linear)
        return np.asarray(sum(_rounding(part, X, evaluate(part, X), unit) for part in parts))
    if isinstance(model, LinearLeaves):
        share = (
            10 * (10 + X.shape[1] + len(model.trees.roots)) * 2 * max(unit, float(model.lines.blur.max(initial=0.0)))
        )
        sizes = model.added(X, _sizes(model.lines, X)).max(axis=1)
        return np.asarray(_rounding(model.trees, X, scores, unit) + share * (1 + sizes))
    size, ulps = np.abs(scores).max(axis=1), 10 * (10 + X.shape[1])
    if isinstance(model, Linear):
        size, unit = _sizes(model, X).max(axis=1), max(unit, model.unit, float(model.blur.max(initial=0.0)))
    if isinstance(model, Trees):
        size = evaluate(replace(model, base=np.abs(model.base), value=np.abs(model.value)), X).max(axis=1)
        ulps = 10 + len(model.roots) + model.summed
    return np.asarray(ulps * 2 * unit * (1 + size))


def _passed_on(model: Network, X: FloatArray, unit: float) -> FloatArray:
    """The same for a network: what is derived for a proof, for each row by itself, and the rounding of probabilities."""
    columns, layers = (
        (model.first, model.layers) if model.computed is None else (model.computed.columns, model.computed.layers)
    )
    reached = evaluate(columns, X)
    off = passed_on(layers, reached, reached, _rounding(columns, X, reached, UNIT_DOUBLE)[:, None], unit)
    return np.asarray(off.max(axis=1) + PROBABILITY_STEPS * unit)


def _sizes(model: Linear, X: FloatArray) -> FloatArray:
    """The sums of the sizes of all terms, for each row and score."""
    sizes = replace(
        model,
        intercept=np.abs(model.intercept) + model.cancelled,
        slope=model.added_slope,
        steps=tuple(map(np.abs, model.steps)),
        centre=np.zeros(1),
    )
    return evaluate(sizes, np.abs(X))


def probes(space: Space, model: Model, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Rows on which a wrong importer is likely to fail, made from encoded `rows`.

    - Random rows of the space;
    - copies of rows with each level, and with a missing value in columns that may have one;
    - copies of rows with a number on each cut, one float64 and one float32 beside it, and on the whole numbers around
      it.
    """
    found = [_random_rows(space, rows, rng)]
    for j, feature in enumerate(space.features):
        if feature.missing:
            found.append(
                _with(rows, rng.integers(len(rows), size=ROWS_AT_EACH_CUT), j, np.full(ROWS_AT_EACH_CUT, np.nan))
            )
        if feature.levels is not None:
            codes = np.repeat(np.arange(len(feature.levels), dtype=np.float64), ROWS_AT_EACH_CUT)
            found.append(_with(rows, rng.integers(len(rows), size=len(codes)), j, codes))
            continue
        for cut in cuts(model, j):
            if np.abs(cut) < 3e38:  # float32 can hold this number and its neighbours
                near = np.argsort(np.abs(rows[:, j] - cut))[:ROWS_AT_EACH_CUT]
                beside = _beside(float(cut))
                found.append(_with(rows, np.repeat(near, len(beside)), j, np.tile(beside, len(near))))
    return np.concatenate(found)


def _beside(cut: float) -> FloatArray:
    """A cut, its neighbours in both floating-point types, and the whole numbers around it."""
    single = np.float32(cut)
    return np.unique(
        [
            cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf), np.floor(cut), np.ceil(cut),
            single, np.nextafter(single, np.float32(-np.inf)), np.nextafter(single, np.float32(np.inf)),
        ]
    ).astype(np.float64)  # fmt: skip


def _random_rows(space: Space, rows: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Rows of the data in which about half of the values are replaced by random ones.

    The random values lie in the space or somewhat beyond it.
    """
    out = rows[rng.integers(len(rows), size=SAMPLE)]
    for j, feature in enumerate(space.features):
        if feature.levels is not None:
            fresh = rng.integers(len(feature.levels), size=SAMPLE).astype(np.float64)
        else:
            fresh = rng.uniform(feature.low - 0.1 * feature.range, feature.high + 0.1 * feature.range, SAMPLE)
            fresh = np.round(fresh) if feature.step == 1 else fresh
        if feature.missing:
            fresh[rng.random(SAMPLE) < 0.2] = np.nan
        out[:, j] = np.where(rng.random(SAMPLE) < 0.5, fresh, out[:, j])
    return out


def _with(rows: FloatArray, chosen: IntArray, j: int, values: FloatArray) -> FloatArray:
    """Copies of the chosen rows with other values in column `j`."""
    out = rows[chosen].copy()
    out[:, j] = values
    return out
