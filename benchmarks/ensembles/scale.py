"""How much is measured: everything, or a little to see that it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from benchmarks.data import TABLES

Line = dict[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Scale:
    """Rows a model, trees, seconds a row, and the `patience` in seconds after which no further row of a model is begun."""

    tables: Sequence[str] = TABLES
    rows: int = 20
    rival_rows: int = 5
    shrink: int = 1
    limit: float = 60.0
    patience: float = 120.0
    rival_patience: float = 60.0

    @property
    def budget(self) -> str:
        """The budget in words."""
        return f"{self.limit:g} s a row"

    def trees(self, count: int) -> int:
        """A number of trees, at this scale."""
        return max(2, count // self.shrink)


SMOKE = Scale(tables=("breast",), rows=2, rival_rows=1, shrink=20, limit=60.0, patience=60.0)


def while_patient(items: Sequence[Item], patience: float) -> Iterator[Item]:
    """The items, until the patience is used up; the first one always."""
    begin = time.perf_counter()
    for item in items:
        yield item
        if time.perf_counter() - begin > patience:
            return
