"""Pictures of tables that `bf.groups` makes, with matplotlib. Each function takes a table and returns the axes.

`ax=` draws into axes of your own. The label of the axes, `ax.get_label()`, says in words what the picture shows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.views.cost_intervals import costs
    from butfor.views.heat_map import shifts
    from butfor.views.lever_matrix import levers
    from butfor.views.outcome_bars import outcomes

_HOME = {
    "costs": "cost_intervals",
    "levers": "lever_matrix",
    "outcomes": "outcome_bars",
    "shifts": "heat_map",
}
__all__ = ["costs", "levers", "outcomes", "shifts"]


def __getattr__(name: str) -> Any:
    """Load a picture when it is first drawn."""
    if name not in _HOME:
        raise AttributeError(f"module 'butfor.plots' has no attribute {name!r}")
    return getattr(import_module(f"butfor.views.{_HOME[name]}"), name)
