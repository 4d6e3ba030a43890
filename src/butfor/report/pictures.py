"""Small pictures as SVG, which grow with their place: lengths are shares of the width. Each says itself in words.

Their colours stand in `report.css`, for light and dark pages. They are those of Okabe and Ito, which the colour-blind can
tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from butfor.arrays import FloatArray

HISTOGRAM_BINS = 32
"""How many columns a histogram has."""


def stacked_bar(parts: Sequence[tuple[str, float]], words: str) -> str:
    """A bar that is divided: the name of each part (a class of the style) and its share of the whole."""
    ends = np.concatenate([[0.0], np.cumsum([share for _, share in parts])])
    return _svg(
        "stacked",
        words,
        "".join(
            _rect(name.replace(" ", "-"), begin, end - begin)
            for (name, _), begin, end in zip(parts, ends, ends[1:])  # noqa: B905
        ),
    )


def share_bar(share: float, words: str) -> str:
    """A bar as long as a share, on a track."""
    return _svg("share", words, _rect("track", 0, 1) + _rect("filled", 0, share))


def histogram(values: FloatArray, words: str) -> str:
    """How values spread from 0 to the largest: each column is as high as it is frequent."""
    counts, _ = np.histogram(values, bins=HISTOGRAM_BINS, range=(0.0, float(values.max()) or 1.0))
    tallest = counts.max()
    return _svg(
        "histogram",
        words,
        "".join(
            _rect("filled", i / HISTOGRAM_BINS, 0.92 / HISTOGRAM_BINS, count / tallest)
            for i, count in enumerate(counts)
            if count
        ),
    )


def interval(low: float, middle: float, high: float, most: float, words: str) -> str:
    """An interval and a number in it, on a line from 0 to `most`."""
    low, middle, high = (one / most if most else 0.0 for one in (low, middle, high))
    dot = f'<circle class="filled" cx="{_percent(middle)}" cy="50%" r="4"/>'
    return _svg("interval", words, _rect("track", 0, 1) + _rect("between", low, high - low) + dot)


def _svg(kind: str, words: str, shapes: str) -> str:
    return f'<svg class="{kind}" role="img"><title>{escape(words)}</title>{shapes}</svg>'


def _rect(kind: str, begin: float, width: float, height: float = 1.0) -> str:
    return (
        f'<rect class="{kind}" x="{_percent(begin)}" width="{_percent(width)}" '
        f'y="{_percent(1 - height)}" height="{_percent(height)}"/>'
    )


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"
