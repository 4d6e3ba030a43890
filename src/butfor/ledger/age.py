"""How old an entry must be to be purged: "25months" before now."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta

from butfor.errors import InputError, InputTypeError

Age = str | timedelta
"""How old something is."""

AGE = re.compile(r"(\d{1,6})\s*(day|week|month|year)s?")

AGE_NEEDED = "It must be a number of days, weeks, months or years, such as '25months', or a timedelta."


def moment(at: datetime) -> str:
    """A time as entries write it: in UTC, to the microsecond, so that texts are ordered as times are."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def before(now: datetime, age: Age) -> datetime:
    """The time that was so long ago. Months and years are those of the calendar."""
    months, rest = _parts(age)
    try:
        return _months_before(now, months) - rest
    except (OverflowError, ValueError):
        raise InputError(f"older_than={age!r} was given.", "Nothing is that old.") from None


def _parts(age: Age) -> tuple[int, timedelta]:
    """How many months an age is, and how long besides."""
    if isinstance(age, timedelta):
        if age < timedelta(0):
            raise InputError(f"older_than={age!r} was given.", "It lies in the future.")
        return 0, age
    if not isinstance(age, str):
        raise InputTypeError(f"older_than={age!r} was given.", AGE_NEEDED)
    found = AGE.fullmatch(age.strip().lower())
    if found is None:
        raise InputError(f"older_than={age!r} was given.", AGE_NEEDED)
    count, unit = int(found[1]), found[2]
    if unit in ("day", "week"):
        return 0, timedelta(days=count * (7 if unit == "week" else 1))
    return count * (12 if unit == "year" else 1), timedelta(0)


def _months_before(now: datetime, count: int) -> datetime:
    """The same day so many months ago, or the last day of that month."""
    year, month = divmod(now.year * 12 + now.month - 1 - count, 12)
    return now.replace(year=year, month=month + 1, day=min(now.day, monthrange(year, month + 1)[1]))
