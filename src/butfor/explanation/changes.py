"""The facts of an answer, one row per column: what every view lays out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.explanation.column_words import ENGLISH, ColumnWords, NumberStyle, Words
from butfor.space.feature import Feature
from butfor.space.space import Space, same

PLAIN_WORDS = ColumnWords(thousands=False)
"""How the values of a column are written that has no words."""

EVERY_DIGIT = Context(prec=700)
"""Rounds numbers of any size: a float has at most 309 digits before the point."""


@dataclass(frozen=True)
class Change:
    """One column before and after, in the user's values.

    `words` say how the column is called and its values are written. These are known only of numbers:

    - `ends`: the ends of the column's range;
    - `position`: where both values lie on the range (0 to 1, or outside);
    - `share`: the signed change as a share of the range;
    - `stays`: the ends between which the answer stays valid, together with those of all columns, if a box was promised;

    If the column follows from others (see `bf.follows` and `bf.computed`):

    - `acted`: what one's own action alone would make of it (None if that is missing);
    - `by_itself`: whether it only follows, and one does nothing to it.
    """

    name: str
    kind: str
    before: Any
    after: Any
    changed: bool
    share: float = 0.0
    position: tuple[float, float] | None = None
    ends: tuple[float, float] | None = None
    words: ColumnWords | None = None
    stays: tuple[float, float] | None = None
    acted: Any = None
    by_itself: bool = False

    @property
    def action(self) -> float | None:
        """How much of the change is one's own action; None if the column is no number."""
        return self.change if self.change is None or self.acted is None else self.acted - self.before

    @property
    def consequence(self) -> float | None:
        """How much of the change follows from other changes, and costs nothing; None if the column is no number."""
        return None if self.change is None else 0.0 if self.acted is None else self.after - self.acted

    @property
    def follows(self) -> str:
        """The part of the change that follows from others, as a signed text; empty if nothing does."""
        return difference_of(self.following, self.words or PLAIN_WORDS) if self.consequence else ""

    @property
    def following(self) -> Change:
        """The part of the change that follows from others, as a change of its own."""
        return self if self.acted is None else replace(self, before=self.acted, changed=self.acted != self.after)

    @property
    def label(self) -> str:
        """The name of the column for people."""
        return self.words.label if self.words and self.words.label else self.name

    @property
    def change(self) -> float | None:
        """The signed difference of two numbers; None for anything else."""
        return self.after - self.before if is_number(self.before) and is_number(self.after) else None

    @property
    def text(self) -> tuple[str, str]:
        """Both values as short texts. Different values never have the same text."""
        return texts_of(self, self.words or PLAIN_WORDS)

    @property
    def difference(self) -> str:
        """The signed difference of the numbers that `text` shows, as a text; an empty text for anything else."""
        return difference_of(self, self.words or PLAIN_WORDS)

    def show(self, value: Any) -> str:
        """Another value of the column as a short text."""
        return shown(value, self.words) if self.words else word(value)

    def show_within(self, low: float, high: float) -> tuple[str, str]:
        """The ends of an interval of the column as short texts. What they say lies within the interval."""
        return texts_within(low, high, self.words or PLAIN_WORDS)


def texts_of(change: Change, words: ColumnWords, style: NumberStyle = ENGLISH) -> tuple[str, str]:
    """Both values of a change, as these words and this style write them."""
    plain = _digits_of(change, words)
    pairs = zip((change.before, change.after), plain, strict=True)
    before, after = (_in_words(value, text, words, style) for value, text in pairs)
    return (before, after) if before != after or not change.changed else plain


def difference_of(change: Change, words: ColumnWords, style: NumberStyle = ENGLISH) -> str:
    """The signed difference of the numbers of a change, as these words and this style write it; empty for levels."""
    if change.change is None:
        return ""
    before, after = _digits_of(change, words)
    if "e" in before + after or "n" in before + after:  # an exponent, inf or nan
        return ("+" if change.change > 0 else "") + shown(change.change, words, style)
    gap = Decimal(after) - Decimal(before)
    return ("+" if gap > 0 else "") + words.number(f"{gap:f}", style)


