"""Errors that say where in a file they arose, and JSON texts read with such errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from butfor.errors import ButforError, InputError


@contextmanager
def at_place(place: str) -> Iterator[None]:
    """Errors that begin with the place of an answer, such as "line 4"; it is empty for a single one."""
    try:
        yield
    except ButforError as error:
        if not place:
            raise
        raise error.at(place) from None
    except Exception as error:  # whatever a wrong value leads to in the libraries that rebuild the row
        told = f"{place or 'the answer'} does not follow its schema:"
        raise InputError(told, f"{type(error).__name__}: {error}.") from None


def parsed(text: str) -> Any:
    """The data of a JSON text. An error says what is wrong with it."""

    def refuse(token: str) -> Any:
        raise InputError(f"the text contains {token}.", "JSON has no such number.")

    try:
        return json.loads(text, parse_constant=refuse)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(
            "the text is not JSON:", f"{error}.", "Give what to_json() or `butfor explain --json` wrote."
        ) from None
