"""DiCE's objects (`dice_ml`), with its names and our answers.

`install()` makes `import dice_ml` mean this package, so a script runs unchanged. Or a script changes one line:
`from butfor.compat import dice as dice_ml`. DiCE is the library of Mothilal, Sharma and Tan, FAT* 2020.
"""

from __future__ import annotations

from typing import Any

from butfor.compat.dice.data import Data
from butfor.compat.dice.examples import CounterfactualExamples
from butfor.compat.dice.exceptions import UserConfigValidationException
from butfor.compat.dice.explainer import Dice
from butfor.compat.dice.explanations import CounterfactualExplanations
from butfor.compat.dice.model import Model
from butfor.compat.dice.names import install, module_of

__all__ = [
    "CounterfactualExamples",
    "CounterfactualExplanations",
    "Data",
    "Dice",
    "Model",
    "UserConfigValidationException",
    "install",
]


def __getattr__(name: str) -> Any:
    """The modules of DiCE, such as `dice_ml.utils.exception`."""
    return module_of(name)
