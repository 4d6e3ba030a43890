"""What users write of levels that may slip, checked and as one rule for all columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, plain
from butfor.errors import InputError, InputTypeError
from butfor.neighbours.slips import NO_SLIPS, Slips
from butfor.space.feature import Feature
from butfor.space.space import Space

ANY = "any"
"""Each level may be seen as any other."""

EXAMPLE = 'bf.robust(0.05, slips={"job": [["clerk", "sales"]], "rating": 1})'


def as_written(slips: Any) -> dict[str, Any]:
    """The slips of each column as a user writes them: "any", a number of steps, groups of levels, or a dict of them."""
    if not isinstance(slips, Mapping):
        raise InputTypeError(
            f"slips={slips!r} was given.", "It must be a dict from column to what its levels may slip to.", EXAMPLE
        )
    if not slips:
        raise InputError("slips={} says nothing.", "It must name at least one column.", "Or leave it out.")
    return {plain(name): _written(plain(name), way) for name, way in slips.items()}


def _written(name: Any, way: Any) -> Any:
    way = plain(way)
    if way == ANY or (isinstance(way, int) and not isinstance(way, bool)):
        return way
    if isinstance(way, Mapping) and way:
        return {plain(level): _listed(name, others, f"{{{level!r}: [{others!r}]}}") for level, others in way.items()}
    if isinstance(way, Iterable) and not isinstance(way, str | Mapping):
        groups = tuple(_listed(name, group, f"[{list(way)!r}]") for group in way)
        if groups and all(len(group) > 1 for group in groups):
            return groups
        raise InputError(f"slips={{{name!r}: {way!r}}} was given.", "A group must have at least two levels.", EXAMPLE)
    raise InputError(
        f"slips={{{name!r}: {way!r}}} was given.",
        'It must be "any", a number of steps, groups of levels, or a dict from level to levels.',
        EXAMPLE,
    )


def _listed(name: Any, levels: Any, better: str) -> tuple[Any, ...]:
    """Levels in a list."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise InputTypeError(
            f"slips={{{name!r}: ...}} was given {levels!r}.", "Levels must be listed.", f"Write {{{name!r}: {better}}}."
        )
    return tuple(map(plain, levels))


def shown(way: Any) -> Any:
    """What a user wrote of one column, with lists for tuples."""
    if isinstance(way, Mapping):
        return {level: list(others) for level, others in way.items()}
    return [list(group) for group in way] if isinstance(way, tuple) else way


def slips_in(written: Mapping[str, Any], space: Space, said: str) -> Slips:
    """The slips of a space. For errors, `said` is what the user wrote."""
    if not written:
        return NO_SLIPS
    return Slips({space.index(name): _seen(space[name], way, said) for name, way in written.items()})


def _seen(feature: Feature, way: Any, said: str) -> BoolArray:
    """Which cells (levels, and "missing" last) each cell may be seen as."""
    name = feature.name
    if feature.levels is None:
        raise InputError(
            f"{said} lets column {name!r} slip, which is a number.",
            "Only levels slip. Numbers are shifted.",
            f"Give it a radius: bf.robust({{{name!r}: 2}}).",
        )
    seen = np.eye(len(feature.levels) + 1, dtype=np.bool_)
    levels, place = seen[:-1, :-1], np.arange(len(feature.levels))
    if way == ANY:
        levels[:] = True
    elif isinstance(way, int):
        if way < 1:
            raise InputError(f"{said} was given.", "Levels slip by one step or more.", f"Write {{{name!r}: 1}}.")
        if not feature.ordered:
            raise InputError(
                f"{said} lets {name!r} slip by steps, but its values ({feature.describe()}) have no order.",
                "",
                f"Declare an order with space={{{name!r}: bf.Ordinal([...])}}, or list groups of levels.",
            )
        levels[:] = np.abs(place[:, None] - place) <= way
    elif isinstance(way, Mapping):
        for level, others in way.items():
            levels[feature.code(level, said), [feature.code(other, said) for other in others]] = True
    else:
        for group in way:
            codes = [feature.code(level, said) for level in group]
            levels[np.ix_(codes, codes)] = True
    return seen
