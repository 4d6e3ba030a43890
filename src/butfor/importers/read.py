"""Read an estimator and its data into a space, a model and a readout.

The fold is started again whenever a step of the pipeline needs a column as levels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from butfor.errors import FidelityError, InputError, UnsupportedModelError
from butfor.estimator.inside import is_pipeline, wrapped
from butfor.estimator.opening import open_source
from butfor.estimator.source import Source
from butfor.importers.builtin import load_builtin
from butfor.importers.fidelity import check_fidelity
from butfor.importers.fold.column import Column, NeedsLevels, raw_columns
from butfor.importers.missing_values import with_missing
from butfor.importers.registry import plausibility_of, read_model, through_steps
from butfor.log import LOG
from butfor.model.black_box import BlackBox
from butfor.model.computed import OverComputed
from butfor.model.fingerprint import fingerprint
from butfor.model.median import Median
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.projections import over_features
from butfor.model.questions import Model, kind_of, widen
from butfor.model.readout import AbstractReadout, Argmax, Value
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.model.survival.readout import Survival
from butfor.space import frames, short_types
from butfor.space.encodings import Encoding
from butfor.space.feature import Feature, Override, unread
from butfor.space.infer import Declaration, declared, describe_data, held, infer
from butfor.space.space import Space, encode_column

OnMismatch = Literal["raise", "search"]
"""What to do with a model that predicts something else than its estimator: raise an error, or take it for a black box."""


@dataclass(frozen=True, eq=False)
class Reading:
    """All that was read of an estimator.

    - `source`: the estimator itself;
    - `space`: its columns;
    - `model`: butfor's own form of it;
    - `readout`: how its scores are read;
    - `sample`: one row of the data;
    - `data`: the rows on which it was read;
    - `unit`: the unit roundoff of its scores;
    - `known`: the same with other columns held to the rules, once they were asked for.
    """

    source: Source
    space: Space
    model: Model
    readout: AbstractReadout
    sample: Any
    data: Any
    unit: float = UNIT_DOUBLE
    known: dict[str, Reading] = field(default_factory=dict, repr=False)

    def held(self, name: str) -> Reading:
        """The same, with a column that nothing reads held to the rules of all others: a question names it."""
        if name not in self.known:
            features = list(self.space.features)
            j = self.space.position(name)
            features[j] = held(features[j], self.data)
            model = _widened(self.model, features)
            self.known[name] = replace(self, space=Space(tuple(features)), model=model, known={})
        return self.known[name]

    def held_as_in(self, space: Space) -> Reading:
        """The same, with those columns held to the rules that are held in a space of the same columns."""
        reading = self
        for own, other in zip(self.space, space, strict=True):
            if own.unread and not other.unread:
                reading = reading.held(own.name)
        return reading

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the model computes."""
        return fingerprint(self.model, self.readout.classes)


def read(
    estimator: Any,
    data: Any,
    overrides: Mapping[str, Declaration] | None = None,
    on_mismatch: OnMismatch = "raise",
) -> Reading:
    """Read an estimator. If the model or a step is not known, it becomes a black box that says why.

    With `on_mismatch="search"`, so does a model that predicts something else than the estimator.
    """
    if on_mismatch not in get_args(OnMismatch):
        raise InputError(f"on_mismatch={on_mismatch!r} was given.", "It must be 'raise' or 'search'.")
    load_builtin()
    data = frames.as_table(data)
    if frames.height(data) == 0:
        raise InputError("the data has no rows.", "Training rows are needed to know what values a column takes.")
    source = open_source(estimator, data)
    overrides = declared(overrides)
    given = frames.names(data)
    meant = {
        name: override
        for name, override in overrides.items()
        if name in source.names or name not in given or isinstance(override, Encoding)
    }
    space = _over(
        source, infer(frames.select(data, [name for name in source.names if name in given]), meant, source.dropped)
    )
    wishes: list[Any] = []
    while True:
        try:
            reading = _folded(source, space, data, on_mismatch)
            _log(reading)
            return reading
        except NeedsLevels as wish:
            told = wish.levels, [space.features[j].levels for j in wish.levels]
            if told in wishes:
                names = [space.names[j] for j in wish.levels]
                raise InputError(
                    f"two encoders in the pipeline know different categories of the columns {names}.",
                    "They must know the same.",
                    "Fit with handle_unknown='ignore'.",
                ) from None
            wishes.append(told)
            space = _with_levels(space, wish.levels, wish.ordered, data, overrides)


def _over(source: Source, space: Space) -> Space:
    """The space of the columns that the data has, with those that the model drops and the data lacks."""
    lacking = [name for name in source.names if name not in space.columns]
    if not lacking:
        return space
    place = {name: at for at, name in enumerate(source.names)}
    features = [
        one
        if one.dummies is None
        else replace(one, dummies=replace(one.dummies, at=tuple(map(place.__getitem__, one.columns))))
        for one in (*space.features, *(unread(Feature(name)) for name in lacking))
    ]
    return Space(tuple(sorted(features, key=lambda one: min(place[column] for column in one.columns))))


