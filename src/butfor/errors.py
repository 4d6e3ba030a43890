"""Errors that say what was given, what is needed and what to do.

Each inherits from the built-in exception that a caller would catch. An infeasible problem, a spent budget and a search
without a result are outcomes (see `butfor.Status`), never exceptions.
"""

from __future__ import annotations

from numbers import Real
from typing import Any


class ButforError(Exception):
    """Base of every error that butfor raises on purpose."""

    def __init__(self, given: str, needed: str = "", remedy: str = "") -> None:
        self.given, self.needed, self.remedy = given, needed, remedy
        super().__init__(given, needed, remedy)

    def __str__(self) -> str:
        return " ".join(part for part in (self.given, self.needed, self.remedy) if part)


class InputError(ButforError, ValueError):
    """A value that cannot be used. Examples are an unseen category, an empty table, a negative price."""


class InputTypeError(ButforError, TypeError):
    """A value of the wrong type."""


class UnknownColumnError(ButforError, KeyError):
    """A column name that the data does not have."""

    def within(self, constraint: str) -> UnknownColumnError:
        """The same error, about a name in a constraint."""
        return UnknownColumnError(f"{constraint} was given, but {self.given}", self.needed, "Correct the name.")


class NotFittedError(ButforError, ValueError, AttributeError):
    """An estimator that was not fitted."""


class UnsupportedModelError(ButforError, TypeError):
    """An estimator or pipeline step that no importer can read."""


class UnsupportedProblemError(ButforError, ValueError):
    """A combination of model, cost and constraints that no solver takes, or not the named one."""


class FidelityError(ButforError, RuntimeError):
    """The imported model disagrees with the estimator it was read from."""


class MissingExtraError(ButforError, ImportError):
    """An optional package is needed and not installed."""


def number(value: Any, given: str, needed: str) -> float:
    """`value` as a float. If it is not a number, raise an error with the caller's words."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(given, needed)
    try:
        return float(value)
    except OverflowError:  # a whole number of very many digits
        raise InputError(given, needed) from None
