"""What a fitted object holds, as a short text: another one once it was fitted again."""

from __future__ import annotations

from typing import Any


def state_of(estimator: Any) -> str | None:
    """A hash of all that an estimator holds. None if something of it cannot be pickled."""
    from joblib import hash as digest

    try:
        return str(digest(estimator))
    except Exception:
        return None
