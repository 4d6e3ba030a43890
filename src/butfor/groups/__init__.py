"""Groups: what a batch of answers says about many rows, and about one group beside another.

The first functions take the answers of `explain`. Those that take an explainer ask it further questions. Each function
returns a table of the kind that was explained (for arrays, a dict of columns), and `bf.plots` draws such tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.groups.action import Action
    from butfor.groups.bias import flips
    from butfor.groups.burden import costs, differences
    from butfor.groups.common import Actions, ChosenActions
    from butfor.groups.counted import conflicts, statuses
    from butfor.groups.moved import changes, shifts
    from butfor.groups.reach import levers

_HOMES = {
    "butfor.groups.action": ("Action",),
    "butfor.groups.common": ("Actions", "ChosenActions"),
    "butfor.groups.moved": ("changes", "shifts"),
    "butfor.groups.counted": ("conflicts", "statuses"),
    "butfor.groups.burden": ("costs", "differences"),
    "butfor.groups.bias": ("flips",),
    "butfor.groups.reach": ("levers",),
}
__all__ = [
    "Action",
    "Actions",
    "ChosenActions",
    "changes",
    "conflicts",
    "costs",
    "differences",
    "flips",
    "levers",
    "shifts",
    "statuses",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
