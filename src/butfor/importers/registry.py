"""Who reads what: importers by class, looked up along the estimator's ancestry; no library is imported to ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from butfor.errors import UnsupportedModelError
from butfor.importers.column import Column
from butfor.model.ask import Model
from butfor.model.readout import AbstractReadout

Imported = tuple[Model, AbstractReadout]
ReadModel = Callable[[Any, list[Column]], Imported]
ReadStep = Callable[[Any, list[Column]], list[Column]]
Reader = TypeVar("Reader")

_models: dict[Any, ReadModel] = {}
_steps: dict[Any, ReadStep] = {}
_natives: dict[Any, Callable[[Any], Any]] = {}


def register_importer(estimator_class: type | str, read: ReadModel) -> None:
    """Teach butfor an estimator class of your own.

    `read(estimator, columns)` returns a model (`butfor.model`) and a readout over the columns that reach the estimator.
    The helpers `linear_over` and `trees_over` build models over columns; the fidelity test guards the result.
    """
    _models[estimator_class] = read


def register_step(transformer_class: type | str, read: ReadStep) -> None:
    """Teach butfor a transformer class of your own: `read(transformer, columns)` returns the columns that leave it."""
    _steps[transformer_class] = read


def register_native(model_class: type | str, adapt: Callable[[Any], Any]) -> None:
    """Teach butfor a model without scikit-learn's interface: `adapt(model)` returns an estimator that asks it."""
    _natives[model_class] = adapt


def as_estimator(model: Any) -> Any:
    """A model that has no scikit-learn interface behind one; any other as it is."""
    adapt = _find(model, _natives)
    return model if adapt is None else adapt(model)


def model_reader(estimator: Any) -> ReadModel | None:
    """The importer for an estimator, if there is one."""
    return _find(estimator, _models)


def step_reader(transformer: Any) -> ReadStep:
    """The importer for a pipeline step; a step that is not known is refused by name."""
    found = _find(transformer, _steps)
    if found is None:
        raise UnsupportedModelError(
            f"the pipeline step {type(transformer).__name__} cannot be folded into raw columns.",
            f"Known steps are {', '.join(known_steps())}.",
            "Apply that step to the data before, or teach it with butfor.register_step.",
        )
    return found


def known_steps() -> Sequence[str]:
    """The names of the steps that can be folded."""
    return _names(_steps)


def known_models() -> Sequence[str]:
    """The names of the estimators and boosters that can be read."""
    return _names({*_models, *_natives})


def _names(classes: Iterable[type | str]) -> Sequence[str]:
    names = (name if isinstance(name, str) else name.__name__ for name in classes)
    return sorted(name for name in names if not name.startswith("_"))


def _find(thing: Any, table: dict[Any, Reader]) -> Reader | None:
    load_builtin()
    for ancestor in type(thing).__mro__:
        if ancestor in table:
            return table[ancestor]
        library, name = ancestor.__module__.split(".")[0], ancestor.__name__
        named = name if library == "sklearn" else f"{library}.{name}"
        if named in table:
            return table[named]
    return None


def load_builtin() -> None:
    """Fill the tables with what butfor ships."""
    from butfor.importers import (  # noqa: F401
        catboost_trees,
        lifelines_models,
        lightgbm_trees,
        oblique_trees,
        sklearn_ensembles,
        sklearn_hist_boosting,
        sklearn_linear,
        sklearn_steps,
        sklearn_tree,
        sklearn_wrappers,
        sksurv_models,
        xgboost_trees,
    )
