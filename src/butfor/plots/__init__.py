"""Pictures, with matplotlib: of answers, and of tables that `bf.groups` makes. Each function returns the axes.

`ax=` draws into axes of your own. The label of the axes, `ax.get_label()`, says in words what the picture shows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
_HOME = {name: home for home, names in _HOMES.items() for name in names}
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


def __getattr__(name: str) -> Any:
    """Load a picture when it is first drawn."""
    if name not in _HOME:
        raise AttributeError(f"module 'butfor.plots' has no attribute {name!r}")
    return getattr(import_module(f"butfor.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
