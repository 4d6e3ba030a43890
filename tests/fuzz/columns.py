"""Random columns of a table, what is known of each, and the plain codes in which points are judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray

Random = np.random.Generator

WHOLE_TYPES = ("int64", "int64", "uint8", "int8", "float64", "float32", "Int64", "Int64")
REAL_TYPES = ("float64", "float64", "float64", "float32")
FLAG_TYPES = ("bool", "boolean")
LEVEL_TYPES = ("category", "category", "object", "str", "ordered")
NULLABLE = ("float64", "float32", "Int64", "boolean", "category", "object", "str", "ordered")

UNITS = ((0, 1), (5, 1), (0, 1000), (2000, 3), (1.7e9, 30), (0, 1e-6))
"""The middle and the unit of real columns: the last but one is a time in seconds."""


@dataclass(frozen=True)
class DataColumn:
    """A column of the training table.

    - `values`: one per row; None is missing;
    - `dtype`: the pandas type, or "ordered" for ordered categories;
    - `levels`: the declared categories;
    - `ends`: the range and the step of a declaration, if there is one.
    """

    name: str
    dtype: str
    values: tuple[Any, ...]
    levels: tuple[Any, ...] = ()
    ends: tuple[float, float, float] | None = None

    @property
    def has_levels(self) -> bool:
        """Whether its values are categories or truth values."""
        return bool(self.levels)

    @property
    def gaps(self) -> bool:
        """Whether a value is missing."""
        return any(value is None for value in self.values)

    def take(self, rows: list[int]) -> DataColumn:
        """Some of its rows."""
        return replace(self, values=tuple(self.values[row] for row in rows))

    def type_text(self) -> str:
        """The pandas type as source text."""
        if self.dtype in ("category", "ordered"):
            return f"pd.CategoricalDtype({list(self.levels)!r}, ordered={self.dtype == 'ordered'})"
        return repr(self.dtype)

    def declaration(self) -> str:
        """What `space` says about it, as source text; empty if nothing."""
        if self.ends is None:
            return ""
        low, high, step = self.ends
        return f"bf.Integer({low!r}, {high!r})" if step == 1 else f"bf.Step({step!r}, {low!r}, {high!r})"


@dataclass(frozen=True, eq=False)
class Known:
    """What the fuzzer knows of a column, found from its data by the documented rules.

    - `grid` (values): the codes to enumerate; NaN is missing;
    - `step`: the distance of its numbers; 0: any number;
    - `mad`, `std`: spreads of the data.
    """

    name: str
    low: float
    high: float
    step: float
    levels: tuple[Any, ...]
    ordered: bool
    gaps: bool
    single: bool
    mad: float
    std: float
    grid: FloatArray

    @property
    def real(self) -> bool:
        """Whether its numbers are not on a grid."""
        return not self.levels and not self.step and self.low < self.high

    @property
    def binary(self) -> bool:
        """Whether its numbers are 0 and 1. They count as two levels, whatever the scale."""
        return not self.levels and (self.low, self.high, self.step) == (0.0, 1.0, 1.0)

    def value(self, code: float) -> Any:
        """The user's value for a code."""
        if code != code:
            return None
        return self.levels[int(code)] if self.levels else float(code)

    def code(self, value: Any) -> float:
        """The code of a user's value; -1 if it is no level."""
        if value is None or type(value).__name__ == "NAType" or value != value:
            return np.nan
        if not self.levels:
            return float(value)
        return float(self.levels.index(value)) if value in self.levels else -1.0


def grid_points(places: FloatArray, step: float, single: bool) -> FloatArray:
    """The numbers of a grid, as one writes them: three tenths are 0.3, which 3 * 0.1 is not."""
    points = places * step
    if step % 1:
        points = np.array([float(f"{point:.12g}") for point in points])
    return points.astype(np.float32).astype(np.float64) if single else points


