"""Templates, filled with what a desk shows: the page of the server, and the desk alone for a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

from jinja2 import DictLoader, Environment, StrictUndefined

from butfor.errors import ButforError
from butfor.serve.asked import LANGUAGES
from butfor.serve.desk import Desk
from butfor.serve.plain import Json, refused
from butfor.serve.words import words_for

ROWS_SHOWN = 12
"""How many rows are listed at once."""


@dataclass(frozen=True)
class Wanted:
    """Who asks, and what an address says: a row by its number, columns that stay, the target, rows to list."""

    row: int | None = None
    locked: tuple[str, ...] = ()
    target: str = ""
    where: str = ""
    offset: int = 0
    language: str = "en"
    ask: bool = False
    who: str = ""

    @classmethod
    def of(cls, query: str, who: str) -> Wanted:
        """What the query of an address says. What it says wrongly counts as not said: a desk is shown in any case."""
        given = parse_qs(query, keep_blank_values=True)
        last = {name: values[-1] for name, values in given.items()}
        row, offset = (_number(last.get(name, "")) for name in ("row", "offset"))
        language = last.get("language", "")
        return cls(
            row, tuple(given.get("lock", ())), last.get("target", ""), last.get("where", ""), offset or 0,
            language if language in LANGUAGES else LANGUAGES[0], "ask" in given, who,
        )  # fmt: skip


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 12 else None


def shown(desk: Desk, wanted: Wanted) -> Json:
    """What is shown of a desk: rows, the chosen one, and its columns."""
    error, chosen, listed = None, None, None
    try:
        listed = desk.rows(wanted.offset, ROWS_SHOWN, wanted.where)
        chosen = None if wanted.row is None else desk.row(wanted.row)
    except ButforError as found:
        error = refused(found)
    return {
        "desk": desk.model, "columns": desk.columns, "listed": listed or desk.rows(0, ROWS_SHOWN), "chosen": chosen,
        "error": error, "wanted": wanted, "languages": LANGUAGES, "step": ROWS_SHOWN,
    }  # fmt: skip


@cache
def _environment() -> Environment:
    """The templates. What is filled in is escaped; what a template names must be there."""
    folder = files("butfor.serve.templates")
    texts = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(".html")}
    return Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def filled(name: str, language: str, facts: Mapping[str, Any]) -> str:
    """A template with what it shows, in a language."""
    words = words_for(language)
    say = partial(_say, words)
    empty: Json = {"answers": [], "error": None}
    return (
        _environment()
        .get_template(name)
        .render({**empty, **facts}, say=say, language=language, words=json.dumps(words, ensure_ascii=False))
    )


def _say(words: Mapping[str, str], english: str) -> str:
    """Words of the page in its language."""
    return words[english]
