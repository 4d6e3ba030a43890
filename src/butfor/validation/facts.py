"""What a dossier says: one structure of facts, tables and sentences, of which the page and the JSON are two renderings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from butfor.records.plain import plain
from butfor.report.lines import Line


@dataclass(frozen=True)
class Fact:
    """One fact: its name for programs, its name for people, the value, and how it is written."""

    name: str
    label: str
    value: Any
    text: str

    def to_dict(self) -> dict[str, Any]:
        """The fact as plain data."""
        return {"label": self.label, "value": self.value, "text": self.text}


@dataclass(frozen=True)
class Heading:
    """A column of a table to be made: its name for programs and for people, how a value is written, how the column looks.

    `look` is a class of the style ("number", "typical"), or "share": then a bar stands before the text.
    """

    name: str
    label: str
    show: Callable[[Any], str] = str
    look: str = "number"


@dataclass(frozen=True)
class FactTable:
    """A table: its columns (for programs, for people, and how they look), and its lines as values and as texts."""

    name: str
    title: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    looks: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]
    texts: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        return {
            "title": self.title,
            "columns": dict(zip(self.columns, self.labels, strict=True)),
            "lines": [dict(zip(self.columns, line, strict=True)) for line in self.lines],
            "texts": [list(texts) for texts in self.texts],
        }


@dataclass(frozen=True)
class DossierSection:
    """A section: sentences, facts, limits (facts whose text is a sentence), tables, and commands with what they do."""

    name: str
    title: str
    says: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    tables: tuple[FactTable, ...] = ()
    limits: tuple[Fact, ...] = ()
    commands: tuple[tuple[str, str], ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The section as plain data. What it does not have is left out."""
        parts: dict[str, Any] = {
            "says": list(self.says),
            "facts": {one.name: one.to_dict() for one in self.facts},
            "tables": {one.name: one.to_dict() for one in self.tables},
            "limits": {one.name: one.to_dict() for one in self.limits},
            "commands": [{"does": does, "command": command} for does, command in self.commands],
        }
        return {"title": self.title, **{name: part for name, part in parts.items() if part}}


def fact(name: str, label: str, value: Any, text: str | None = None) -> Fact:
    """A fact. Without a text, the value is written as it is."""
    kept = plain(value)
    return Fact(name, label, kept, str(kept) if text is None else text)


def fact_table(name: str, title: str, lines: Iterable[Line], *headings: Heading) -> FactTable:
    """A table of lines, of which the columns with a heading are shown. A missing value is written as nothing."""
    values = tuple(tuple(plain(line[one.name]) for one in headings) for line in lines)
    texts = tuple(tuple(_written(headings, line)) for line in values)
    names, labels, looks = (tuple(getattr(one, part) for one in headings) for part in ("name", "label", "look"))
    return FactTable(name, title, names, labels, looks, values, texts)


def _written(headings: Sequence[Heading], line: Sequence[Any]) -> Iterable[str]:
    return ("" if value is None else one.show(value) for one, value in zip(headings, line, strict=True))