def _digits_of(change: Change, words: ColumnWords) -> tuple[str, str]:
    """Both values without units and marks. Two numbers have equally many decimals."""
    before, after = readable(change.before, change.after, change.ends, words.decimals)
    if not (is_number(change.before) and is_number(change.after)):
        return before, after
    first, second = aligned([before, after])
    return first, second


def aligned(numbers: Sequence[str]) -> list[str]:
    """Numbers as texts, with zeros behind them so that all have equally many decimals.

    >>> aligned(["0.5", "12", "0.125"])
    ['0.500', '12.000', '0.125']
    """
    if any(not set(number) <= set("-+.0123456789") for number in numbers):
        return list(numbers)
    most = max((len(number.partition(".")[2]) for number in numbers), default=0)
    return [f"{Decimal(number):.{most}f}" for number in numbers]


def texts_within(low: float, high: float, words: ColumnWords, style: NumberStyle = ENGLISH) -> tuple[str, str]:
    """Both ends of an interval, as these words and this style write them. What they say lies within the interval."""
    first, last = _rounded(low, ROUND_CEILING, words.decimals), _rounded(high, ROUND_FLOOR, words.decimals)
    if first > last:  # so many digits do not tell the ends apart
        return words.number(repr(low), style), words.number(repr(high), style)
    texts = (f"{end:f}" if words.decimals and end.is_finite() else _plain(end) for end in (first, last))
    return words.number(next(texts), style), words.number(next(texts), style)


def shown(value: Any, words: ColumnWords, style: NumberStyle = ENGLISH) -> str:
    """A value as these words and this style write it."""
    if is_number(value) and words.decimals is not None and np.isfinite(value):
        return _in_words(value, _fixed(value, words.decimals), words, style)
    return _in_words(value, word(value), words, style)


def _in_words(value: Any, text: str, words: ColumnWords, style: NumberStyle) -> str:
    if value is None:
        return style.missing
    return words.number(text, style) if is_number(value) and not words.levels else words.level(value)


def _fixed(value: float, decimals: int) -> str:
    return f"{Decimal(repr(value)):.{decimals}f}"


def change_rows(
    space: Space,
    factual: FloatArray,
    point: FloatArray | None,
    words: Words | None = None,
    box: tuple[FloatArray, FloatArray] | None = None,
    acted: tuple[FloatArray, Sequence[int]] | None = None,
) -> tuple[Change, ...]:
    """One row for each column of the space. `box` has the ends between which the point stays valid.

    `acted` is what one's own actions alone would make of the row, and which columns follow from others.
    """
    after = factual if point is None else point
    known, moved = words.columns if words else {}, ~same(factual, after)
    rows = [
        _row(feature, float(factual[j]), float(after[j]), bool(moved[j]), known.get(feature.name))
        for j, feature in enumerate(space.features)
    ]
    if acted is not None and point is not None:
        own, effects = acted
        for j in effects:
            idle = bool(same(own[j], factual[j]))
            changed, alone = rows[j].changed, space.features[j].value(float(own[j]))
            rows[j] = replace(rows[j], acted=alone, changed=changed or not idle, by_itself=changed and idle)
    if box is None:
        return tuple(rows)
    return tuple(
        replace(row, stays=(low, high)) if row.ends and low < high else row
        for row, low, high in zip(rows, *(end.tolist() for end in box), strict=True)
    )


def changed_rows(space: Space, factual: FloatArray, point: FloatArray) -> tuple[Change, ...]:
    """The rows of the columns that change, where none follows from others."""
    moved = np.flatnonzero(~same(factual, point)).tolist()
    return tuple(_row(space.features[j], float(factual[j]), float(point[j]), True, None) for j in moved)


def _row(feature: Feature, before: float, after: float, changed: bool, words: ColumnWords | None) -> Change:
    facts = (feature.name, feature.kind, feature.value(before), feature.value(after), changed)
    if feature.levels is not None or np.isnan(before) or np.isnan(after):
        return Change(*facts, words=words)
    position = ((before - feature.low) / feature.range, (after - feature.low) / feature.range)
    return Change(*facts, (after - before) / feature.range, position, (feature.low, feature.high), words)


