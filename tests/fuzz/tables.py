"""Tables as source text and as objects, and points between user's values and plain codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from tests.fuzz.columns import DataColumn, Known, Random, random_column

MOST_POINTS = 2500


@dataclass(frozen=True)
class TrainingTable:
    """A training table.

    - `kind`: `frame`, `array` or `numbered` for whole-number names;
    - `dummy`: the type of the columns of 0 and 1 that its categories are; empty if they are columns themselves.
    """

    columns: tuple[DataColumn, ...]
    kind: str = "frame"
    dummy: str = ""

    @property
    def spread(self) -> list[str]:
        """The names of the categories that are columns of 0 and 1."""
        return [column.name for column in self.columns if self.dummy and column.dtype == "category"]

    def as_dummies(self) -> TrainingTable:
        """The table with its categories as columns of 0 and 1, for the levels that occur."""
        used = [tuple(level for level in column.levels if level in column.values) for column in self.columns]
        made = (
            replace(column, dtype="category", levels=levels) if _holds_text(column) else column
            for column, levels in zip(self.columns, used, strict=True)
        )
        return replace(self, columns=tuple(made), dummy=("bool", "uint8", "float64")[self.rows // 4 % 3])

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values)

    def take(self, rows: list[int]) -> TrainingTable:
        """Some of the rows."""
        return replace(self, columns=tuple(column.take(rows) for column in self.columns))

    def text(self) -> str:
        """The table as source text."""
        if self.kind == "array":
            block = [[np.nan if v is None else v for v in row] for row in zip(*self.listed(), strict=True)]
            return f"np.array({block!r}, dtype={self.columns[0].dtype!r})"
        parts = (
            f"    {self.label(c)!r}: pd.Series({list(c.values)!r}, dtype={c.type_text()}),\n" for c in self.columns
        )
        frame = "pd.DataFrame({\n" + "".join(parts) + "})"
        return f"pd.get_dummies({frame}, columns={self.spread!r}, dtype={self.dummy!r})" if self.spread else frame

    def listed(self) -> list[tuple[Any, ...]]:
        """The values of each column."""
        return [column.values for column in self.columns]

    def label(self, column: DataColumn) -> str | int:
        """The name of a column in the table itself."""
        return int(column.name) if self.kind == "numbered" else column.name

    def space(self) -> str:
        """The declarations, as source text."""
        parts = [f"{column.name!r}: {column.declaration()}" for column in self.columns if column.ends]
        parts += [f"{name!r}: bf.one_hot('{name}_*')" for name in self.spread]
        return "{" + ", ".join(parts) + "}"

    def written(self, facts: Sequence[Known], codes: FloatArray) -> Any:
        """Points as a table of the same kind."""
        if self.kind == "array":
            return codes.astype(wide_enough(self.columns[0].dtype, codes))
        import pandas as pd

        made = {}
        for j, (column, fact) in enumerate(zip(self.columns, facts, strict=True)):
            x = codes[:, j]
            kind: Any = pd.CategoricalDtype(list(column.levels), ordered=column.dtype == "ordered")
            wanted: Any = kind if column.dtype in ("category", "ordered") else wide_enough(column.dtype, x)
            if column.dtype in ("float64", "float32") or (not column.levels and not np.isnan(x).any()):
                made[self.label(column)] = pd.Series(x).astype(wanted)
            else:
                values = [None if code != code else fact.value(code) for code in x.tolist()]
                whole = [None if v is None else int(v) for v in values] if not column.levels else values
                made[self.label(column)] = pd.Series(whole, dtype=wanted)
        frame = pd.DataFrame(made)
        return pd.get_dummies(frame, columns=self.spread, dtype=self.dummy) if self.spread else frame


def _holds_text(column: DataColumn) -> bool:
    return column.has_levels and isinstance(column.levels[0], str)


def wide_enough(dtype: str, x: FloatArray) -> str:
    """The type, or int64 if a value is outside the range of a narrower one."""
    if dtype not in ("uint8", "int8", "int16"):
        return dtype
    ends = np.iinfo(dtype)
    return dtype if np.all((x >= ends.min) & (x <= ends.max)) else "int64"


def read_row(table: Any, facts: Sequence[Known], position: int = 0) -> FloatArray:
    """One row of a user's table as codes."""
    if isinstance(table, np.ndarray):
        return np.array([fact.code(value) for fact, value in zip(facts, table[position].tolist(), strict=True)])
    known = set(table.columns)
    spread = [[f"{fact.name}_{level}" for level in fact.levels] for fact in facts]
    others = iter(range(len(facts)))  # the columns that are no dummies come first
    codes = []
    for fact, names in zip(facts, spread, strict=True):
        if names and known.issuperset(names):
            ones = np.flatnonzero(table[names].iloc[position].to_numpy(dtype=float) == 1)
            codes.append(float(ones[0]) if len(ones) == 1 else -1.0)
        else:
            codes.append(fact.code(table.iloc[:, next(others)].iloc[position]))
    return np.array(codes)


def grid(facts: Sequence[Known]) -> FloatArray:
    """Every combination of the enumerated values."""
    return np.array(list(product(*(fact.grid.tolist() for fact in facts))), dtype=np.float64)


def random_sheet(rng: Random, *, levels: bool, missing: bool, frame: bool = False) -> TrainingTable:
    """A random table of 30 to 60 rows whose grid is small enough to enumerate."""
    rows = int(rng.integers(30, 61))
    count = int(rng.choice([2, 3, 3, 4, 4, 5]))
    size = {2: 14, 3: 9, 4: 5, 5: 3}[count]
    chance = rng.random()
    if chance < 0.12 and not levels and not frame:
        return _random_array(rng, rows, count, size, missing)
    kind = "numbered" if chance < 0.15 and not levels and not frame else "frame"
    sorts = ["whole", "whole", "real", "flag", *["level"] * (2 * levels)]
    made = []
    for j in range(count):
        name = str(j) if kind == "numbered" else f"c{j}"
        wide = max(2, int(rng.integers(size // 2, size + 1)))
        made.append(random_column(rng, name, rows, missing=missing, sort=str(rng.choice(sorts)), size=wide))
    return TrainingTable(tuple(made), kind)


def _random_array(rng: Random, rows: int, count: int, size: int, missing: bool) -> TrainingTable:
    dtype = str(rng.choice(["float64", "float64", "float32", "int64", "int16"]))
    made = []
    for j in range(count):
        sort = "whole" if dtype.startswith("int") or rng.random() < 0.5 else "real"
        found = random_column(rng, f"x{j}", rows, missing=False, sort=sort, size=max(2, size))
        few = np.array(found.values, dtype=np.float64)
        if dtype == "int16" and few.max() > 30000:
            few = few - few.min()
        few = few.astype(dtype)
        gone = rng.random(rows) < (0.1 if missing and dtype.startswith("float") else 0)
        values = tuple(None if g else v for g, v in zip(gone, few.tolist(), strict=True))
        ends = found.ends if dtype != "float32" and not (found.ends and few.max() > found.ends[1]) else None
        made.append(DataColumn(found.name, dtype, values, ends=ends))
    return TrainingTable(tuple(made), "array")
