"""Tables below each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from butfor.errors import InputTypeError
from butfor.space import frames


def stacked(tables: Sequence[Any]) -> Any:
    """The rows of the first table, then those of the second, and so on. All must be of one kind."""
    kinds = {type(table) for table in tables}
    if len(kinds) > 1:
        told = " and ".join(sorted(f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in kinds))
        raise InputTypeError(f"{told} were given together.", "Tables of one kind are needed.")
    if frames.is_array(tables[0]):
        return np.concatenate(tables)
    return nw.concat([nw.from_native(table, eager_only=True) for table in tables]).to_native()
