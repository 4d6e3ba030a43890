"""A ladder as text, as HTML and as a picture: one bar per goal, as long as its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.explanation.changes import in_words as changes_in_words
from butfor.explanation.changes import word
from butfor.views.drawing import BLUE, GREY, PALE, axes_of, bare, escaped, label, titled
from butfor.views.listing import Listing, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.explanation import Explanation
    from butfor.explanation.ladder import Ladder

CHANGES_WRITTEN = 75
"""How many characters of the changes are written above a bar."""


def in_words(ladder: Ladder) -> str:
    """The ladder in sentences."""
    goals = (f"{name}: {_what(rung)}." for name, rung in zip(ladder.names, ladder, strict=True))
    return " ".join([f"{title(ladder)}.", *goals])


def listing(ladder: Ladder) -> Listing:
    """What is shown of a ladder."""
    lines = [
        (name, word(rung.cost) if rung.found else "", changes_in_words(rung.changes), _standing(rung))
        for name, rung in zip(ladder.names, ladder, strict=True)
    ]
    return Listing(title(ladder), ("goal", "cost", "changes", "status"), lines)


def title(ladder: Ladder) -> str:
    """Where the row stands, and what comes next."""
    step = ladder.next
    if step is not None:
        return (
            f"{told(ladder, ladder.before)} now; the cheapest next goal is {step}, at a cost of {ladder[step].cost:.4g}"
        )
    return f"{told(ladder, ladder.before)} now; " + (
        "the last goal is met" if ladder.met[-1] else "no further goal has an answer"
    )


def draw(ladder: Ladder, ax: Axes | None = None) -> Axes:
    """Draw one bar per goal, the last at the top. Above it stands what must change. The next goal's name is bold."""
    ax = axes_of(ax, 8.5, 1.0 + 0.62 * len(ladder))
    costs = [rung.cost if rung.found else 0.0 for rung in ladder]
    widest = max(costs) or 1.0
    for y, (rung, cost) in enumerate(zip(ladder, costs, strict=True)):
        ax.barh(y, widest, height=0.34, color=PALE)
        ax.barh(y, cost, height=0.34, color=BLUE, hatch="" if _proven(rung) else "///", edgecolor="white")
        ax.annotate(
            _short(_what(rung)), (0, y + 0.2), (0, 2), textcoords="offset points", va="bottom", fontsize=8.5,
            color=BLUE if rung.found else GREY, annotation_clip=False,
        )  # fmt: skip
    titled(ax, escaped(f"{told(ladder, ladder.before)} now"))
    ax.set_yticks(range(len(ladder)), [label(name) for name in ladder.names])
    for name, tick in zip(ladder.names, ax.get_yticklabels(), strict=True):
        tick.set_fontweight("bold" if name == ladder.next else "normal")
    ax.set_ylim(-0.5, len(ladder) - 0.35)
    ax.set_xlim(0, widest * 1.02)
    ax.set_xlabel("cost", fontsize=9, color=GREY)
    bare(ax, *ax.spines, size=9)
    ax.set_label(in_words(ladder))
    return ax


def _what(rung: Explanation) -> str:
    """What a goal takes, in one line."""
    if not rung.found:
        return _standing(rung)
    return f"cost {rung.cost:.4g}, {changes_in_words(rung.changes)}" if rung.changes else _standing(rung)


def _standing(rung: Explanation) -> str:
    return "met" if rung.found and not rung.changes else rung.certificate.status.short


def _proven(rung: Explanation) -> bool:
    return rung.certificate.status.short.startswith("proven")


def _short(words: str) -> str:
    return escaped(words if len(words) <= CHANGES_WRITTEN else f"{words[: CHANGES_WRITTEN - 1]}…")
