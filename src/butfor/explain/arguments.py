"""Checks of the arguments: counts, seed, solver, time limit and threads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, number
from butfor.explain.blame import NO_BLAME, WORK, BlameLimits
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.space.space import Space


def count_of(name: str, count: Any) -> int:
    """A number of answers, columns or questions, given as the argument `name`."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InputError(f"{name}={count!r} was given.", "It must be a whole number of at least 1.")
    return int(count)


def seed_of(seed: Any) -> int:
    """The seed of random draws."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise InputTypeError(f"seed={seed!r} was given.", "A seed must be a whole number.")
    return int(seed)


def solver_of(solver: str | AbstractSolver, space: Space) -> str | AbstractSolver:
    """A solver or its name. The settings of a solver must make sense in the space."""
    if isinstance(solver, AbstractSolver):
        solver.validate(space)
    return solver


def limits_of(conflicts: Any) -> BlameLimits:
    """How far to look for conflicts."""
    if conflicts is None:
        return BlameLimits()
    if conflicts is False:
        return NO_BLAME
    if isinstance(conflicts, str) and conflicts == "all":
        return BlameLimits(np.inf, WORK)
    if isinstance(conflicts, bool) or not isinstance(conflicts, int | np.integer) or conflicts < 0:
        raise InputError(f"conflicts={conflicts!r} was given.", "It must be False, a number of rows, or 'all'.")
    return BlameLimits(int(conflicts), WORK)


def budget_of(time_limit: Any, time_limit_per_row: Any, n_jobs: Any) -> Budget:
    """The budget of one call. Its time starts now."""
    whole, per_row = seconds_of("time_limit", time_limit), seconds_of("time_limit_per_row", time_limit_per_row)
    return Budget(whole, threads=threads_of(n_jobs), per_row=per_row)


def seconds_of(name: str, seconds: Any) -> float:
    """A limit of time; infinite if it is None."""
    if seconds is None:
        return np.inf
    message = (f"{name}={seconds!r} was given.", "A time limit must be a positive number of seconds.")
    if not number(seconds, *message) > 0:
        raise InputError(*message)
    return float(seconds)


def threads_of(n_jobs: Any) -> int:
    """How many threads share the rows."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(
            f"n_jobs={n_jobs!r} was given.", "It must be a number of threads, or -1 for one per processor."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def meta_of(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is noted with answers: a copy of plain values, as JSON has them."""
    if not isinstance(meta, Mapping | None):
        raise InputTypeError(f"meta={meta!r} was given.", "It must be a dict of plain values.")
    try:
        return {name: _plain_value(value, f"meta[{name!r}]") for name, value in _named("meta", meta or {})}
    except RecursionError:
        raise InputError("meta holds itself.", "It must be a dict of plain values.") from None


def _named(place: str, values: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """The items of a dict whose keys are texts."""
    for name, value in values.items():
        if not isinstance(name, str):
            raise InputTypeError(f"{place} has the key {name!r}.", "JSON has texts as keys.", f"Write {str(name)!r}.")
        yield name, value


def _plain_value(value: Any, place: str) -> Any:
    """A copy of a value that JSON can hold."""
    if isinstance(value, Mapping):
        return {name: _plain_value(one, f"{place}[{name!r}]") for name, one in _named(place, value)}
    if isinstance(value, list | tuple):
        return [_plain_value(one, f"{place}[{at}]") for at, one in enumerate(value)]
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (str, bool, int) or (type(value) is float and np.isfinite(value)):
        return value
    raise InputTypeError(
        f"{place} is {value!r}.",
        "JSON has texts, finite numbers, true, false, null, lists and dicts.",
        "Write it as one of them, for example as text: str(...).",
    )
