"""Classifiers that are a single tree: whatever is made of their predictions is a tree with other values in its leaves."""

from __future__ import annotations

from butfor.importers.registry import Imported
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model
from butfor.model.readout import Argmax
from butfor.model.trees import Trees


def only_tree(model: Model) -> Trees | ObliqueTree | None:
    """The model, if its scores are looked up in the leaves of one tree."""
    if isinstance(model, Trees) and (len(model.roots) > 1 or model.base.any()):
        return None
    return model if isinstance(model, Trees | ObliqueTree) else None


def tree_of_shares(read: Imported) -> Trees | ObliqueTree | None:
    """The model, if it is one tree whose leaves hold the probabilities of the classes."""
    model, readout = read
    plain = type(readout) is Argmax and readout.link == "identity" and readout.total == 1
    return only_tree(model) if plain else None
