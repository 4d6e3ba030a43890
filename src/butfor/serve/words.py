"""The words of the page by language. English ones are their own names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def words_for(language: str) -> Mapping[str, str]:
    """Each word of the page, in a language."""
    german: dict[str, str] = tomllib.loads(files("butfor.serve").joinpath("de.toml").read_text(encoding="utf-8"))
    return german if language == "de" else {english: english for english in german}
