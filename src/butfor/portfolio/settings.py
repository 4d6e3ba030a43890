"""The options of a search as plain data, and back: a second pass has the solver of the first one."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from butfor.problem.spec import from_spec, to_spec
from butfor.solvers.swarm.swarm import Swarm


def written(value: Any) -> Any:
    """An option of `explain` as JSON holds it. What it cannot hold is only described."""
    if isinstance(value, Swarm):
        return {"swarm": {one.name: to_spec(getattr(value, one.name)) for one in fields(value)}}
    return value if value is None or isinstance(value, bool | int | float | str) else {"described": repr(value)}


def meant(value: Any) -> Any:
    """The option that was written. If it was only described, `LookupError` is raised."""
    if isinstance(value, dict) and "swarm" in value:
        return Swarm(**{name: from_spec(one) for name, one in value["swarm"].items()})
    return from_spec(value)
