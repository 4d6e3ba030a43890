"""The constraints on columns that belong together, by the names that users call."""

from __future__ import annotations

from typing import Any

from butfor.errors import suggests
from butfor.problem.constraints.linked import Combinations, LinkedColumns
from butfor.problem.constraints.names import as_names


@suggests
def linked(first: str, *others: str, table: Any = None) -> LinkedColumns:
    """All other columns follow from the first: where it changes, they become what belongs to its new value.

    Which values belong together is learnt from the explainer's `data`, or from the rows of a `table`. They must not contradict
    each other. Choose it for columns that say the same in other words, such as a degree and its number. Columns that are
    linked count as one change. A row may keep values that it has itself.

    >>> linked("education", "education_num")
    linked('education', 'education_num')
    """
    made = LinkedColumns(as_names((first, *others), "linked"))
    return made if table is None else made.of(table)


@suggests
def combinations(first: str, *others: str, table: Any = None) -> Combinations:
    """The values of these columns are together in some row: of the explainer's `data`, or of a `table`.

    Choose it for columns of which not all pairs exist, such as a city and its region, a make and its models. If all others
    follow from the first, `bf.linked` checks that, too. Such columns count as one change. A row may keep values that it has
    itself.

    >>> combinations("make", "model")
    combinations('make', 'model')
    """
    made = Combinations(as_names((first, *others), "combinations"))
    return made if table is None else made.of(table)
