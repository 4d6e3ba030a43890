"""The mark of public names that may still change."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

Marked = TypeVar("Marked", bound=Any)

NOTE = "Experimental: it may change in any release, and the changelog says how."


def experimental(thing: Marked) -> Marked:
    """Mark a public function or class as one that may still change.

    Its docstring and the reference page then say so.

    >>> @experimental
    ... def shortcut() -> None:
    ...     "Saves time."
    >>> shortcut.__doc__.splitlines()[-1]
    'Experimental: it may change in any release, and the changelog says how.'
    """
    thing.__doc__ = f"{inspect.getdoc(thing) or ''}\n\n{NOTE}"
    thing.__experimental__ = True
    return thing