def _widened(model: Model, features: Sequence[Feature]) -> Model:
    """The same model over all of these features."""
    return widen(model, tuple(len(feature.levels or ()) for feature in features))


def _log(reading: Reading) -> None:
    """Log what was read."""
    kind, model = type(reading.source.estimator).__name__, reading.model
    if isinstance(model, BlackBox):
        LOG.info("read a %s of %d columns as a black box: %s", kind, len(reading.space), model.why)
    else:
        LOG.info("read a %s of %d columns as a %s model", kind, len(reading.space), kind_of(model))
    for feature in reading.space:
        LOG.debug("column %r: %s, %s (%s)", feature.name, feature.kind, feature.describe(), feature.why)


def read_onto(estimator: Any, space: Space, rows: Any) -> Reading:
    """Read an estimator over a known space, for example that of an answer. No training data is needed.

    The model and the estimator are compared on `rows`. There must be at least one, in the kind of table that the
    estimator is called with.
    """
    load_builtin()
    source = open_source(estimator, rows)
    if source.names != space.columns:
        raise InputError(f"the model reads the columns {list(source.names)}.", f"The space has {list(space.columns)}.")
    if reads := [name for name in space.unread if name not in source.dropped]:
        raise InputError(f"the model reads the columns {reads}.", "The model of the answers drops them.")
    try:
        return _folded(source, space, rows)
    except NeedsLevels as wish:
        names = [space.names[j] for j in wish.levels]
        raise InputError(
            f"the model has other categories than the answer in the columns {names}.", "They must be the same."
        ) from None


def read_plausibility(detector: Any, space: Space, rows: Any) -> tuple[Reading, float]:
    """What a detector of outliers says over a space, and the detector's own border."""
    load_builtin()
    plausibility = plausibility_of(detector)
    return read_onto(plausibility, space, rows), plausibility.border


def _folded(source: Source, space: Space, data: Any, on_mismatch: OnMismatch = "raise") -> Reading:
    """The reading over this space. Raises `NeedsLevels` if a step needs other levels."""
    sample = frames.take(data, [0])
    lost = _lost_levels(source, space, sample)
    kinds = short_types.short_names(data), short_types.half_names(data), short_types.widened_names(data)
    columns = raw_columns(space.features, *kinds, lost)
    try:
        seen = _estimator_columns(source.estimator, columns)
        model, readout = _over_features(*read_model(source.estimator, columns), columns)
        never = _never_missing(space, columns)
    except NeedsLevels as wish:
        if max(wish.levels) < len(space):
            raise
        refusal = UnsupportedModelError("sums of columns, as PCA makes them, reach an encoder of levels.")
        return _unread(source, space, refusal, sample, data)
    except UnsupportedModelError as refusal:
        return _unread(source, space, refusal, sample, data)
    model = _widened(model, space.features)
    space = with_missing(source, space, seen, sample, never)
    readout = readout.rounded(_unit(source, space, model, readout, sample))
    try:
        check_fidelity(source, space, model, readout, data)
    except FidelityError as mismatch:
        if on_mismatch == "raise":
            raise
        return Reading(source, space, BlackBox(mismatch.given, mismatched=True), _blank(source), sample, data)
    return Reading(source, space, model, readout, sample, data, readout.unit)


def _never_missing(space: Space, columns: list[Column]) -> Collection[int]:
    """The features that must not be missing, as a step treats missing values as no formula says. The data must have none."""
    never = columns[0].never_missing or set()
    lacking = [space.names[j] for j in sorted(never) if space.features[j].missing]
    if lacking:
        raise UnsupportedModelError(
            f"a step does more than calculate: it treats the missing values of {lacking[0]!r} otherwise.",
            "What it computes must follow from its formula alone.",
            "Fill them in a step before it, such as SimpleImputer, or let the swarm search.",
        )
    return never


def _unread(source: Source, space: Space, refusal: UnsupportedModelError, sample: Any, data: Any) -> Reading:
    """The reading as a black box."""
    source = replace(source, unread=True)
    return Reading(source, space, BlackBox(str(refusal)), _blank(source), sample, data)


def _over_features(model: Model, readout: AbstractReadout, columns: list[Column]) -> tuple[Model, AbstractReadout]:
    """The model with the sums of columns put in that its steps have made."""
    projections = columns[0].projections
    if projections is None or not projections.lines:
        return model, readout
    out = over_features(model, projections)
    tilted = isinstance(out, ObliqueTree | ObliqueForest)
    if (tilted and isinstance(readout, Survival)) or (
        isinstance(out, OverComputed) and isinstance(readout, Median | Survival)
    ):
        raise UnsupportedModelError(
            "a model of survival, or a median of models, reads sums of columns, as PCA makes them.",
            "It must read columns one by one.",
            "Let the swarm search: it needs only predictions.",
        )
    return out, readout


