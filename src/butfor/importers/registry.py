"""Who reads what: importers of estimators and of pipeline steps, by class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import native_names
from butfor.estimator.by_class import ByClass
from butfor.importers.fold.column import Column
from butfor.model.questions import Model
from butfor.model.readout import AbstractReadout

Imported = tuple[Model, AbstractReadout]
ReadModel = Callable[[Any, list[Column]], Imported]
ReadStep = Callable[[Any, list[Column]], list[Column]]

_models: ByClass[ReadModel] = ByClass()
_steps: ByClass[ReadStep] = ByClass()


def register_importer(estimator_class: type | str, read: ReadModel) -> None:
    """Teach butfor an estimator class of your own.

    `read(estimator, columns)` returns a model (`butfor.model`) and a readout over the columns that reach the estimator.
    The helpers `linear_over` and `trees_over` build models over columns; the fidelity test guards the result.
    """
    _models[estimator_class] = read


def register_step(transformer_class: type | str, read: ReadStep) -> None:
    """Teach butfor a transformer class of your own: `read(transformer, columns)` returns the columns that leave it."""
    _steps[transformer_class] = read


def read_model(estimator: Any, columns: list[Column]) -> Imported:
    """The model of any known estimator over `columns`; an unknown one is refused by name."""
    reader = _models.of(estimator)
    if reader is None:
        raise UnsupportedModelError(
            f"no importer reads {type(estimator).__name__}.",
            f"Known are {', '.join(known_models())}.",
            "Teach it with butfor.register_importer, or search given rows with bf.candidates(rows).",
        )
    return reader(estimator, columns)


def read_step(transformer: Any, columns: list[Column]) -> list[Column]:
    """The columns that leave a pipeline step; a step that is not known is refused by name."""
    reader = _steps.of(transformer)
    if reader is None:
        raise UnsupportedModelError(
            f"the pipeline step {type(transformer).__name__} cannot be folded into raw columns.",
            f"Known steps are {', '.join(known_steps())}.",
            "Apply that step to the data before, or teach it with butfor.register_step.",
        )
    return reader(transformer, columns)


def through_steps(pipeline: Any, columns: list[Column]) -> list[Column]:
    """The columns that reach the last step of a pipeline."""
    for _, step in pipeline.steps[:-1]:
        if step is not None and step != "passthrough":
            columns = read_step(step, columns)
    return columns


def remember() -> Callable[[], None]:
    """What is taught by now, as a function that teaches it again, over whatever was registered in between."""
    models, steps = dict(_models), dict(_steps)

    def teach_again() -> None:
        _models.update(models)
        _steps.update(steps)

    return teach_again


def known_steps() -> Sequence[str]:
    """The names of the steps that can be folded."""
    return _public(_steps.names())


def known_models() -> Sequence[str]:
    """The names of the estimators and boosters that can be read."""
    return _public({*_models.names(), *native_names()})


def _public(names: Iterable[str]) -> Sequence[str]:
    return sorted(name for name in names if not name.startswith("_"))
