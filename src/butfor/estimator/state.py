"""What fitted objects hold, as a short text: another one once they were fitted again."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import cloudpickle
from joblib.hashing import NumpyHasher


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hash, in which functions and classes of the running script or notebook count by their code.

    They may be defined again under the same name. All others count by their names.
    """

    def save(self, obj: Any) -> None:
        own = isinstance(obj, FunctionType | type) and obj.__module__ == "__main__"
        super().save(cloudpickle.dumps(obj) if own else obj)


def state_of(*parts: Any) -> str | None:
    """A hash of all that some objects hold: equal for equal ones. None if something of it cannot be pickled."""
    try:
        return str(_Hasher().hash(parts))
    except Exception:
        return None
