"""The constraints on columns that belong together or follow from others, by the names that users call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from butfor.errors import InputTypeError, suggests
from butfor.experimental import experimental
from butfor.model.formula_text import read_formula, written
from butfor.problem.constraints.computed import ComputedColumn, names_of
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


@experimental
@suggests
def computed(name: str, how: str | Callable[..., Any], of: str | Iterable[str] | None = None) -> ComputedColumn:
    """A column of the table follows from others: in an answer, it is what is computed from them.

    - `how`: a formula of columns, as `"debt / income"`, with +, -, *, /, brackets and `round(..., digits)`; or a function of the
      values of one row, whose parameters are called as the columns are;
    - `of`: the columns that the function gets, if its parameters are called otherwise.

    Choose it for shares, ratios, totals and whatever else was computed before the model. The column costs nothing, is no change
    of its own, and has no range of its own. A formula is kept in records, and so is a function that only calculates.

    >>> computed("debt_ratio", "debt / income")
    computed('debt_ratio', 'debt / income')
    >>> computed("debt_ratio", lambda debt, income: debt / income)
    computed('debt_ratio', 'debt / income')
    """
    if callable(how):
        return ComputedColumn.of_function(name, how, names_of(how, of))
    if not isinstance(how, str):
        raise InputTypeError(f"computed({name!r}, {how!r}) was given.", "It takes a formula as text, or a function.")
    return ComputedColumn(name, written(read_formula(how)))
