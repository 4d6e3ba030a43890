"""The lines that were written, read again, and what tables are made with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd


def read(folder: Path, part: str) -> pd.DataFrame:
    """The lines of one part; none if it was not measured."""
    path = folder / f"{part}.jsonl"
    lines = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    return pd.DataFrame(lines, columns=None if lines else ["kind"])


def markdown(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table; columns of words stand left, those of numbers right."""
    head, rows = list(head), [list(map(str, row)) for row in rows]
    sides = [
        "---:" if all(cell[:1] in "-0123456789" for cell in column) else "---" for column in zip(*rows, strict=True)
    ]
    lines = [head, sides, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def seconds(x: float) -> str:
    """Seconds with two digits that count."""
    return f"{x:.2f}" if x >= 1 else f"{x:.2g}"


def ratio_of(x: float) -> str:
    """How many times, with three digits that count, or whole."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def times(ratio: pd.Series[float]) -> str:
    """The median of some ratios and their ends."""
    if ratio.empty:
        return "-"
    return f"{ratio_of(ratio.median())} ({ratio_of(ratio.min())} to {ratio_of(ratio.max())})"


def rows_of(lines: pd.DataFrame) -> pd.DataFrame:
    """The lines of single rows."""
    return lines[lines["kind"] == "row"]


def summaries(lines: pd.DataFrame) -> pd.DataFrame:
    """The lines that sum up others."""
    return lines[lines["kind"] == "summary"]


def pairs(
    lines: pd.DataFrame, ours: str, rival: str, same: Iterable[str] = ("table", "model", "row")
) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """For each table and model, the rows that both answered or ran out of time on, side by side."""
    keys = list(same)
    mine = lines.loc[lines["rival"] == ours, [*keys, "seconds", "cost", "status"]]
    theirs = lines.loc[(lines["rival"] == rival) & (lines["status"] != "ERROR"), [*keys, "seconds", "cost", "status"]]
    both = theirs.merge(mine, on=keys, suffixes=("", "_ours"))
    yield from both.groupby(["table", "model"], sort=False)
