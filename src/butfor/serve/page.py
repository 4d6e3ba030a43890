"""The page as the server writes it. A script makes it quicker, and nothing of the basic question needs one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import anyio.to_thread
from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from butfor.errors import ButforError
from butfor.serve.asked import LANGUAGES
from butfor.serve.desk import Desk
from butfor.serve.plain import Json, refused
from butfor.serve.team import ProcessEndedError, QueueFullError, Team
from butfor.serve.words import words_for

ROWS_SHOWN = 12
"""How many rows the page lists at once."""

SECONDS = 10.0
"""How long the page waits for an answer without a script."""


@dataclass(frozen=True)
class Wanted:
    """Who asks, and what the address of the page says: a row by its number, columns that stay, the target, rows to list."""

    row: int | None = None
    locked: tuple[str, ...] = ()
    target: str = ""
    where: str = ""
    offset: int = 0
    language: str = "en"
    ask: bool = False
    who: str = ""

    @classmethod
    def of(cls, given: Any, who: str) -> Wanted:
        """What a query says. What it says wrongly counts as not said: a page is shown in any case."""
        numbers = {
            name: int(given[name]) if given.get(name, "").isdecimal() and len(given[name]) < 12 else None
            for name in ("row", "offset")
        }
        language = given.get("language", "")
        return cls(
            numbers["row"], tuple(given.getlist("lock")), given.get("target", ""), given.get("where", ""),
            numbers["offset"] or 0, language if language in LANGUAGES else LANGUAGES[0], "ask" in given, who,
        )  # fmt: skip


async def page(desk: Desk, team: Team, csrf: str, wanted: Wanted | None) -> str:
    """The page for what is wanted; without any, it only lets sign in."""
    if wanted is None:
        return _filled("sign-in.html", "en", {})
    shown = await anyio.to_thread.run_sync(_shown, desk, wanted)
    answer = await _answer(team, wanted, shown) if wanted.ask and shown["chosen"] else {}
    return _filled("what-if.html", wanted.language, {**shown, **answer, "csrf": csrf})


def _shown(desk: Desk, wanted: Wanted) -> Json:
    """What the page shows of the desk: rows, the chosen one, and its columns."""
    error, chosen, listed = None, None, desk.rows(0, ROWS_SHOWN)
    try:
        listed = desk.rows(wanted.offset, ROWS_SHOWN, wanted.where)
        chosen = None if wanted.row is None else desk.row(wanted.row)
    except ButforError as found:
        error = refused(found)
    return {
        "desk": desk.model, "columns": desk.columns, "listed": listed, "chosen": chosen, "error": error,
        "wanted": wanted, "languages": LANGUAGES, "step": ROWS_SHOWN,
    }  # fmt: skip


async def _answer(team: Team, wanted: Wanted, shown: Json) -> Json:
    """The answer to the question in the address."""
    body: Json = {"row": wanted.row, "seconds": SECONDS, "language": wanted.language, "card": True}
    names = {column["name"] for column in shown["columns"]}
    body["columns"] = {name: {"frozen": True} for name in wanted.locked if name in names}
    classes = {str(label): label for label in shown["desk"]["classes"]}
    if wanted.target in classes:
        body["target"] = classes[wanted.target]
    found: Json = {}
    try:
        async with aclosing(team.ask("explain", {"asked": body, "who": wanted.who})) as events:
            async for event in events:
                found |= event
    except (QueueFullError, ProcessEndedError):
        found = {
            "error": {
                "given": "Too many questions wait, or the process that answered has ended.",
                "remedy": "Ask again.",
            }
        }
    if "error" in found:
        return {"error": found["error"]}
    return {"answers": [Markup(one["html"]) for one in found["answers"]]}


@cache
def _environment() -> Environment:
    """The templates. What is filled in is escaped; what a template names must be there."""
    folder = files("butfor.serve.templates")
    texts = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(".html")}
    return Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _filled(name: str, language: str, facts: Mapping[str, Any]) -> str:
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
