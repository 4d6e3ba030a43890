"""Columns of levels from the text in the cells of a file, which does not say what is text and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

MISSING_WORDS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
    "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Cells that are missing, unless they are known levels: the words of pandas."""


def with_levels(table: Any, cells: Any, known: Mapping[str, tuple[Any, ...]]) -> Any:
    """The table, with columns of levels as the text in their cells.

    A cell that writes a known level is that level, even if it is empty or says "NA". Other such cells are missing.
    """
    frame, raw = nw.from_native(table, eager_only=True), nw.from_native(cells, eager_only=True)
    texts = []
    for name, levels in known.items():
        cell, lost = nw.col(name).fill_null(""), [word for word in MISSING_WORDS if word not in levels]
        texts.append(nw.when(~cell.is_in(lost)).then(cell).alias(name))
    return frame.with_columns(*raw.select(*texts).iter_columns()).to_native()
