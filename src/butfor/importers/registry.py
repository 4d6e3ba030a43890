"""The registry of importers: functions that read estimators and pipeline steps, by class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, UnsupportedModelError
from butfor.estimator.boosters import native_names
from butfor.estimator.by_class import ByClass
from butfor.estimator.inside import is_pipeline
from butfor.estimator.opening import fitted_width
from butfor.importers.fold.column import Column
from butfor.model.questions import Model
from butfor.model.readout import AbstractReadout


class Likeness(Protocol):
    """How much rows are like the data: a number of each, and the border that the detector itself draws."""

    @property
    def border(self) -> float:
        """The number at which the detector separates outliers from the rest."""

    def __init__(self, detector: Any) -> None: ...

    def predict(self, X: Any) -> FloatArray:
        """The number of each row: the larger, the more like the data."""


Imported = tuple[Model, AbstractReadout]
ReadModel = Callable[[Any, list[Column]], Imported]
ReadStep = Callable[[Any, list[Column]], list[Column]]

_models: ByClass[ReadModel] = ByClass()
_steps: ByClass[ReadStep] = ByClass()
_plausible: ByClass[type[Likeness]] = ByClass()


def register_importer(estimator_class: type | str, read: ReadModel) -> None:
    """Teach butfor your own estimator class.

    `read(estimator, columns)` returns a model (`butfor.model`) and a readout over the columns that reach the estimator.
    The helpers `linear_over` and `trees_over` build models over columns. The result is compared with the estimator on
    rows of the data before anything is explained.
    """
    _models[estimator_class] = read


def register_step(transformer_class: type | str, read: ReadStep) -> None:
    """Teach butfor your own transformer class.

    `read(transformer, columns)` returns the columns that leave the transformer.
    """
    _steps[transformer_class] = read


def register_plausibility(detector_class: type | str, of: type[Likeness]) -> None:
    """Teach butfor a detector of outliers. `of(detector)` takes it, or a pipeline that ends in it, for a regressor."""
    _plausible[detector_class] = of


def plausibility_of(detector: Any) -> Likeness:
    """A known detector as a regressor. An unknown one is refused by name."""
    last = detector.steps[-1][1] if is_pipeline(detector) else detector
    of = _plausible.of(last)
    if of is None:
        known = " or ".join(_plausible.names())
        raise InputTypeError(
            f"bf.plausible was given {type(last).__name__}.",
            f"It takes a fitted {known}, or a pipeline that ends in one.",
        )
    return of(detector)


def read_model(estimator: Any, columns: list[Column]) -> Imported:
    """The model of a known estimator over `columns`. An unknown one is refused by name."""
    reader = _models.of(estimator)
    if reader is None:
        raise UnsupportedModelError(
            f"no importer reads {type(estimator).__name__}.",
            f"The known models are {', '.join(known_models())}.",
            "Teach it with bf.teach.register_importer, or search given rows with bf.candidates(rows).",
        )
    fitted_on = fitted_width(estimator)
    if fitted_on not in (None, len(columns)):
        raise InputError(
            f"a {type(estimator).__name__} was fitted on {fitted_on} columns, and gets {len(columns)}.",
            "It predicts nothing then.",
            "Fit the model again together with what comes before it.",
        )
    return reader(estimator, columns)


def read_step(transformer: Any, columns: list[Column]) -> list[Column]:
    """The columns that leave a pipeline step. An unknown step is refused by name."""
    reader = _steps.of(transformer)
    if reader is None:
        raise UnsupportedModelError(
            f"the pipeline step {type(transformer).__name__} cannot be folded into raw columns.",
            f"The known steps are {', '.join(known_steps())}.",
            "Apply this step to the data beforehand, or teach it with bf.teach.register_step.",
        )
    return reader(transformer, columns)


def through_steps(pipeline: Any, columns: list[Column]) -> list[Column]:
    """The columns that reach the last step of a pipeline."""
    for _, step in pipeline.steps[:-1]:
        if step is not None and step != "passthrough":
            columns = read_step(step, columns)
    return columns


def remember() -> Callable[[], None]:
    """A function that registers again what is registered now, over whatever comes in between."""
    models, steps = dict(_models), dict(_steps)

    def teach_again() -> None:
        _models.update(models)
        _steps.update(steps)

    return teach_again


def known_steps() -> Sequence[str]:
    """The names of the steps that can be folded."""
    return _public(_steps.names())


def known_models() -> Sequence[str]:
    """The names of the estimators and boosters that can be read. Detectors of outliers are read for `bf.plausible` only."""
    detectors = {of.__name__ for of in _plausible.values()}
    return _public({*_models.names(), *native_names()} - detectors)


def _public(names: Iterable[str]) -> Sequence[str]:
    return sorted(name for name in names if not name.startswith("_"))
