"""Pictures of the tables that `bf.groups` makes, with matplotlib. Each function returns the axes.

An answer draws itself: `answer.plot()`, and so do menus, ladders, trade-offs, regions and maps. `ax=` draws into axes of
your own. The label of the axes, `ax.get_label()`, says in words what the picture shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.views.cost_intervals import costs
    from butfor.views.heat_map import shifts
    from butfor.views.lever_matrix import levers
    from butfor.views.status_bars import statuses

_HOMES = {
    "butfor.views.cost_intervals": ("costs",),
    "butfor.views.lever_matrix": ("levers",),
    "butfor.views.heat_map": ("shifts",),
    "butfor.views.status_bars": ("statuses",),
}
__all__ = ["costs", "levers", "shifts", "statuses"]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
