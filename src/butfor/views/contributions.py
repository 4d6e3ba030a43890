"""What each change contributes, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.views.text import plain, scored, table

if TYPE_CHECKING:
    from butfor.explanation.contributions import Contributions


def render(parts: Contributions) -> str:
    """A table of the changes with their parts, and the rule by which the score was divided."""
    answer = parts.answer
    names = ["column", "before", "after"]
    lines = [[change.label, *change.text] for change in answer.changes]
    for name, numbers in (("score", parts.score), ("cost", parts.cost)):
        if numbers is not None:
            names.append(name)
            lines = [[*line, f"{number:+.4g}"] for line, number in zip(lines, numbers, strict=True)]
    head = scored(answer) if answer.score else "the model gives no score"
    return f"{head}\n{plain(table(names, lines))}\n{parts.rule}"
