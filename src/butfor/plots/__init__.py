"""Pictures, with matplotlib: of answers, and of tables that `bf.groups` makes. Each function returns the axes.

`ax=` draws into axes of your own. The label of the axes, `ax.get_label()`, says in words what the picture shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.plots.answers import (
        alternatives,
        changes,
        decision_map,
        ladder,
        menu,
        pareto,
        region,
        trade_off,
        tree_path,
        waterfall,
    )
    from butfor.views.cost_intervals import costs
    from butfor.views.heat_map import shifts
    from butfor.views.lever_matrix import levers
    from butfor.views.status_bars import statuses

_HOMES = {
    "plots.answers": (
        "alternatives", "changes", "decision_map", "ladder", "menu", "pareto", "region", "trade_off", "tree_path",
        "waterfall",
    ),
    "views.cost_intervals": ("costs",),
    "views.heat_map": ("shifts",),
    "views.lever_matrix": ("levers",),
    "views.status_bars": ("statuses",),
}  # fmt: skip
_HOME = {name: f"butfor.{home}" for home, names in _HOMES.items() for name in names}
__all__ = [
    "alternatives",
    "changes",
    "costs",
    "decision_map",
    "ladder",
    "levers",
    "menu",
    "pareto",
    "region",
    "shifts",
    "statuses",
    "trade_off",
    "tree_path",
    "waterfall",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOME)
