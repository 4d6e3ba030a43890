"""Several answers to one row, side by side: what changes in each, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError
from butfor.explanation.changes import Change, word
from butfor.explanation.explanation import Explanation
from butfor.explanation.render import rendered
from butfor.space import frames
from butfor.space.space import same


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    """Several answers to one row. Those that were not found are left out.

    - `answers`: the answers, in the order in which they were given;
    - `lines`: for each column that some answer changes, the column in every answer, changed or not.

    Print them, or use `to_frame` or `plot`.
    """

    answers: tuple[Explanation, ...]

    @property
    def lines(self) -> tuple[tuple[Change, ...], ...]:
        """The columns that some answer changes, those that change most often first."""
        columns = list(zip(*(one.columns() for one in self.answers), strict=True))
        changed = [line for line in columns if any(change.changed for change in line)]
        return tuple(sorted(changed, key=lambda line: -sum(change.changed for change in line)))

    def to_frame(self) -> Any:
        """One row per column that some answer changes, then one for the cost and one for the score.

        The columns are `column`, `now`, `answer 1`, `answer 2`, ... A cell is missing if the answer leaves the column
        as it is. All cells are texts, because columns differ in type. For arrays it is a dict of columns.
        """
        first, lines = self.answers[0], self.lines
        score = first.score
        columns: dict[str, list[Any]] = {
            "column": [*(line[0].name for line in lines), "cost", "score"],
            "now": [*(_exact(line[0].before) for line in lines), None, None if score is None else str(score.before)],
        }
        for i, one in enumerate(self.answers):
            columns[f"answer {i + 1}"] = [
                *(_exact(line[i].after) if line[i].changed else None for line in lines),
                str(one.cost),
                None if one.score is None else str(one.score.after),
            ]
        return frames.framed(first.factual, columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the answers side by side, with matplotlib. Returns the axes."""
        return rendered(self, "alternatives drawn", ax)

    def __repr__(self) -> str:
        return str(rendered(self, "alternatives"))


def _exact(value: Any) -> str:
    """A value as text, with all its digits."""
    return word(None) if value is None else str(value)


def alternatives(given: Explanation | Sequence[Explanation]) -> Alternatives:
    """Several answers to one row, side by side."""
    found = tuple(one for one in to_one_row(given) if one.found)
    if not found:
        raise InputError("no answer was found.", "There is nothing to put side by side.")
    return Alternatives(found)


def to_one_row(given: Explanation | Sequence[Explanation]) -> list[Explanation]:
    """The answers, which must be to one row and its columns."""
    answers = [given] if isinstance(given, Explanation) else list(given)
    if not answers:
        raise InputError("no answer was given.", "At least one is needed.")
    strangers = [one for one in answers if not isinstance(one, Explanation)]
    if strangers:
        raise InputTypeError(f"{type(strangers[0]).__name__} was given as an answer.", "Give what `explain` returned.")
    first = answers[0]
    for one in answers:
        if one.space.names != first.space.names or not np.all(same(one.factual_codes, first.factual_codes)):
            raise InputError(
                "answers to different rows were given.",
                "They must be to one row.",
                "Choose them: answers[answers.rows == 0].",
            )
    return answers
