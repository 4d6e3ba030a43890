"""A folder with a letter for each row of a batch."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import InputError
from butfor.records.whole_file import write_together
from butfor.space import frames
from butfor.views.customer import Template, render

if TYPE_CHECKING:
    from butfor.explanation.explanations import Explanations

SAFE = re.compile(r"[\w][\w.-]*")
"""What the label of a row must be to name a file anywhere."""


def write(
    answers: Explanations,
    folder: str | os.PathLike[str],
    reference: str | Iterable[Any] | None,
    language: str,
    template: Template,
    **form: Any,
) -> list[Path]:
    """Write all letters or none. All are made before the first is written."""
    places = _answers_of_rows(answers)
    labels = [str(answers.labels[int(at[0])]) for at in places]
    names = _names(labels)
    texts = [
        render(list(answers[at]), language, template, reference=one, **form)
        for at, one in zip(places, _references(answers, places, labels, reference), strict=True)
    ]
    return write_together(folder, dict(zip(names, (text + "\n" for text in texts), strict=True)))


def _answers_of_rows(answers: Explanations) -> list[IntArray]:
    """The places of the answers to each row, in the order of the rows."""
    if not len(answers):
        raise InputError("no answer was given.", "A letter is about the answers to one row.")
    return [np.flatnonzero(answers.rows == row) for row in dict.fromkeys(answers.rows.tolist())]


def _names(labels: list[str]) -> list[str]:
    """The file of each row."""
    for label in labels:
        if not SAFE.fullmatch(label):
            raise InputError(
                f"a row has the label {label!r}, which cannot name a file.",
                "A label of letters, digits, dots, hyphens and underscores is needed.",
                "Give the rows other labels, such as X.reset_index(drop=True).",
            )
        if labels.count(label) > 1:
            raise InputError(
                f"{labels.count(label)} rows have the label {label!r}.",
                "Each letter needs a file of its own.",
                "Give the rows other labels, such as X.reset_index(drop=True).",
            )
    return [f"{label}.txt" for label in labels]


def _references(
    answers: Explanations, places: list[IntArray], labels: list[str], given: str | Iterable[Any] | None
) -> list[str]:
    """The reference of each row: its label, its value in a column, or the text given for it."""
    if given is None:
        return labels
    if isinstance(given, str):
        column = frames.named_column(answers.table, given, f"reference={given!r}")
        return [str(column[int(answers.table_rows[int(at[0])])]) for at in places]
    each = list(map(str, given))
    if len(each) != len(places):
        raise InputError(
            f"reference= holds {len(each)} texts, and {len(places)} rows were answered.",
            "It must hold one text per row, in their order.",
        )
    return each
