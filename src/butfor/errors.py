"""Errors that say what was given, what is needed and what to do.

Each inherits from `ButforError` and from the built-in exception that a caller would catch. An infeasible problem, a
spent budget and a search without a result are outcomes (see `bf.Status`), never exceptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from functools import wraps
from inspect import signature
from numbers import Real
from types import FunctionType
from typing import Any, NoReturn, Self, TypeVar

__all__ = [
    "FidelityError",
    "InputError",
    "InputTypeError",
    "LogError",
    "MissingExtraError",
    "NotFittedError",
    "RefutedError",
    "UnknownColumnError",
    "UnsupportedModelError",
    "UnsupportedProblemError",
]


def __dir__() -> list[str]:
    """What a user may want, and no helpers."""
    return sorted(__all__)


Called = TypeVar("Called", bound=Callable[..., Any])


class ButforError(Exception):
    """Base of every error that butfor raises on purpose. Catch it to catch them all.

    `given`, `needed` and `remedy` are the three parts of its message: what was given, what is needed, what to do.
    """

    def __init__(self, given: str, needed: str = "", remedy: str = "") -> None:
        self.given, self.needed, self.remedy = given, needed, remedy
        super().__init__(given, needed, remedy)

    def __str__(self) -> str:
        return " ".join(part for part in (self.given, self.needed, self.remedy) if part)

    def at(self, place: str) -> Self:
        """The same error, about a place in a file."""
        return type(self)(f"{place}: {self.given}", self.needed, self.remedy)


class InputError(ButforError, ValueError):
    """A value that cannot be used. Examples are an unseen category, an empty table, a negative price."""


class InputTypeError(ButforError, TypeError):
    """A value of the wrong type."""


class UnknownColumnError(ButforError, KeyError):
    """A column name that the data does not have."""

    def within(self, constraint: str) -> UnknownColumnError:
        """The same error, about a name in a constraint."""
        return UnknownColumnError(
            f"{constraint} was given, but {self.given}", self.needed, self.remedy or "Correct the name."
        )


class NotFittedError(ButforError, ValueError, AttributeError):
    """An estimator that was not fitted."""


class UnsupportedModelError(ButforError, TypeError):
    """An estimator or pipeline step that no importer can read."""


class UnsupportedProblemError(ButforError, ValueError):
    """A combination of model, cost and constraints that no solver takes, or that the named solver does not take."""


class FidelityError(ButforError, RuntimeError):
    """The model that was read disagrees with the estimator it was read from."""


class RefutedError(ButforError, ArithmeticError):
    """A claim of an answer that a cheaper row refutes. `bf.prove` raises it, and it is a mistake of butfor: report it."""


class LogError(ButforError, OSError):
    """A log of answers that cannot be read or written. An answer that was to be logged is not handed out then."""

    def __init__(self, given: str, needed: str = "", remedy: str = "") -> None:
        super().__init__(given, needed, remedy)
        self.errno, self.strerror, self.filename = None, str(self), None

    def __reduce__(self) -> Any:
        return type(self), (self.given, self.needed, self.remedy)


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


NAMES_LISTED, NAMES_BESIDE = 20, 8
"""How many names an error lists; and how many if it suggests one of them."""

ALIKE, SHORT_ALIKE, NEARLY_AS_ALIKE = 0.6, 0.5, 0.15
"""From which likeness on a name is suggested, also of short ones; and how much less alike than the first others may be."""

SHORT = 3
"""Up to how many letters a name is short: a likeness of half of them is much."""

SYNONYMS = {
    "n": ("k", "count"), "num": ("k", "count"), "total_CFs": ("k",), "timeout": ("time_limit",),
    "random_state": ("seed",), "threads": ("n_jobs",), "workers": ("n_jobs",), "rows": ("X", "row"), "data": ("X", "row"),
    "x": ("X", "row"), "min": ("low", "at_least"), "max": ("high", "at_most", "most"), "lower": ("low", "at_least"),
    "upper": ("high", "at_most"), "lang": ("language",), "freeze": ("fixed",), "immutable": ("fixed",),
    "increasing": ("only_up",), "decreasing": ("only_down",), "range": ("between",), "sparse": ("at_most_changes",),
    "if_then": ("implies",), "regression": ("value",), "title": ("label",), "outcome": ("target",), "wanted": ("target",),
    "desired_class": ("target",), "features_to_vary": ("constraints",), "distance": ("cost",),
}  # fmt: skip
"""What other libraries and readers call some arguments and functions."""


def likeness(given: str, known: str) -> float:
    """How much two names are alike, from 0 to 1. Only letters and digits count."""
    a, b = ("".join(filter(str.isalnum, name.lower())) for name in (given, known))
    inside = min(len(a), len(b)) >= SHORT and (a in b or b in a)
    return max(SequenceMatcher(None, a, b).ratio(), 0.8 * inside)


def suggested(given: Any, known: Iterable[Any]) -> list[Any]:
    """The known names that the given one may have meant, the likeliest first."""
    names = list(known)
    meant = [name for name in names if name in SYNONYMS.get(str(given), ())]
    if meant:
        return meant
    enough = SHORT_ALIKE if len(str(given)) <= SHORT else ALIKE
    like = sorted(((likeness(str(given), str(name)), -k) for k, name in enumerate(names)), reverse=True)
    return [names[-k] for value, k in like[:3] if value >= max(enough, like[0][0] - NEARLY_AS_ALIKE)]


def did_you_mean(given: Any, known: Iterable[Any]) -> str:
    """A question for an error: what an unknown name may have meant. Empty if nothing is like it."""
    near = list(map(repr, suggested(given, known)))
    return f"Did you mean {', '.join(near[:-1]) + ' or ' * (len(near) > 1) + near[-1]}?" if near else ""


def choice(intro: str, given: Any, known: Iterable[Any], show: Callable[[Any], str] = str) -> tuple[str, str]:
    """What is needed and what to do, for an error about a name that is not `known`.

    These are the names, if they are not too many; otherwise some of them, the likeliest first.

    >>> choice("The columns are", "agee", ["sex", "age"])
    ('The columns are sex, age.', "Did you mean 'age'?")
    """
    names = list(known)
    near = suggested(given, names)
    most = NAMES_BESIDE if near else NAMES_LISTED
    shown = names if len(names) <= most else [*near, *(name for name in names if name not in near)][:most]
    more = len(names) - len(shown)
    others = f" and {more} {'other' if more == 1 else 'others'}" if more else ""
    return f"{intro} {', '.join(map(show, shown))}{others}.", did_you_mean(given, names)


def suggests(thing: Called) -> Called:
    """A function, or a class with its public methods, of which a call with wrong arguments tells the right ones."""
    if isinstance(thing, type):
        for name, member in list(vars(thing).items()):
            if isinstance(member, FunctionType) and (name == "__init__" or not name.startswith("_")):
                setattr(thing, name, suggests(member))
        return thing

    @wraps(thing)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return thing(*args, **named)
        except TypeError:
            wrong = _wrong_call(thing, args, named)
            if wrong is None:  # the call was right, and the error is about something else
                raise
        raise wrong

    return call  # type: ignore[return-value]


def _wrong_call(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> InputTypeError | None:
    """The error about arguments that a function does not have or lacks; None if they fit."""
    own = signature(function)
    try:
        own.bind(*args, **named)
    except TypeError as error:
        known = {name: one.replace(annotation=one.empty, default=one.empty) for name, one in own.parameters.items()}
        name = function.__name__ if known.pop("self", None) is None else type(args[0]).__name__
        name += f".{function.__name__}" * (name != function.__name__ != "__init__")
        needed = f"Its arguments are {', '.join(map(str, known.values()))}."
        unknown = next((key for key in named if key not in known), None)
        if unknown is None:
            return InputTypeError(f"{name}(...) cannot be called like this: {error}.", needed)
        return InputTypeError(f"{name}(...) has no argument {unknown!r}.", needed, did_you_mean(unknown, known))
    return None


def no_attribute(package: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error about a name that a package does not have."""
    missing = f"module {package!r} has no attribute {name!r}"
    meant = "" if name.startswith("_") else did_you_mean(name, known)  # Python itself asks for names with underscores
    return AttributeError(f"{missing}. {meant}" if meant else missing)


def __getattr__(name: str) -> NoReturn:
    """What is not there: which name may be meant."""
    raise no_attribute(__name__, name, __all__)
