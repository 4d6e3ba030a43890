"""Scorecards, as the elements of a PMML file write them: characteristics, their attributes, and reason codes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from butfor.estimator.pmml.elements import child, children, name_of, not_read, number_in
from butfor.estimator.pmml.growing import PmmlNode
from butfor.estimator.pmml.models import Characteristic, Reasons
from butfor.estimator.pmml.predicates import AlwaysSo
from butfor.estimator.pmml.reading_predicates import predicate_of
from butfor.estimator.pmml.scope import Scope


def characteristics(model: Element, scope: Scope) -> Iterator[PmmlNode]:
    """A tree for each characteristic: the first attribute that holds gives its points."""
    for name, _, attributes in _characteristics(model):
        bins = []
        for one in attributes:
            if child(one, "ComplexPartialScore") is not None:
                raise not_read("a ComplexPartialScore", one)
            points = np.array([number_in(one, "partialScore")])
            bins.append(PmmlNode(predicate_of(one, scope), points, name=name))
        yield PmmlNode(AlwaysSo(True), None, tuple(bins))


def reasons(model: Element, scope: Scope) -> Reasons | None:
    """What is needed for reason codes, if the model is a scorecard that has some."""
    if name_of(model) != "Scorecard" or model.get("useReasonCodes", "true") == "false":
        return None
    out = []
    for name, element, attributes in _characteristics(model):
        own = element.get("reasonCode", "")
        baseline = element.get("baselineScore", model.get("baselineScore"))
        if baseline is None:
            return None
        codes = tuple((number_in(one, "partialScore"), one.get("reasonCode", own) or name) for one in attributes)
        tests = tuple(predicate_of(one, scope) for one in attributes)
        out.append(Characteristic(name, float(baseline), codes, tests))
    return Reasons(tuple(out), above=model.get("reasonCodeAlgorithm", "pointsBelow") == "pointsAbove")


def _characteristics(model: Element) -> Iterator[tuple[str, Element, list[Element]]]:
    """The name of each characteristic, its element, and its attributes."""
    holder = child(model, "Characteristics")
    for one in () if holder is None else children(holder, "Characteristic"):
        yield one.get("name", ""), one, list(children(one, "Attribute"))
