"""An answer as text: a table of changes, before and after, and what is known of it."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.explanation import Explanation, Explanations

WIDTH = 100


def headline(answer: Explanation) -> str:
    """One line: what the model said, what it would say."""
    if not answer.found:
        return f"{said(answer.before)}: no change found that makes it {answer.question.target}"
    if not answer.changes:
        return f"{said(answer.before)}: {answer.certificate.why}"
    return f"{said(answer.before)} → {said(answer.after)}, by changing {len(answer.changes)} of {len(answer.space)} columns"


def said(prediction: Any) -> str:
    """A prediction for reading."""
    return f"{prediction:.6g}" if isinstance(prediction, float) else str(prediction)


def footer(answer: Explanation) -> str:
    """One line: cost and certificate."""
    name = answer.certificate.status.name.replace("_", " ").lower()
    cost = f"cost {answer.cost:.6g} by {answer.question.cost}; " if answer.found else ""
    return f"{cost}{name}: {answer.certificate.why}"


def panel(answer: Explanation) -> Any:
    """A rich renderable."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = [Text(headline(answer), style="bold")]
    if answer.changes:
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column("column")
        for name in ("before", "after", "change"):
            table.add_column(name, justify="right")
        for change in answer.changes:
            before, after = change.text
            table.add_row(change.name, before, after, difference(change.before, change.after))
        parts.append(table)
    style = "green" if answer.found else "yellow"
    return Group(*parts, Text(footer(answer), style=style))


def difference(before: Any, after: Any) -> str:
    """The signed difference of two numbers."""
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (before, after))
    return f"{after - before:+.4g}" if numbers else ""


def render(answer: Explanation) -> str:
    """The answer as plain text."""
    return _plain(panel(answer))


def render_many(answers: Explanations, most: int = 20) -> str:
    """A line an answer."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("row", "before", "after", "changes", "cost", "status"):
        table.add_column(name, justify="right" if name in ("row", "cost") else "left")
    for i in range(min(len(answers), most)):
        one = answers[i]
        words = "; ".join(f"{c.name} {c.text[0]} → {c.text[1]}" for c in one.changes)
        cost = f"{one.cost:.4g}" if one.found else ""
        after = said(one.after) if one.found else ""
        table.add_row(str(int(answers.row[i])), said(one.before), after, words, cost, one.certificate.status.name)
    rest = len(answers) - most
    return _plain(Group(table, Text(f"and {rest} more")) if rest > 0 else table)


def _plain(renderable: Any) -> str:
    from rich.console import Console

    out = StringIO()
    Console(file=out, width=WIDTH, color_system=None, legacy_windows=False).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().split("\n"))
