"""A menu as text and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.explanation.changes import in_words as changes_in_words
from butfor.explanation.changes import word
from butfor.explanation.menu import MenuLine, Standing
from butfor.views.listing import Listing, target_of, told

if TYPE_CHECKING:
    from butfor.explanation.menu import Menu

OPTIONS_LISTED = 20
"""How many options are listed."""


def in_words(menu: Menu) -> str:
    """The menu in sentences."""
    options = [f"{', '.join(change.label for change in one.actions) or 'nothing'} at {word(one.cost)}" for one in menu]
    return " ".join([f"{title(menu)}.", *([f"{'; '.join(options)}."] if options else []), *remarks(menu)])


def listing(menu: Menu) -> Listing:
    """What is shown of a menu."""
    lines = [
        (word(one.cost), changes_in_words(one.changes) or "nothing", one.certificate.status.short)
        for one in menu.answers[:OPTIONS_LISTED]
    ]
    rest = len(menu) - OPTIONS_LISTED
    more = [f"and {rest} more"] if rest > 0 else []
    return Listing(title(menu), ("cost", "changes", "status"), lines, [*more, *remarks(menu)])


def title(menu: Menu) -> str:
    """What was asked, and how many answers there are."""
    ways = f"{len(menu) or 'no'} {'way' if len(menu) == 1 else 'ways'}"
    asked = f"{told(menu, menu.before)} → {target_of(menu, menu.target)}"
    return f"{asked}: {ways}, by changing at most {menu.most} of {menu.width} columns"


def remarks(menu: Menu) -> list[str]:
    """What is known about the sets of columns that are no options."""
    told = {
        Standing.NO_CHEAPER: "suffice, too, but a part of each does so at the same cost",
        Standing.IMPOSSIBLE: "provably do not suffice",
        Standing.OPEN: "are open: nothing cheaper than their parts was found, and nothing is ruled out",
    }
    found = []
    for standing, words in told.items():
        count = len(menu.standing(standing))
        if count:
            found.append(f"{count} of {len(menu.lines)} sets of columns {words}{_nearest(menu, standing)}.")
    return found


def _nearest(menu: Menu, standing: Standing) -> str:
    """How far the best of the sets that do not suffice gets."""
    best: MenuLine | None = next(iter(menu.impossible), None)
    if standing is not Standing.IMPOSSIBLE or best is None or not best.lack < float("inf"):
        return ""
    names = ", ".join(best.columns) or "the row as it is"
    return f"; the nearest, {names}, gets no further than {best.reached:.4g}, and {best.needed:.4g} is needed"
