"""The command that tells answers in sentences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from butfor.cli.asked import QuestionOptions, RowOptions
from butfor.cli.options import Threads, TimeLimit
from butfor.errors import InputError, choice

CUSTOMER = "customer"
"""The style that is a whole letter."""


@dataclass(frozen=True)
class LetterOptions:
    """The options that say what a letter looks like."""

    style: Annotated[str, typer.Option(help="customer (a whole letter), letter (a paragraph), brief or technical.")] = (
        CUSTOMER
    )
    language: Annotated[str, typer.Option(help="en, de, es or fr.")] = "en"
    date: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="The date of the letter (default: today).")] = (
        None
    )
    reference: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of DATA with the reference (default: the number of the row)."),
    ] = None
    contact: Annotated[str, typer.Option(metavar="TEXT", help="Whom to ask, such as a name with a number.")] = ""
    proof: Annotated[bool, typer.Option("--proof", help="Also say what is proven.")] = False
    template: Annotated[Path | None, typer.Option(metavar="FILE", help="The text of a letter, with {text} in it.")] = (
        None
    )
    templates: Annotated[Path | None, typer.Option(metavar="FILE", help="A .toml file with sentences of your own.")] = (
        None
    )

    def check(self) -> None:
        """Refuse what does not fit, before any work."""
        from butfor.views.letters import STYLES

        styles = (CUSTOMER, *STYLES)
        if self.style not in styles:
            raise InputError(f"--style {self.style} was given.", *choice("The styles are", self.style, styles))
        of_letters = ("date", "reference", "contact", "proof", "template")
        for name in of_letters:
            if getattr(self, name) and self.style != CUSTOMER:
                raise InputError(
                    f"--{name} was given with --style {self.style}.",
                    "Only a whole letter has it.",
                    f"Use --style {CUSTOMER}.",
                )
        self.day()

    def day(self) -> dt.date | None:
        """The date of the letter."""
        try:
            return None if self.date is None else dt.date.fromisoformat(self.date)
        except ValueError:
            raise InputError(f"--date {self.date} was given.", "A day is written as 2026-11-27.") from None

    def texts(self, answers: Any, table: Any, rows: Sequence[int]) -> list[str]:
        """What is said of each row."""
        from butfor.space import frames

        if self.style != CUSTOMER:
            return [one.to_text(self.style, self.language, self.templates) for one in answers]
        numbers: Sequence[Any] = rows
        if self.reference is not None:
            numbers = frames.named_column(table, self.reference, f"--reference {self.reference}")
        form: Any = {"date": self.day(), "contact": self.contact, "proof": self.proof, "templates": self.templates}
        return [
            one.to_letter(self.language, self.template, reference=str(number), **form)
            for one, number in zip(answers, numbers, strict=True)
        ]


def letter(
    chosen: RowOptions,
    asked: QuestionOptions,
    form: LetterOptions,
    time_limit: TimeLimit = None,
    n_jobs: Threads = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a file for each row, such as 206.txt, instead of printing."),
    ] = None,
) -> None:
    """Write a letter to the person whom each row is about, or tell the answers in sentences of another style."""
    from butfor.cli.files import write_letters
    from butfor.cli.several import headed

    form.check()
    explainer, table, rows = chosen.read(asked)
    found = explainer.explain(table, **asked.question(explainer), time_limit=time_limit, n_jobs=n_jobs)
    texts = form.texts(found, table, rows)
    if out is not None:
        write_letters(out, {f"{row}.txt": text for row, text in zip(rows, texts, strict=True)})
        return
    for row, text in zip(rows, texts, strict=True):
        typer.echo(headed(row, len(rows)) + text)
