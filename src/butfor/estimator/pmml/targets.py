"""What a Target makes of a prediction: it is multiplied, and something is added. And trees whose leaves are multiplied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.pmml.elements import child, children, not_read, number_in
from butfor.estimator.pmml.growing import AskedFirst, Grown

NOT_RESCALED = (1.0, 0.0)
"""The factor and the constant that leave a prediction as it is."""


def rescaling(model: Element) -> tuple[float, float]:
    """The factor and the constant that a prediction of numbers gets."""
    targets = child(model, "Targets")
    found = [] if targets is None else list(children(targets, "Target"))
    for one in found:
        for name in ("castInteger", "min", "max"):
            if one.get(name) is not None:
                raise not_read(name, one)
    if len(found) > 1:
        raise not_read("several Targets", model)
    if not found:
        return NOT_RESCALED
    return number_in(found[0], "rescaleFactor", 1.0), number_in(found[0], "rescaleConstant", 0.0)


def rescaling_of_sum(model: Element, link: str | None) -> tuple[float, float]:
    """The same for a prediction that is a sum. They are refused behind a link, and where classes are predicted."""
    found = rescaling(model)
    if found != NOT_RESCALED and link is not None:
        raise not_read("Targets behind a link", model)
    if found != NOT_RESCALED and model.get("functionName") == "classification":
        raise not_read("Targets that rescale classes", model)
    return found


def check_as_it_is(model: Element, what: str) -> None:
    """Refuse a model whose predictions are rescaled."""
    if rescaling(model) != NOT_RESCALED:
        raise not_read(f"Targets that rescale {what}", model)


def scaled(trees: Iterable[Grown], by: FloatArray) -> list[Grown]:
    """Trees whose leaves are multiplied: by a factor (1, 1), or spread over scores (scores, 1)."""

    def one(tree: Grown) -> Grown:
        if isinstance(tree, AskedFirst):
            return replace(tree, yes=one(tree.yes), no=one(tree.no))
        return np.asarray(tree * by[0, 0] if by.shape == (1, 1) else by[:, 0] * tree[0])

    return [one(tree) for tree in trees]
