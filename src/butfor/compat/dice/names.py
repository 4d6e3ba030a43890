"""Where DiCE keeps its names, so that `import dice_ml` and its modules find ours."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

from butfor.errors import UnsupportedProblemError
from butfor.experimental import experimental

THEIRS = "dice_ml"
"""What DiCE's package is called."""

HOMES = {
    "constants": ("constants", ("BackEndTypes", "SamplingStrategy", "ModelTypes")),
    "counterfactual_explanations": ("explanations", ("CounterfactualExplanations",)),
    "diverse_counterfactuals": ("examples", ("CounterfactualExamples",)),
    "data": ("data", ("Data",)),
    "dice": ("explainer", ("Dice",)),
    "model": ("model", ("Model",)),
    "data_interfaces.base_data_interface": ("data", ("_BaseData=BaseData",)),
    "data_interfaces.public_data_interface": ("data", ("PublicData",)),
    "data_interfaces.private_data_interface": ("data", ("PrivateData",)),
    "explainer_interfaces.explainer_base": ("explainer", ("ExplainerBase",)),
    "explainer_interfaces.dice_random": ("explainer", ("DiceRandom",)),
    "explainer_interfaces.dice_genetic": ("explainer", ("DiceGenetic",)),
    "explainer_interfaces.dice_KD": ("explainer", ("DiceKD",)),
    "explainer_interfaces.dice_pytorch": ("explainer", ("DicePyTorch=DiceGradient",)),
    "explainer_interfaces.dice_tensorflow2": ("explainer", ("DiceTensorFlow2=DiceGradient",)),
    "model_interfaces.base_model": ("model", ("BaseModel=Model",)),
    "utils.exception": ("exceptions", ("SystemException",)),
    "utils.helpers": ("model", ("DataTransfomer=Transformer",)),
}
"""A module of DiCE's -> a module of ours, and its names. "theirs=ours" where they differ."""

ROOT = ("Data", "Model", "Dice")
"""The names of the package itself."""

_made: dict[str, ModuleType] = {}
"""The modules that were made."""


@experimental
def install() -> None:
    """Make `import dice_ml` mean butfor, in this process.

    Choose it to run scripts of DiCE unchanged: call it before they are imported. It also provides
    `raiutils.exceptions.UserConfigValidationException`, which scripts catch, if that package is not there. It is an error
    if DiCE itself was imported before.

    >>> install()
    >>> import dice_ml
    >>> dice_ml.Dice.__module__
    'butfor.compat.dice.explainer'
    """
    there = sys.modules.get(THEIRS)
    if there is not None and there is not _made.get(THEIRS):
        raise UnsupportedProblemError(
            "install() was called after DiCE was imported.",
            "Names that were imported before would still be DiCE's.",
            "Call it first: in the first line of the script.",
        )
    for name, module in _modules().items():
        sys.modules[name] = module
    if "raiutils" not in sys.modules and find_spec("raiutils") is None:
        holder, exceptions = _package("raiutils"), ModuleType("raiutils.exceptions")
        exceptions.UserConfigValidationException = _ours("exceptions", "UserConfigValidationException")  # type: ignore[attr-defined]
        holder.exceptions = exceptions  # type: ignore[attr-defined]
        sys.modules |= {"raiutils": holder, "raiutils.exceptions": exceptions}


def module_of(name: str) -> Any:
    """A module of DiCE's, as an attribute of our package."""
    root = _modules()[THEIRS]
    if name.startswith("__") or not isinstance(vars(root).get(name), ModuleType):
        raise AttributeError(f"module 'butfor.compat.dice' has no attribute {name!r}")
    return vars(root)[name]


def _modules() -> dict[str, ModuleType]:
    """DiCE's modules with our classes in them, made once."""
    if not _made:
        root = _made[THEIRS] = _package(THEIRS)
        vars(root).update({name: _ours(HOMES[name.lower()][0], name) for name in ROOT})
        for path, (home, names) in HOMES.items():
            above, *inner = path.split(".")
            if inner:
                _made.setdefault(f"{THEIRS}.{above}", _package(f"{THEIRS}.{above}"))
                setattr(root, above, _made[f"{THEIRS}.{above}"])
            module = _made[f"{THEIRS}.{path}"] = _with_words(ModuleType(f"{THEIRS}.{path}"))
            setattr(_made[f"{THEIRS}.{above}"] if inner else root, path.split(".")[-1], module)
            for one in names:
                theirs, _, ours = one.partition("=")
                setattr(module, theirs, _ours(home, ours or theirs))
    return _made


def _ours(home: str, name: str) -> Any:
    return getattr(import_module(f"butfor.compat.dice.{home}"), name)


def _package(name: str) -> ModuleType:
    made = _with_words(ModuleType(name))
    made.__path__ = []
    return made


def _with_words(module: ModuleType) -> ModuleType:
    """A module that says what to do about a name that it does not have."""

    def absent(name: str) -> NoReturn:
        raise AttributeError(
            f"{module.__name__} has no {name!r} in butfor. "
            "Its data sets, encoders and searches are DiCE's own: take them from DiCE, or load the data yourself."
        )

    module.__getattr__ = absent  # type: ignore[method-assign]
    return module
