"""Checks of the arguments: counts, seed, solver, time limit and threads."""

from __future__ import annotations

import os
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
    whole, per_row = _seconds("time_limit", time_limit), _seconds("time_limit_per_row", time_limit_per_row)
    return Budget(whole, threads=threads_of(n_jobs), per_row=per_row)


def _seconds(name: str, seconds: Any) -> float:
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
