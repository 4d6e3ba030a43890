"""Teaching: how butfor reads an estimator or a pipeline step of your own.

A reader is registered for a class. It returns a model over the columns that reach the estimator, and a readout of its
scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from butfor.lazy import loaded_when_used

if TYPE_CHECKING:
    from butfor.importers.fold.additive import additive_over
    from butfor.importers.fold.binned import Bins, binned_over
    from butfor.importers.fold.calculated import calculated
    from butfor.importers.fold.linear import linear_over
    from butfor.importers.fold.nodes import trees_over
    from butfor.importers.fold.projected import projected
    from butfor.importers.registry import register_importer, register_step
    from butfor.model.nodes import Nodes
    from butfor.model.readout import Argmax, Sign, Value

_HOMES = {
    "butfor.importers.fold.additive": ("additive_over",),
    "butfor.importers.fold.binned": ("Bins", "binned_over"),
    "butfor.importers.fold.calculated": ("calculated",),
    "butfor.importers.fold.linear": ("linear_over",),
    "butfor.importers.fold.nodes": ("trees_over",),
    "butfor.importers.fold.projected": ("projected",),
    "butfor.importers.registry": ("register_importer", "register_step"),
    "butfor.model.nodes": ("Nodes",),
    "butfor.model.readout": ("Argmax", "Sign", "Value"),
}  # fmt: skip
__all__ = [
    "Argmax",
    "Bins",
    "Nodes",
    "Sign",
    "Value",
    "additive_over",
    "binned_over",
    "calculated",
    "linear_over",
    "projected",
    "register_importer",
    "register_step",
    "trees_over",
]

__getattr__, __dir__ = loaded_when_used(__name__, _HOMES)
