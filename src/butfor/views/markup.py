"""The pieces that HTML is made of. Nothing of the user's is markup in them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any


def isolated(value: Any) -> str:
    """A value, escaped, and isolated. So right-to-left text, of which ASCII has none, does not reorder what is around it."""
    text = str(value)
    return escape(text) if text.isascii() else f"<bdi>{escape(text)}</bdi>"


def phrase(words: str) -> str:
    """Our own words, which may contain names given by the user, escaped."""
    return f'<span dir="ltr">{escape(words)}</span>'


def sentence(words: str) -> str:
    """A phrase that begins with a capital and ends with a full stop."""
    return phrase(f"{words[:1].upper()}{words[1:]}.")


def part(title: str, body: str) -> str:
    """A part of a section, with its title."""
    return f"<div><h3>{title}</h3>{body}</div>"


def pairs(facts: Iterable[tuple[str, str]]) -> str:
    """Names with their values. Empty values are left out."""
    listed = "".join(f"<dt>{name}</dt><dd>{isolated(value)}</dd>" for name, value in facts if value)
    return f"<dl>{listed}</dl>" if listed else ""
