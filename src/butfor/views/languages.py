"""The sentences that are built in, by language."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any

from butfor.errors import InputError, choice
from butfor.explanation.column_words import NumberStyle

Templates = dict[str, dict[str, Any]]
"""For each table of a file of sentences, its templates by name."""


def languages() -> list[str]:
    """The languages that are built in."""
    names = (entry.name for entry in files("butfor.views.sentences").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


@cache
def built_in(language: str) -> Templates:
    """The templates of a language."""
    return tomllib.loads(files("butfor.views.sentences").joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def filled(template: str, facts: Mapping[str, str]) -> str:
    """A template with its names filled in, and nothing else: no attributes, no formats."""
    return _Plain().vformat(template, (), facts)


_SPOKEN: ContextVar[str] = ContextVar("spoken", default="en")
"""The language of the page that is being written. All pieces of a page ask for it, so it is not handed from one to another."""


def page_languages() -> list[str]:
    """The languages in which pages are written."""
    return [language for language in languages() if language == "en" or "page" in built_in(language)]


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Write pages in a language."""
    if language not in page_languages():
        raise InputError(
            f"language={language!r} was given.", *choice("Pages are written in", language, page_languages(), repr)
        )
    before = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(before)


def spoken() -> str:
    """The language of the page that is being written."""
    return _SPOKEN.get()


def say(english: str, **facts: str) -> str:
    """Words of a page in its language, filled in."""
    template = english if spoken() == "en" else built_in(spoken())["page"][english]
    return filled(template, facts)


def spoken_numbers() -> NumberStyle:
    """How the language of the page writes numbers."""
    return NumberStyle(**built_in(spoken())["numbers"])


def say_number(text: str) -> str:
    """A number, which is written with a point, in the language of the page."""
    return spoken_numbers().apply(text, grouped=False) if set(text) <= set("-+.0123456789") and text else text


def say_count(count: int) -> str:
    """A count in the language of the page."""
    return spoken_numbers().apply(str(count), grouped=True)


class _Plain(string.Formatter):
    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return kwargs[field_name], field_name
