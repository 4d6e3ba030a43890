"""What the sections of a report about several answers share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from butfor.errors import InputError
from butfor.explanation.changes import PLAIN_WORDS, Change, change_rows, shown
from butfor.explanation.column_words import ColumnWords
from butfor.explanation.consequences import acted, effects_of
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.groups.counted import ALREADY
from butfor.groups.firsts import Firsts, firsts, groups_of
from butfor.portfolio.portfolio import Portfolio
from butfor.solvers.outcome import Status
from butfor.verdict.certificate import Certificate
from butfor.views.languages import say, spoken_numbers
from butfor.views.page_words import stopped_told


@dataclass(frozen=True)
class Proof:
    """What the certificates of many answers have in common. Their numbers and reasons stand in the rows."""

    status: str
    meaning: str
    solver: str
    stopped: str
    checks: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, eq=False)
class Reported:
    """Several answers to one question.

    - `answers`: those that are listed, which are not all of a portfolio;
    - `firsts`: the first answer to each row. The summary is about them;
    - `by`: the groups, as for `bf.groups.statuses` (None: no groups).
    """

    answers: Explanations
    firsts: Firsts
    by: str | list[Any] | None

    @cached_property
    def first(self) -> Explanation:
        """One of the answers. It tells what all share: the question, the model, the words."""
        return self.answers[0]

    def label(self, name: str) -> str:
        """The name of a column for people."""
        words = self._words(name)
        return words.label if words and words.label else name

    def show(self, name: str, value: Any) -> str:
        """A value of a column for people."""
        words = self._words(name)
        return shown(value, words or PLAIN_WORDS, spoken_numbers())

    @property
    def grouped_by(self) -> str:
        """What the groups are: the column that they are in, if that is known."""
        return self.label(self.by) if isinstance(self.by, str) else say("group")

    def _words(self, name: str) -> ColumnWords | None:
        return self.answers.words.columns.get(name) if self.answers.words else None

    @cached_property
    def changes(self) -> list[tuple[Change, ...]]:
        """The changed columns of each answer; none if there is no answer."""
        answers, found = self.answers, self.answers.found.tolist()
        starts = answers.factual_codes[answers.table_rows]
        own = acted(answers.question, answers.space, starts, answers.point_codes)
        effects = effects_of(answers.question, answers.space)
        return [
            tuple(
                one
                for one in change_rows(answers.space, start, point, answers.words, acted=(alone, effects))
                if one.changed
            )
            if has
            else ()
            for start, point, alone, has in zip(starts, answers.point_codes, own, found, strict=True)
        ]

    @cached_property
    def proofs(self) -> list[Proof]:
        """What each answer's certificate shares with others."""
        return [
            _proof(certificate, already=cost == 0 and not changes, later=rank > 1)
            for certificate, cost, changes, rank in zip(
                self.answers.certificates,
                self.answers.costs.tolist(),
                self.changes,
                self.answers.ranks.tolist(),
                strict=True,
            )
        ]

    @cached_property
    def groups(self) -> list[str]:
        """The group of the row of each answer; empty without groups."""
        if self.by is None:
            return []
        rows = self.answers.rows[self.answers.ranks == 1].tolist()
        pairs = groups_of(self.firsts, self.by).items()
        of = {rows[i]: str(group) for group, at in pairs for i in at[at < len(rows)].tolist()}
        return [of.get(row, "") for row in self.answers.rows.tolist()]


def reported(every: Explanations | Portfolio, by: str | Iterable[Any] | None) -> Reported:
    """The answers with the groups of their rows. Of a portfolio, the first part is listed, and all rows are summed up."""
    answers = next(every.parts(), None) if isinstance(every, Portfolio) else every
    if answers is None:
        raise InputError("no part of the portfolio is done.", "There is nothing to report.")
    answers = replace(
        answers, certificates=list(answers.certificates)
    )  # they are read many times, and each is made anew
    first = firsts(every if isinstance(every, Portfolio) else answers)
    if not len(first):
        raise InputError(
            f"{len(answers)} answers were given, and none of them is the first one to its row.",
            "A report sums up first answers.",
            "Keep those of rank 1.",
        )
    return Reported(answers, first, by if by is None or isinstance(by, str) else list(by))


def _proof(certificate: Certificate, already: bool, later: bool) -> Proof:
    status = certificate.status
    meaning = MEANINGS_OF_LATER.get(status, MEANINGS[status]) if later else MEANINGS[status]
    return Proof(
        status=ALREADY if already else status.short,
        meaning="the row meets the target as it is: nothing needs to change" if already else meaning,
        solver=certificate.solver,
        stopped=stopped_told(certificate.stopped),
        checks=certificate.checks,
    )


MEANINGS = {
    Status.PROVEN_OPTIMAL: "no admissible change costs less than the cost in the row",
    Status.WITHIN_GAP: "no admissible change costs less than the bound below the cost in the row",
    Status.VALID: "the change does what is wanted; that no other one is cheaper is not claimed",
    Status.PROVEN_INFEASIBLE: "no admissible change meets the target; the row says why",
    Status.NOT_FOUND: "no answer was found; there may be one",
}
"""What each status says about a row of the list."""

MEANINGS_OF_LATER = {
    Status.PROVEN_OPTIMAL: "no admissible change that differs from the answers before it costs less than the cost in the row",
    Status.WITHIN_GAP: "no admissible change that differs from the answers before it costs less than the bound below the "
    "cost in the row",
}
"""What it says about a further answer to a row."""
