"""The best of several answers in some respects, as text and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.explanation.changes import in_words, word
from butfor.views.listing import Listing, target_of, told

if TYPE_CHECKING:
    from butfor.explanation.variety import Variety


def listing(variety: Variety) -> Listing:
    """What is shown of a choice."""
    lines = [
        (variety.best_in(place), word(one.cost), in_words(one.changes) or "nothing")
        for place, one in enumerate(variety)
    ]
    title = f"{told(variety, variety[0].before)} → {target_of(variety, variety.target)}: the best of {variety.compared} answers"
    return Listing(title, ("best in", "cost", "changes"), lines)