def known(column: DataColumn) -> Known:
    """What the data says about a column."""
    seen = [value for value in column.values if value is not None]
    gap = [np.nan] * column.gaps
    if column.has_levels:
        codes = sorted({column.levels.index(value) for value in seen})
        ordered = column.dtype in ("ordered", *FLAG_TYPES)
        levels = column.levels if column.dtype not in ("object", "str") else tuple(column.levels[k] for k in codes)
        places = codes if levels is column.levels else range(len(codes))
        grid = np.array([*places, *gap], dtype=np.float64)
        return Known(column.name, 0, 0, 0, levels, ordered, column.gaps, False, 0, 0, grid)
    x = np.array(seen, dtype=np.float64)
    step = 1.0 if np.all(x == np.round(x)) else 0.0
    low, high = float(x.min()), float(x.max())
    if column.ends:
        low, high, step = column.ends
    if step:
        places = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
        values = np.union1d(grid_points(places, step, column.dtype == "float32"), x)
    else:
        own = np.unique(x)
        middles = (own[1:] + own[:-1]) / 2
        values = np.union1d(own, middles.astype(np.float32) if column.dtype == "float32" else middles)
    mad = float(np.median(np.abs(x - np.median(x))))
    spreads = (mad, float(x.std()))
    single = column.dtype == "float32"
    return Known(column.name, low, high, step, (), True, column.gaps, single, *spreads, np.append(values, gap))


def random_column(rng: Random, name: str, rows: int, *, missing: bool, sort: str, size: int) -> DataColumn:
    """A column with about `size` distinct values. `sort` is whole, real, flag or level."""
    made = {"whole": _whole, "real": _real, "flag": _flag, "level": _level}[sort](rng, name, rows, size)
    if missing and made.dtype in NULLABLE and rng.random() < 0.5:
        gone = rng.random(rows) < 0.15
        gone[:2] = False
        made = replace(made, values=tuple(None if g else v for g, v in zip(gone, made.values, strict=True)))
    return made


def _whole(rng: Random, name: str, rows: int, size: int) -> DataColumn:
    dtype = str(rng.choice(WHOLE_TYPES))
    low = int(rng.choice([0, 0, 0, 1, 1, -3, -3, 100, 100, 2000, 2000])) if rng.random() > 0.04 else 1_700_000_000
    if dtype in ("uint8", "int8"):
        low = int(rng.choice([0, 1, (127 if dtype == "int8" else 255) - size]))
    values = rng.integers(low, low + size, rows)
    values[:2] = low, low + size - 1
    if dtype == "float32" and low > 1e6:
        dtype = "float64"
    wide = low >= 0 and rng.random() < 0.15
    ends = (float(low), float(low + size + 1), 1.0) if wide and size > 2 else None
    listed = tuple(float(v) if dtype.startswith("float") else int(v) for v in values)
    return DataColumn(name, dtype, listed, ends=ends)


def _real(rng: Random, name: str, rows: int, size: int) -> DataColumn:
    dtype = str(rng.choice(REAL_TYPES))
    if rng.random() < 0.25:
        step = float(rng.choice([0.5, 0.25, 0.1, 0.3, 5.0]))
        k = rng.integers(0, size, rows)
        k[:2] = 0, size - 1
        return DataColumn(name, "float64", tuple((k * step).tolist()), ends=(0.0, step * (size - 1), step))
    middle, unit = UNITS[rng.choice(len(UNITS), p=[0.3, 0.3, 0.15, 0.15, 0.05, 0.05])]
    few = np.round(rng.normal(size=max(size // 2, 2)), 2) * unit + middle
    few = few.astype(dtype).astype(np.float64)
    return DataColumn(name, dtype, tuple(rng.choice(few, rows).tolist()))


def _flag(rng: Random, name: str, rows: int, size: int) -> DataColumn:
    values = rng.random(rows) < 0.5
    values[:2] = False, True
    return DataColumn(name, str(rng.choice(FLAG_TYPES)), tuple(map(bool, values)), levels=(False, True))


def _level(rng: Random, name: str, rows: int, size: int) -> DataColumn:
    dtype = str(rng.choice(LEVEL_TYPES))
    levels = tuple("abcdefgh"[: min(max(size, 2), 5)])
    used = levels[:-1] if dtype == "category" and len(levels) > 2 and rng.random() < 0.3 else levels
    values = [str(value) for value in rng.choice(used, rows)]
    values[: len(used)] = used
    return DataColumn(name, dtype, tuple(values), levels=levels)
