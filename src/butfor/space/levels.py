"""A level as JSON and back: the only place that knows how. A level is whatever a category may be.

Text, whole and finite numbers, booleans and None are JSON themselves. Anything else is an object with one name, which
says what it is: `{"date": "2024-02-29"}`.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from butfor.errors import InputTypeError, MissingExtraError

SAME_IN_JSON = frozenset({str, bool, int, type(None)})
"""The types of which JSON holds every value."""


class LevelForm(NamedTuple):
    """How the levels of one kind are written, and read again."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _same_in_json(value: Any) -> bool:
    """Whether JSON has this very value. Tables of prices have thousands of them, so that is told at once."""
    return type(value) in SAME_IN_JSON or (type(value) is float and math.isfinite(value))


def is_level(value: Any) -> bool:
    """Whether a value can be written as JSON and read again as what it is."""
    if _same_in_json(value):
        return True
    value = _plain(value)
    if isinstance(value, tuple):
        return all(map(is_level, value))
    return value is None or isinstance(value, str | bool | int) or _form_of(value) is not None


def written(value: Any) -> Any:
    """A level as JSON data."""
    if _same_in_json(value):
        return value
    value = _plain(value)
    if isinstance(value, tuple):
        return [written(item) for item in value]
    form = None if value is None or isinstance(value, str | bool | int) else _form_of(value)
    if form is None or (isinstance(value, float) and math.isfinite(value)):
        return value
    return {form: LEVEL_FORMS[form].write(value)}


def is_written(data: Mapping[str, Any]) -> bool:
    """Whether an object of JSON is a level."""
    return len(data) == 1 and next(iter(data)) in LEVEL_FORMS


def read(data: Any) -> Any:
    """The level that `written` wrote."""
    if isinstance(data, list):
        return tuple(read(item) for item in data)
    if not isinstance(data, Mapping):
        return data
    ((form, value),) = data.items()
    return LEVEL_FORMS[form].read(value)


def check_levels(name: str, levels: tuple[Any, ...]) -> None:
    """Refuse a column whose levels could not be saved with its answers."""
    odd = next((level for level in levels if not is_level(level)), None)
    if odd is not None:
        raise InputTypeError(
            f"column {name!r} has the category {odd!r}, which is of type {type(odd).__name__}.",
            "Categories must be text, numbers, booleans, dates, times, periods, intervals, or tuples of these.",
            "Turn them into text first: X[column].map(str).",
        )


def _plain(value: Any) -> Any:
    """A value of numpy as one of Python. A date or a duration of numpy stays, because Python may not know its unit."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def _form_of(value: Any) -> str | None:
    """The name of the kind of a level; None if there is none. A marker of a missing value is no level."""
    form = next((FORM_OF[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in FORM_OF), None)
    return None if form is None or (value != value and not isinstance(value, float)) else form


def _pandas(name: str) -> Callable[..., Any]:
    """A class of pandas. It is needed only to read what came from there."""

    def made(*given: Any, **named: Any) -> Any:
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError(
                f"the answer holds a {name} of pandas.", "pandas is needed to read it.", "Run: pip install pandas"
            ) from None
        return getattr(pd, name)(*given, **named)

    return made


def _unit(value: Any) -> str:
    return str(np.datetime_data(value.dtype)[0])


LEVEL_FORMS: dict[str, LevelForm] = {
    "number": LevelForm(str, float),
    "decimal": LevelForm(str, Decimal),
    "bytes": LevelForm(lambda value: value.hex(), bytes.fromhex),
    "date": LevelForm(lambda value: value.isoformat(), dt.date.fromisoformat),
    "time": LevelForm(lambda value: value.isoformat(), dt.time.fromisoformat),
    "datetime": LevelForm(lambda value: value.isoformat(), dt.datetime.fromisoformat),
    "duration": LevelForm(
        lambda value: [value.days, value.seconds, value.microseconds], lambda parts: dt.timedelta(*parts)
    ),
    "datetime64": LevelForm(lambda value: [str(value), _unit(value)], lambda parts: np.datetime64(*parts)),
    "timedelta64": LevelForm(
        lambda value: [int(value.astype(np.int64)), _unit(value)], lambda parts: np.timedelta64(*parts)
    ),
    "Timestamp": LevelForm(lambda value: value.isoformat(), _pandas("Timestamp")),
    "Timedelta": LevelForm(lambda value: value.isoformat(), _pandas("Timedelta")),
    "Period": LevelForm(
        lambda value: [value.start_time.isoformat(), value.freqstr],
        lambda parts: _pandas("Period")(parts[0], freq=parts[1]),
    ),
    "Interval": LevelForm(
        lambda value: [written(value.left), written(value.right), value.closed],
        lambda parts: _pandas("Interval")(read(parts[0]), read(parts[1]), parts[2]),
    ),
}
"""What is written of each kind of level, by the name that says what it is."""

FORM_OF = {
    "float": "number", "Decimal": "decimal", "bytes": "bytes", "date": "date", "time": "time", "datetime": "datetime",
    "timedelta": "duration", "datetime64": "datetime64", "timedelta64": "timedelta64", "Timestamp": "Timestamp",
    "Timedelta": "Timedelta", "Period": "Period", "Interval": "Interval",
}  # fmt: skip
"""The name of each kind, by the name of its class: so pandas need not be there."""
