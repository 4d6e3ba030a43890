"""What is found when a log is verified: its chain is computed again, and its answers are checked with the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby, islice, tee
from typing import Any

from butfor.errors import InputError
from butfor.experimental import experimental
from butfor.explanation.render import rendered
from butfor.ledger.chain import NO_ENTRY, Entry, EntryRow, content_of, linked, until_of
from butfor.records.parted import answers_in

LISTED_FALSE = 20
"""So many answers that do not hold are listed."""


@experimental
@dataclass(frozen=True)
class Verified:
    """What was found when a log was verified. Print it to see it in words. It is true if it passed.

    - `entries`, `purged`: how many entries hold, and how many of them were purged;
    - `head`: the digest of the last of them;
    - `false`, `why`: the number of the first entry that is false (None if all hold), and in which way;
    - `checked`: how many answers were checked with the model (None if none was given);
    - `others`: how many answers are of other models, and so were not checked;
    - `failed`: the numbers of the answers that do not hold, with what was found.
    """

    entries: int
    purged: int
    head: str
    false: int | None = None
    why: str = ""
    checked: int | None = None
    others: int = 0
    failed: Sequence[tuple[int, str]] = ()

    @property
    def passed(self) -> bool:
        """Whether the chain holds, and so do all answers that were checked."""
        return self.false is None and not self.failed

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        if self.false is not None:
            return f"FAILED - entry {self.false} {self.why}\nthe {self.entries:,} entries before it hold"
        lines = [f"FAILED - entry {number}:\n{words}" for number, words in self.failed[:LISTED_FALSE]]
        purged = f" ({self.purged:,} without their records, which were purged)" if self.purged else ""
        lines.append(f"{self.entries:,} {'entry holds' if self.entries == 1 else 'entries hold'}{purged}")
        if self.checked is not None:
            others = f"; {self.others:,} of other models were not checked" if self.others else ""
            lines.append(f"{self.checked - len(self.failed):,} of {self.checked:,} answers hold{others}")
        return "\n".join([*lines, f"head {self.head}"])


def chain_of(rows: Iterable[EntryRow], sound: Set[str], purges: Sequence[Entry], head: tuple[int, str]) -> Verified:
    """The chain, computed again up to the first entry that is false.

    - `sound`: the digests of the texts that records share, of those that have them;
    - `purges`: the notes of purges. An entry without a record must be of the time that one of them names;
    - `head`: the number and the digest of the last entry, as the log itself says.
    """
    purged_until = [(one.number, until_of(one.own or "")) for one in purges]
    number, previous, purged = 0, NO_ENTRY, 0
    for row in rows:
        wrong = _wrong_place(row, number, previous, head) or _wrong_record(row, sound, purged_until)
        if wrong:
            return Verified(number, purged, previous, number + 1, wrong)
        number, previous, purged = row.number, row.digest, purged + (row.own is None)
    wrong = f"is missing: the log itself says that it has {head[0]:,}." if number < head[0] else ""
    return Verified(number, purged, previous, number + 1 if wrong else None, wrong)


def _wrong_place(row: EntryRow, number: int, previous: str, head: tuple[int, str]) -> str:
    """What is wrong with the place of a row behind the last one, of which number and digest are given; empty if nothing is."""
    if row.number != number + 1:
        return "is missing."
    if row.previous != previous:
        return "does not follow the entry before: one of the two is not what was written there."
    if linked(row, row.number, previous) != row.digest:
        return "was changed: its digest is not that of what it says."
    if row.number > head[0] or (row.number == head[0] and row.digest != head[1]):
        return f"is not known to the head of the log, which is entry {head[0]:,}, {head[1]}."
    return ""


def _wrong_record(row: EntryRow, sound: Set[str], purged_until: Sequence[tuple[int, str]]) -> str:
    """What is wrong with the record of a row; empty if nothing is."""
    if row.own is None:
        purged = any(row.number < noted and row.at < until for noted, until in purged_until)
        return "" if purged else "has no record, and no purge is noted that took it away."
    if content_of(row.salt, row.shared, row.own) != row.content:
        return "has a false record: its digest is not that of what it says."
    return "" if row.shared in sound else "has a false record: what it shares with others was changed."


def with_answers(found: Verified, entries: Iterable[Entry], explainer: Any, bounds: bool) -> Verified:
    """What was found, and the answers checked with a model: those that are of this one."""
    checked = others = 0
    failed = list[tuple[int, str]]()
    of_answers = (one for one in entries if not one.noted and not one.purged)
    for _, its in groupby(of_answers, key=lambda one: one.model):
        for_records, for_numbers = tee(its)
        for answers in answers_in((one.shared or "", one.own or "") for one in for_records):
            numbers = [one.number for one in islice(for_numbers, len(answers))]
            result = rendered(answers, "checked", explainer, bounds)
            if result is None:
                others += len(answers)
                continue
            checked += len(answers)
            failed += [(numbers[i], repr(result.results[i])) for i in result.results.failed().tolist()]
    if others and not checked:
        raise InputError("no answer in the log is of this model.", "", "Give the model that was explained.")
    return replace(found, checked=checked, others=others, failed=failed)
