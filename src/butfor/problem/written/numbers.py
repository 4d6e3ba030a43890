"""Numbers as people write them: with marks between thousands, or in per cent, where that can mean one thing only."""

from __future__ import annotations

import re
from math import isinf
from typing import NamedTuple

PLAIN_NUMBER = re.compile(r"(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
GROUPED = re.compile(
    r"[1-9]\d{0,2}(?:"
    r"(?:,\d{3})+(?:\.\d+)?"  # 90,000 and 90,000.50
    r"|(?:\.\d{3})+,\d+|(?:\.\d{3}){2,}"  # 90.000,50 and 1.500.000, but not 90.000, which is 90
    r"|(?:[ \u00a0\u202f'\u2019]\d{3})+(?:[.,]\d+)?"  # 90 000 and 90'000,50
    r")(?![\d,.])"
)
COMMA = re.compile(r"\d+,\d+(?![\d,.])")
END = re.compile(r"(?![\w.])")
PERCENT = re.compile(r"\s*%")

DOUBTFUL = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""A number that some read as thousands."""


class WrittenNumber(NamedTuple):
    """A number in a text: its value, how it was written, where it ends, and whether it is in per cent.

    `better` is how to write it if it has a comma for a point: then it cannot be read.
    """

    value: float
    written: str
    end: int
    percent: bool = False
    better: str = ""


def number_at(text: str, at: int) -> WrittenNumber | None:
    """The number that begins at a place of a text; None if there is none, or one that no float is."""
    found = GROUPED.match(text, at)
    if found is not None and END.match(text, found.end()):
        plain = _without_groups(found[0])
    elif found := COMMA.match(text, at):
        return WrittenNumber(0, found[0], found.end(), better=found[0].replace(",", "."))
    else:
        found = PLAIN_NUMBER.match(text, at)
        if found is None or not END.match(text, found.end()):
            return None
        plain = found[0].replace("_", "")
    if isinf(float(plain)):
        return None
    value: float = int(plain) if plain.isdigit() else float(plain)
    sign = PERCENT.match(text, found.end())
    if sign is None:
        return WrittenNumber(value, found[0], found.end())
    return WrittenNumber(value / 100, text[at : sign.end()], sign.end(), percent=True)


def _without_groups(written: str) -> str:
    """A number with marks between thousands as Python writes it. Its last mark is the point if it occurs once."""
    marks = [mark for mark in written if not mark.isdigit()]
    whole, point, rest = written.rpartition(marks[-1])
    if marks.count(marks[-1]) > 1 or marks[-1] not in ",." or len(marks) == 1:
        whole, point, rest = written, "", ""
    return "".join(filter(str.isdigit, whole)) + ("." if point else "") + rest
