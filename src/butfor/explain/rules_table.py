"""The tables of a file of rules, each read by its names."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any

from butfor.errors import InputError, InputTypeError, choice, number
from butfor.explanation.column_words import ColumnWords, Words, column_from
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.costs import DEFAULT, AbstractCost
from butfor.problem.targets.names import classes
from butfor.problem.targets.safer import safety_of
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.targets.written import NAMES_OF_TARGETS, read_target
from butfor.problem.written.constraints import listed
from butfor.problem.written.costs import read_cost, weighted
from butfor.space import feature
from butfor.space.infer import Declaration

NAMES_OF_RULES = ("target", "cost", "constraints", "safety", "columns", "prediction")
OF_WORDS = tuple(one.name for one in fields(ColumnWords))
DIRECTIONS = {"up": rule.only_up, "down": rule.only_down}
KINDS_OF_COLUMNS: dict[str, tuple[Callable[..., Declaration], tuple[str, ...]]] = {
    "continuous": (feature.Continuous, ("low", "high")),
    "integer": (feature.Integer, ("low", "high")),
    "step": (feature.Step, ("step", "low", "high")),
    "ordinal": (feature.Ordinal, ("levels",)),
    "categorical": (feature.Categorical, ("levels",)),
}
"""For each kind of column, how it is declared, and the names that belong to it."""

OF_COLUMNS = (*OF_WORDS, "frozen", "direction", "range", "step", "price", "kind", "low", "high", "values")

Columns = dict[str, dict[str, Any]]
At = Callable[..., AbstractContextManager[None]]


def read_toml(text: str, name: str) -> dict[str, Any]:
    """The data in the text of a file."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise InputError(f"{name} is not TOML: {error}.", "", 'Texts stand in quotes: target = "approved".') from None


@dataclass(frozen=True)
class RulesTable:
    """The data of a file of rules. `at` makes errors begin with a place in the file."""

    data: Mapping[str, Any]
    at: At

    def __post_init__(self) -> None:
        unknown = [name for name in self.data if name not in NAMES_OF_RULES]
        if unknown:
            with self.at(str(unknown[0])):
                raise InputError(f"{unknown[0]!r} is not known.", *choice("The names are", unknown[0], NAMES_OF_RULES))
        for name, table in self._columns().items():
            for key in table:
                if key not in OF_COLUMNS:
                    with self.at(f"columns.{name}", key):
                        raise _misplaced(f"[columns.{name}]", key, OF_COLUMNS)

    def target(self) -> Any:
        """The target: a class, a list of classes, or a table of names and values."""
        given = self.data.get("target")
        if isinstance(given, AbstractTarget | None):
            return given
        if not isinstance(given, Mapping):
            with self.at("target"):
                return _of_labels(given)
        stray = [key for key in given if key not in NAMES_OF_TARGETS]
        with self.at("target", *stray[:1]):
            if stray:
                raise _misplaced("[target]", stray[0], NAMES_OF_TARGETS)
            return read_target(given, lambda name: f"{name} in [target]")

    def safety(self) -> float | None:
        """By how much more than the target is asked for."""
        given = self.data.get("safety")
        if given is None:
            return None
        with self.at("safety"):
            return safety_of(given)

    def cost(self) -> AbstractCost | None:
        """The cost, with the prices of the columns."""
        given, prices = self.data.get("cost"), dict[str, float]()
        for name, table in self._columns().items():
            if "price" in table:
                with self.at(f"columns.{name}", "price"):
                    told = (
                        f"the price {table['price']!r} was given for {name!r}.",
                        "It must be a number of at least 0.",
                    )
                    prices[name] = number(table["price"], *told)
                    if not 0 <= prices[name] < float("inf"):
                        raise InputError(*told)
        with self.at("cost" if given is not None else "price"):
            if not isinstance(given, str | AbstractCost | None):
                raise InputTypeError(f"cost = {given!r} was given.", 'A text is needed, such as "L1+0.5*L0".')
            cost = read_cost(given) if isinstance(given, str) else given
            return weighted(cost or DEFAULT, prices) if prices else cost

    def constraints(self) -> tuple[tuple[AbstractConstraint | str, ...], tuple[tuple[str, ...], ...]]:
        """The constraints of columns and the others; and the words at which each stands."""
        found, places = list[AbstractConstraint | str](), list[tuple[str, ...]]()
        for name, table in self._columns().items():
            for key, made in OF_ONE_COLUMN.items():
                if key in table and not (key == "step" and "kind" in table):
                    with self.at(f"columns.{name}", key):
                        found += made(name, table[key])
                    places += [(f"columns.{name}", key)] * (len(found) - len(places))
        with self.at("constraints"):
            others = listed(self.data.get("constraints", ()))
        return (*found, *others), (*places, *(("constraints", one if isinstance(one, str) else "") for one in others))

    def space(self) -> dict[str, Declaration]:
        """What is declared of columns."""
        found = dict[str, Declaration]()
        for name, table in self._columns().items():
            own = [key for key in ("kind", "low", "high", "values") if key in table]
            if own:
                with self.at(f"columns.{name}", own[0]):
                    found[name] = _declared(name, table)
        return found

    def words(self) -> Words | None:
        """The words for columns and predictions; None if there are none."""
        told = dict[str, ColumnWords]()
        for name, table in self._columns().items():
            own = {key: value for key, value in table.items() if key in OF_WORDS}
            if own:
                with self.at(f"columns.{name}", *own):
                    told[name] = column_from("the file", f"columns.{name}", own)
        given = self.data.get("prediction")
        with self.at("prediction"):
            prediction = (
                given if isinstance(given, ColumnWords | None) else column_from("the file", "prediction", given)
            )
        return Words(told, prediction) if told or prediction else None

    def _columns(self) -> Columns:
        """The table of each column. A text alone is its label."""
        given = self.data.get("columns", {})
        with self.at("columns"):
            if not isinstance(given, Mapping):
                raise InputTypeError(f"columns = {given!r} was given.", "Write a table [columns.NAME] for each column.")
            for name, table in given.items():
                if not isinstance(table, Mapping | str):
                    raise InputTypeError(f"{name} = {table!r} was given in [columns].", f"Write [columns.{name}].")
        return {str(name): {"label": table} if isinstance(table, str) else dict(table) for name, table in given.items()}


