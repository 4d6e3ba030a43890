"""The sentences that are built in, by language."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

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


class _Plain(string.Formatter):
    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return kwargs[field_name], field_name
