"""The best of several answers in some respects, as text and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.explanation.changes import in_words, word
from butfor.views.listing import Listing, target_of, told

if TYPE_CHECKING:
    from butfor.explanation.best import Best


def listing(best: Best) -> Listing:
    """What is shown of the best answers."""
    lines = [
        (best.best_in(place), word(one.cost), in_words(one.changes) or "nothing") for place, one in enumerate(best)
    ]
    title = f"{told(best, best[0].before)} → {target_of(best, best.target)}: the best of {best.compared} answers"
    return Listing(title, ("best in", "cost", "changes"), lines)