def _misplaced(table: str, key: str, known: tuple[str, ...]) -> InputError:
    """The error about a name that a table does not have. It may have slipped below the wrong heading."""
    if key in NAMES_OF_RULES:
        return InputError(
            f"{key!r} stands in {table}.",
            "In TOML, what stands below a table belongs to it.",
            f"Write {key} above the first table.",
        )
    return InputError(f"{key!r} is not known in {table}.", *choice("The names are", key, known))


def _of_labels(given: Any) -> AbstractTarget | str:
    """The target that is written as a class, a list of classes, or "other". What that means depends on the classes."""
    if given == "other":
        return "other"
    return classes(*given) if isinstance(given, list | tuple) else classes(given)


def _declared(name: str, table: Mapping[str, Any]) -> Declaration:
    """The declaration of a column, of the names that belong to its kind."""
    if "kind" not in table:
        raise InputError(
            f"{name!r} has an end or values, and no kind.",
            f"Say what it holds with kind = {' or '.join(map(repr, KINDS_OF_COLUMNS))}.",
            "To limit what an answer may be, write range = [low, high].",
        )
    kind = table["kind"]
    if not isinstance(kind, str) or kind not in KINDS_OF_COLUMNS:
        raise InputError(f"kind = {kind!r} was given for {name!r}.", *choice("The kinds are", kind, KINDS_OF_COLUMNS))
    make, names = KINDS_OF_COLUMNS[kind]
    given = {key: table[key] for key in ("low", "high", "step", "values") if key in table}
    if "values" in given:
        given["levels"] = given.pop("values")
    stray = [key for key in given if key not in names]
    lacking = [key for key in ("step", "levels") if key in names and key not in given]
    if stray or lacking:
        told = "values" if (stray or lacking)[0] == "levels" else (stray or lacking)[0]
        raise InputError(
            f"kind = {kind!r} was given for {name!r} {'with' if stray else 'without'} {told}.",
            "It does not take that." if stray else f"It needs {told}.",
        )
    return make(**given)


def _frozen(name: str, given: Any) -> list[AbstractConstraint]:
    if not isinstance(given, bool):
        raise InputTypeError(f"frozen = {given!r} was given for {name!r}.", "It must be true or false.")
    return [rule.fixed(name)] if given else []


def _direction(name: str, given: Any) -> list[AbstractConstraint]:
    if not isinstance(given, str) or given not in DIRECTIONS:
        raise InputError(f"direction = {given!r} was given for {name!r}.", 'It must be "up" or "down".')
    return [DIRECTIONS[given](name)]


def _range(name: str, given: Any) -> list[AbstractConstraint]:
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise InputError(f"range = {given!r} was given for {name!r}.", "It takes two ends, such as [18, 65].")
    return [rule.between(name, *given)]


OF_ONE_COLUMN: dict[str, Callable[[str, Any], list[AbstractConstraint]]] = {
    "frozen": _frozen,
    "direction": _direction,
    "range": _range,
    "step": lambda name, given: [rule.step(name, given)],
}
"""For each name that says what a column may become, the constraint that it means."""
