"""A trade-off as text, as HTML and as a picture: the least cost of each demand, as stairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from butfor.explanation.changes import in_words as changes_in_words
from butfor.explanation.changes import word
from butfor.views.drawing import BLUE, GREY, PALE, axes_of, escaped, titled
from butfor.views.listing import Listing, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from butfor.explanation.trade_off import TradeOff


AXES = {"changes": "changes, at most", "radius": "radius in ranges"}
"""What is written below the picture, if it is not a score."""


def in_words(trade: TradeOff) -> str:
    """The trade-off in sentences."""
    points = "; ".join(
        f"{_number(number)} at {answer.cost:.4g}" for number, answer in zip(trade.numbers, trade, strict=True)
    )
    return " ".join(
        [
            f"{title(trade)}.",
            *([f"{trade.against[:1].upper()}{trade.against[1:]}: {points}."] if points else []),
            *remarks(trade),
        ]
    )


def listing(trade: TradeOff) -> Listing:
    """What is shown of a trade-off."""
    lines = [
        (
            _number(number),
            word(one.cost),
            changes_in_words(one.changes) or "nothing",
            one.certificate.status.short,
        )
        for number, one in zip(trade.numbers, trade, strict=True)
    ]
    heads = ("number" if trade.against == "changes" else trade.against, "cost", "changes", "status")
    return Listing(title(trade), heads, lines, remarks(trade))


def title(trade: TradeOff) -> str:
    """What was asked."""
    return f"{told(trade, trade.before)} → {trade.target}: cost against {trade.against}"


def remarks(trade: TradeOff) -> list[str]:
    """What is proven beside the answers."""
    found = []
    hopeless = [one for one in trade.stretches if one.low == np.inf]
    if hopeless:
        start = _number(hopeless[0].start)
        few = f"at most {start} change{'' if start == '1' else 's'}"
        demand = few if trade.against == "changes" else f"a {trade.against} of {start} or beyond"
        found.append(f"With {demand}, there is provably no answer.")
    gaps = [one for one in trade.stretches if one.low < one.high]
    if gaps:
        widest = max(gaps, key=lambda one: one.high - one.low)
        cost = f"{widest.low:.4g}" + (f" and {widest.high:.4g}" if widest.high < np.inf else "")
        lies = f"between {cost}" if widest.high < np.inf else f"at {cost} or above, if there is an answer"
        ends = f"from {_number(widest.start)} to {_number(widest.end)}"
        found.append(f"Between the answers, bounds are proven: {ends}, the least cost lies {lies}.")
    return found or ["The trade-off is complete: no other answer is cheaper without being worse."]


def draw(trade: TradeOff, ax: Axes | None = None) -> Axes:
    """Draw the least cost of each demand as stairs, and the answers as dots. What is only bounded is hatched."""
    ax = axes_of(ax, 6.8, 3.8)
    top = max((one.cost for one in trade), default=1.0) or 1.0
    for one in trade.stretches:
        ends = [one.start, one.end]
        if one.low == np.inf:
            ax.axvline(one.start, color=GREY, linestyle=":", linewidth=1.5)
            ax.annotate(
                "no answer", (one.start, 0), (4, 4), textcoords="offset points", fontsize=8.5, color=GREY, va="bottom"
            )
            break
        if one.low == one.high:
            ax.plot(ends, [one.high, one.high], color=BLUE, linewidth=2, solid_capstyle="butt")
        elif one.start == one.end:
            ax.plot(ends, [one.low, min(one.high, top)], color=GREY)
        else:
            ax.fill_between(
                ends, one.low, min(one.high, top), facecolor=PALE, edgecolor=GREY, hatch="///", alpha=0.7, linewidth=0
            )
    ax.plot(trade.numbers, [one.cost for one in trade], "o", color=BLUE, markersize=7, zorder=3)
    titled(ax, escaped(f"{told(trade, trade.before)} → {trade.target}"))
    ax.set_xlabel(escaped(AXES.get(trade.against, trade.against)))
    ax.set_ylabel("least cost")
    ax.set_ylim(0, top * 1.08)
    if trade.against == "changes":
        ax.locator_params(axis="x", integer=True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_label(in_words(trade))
    return ax


def _number(number: float) -> str:
    return word(float(number)) if number == int(number) else f"{number:.4g}"
