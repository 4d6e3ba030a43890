"""What a user should know: columns that the model does not read, rows unlike the data, and what was solved."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.explanation.explanations import Explanations
from butfor.importers.read import Reading
from butfor.log import LOG
from butfor.model.black_box import BlackBox
from butfor.solvers.solver import Budget
from butfor.space import frames
from butfor.space.space import Space

UNNOTICED = 1e-6
"""The share of a column's range by which a number may lie outside unnoticed. Types round."""

SHOWN = 8
"""How many columns are named."""


_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect what is said of rows unlike the data meanwhile. Who asks from afar sees no warning."""
    words = list[str]()
    _collected.set(words)
    try:
        yield words
    finally:
        _collected.set(None)


def users_line() -> int:
    """How far up the calls the user's own line is, as `warnings` count from whoever asks for it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("butfor."):
        frame, level = frame.f_back, level + 1
    return level


def point_out_unread(reading: Reading) -> None:
    """Warn of columns of the data that the model does not read. The target may have been left among them."""
    known = set(reading.space.columns)
    unread = [name for name in frames.names(reading.data) if name not in known]
    if unread:
        warnings.warn(
            f"the model does not read these columns of the data: {_listed(unread)}. No answer changes them. "
            "If the target is among them, leave it out.",
            UserWarning,
            stacklevel=users_line(),
        )


def point_out_mismatch(reading: Reading) -> None:
    """Warn that a model is searched because what was read of it predicts something else."""
    model = reading.model
    if isinstance(model, BlackBox) and model.mismatched:
        warnings.warn(
            f"{model.why} So the estimator is searched, and nothing is proven (on_mismatch='search').",
            UserWarning,
            stacklevel=users_line(),
        )


def point_out_rows_outside(space: Space, codes: FloatArray) -> None:
    """Warn of numbers outside the range of the data, or have it collected. The model may never have seen any like them.

    A declared range is the user's own business.
    """
    low = np.array([feature.low for feature in space])
    high = np.array([feature.high for feature in space])
    slack = UNNOTICED * np.array([feature.range for feature in space])
    number = np.array([feature.levels is None and feature.why != "given" for feature in space])
    outside = number & ((codes < low - slack) | (codes > high + slack))
    if not outside.any():
        return
    words = []
    for j in np.flatnonzero(outside.any(axis=0)).tolist():
        feature = space.features[j]
        worst = codes[outside[:, j], j][0]
        words.append(f"{feature.name} {worst:g} ({feature.low:g} to {feature.high:g})")
    count, listening = int(outside.any(axis=1).sum()), _collected.get()
    told = (
        f"{count} of {len(codes)} rows lie outside the ranges of the data: {_listed(words)}. "
        "The model may not have seen such values. Check their units, or declare the range with space={...}."
    )
    if listening is None:
        warnings.warn(told, UserWarning, stacklevel=users_line())
    else:
        listening.append(told)


def log_solved(answers: Explanations, budget: Budget) -> None:
    """Log what was asked, what became of the rows, and how long it took."""
    if LOG.isEnabledFor(logging.INFO):  # to sum up thousands of certificates takes time
        asked = answers.question
        LOG.info("asked for %s with %s", asked.target, ", ".join(asked.constraints) or "no constraint")
        LOG.info(answers.summary)
        LOG.debug("it took %.3g seconds", now() - budget.start)


def _listed(words: list[str]) -> str:
    more = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {more} more" if more > 0 else "")
