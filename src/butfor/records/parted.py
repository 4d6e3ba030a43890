"""A record in two texts: what the answers to one question to one model share, and what is an answer's own.

Both are JSON with sorted names, without spaces, in ASCII: the same data is the same text, and has the same digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from butfor.explanation.explanations import Explanations
from butfor.records.facts import facts_of, readable
from butfor.records.header import header_of
from butfor.records.reading import runs
from butfor.records.schema import sealed

OF_A_CALL = ("created", "meta")
"""What a header says of a single call."""

canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
"""The one text of some data."""

Parted = tuple[str, str]
"""The two texts of a record: what it shares with others, and its own."""


def parted(answers: Explanations) -> Iterator[Parted]:
    """The records of answers in two texts each."""
    header = header_of(answers)
    call = {name: header.pop(name) for name in OF_A_CALL if name in header}
    shared = canonical(header)
    for i, facts in enumerate(facts_of(answers)):
        yield shared, canonical({**call, **facts, **readable(answers, i)})


def whole(shared: str, own: str) -> dict[str, Any]:
    """The record of two texts, with its hash."""
    return sealed({**json.loads(shared), **json.loads(own)})


def answers_in(records: Iterable[Parted]) -> Iterator[Explanations]:
    """The answers in records that come one after the other. Neighbours of one call come together."""
    return runs(whole(*texts) for texts in records)
