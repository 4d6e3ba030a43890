"""Universal binary JSON (draft 12, ubjson.org), as XGBoost writes it: numbers are big-endian."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import InputError

KINDS_OF_NUMBERS: dict[str, np.dtype[Any]] = {
    "i": np.dtype(">i1"),
    "U": np.dtype(">u1"),
    "I": np.dtype(">i2"),
    "l": np.dtype(">i4"),
    "L": np.dtype(">i8"),
    "d": np.dtype(">f4"),
    "D": np.dtype(">f8"),
}
"""The types of numbers, by their letters."""

WITHOUT_PAYLOAD = {"Z": None, "T": True, "F": False}
"""Values without a payload, by their letters."""


def read_ubjson(held: bytes) -> Any:
    """The value in a file. Arrays of numbers of one type are arrays of numpy."""
    reader = _Bytes(held)
    try:
        found = reader.value(reader.letter())
    except (IndexError, ValueError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"the UBJSON cannot be read from byte {reader.at} of {len(held)} on ({error}).", "It must be whole."
        ) from None
    if reader.at < len(held):
        raise InputError(
            f"the UBJSON ends at byte {reader.at}, but there are {len(held)} bytes.", "One model in a file is needed."
        )
    return found


class _Bytes:
    """Reads value after value. `at` is the next byte."""

    def __init__(self, held: bytes) -> None:
        self.held, self.at = held, 0

    def letter(self) -> str:
        found = chr(self.held[self.at])
        self.at += 1
        return found

    def ahead(self, letter: str) -> bool:
        """Whether this letter is next. If so, it is read."""
        if chr(self.held[self.at]) != letter:
            return False
        self.at += 1
        return True

    def take(self, count: int) -> bytes:
        found = self.held[self.at : self.at + count]
        if not 0 <= count == len(found):
            raise ValueError(f"it lacks {count - len(found)} bytes" if count > 0 else f"a length is {count}")
        self.at += count
        return found

    def value(self, letter: str) -> Any:
        if letter in KINDS_OF_NUMBERS:
            return np.frombuffer(self.take(KINDS_OF_NUMBERS[letter].itemsize), KINDS_OF_NUMBERS[letter])[0].item()
        if letter in WITHOUT_PAYLOAD:
            return WITHOUT_PAYLOAD[letter]
        if letter == "S":
            return self.text()
        if letter == "[":
            return self.array()
        if letter == "{":
            return self.table()
        raise ValueError(f"{letter!r} is no type")

    def count(self) -> int:
        found = self.value(self.letter())
        if not isinstance(found, int):
            raise ValueError("a length is no whole number")
        return found

    def text(self) -> str:
        return self.take(self.count()).decode()

    def sized(self) -> tuple[str, int]:
        """The type of all elements, and how many there are; "" and -1 if it is not said."""
        kind = self.letter() if self.ahead("$") else ""
        return kind, self.count() if self.ahead("#") else -1

    def array(self) -> Any:
        kind, count = self.sized()
        if kind in KINDS_OF_NUMBERS:
            numbers = KINDS_OF_NUMBERS[kind]
            found = np.frombuffer(self.take(count * numbers.itemsize), numbers)
            return found.astype(numbers.newbyteorder("="))
        if count >= 0:
            return [self.value(kind or self.letter()) for _ in range(count)]
        listed = []
        while not self.ahead("]"):
            listed.append(self.value(self.letter()))
        return listed

    def table(self) -> dict[str, Any]:
        kind, count = self.sized()
        found: dict[str, Any] = {}
        while len(found) < count if count >= 0 else not self.ahead("}"):
            name = self.text()
            found[name] = self.value(kind or self.letter())
        return found
