"""What became of the rows of a batch, and why some of them cannot be helped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from butfor.experimental import experimental
from butfor.groups.firsts import Batch, Firsts, firsts, named, parts_of
from butfor.solvers.outcome import Status

ALREADY = "already met"
"""The status of a row that meets the target as it is."""

NOT_LOOKED_FOR = "not looked for"
"""The conflict of an impossible row in which none was looked for."""

STATUSES = (ALREADY, *(status.short for status in Status))
"""What may become of a row."""


@experimental
def statuses(answers: Batch | Firsts, by: str | Iterable[Any] | None = None) -> Any:
    """How many rows were answered, proven impossible or left open, by group.

    Choose it first: means of costs say little where many rows have no answer. Only the first answer to each row counts,
    here and in the other functions of a batch.

    - `answers`: what `explain` returned, or a list of it if all answer the same question;
    - `by`: a column of the rows that were explained, or the group of each row (default: no groups).

    The table has a line per group and status: `group`, `status`, `rows`, and their `share` of the group.

    >>> from butfor import Explainer
    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> answers = Explainer(loans.pipeline().fit(X, y), data=X).explain(X.iloc[:60], target="approved")
    >>> statuses(answers, by="sex")
        group          status  rows     share
    0  female     already met    19  0.863636
    1  female  proven optimal     3  0.136364
    2    male     already met    27  0.710526
    3    male  proven optimal    11  0.289474
    """
    known = firsts(answers)
    each = statuses_of_rows(known)
    shown = [status for status in STATUSES if status in each]
    groups, columns = list[Any](), dict[str, list[Any]](status=[], rows=[], share=[])
    for group, rows in parts_of(known, by).items():
        count = Counter(each[i] for i in rows.tolist())
        groups += [group] * len(shown)
        columns["status"] += shown
        columns["rows"] += [count[status] for status in shown]
        columns["share"] += [count[status] / len(rows) for status in shown]
    return known.framed(named(groups, columns))


def statuses_of_rows(known: Firsts) -> list[str]:
    """What became of each row: one of `STATUSES`."""
    words = [status.short for status in known.statuses]
    return [ALREADY if already else word for already, word in zip(known.already.tolist(), words, strict=True)]


@experimental
def conflicts(answers: Batch | Firsts, by: str | Iterable[Any] | None = None) -> Any:
    """Why rows are proven impossible: how often each smallest conflict occurs, by group.

    Choose it to see which rules stand in the way of most people. A conflict is a smallest set of constraints that
    already makes the target impossible. `explain` looks for it in as many rows as its `conflicts` says. The others, and
    those where the search was ended, are counted as "not looked for".

    `answers` and `by` are as for `statuses`. The table has a line per group and conflict: `group`, `conflict`, `rows`,
    and their `share` of the group's impossible rows. It has no line if no row is impossible.
    """
    known = firsts(answers)
    groups, columns = list[Any](), dict[str, list[Any]](conflict=[], rows=[], share=[])
    for group, rows in parts_of(known, by).items():
        impossible = [i for i in rows.tolist() if known.statuses[i] is Status.PROVEN_INFEASIBLE]
        words = Counter(" and ".join(known.conflicts[i]) or NOT_LOOKED_FOR for i in impossible)
        for conflict, count in sorted(words.items(), key=lambda pair: (pair[0] == NOT_LOOKED_FOR, -pair[1], pair[0])):
            groups.append(group)
            columns["conflict"].append(conflict)
            columns["rows"].append(count)
            columns["share"].append(count / len(impossible))
    return known.framed(named(groups, columns))
