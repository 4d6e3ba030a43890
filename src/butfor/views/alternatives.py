"""Several answers to one row side by side, as text and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from butfor.explanation.changes import Change, aligned, word
from butfor.views.drawing import BLUE, COLUMNS_DRAWN, GREY, PALE, axes_of, bare, label, titled
from butfor.views.text import plain, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.alternatives import Alternatives
    from butfor.explanation.explanation import Explanation

ANSWERS_DRAWN = 8
"""How many answers are drawn."""

WAYS = {True: "▲", False: "▼"}
"""What stands before a number that rises, and one that falls."""


def text(found: Alternatives) -> str:
    """A table with a column per answer. A cell is blank if the answer leaves the column as it is."""
    names = ["column", "now", *(f"answer {i + 1}" for i in range(len(found.answers)))]
    lines = [[line[0].label, line[0].text[0], *map(_after, line)] for line in found.lines]
    lines.append(["cost", "", *_costs(found.answers)])
    if found.answers[0].score:
        lines.append(
            [found.answers[0].score.of, _score(found.answers[0], 0), *(_score(one, 1) for one in found.answers)]
        )
    return plain(table(names, lines))


def draw(found: Alternatives, ax: Axes | None = None) -> Axes:
    """Draw a table: one line per column that some answer changes, one column per answer, cost and score below.

    Where a column moves, the cell is filled, and a triangle says which way.
    """
    answers, lines = found.answers[:ANSWERS_DRAWN], found.lines[:COLUMNS_DRAWN]
    height = len(lines) + 2
    ax = axes_of(ax, 2.8 + 1.35 * (len(answers) + 1), 0.9 + 0.36 * height)
    for y, line in enumerate(lines):
        _cell(ax, 0, y, line[0].text[0], GREY)
        for x, change in enumerate(line[: len(answers)], 1):
            if change.changed:
                ax.barh(y, 0.94, left=x - 0.47, height=0.84, color=PALE)
                _cell(ax, x, y, _after(change), BLUE)
    for x, one in enumerate(answers, 1):
        _cell(ax, x, height - 1, _score(one, 1), "black")
    for x, cost in enumerate(_costs(answers), 1):
        _cell(ax, x, height - 2, cost, "black")
    _cell(ax, 0, height - 1, _score(answers[0], 0), GREY)
    ax.axhline(height - 2.5, color=GREY, linewidth=0.8)
    score = answers[0].score.of if answers[0].score else "score"
    ax.set_yticks(range(height), [*(label(line[0].label) for line in lines), "cost", label(score)])
    ax.set_ylim(height - 0.5, -0.5)
    ax.set_xlim(-0.5, len(answers) + 0.5)
    ax.set_xticks(range(len(answers) + 1), ["now", *(f"answer {i + 1}" for i in range(len(answers)))])
    ax.xaxis.tick_top()
    bare(ax, *ax.spines, size=9.5)
    titled(ax, f"{label(answers[0].told(answers[0].before))} → {label(answers[0].question.target)}")
    ax.set_label(in_words(found))
    return ax


def in_words(found: Alternatives) -> str:
    """What the picture shows, for those who do not see it."""
    told = "; ".join(
        f"answer {i + 1}: {', '.join(f'{one.label} {one.text[1]}' for one in answer.changes) or 'no change'}, "
        f"cost {answer.cost:.4g}"
        for i, answer in enumerate(found.answers)
    )
    return f"{len(found.answers)} answers side by side. {told}."


def _after(change: Change) -> str:
    """What a column becomes, and which way it moves; empty if it stays."""
    if not change.changed:
        return ""
    way = "" if change.change is None else f"{WAYS[change.change > 0]} "
    return f"{way}{change.text[1]}"


def _costs(answers: Sequence[Explanation]) -> list[str]:
    """What the answers cost, with equally many decimals."""
    return aligned([word(float(f"{one.cost:.4g}")) for one in answers])


def _score(answer: Explanation, which: int) -> str:
    return answer.score.texts[which] if answer.score else ""


def _cell(ax: Axes, x: int, y: int, text: str, color: str) -> None:
    ax.text(x, y, label(text), ha="center", va="center", fontsize=9, color=color)
