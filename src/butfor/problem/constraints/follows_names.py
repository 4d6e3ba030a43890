"""The name of consequences that users call."""

from __future__ import annotations

from numbers import Real

from butfor.arrays import plain
from butfor.errors import suggests
from butfor.experimental import experimental
from butfor.problem.constraints.follows import Follows
from butfor.problem.constraints.implications import Event


@experimental
@suggests
def follows(name: str, by: float, of: str | Event) -> Follows:
    """A number changes by itself where its cause changes: by `by` for each unit of a column, or once where an event happens.

    Choose it for what comes along and is nobody's doing: savings that grow with an income, years that a degree takes. The cost,
    `bf.fixed`, `bf.only_up` and `bf.at_most_changes` are about what one does oneself. A consequence is free. The values
    become `v_j = y_j + sum by (v_i - x_i)`, where `y` is what one does to the row `x`. Consequences may follow from consequences,
    but not in a circle.

    >>> follows("savings", by=0.1, of="income")
    follows('savings', by=0.1, of='income')
    >>> from butfor import rises
    >>> follows("age", by=2, of=rises("education"))
    follows('age', by=2, of=rises('education'))
    """
    return Follows(str(name), plain(by), str(of) if isinstance(of, str | Real | tuple) else of)