def _lost_levels(source: Source, space: Space, sample: Any) -> dict[str, Any]:
    """What the estimator gets in place of a missing text, and of other levels whose data holds None. Steps tell it from NaN."""
    doubtful = [j for j, feature in enumerate(space.features) if _may_hold_none(feature)]
    if not doubtful:
        return {}
    open_to = Space(tuple(replace(feature, missing=True) for feature in space.features))
    point = open_to.encode(sample)
    point[:, doubtful] = np.nan
    given = source.inputs(open_to.decode(point, sample))
    at = frames.positions(given)
    names = {name: frames.marker(given, name, at[name]) for name in (space.names[j] for j in doubtful)}
    return {name: found for name, found in names.items() if found is None or isinstance(found, float)}


def _may_hold_none(feature: Feature) -> bool:
    return feature.dummies is None and (
        (feature.none and feature.levels is not None) or any(isinstance(level, str) for level in feature.levels or ())
    )


def _unit(source: Source, space: Space, model: Model, readout: AbstractReadout, sample: Any) -> float:
    """The unit roundoff of the scores: that of the coarsest estimator inside, whatever stands around it.

    An importer knows in which type its library adds up, and what holds a model passes that on in its readout. Other
    estimators compute in float32 if they get float32 columns. So they are asked, member by member.
    """
    single = source.precision(sample) == np.float32 or (
        any(feature.single for feature in space.features) and source.hides_single(sample)
    )
    own = model.unit if isinstance(model, Network) else UNIT_DOUBLE
    return max(own, readout.unit, UNIT_SINGLE if single else UNIT_DOUBLE)


def _estimator_columns(estimator: Any, columns: list[Column]) -> list[Column]:
    """The columns that reach the last estimator. They show what happens to a missing value on the way."""
    if not is_pipeline(estimator):
        inner = wrapped(estimator)
        return columns if inner is None else _estimator_columns(inner, columns)
    return _estimator_columns(estimator.steps[-1][1], through_steps(estimator, columns))


def _with_levels(
    space: Space, wanted: dict[int, tuple[Any, ...]], ordered: bool, data: Any, overrides: Mapping[str, Declaration]
) -> Space:
    features = list(space.features)
    for j, levels in wanted.items():
        old = features[j]
        if old.dummies is not None:
            raise InputError(
                f"the pipeline encodes {old.columns[0]!r}, one of the dummies of {old.name!r}, with other values than 0 and 1.",
                "Dummies hold nothing else.",
                f"Write bf.Explainer(..., space={{{old.name!r}: None}}).",
            )
        levels = _with_seen(levels, old, data)
        declaration = overrides.get(old.name)
        if isinstance(declaration, Override) and old.levels is None:
            raise InputError(
                f"column {old.name!r} was declared {declaration.kind}, but the pipeline encodes it as categories.",
                "",
                "Declare it bf.Categorical or bf.Ordinal, or leave it out of space.",
            )
        gone = [level for level in old.levels or () if level not in levels]
        if gone and old.why != "given":
            _check_unused(old, gone, levels, data)
        elif old.ordered and old.levels is not None and not ordered:
            levels = (*old.levels, *(v for v in levels if v not in old.levels))
        why = "the categories of the pipeline's encoder" + (", in the order given to it" if ordered else "")
        fresh = replace(
            old, levels=levels, ordered=ordered or (old.levels is not None and old.ordered), step=0.0, why=why
        )
        features[j] = describe_data(fresh, data, frames.positions(data))
    return Space(tuple(features))


def _check_unused(feature: Feature, gone: list[Any], known: tuple[Any, ...], data: Any) -> None:
    """Refuse data with a value that an encoder of the pipeline does not know."""
    held = frames.values(data, feature.name, frames.names(data).index(feature.name))
    unknown = [level for level in gone if level in held]
    if unknown or len(gone) == len(feature.levels or ()):
        raise InputError(
            f"the pipeline's encoder does not know {(unknown or gone)[0]!r}, which column {feature.name!r} holds.",
            f"It knows {list(known[:8])}.",
            "Give the data the model was fitted on, or fit with handle_unknown='ignore'.",
        )


def _with_seen(levels: tuple[Any, ...], feature: Feature, data: Any) -> tuple[Any, ...]:
    """The levels, and the numbers of the data that are not among them. An encoder may take those, too."""
    if levels and (feature.levels is not None or any(isinstance(level, str) for level in levels)):
        return levels
    return (*levels, *(value for value in _seen(feature, data) if value not in levels))


def _seen(feature: Feature, data: Any) -> tuple[Any, ...]:
    """The numbers that the data holds, as levels."""
    column = encode_column(replace(feature, missing=True), data, frames.positions(data))
    values = np.unique(column[~np.isnan(column)])
    return tuple(int(v) if v == int(v) else v for v in values.tolist())


def _blank(source: Source) -> AbstractReadout:
    return Argmax(source.classes, "none") if source.classes else Value()