def in_words(changes: Iterable[Change]) -> str:
    """Changes in one line.

    >>> in_words([Change("income", "whole number", 4000, 5000, True), Change("job", "category", "clerk", "pilot", True)])
    'income 4000 → 5000; job clerk → pilot'
    """
    return "; ".join(f"{change.label} {change.text[0]} → {change.text[1]}" for change in changes)


def is_number(value: Any) -> bool:
    """Whether a value is a number (and not a truth value)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def readable(
    before: Any, after: Any, ends: tuple[float, float] | None = None, decimals: int | None = None
) -> tuple[str, str]:
    """Two values as short texts, which differ if the values do.

    `decimals`: how many decimals numbers have at least (None: as many as they need).

    The second number is rounded away from the first, but not past the ends of the range. So whoever types the short
    number in goes at least as far as the answer does. Beside a value that is no number, it is not rounded at all. The first
    number has more digits if it would otherwise seem to lie on the other side of the second.

    >>> readable(4000.0, 5000.000244), readable(100000.46, 100000.2)
    (('4000', '5000.01'), ('100000.46', '100000.2'))
    """
    if not is_number(before) or not is_number(after):
        return _alone(before, decimals), _exact(after, decimals)
    if before == after:
        return (_alone(before, decimals),) * 2
    if isinstance(before, int) and isinstance(after, int):
        return _alone(before, decimals), _alone(after, decimals)
    start, end = Decimal(repr(float(before))), Decimal(repr(float(after)))
    close = Decimal("1e-4") * abs(end - start)
    low, high = ends if ends and ends[0] <= after <= ends[1] else (-np.inf, np.inf)
    for far in _shorter(end, ROUND_CEILING if end > start else ROUND_FLOOR, decimals):
        if abs(far - end) <= close and low <= float(far) <= high:
            break
    first = _alone(float(before), decimals)
    if Decimal(first).compare(far) != start.compare(end):
        near = (one for one in _shorter(start, ROUND_HALF_EVEN, decimals) if abs(one - start) <= close)
        first = _told(next(near, start), decimals)
    return first, _told(far, decimals)


def _shorter(exact: Decimal, rounding: str, decimals: int | None) -> Iterator[Decimal]:
    """A number with six digits, or so many decimals, and then with more and more."""
    for digits in range(6, 18) if decimals is None else range(decimals, 301):
        least = exact.adjusted() - digits + 1 if decimals is None else -digits
        yield exact.quantize(Decimal((0, (1,), max(least, -300))), rounding, EVERY_DIGIT)


def _told(number: Decimal, decimals: int | None) -> str:
    return _plain(number) if decimals is None else f"{number:f}"


def _exact(value: Any, decimals: int | None) -> str:
    """A value as a text. A number is read back as it is, and has at least so many decimals."""
    if not isinstance(value, float) or not np.isfinite(value):
        return _alone(value, decimals)
    shortest = Decimal(repr(float(value)))
    own = len(f"{shortest:f}".rstrip("0").partition(".")[2])
    return _plain(shortest) if decimals is None else f"{shortest:.{max(own, decimals)}f}"


def _alone(value: Any, decimals: int | None) -> str:
    return word(value) if decimals is None or not is_number(value) else _fixed(value, decimals)


def word(value: Any) -> str:
    """One value as a short text. A number has six digits, and no exponent if its size is ordinary.

    >>> word(1234567.8), word(0.1 + 0.2), word(None)
    ('1234568', '0.3', 'missing')
    """
    if value is None:
        return "missing"
    if not isinstance(value, float) or not np.isfinite(value):
        return str(value)
    return _plain(Decimal(f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"))


def _rounded(value: float, rounding: str, decimals: int | None) -> Decimal:
    """A number with six digits, and at least all of those before the point, or with so many decimals."""
    exact = Decimal(repr(value))
    if not exact.is_finite() or exact.adjusted() >= 12:
        return exact
    least = min(exact.adjusted() - 5, 0) if decimals is None else -decimals
    return exact.quantize(Decimal((0, (1,), max(least, -300))), rounding)


def _plain(number: Decimal) -> str:
    """A number without trailing zeros, and without an exponent unless it is very large or very small."""
    if number and (abs(number.adjusted()) >= 12 or not number.is_finite()):
        return repr(float(number)).removesuffix(".0")
    text = f"{number + 0:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
