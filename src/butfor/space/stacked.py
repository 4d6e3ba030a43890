"""Tables below each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from butfor.errors import InputTypeError
from butfor.space import frames


def stacked(tables: Sequence[Any], unread: Collection[str] = ()) -> Any:
    """The rows of the first table, then those of the second, and so on. All must be of one kind.

    Columns that are `unread` are left out if not all tables have them, or where they are of types that do not go together.
    """
    kinds = {type(table) for table in tables}
    if len(kinds) > 1:
        told = " and ".join(sorted(f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in kinds))
        raise InputTypeError(f"{told} were given together.", "Tables of one kind are needed.")
    if frames.is_array(tables[0]):
        return np.concatenate(tables)
    opened = [nw.from_native(table, eager_only=True) for table in tables]
    free = {name for table in tables for name in frames.names(table) if name in unread}
    lost = {name for name in free if not _go_together(opened, name)}
    if lost:
        kept = [[name for name in frames.names(table) if name not in lost] for table in tables]
        opened = [
            nw.from_native(frames.select(table, names), eager_only=True)
            for table, names in zip(tables, kept, strict=True)
        ]
    return nw.concat(opened).to_native()


def _go_together(opened: Sequence[Any], name: str) -> bool:
    """Whether all tables have a column, in types that can stand below each other: in pandas, any can."""
    kinds = [dict(zip(frames.names(table), table.schema.values(), strict=True)).get(name) for table in opened]
    return None not in kinds and (opened[0].implementation.is_pandas() or len(set(kinds)) == 1)
