"""Pipelines of ONNX-ML: an operator is a step over columns, a sum of them, or a model that is read as its library's is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.estimator.networks import End
from butfor.estimator.onnx_files import opened, settings
from butfor.estimator.onnx_pipelines import OnnxPipelineClassifier, OnnxPipelineRegressor, needed
from butfor.importers.fold.column import Column
from butfor.importers.fold.operators import Ended
from butfor.importers.fold.sums import Sums
from butfor.importers.libraries.onnx_graphs import ONNX_OPERATORS, GraphOperators, operator_name, values_of, written
from butfor.importers.libraries.onnx_models import MODELS, Bent, Forest, Labels, Shares, Total
from butfor.importers.libraries.onnx_steps import (
    ARITHMETIC,
    OF_SINGLE,
    TABLE_OPERATORS,
    TypedColumns,
    calculated_with,
    entered,
    unread,
)
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import Linked
from butfor.model.monotone import AbstractStep, Exponential, Logistic, MonotoneFunction, Scaled
from butfor.model.readout import Argmax, Link, Sign, Threshold, Value
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.model.trees import exact


class Walk:
    """Walks through a graph once. Sums are written down from the columns that reach the first of them."""

    def __init__(self, pipeline: Any, columns: list[Column]) -> None:
        from onnx import numpy_helper

        self.graph, self.block = opened(pipeline.file).graph, pipeline.block
        self.values: dict[str, Any] = {one.name: numpy_helper.to_array(one) for one in self.graph.initializer}
        self.to: GraphOperators | None = None
        self.reached: list[Column] = []
        at = 0
        for one in pipeline.inputs:
            width = len(columns) if one.width is None else one.width
            chosen = [entered(column, one.kind) for column in columns[at : at + width]]
            self.values[one.name], at = TypedColumns(chosen, one.kind, (width,)), at + width

    def value(self, head: str) -> Any:
        """What a head of the graph returns, written down."""
        for node in needed(self.graph, head):  # they are sorted
            if node.output[0] not in self.values:
                name = operator_name(node)
                if name not in PIPELINE_KNOWN:
                    raise UnsupportedModelError(
                        f"the operator {name} of the ONNX file (node {node.name or node.output[0]!r}) cannot be read.",
                        f"The known operators are {', '.join(sorted(PIPELINE_KNOWN))}.",
                        "Convert the model without it, or let the swarm search: it needs only predictions.",
                    )
                try:
                    found = self._found(name, settings(node), values_of(node, self.values))
                except UnsupportedModelError as refusal:
                    given = f"{refusal.given.rstrip('.')} (node {node.name or node.output[0]!r})."
                    raise UnsupportedModelError(given, refusal.needed, refusal.remedy) from None
                every = found if isinstance(found, tuple) and len(node.output) > 1 else (found,)
                self.values.update(zip(node.output, every, strict=False))
        return self.values[head]

    def entered(self, table: TypedColumns) -> tuple[Sums, GraphOperators]:
        """Columns as numbers that are added up, and what adds them up."""
        if table.kind.kind != "f":
            raise unread("MatMul", "it adds up whole numbers")
        single = table.kind == OF_SINGLE
        if self.to is None:
            self.to, self.reached = GraphOperators(len(table.columns), self.block, single=single), table.columns
        elif len(self.reached) != len(table.columns) or any(
            a is not b for a, b in zip(self.reached, table.columns, strict=True)
        ):
            raise unread("MatMul", "several sets of columns are added up")
        return self.to.tape.inputs, self.to

    @property
    def unit(self) -> float:
        """The unit roundoff of the sums."""
        return UNIT_DOUBLE if self.to is not None and not self.to.single else UNIT_SINGLE

    def _found(self, name: str, said: Mapping[str, Any], given: list[Any]) -> Any:
        """What one operator returns."""
        if name in MODELS:
            (table,) = given
            if not isinstance(table, TypedColumns):
                raise unread(name, "another model comes before it")
            return MODELS[name](self.entered, said, table)
        tables = [one for one in given if isinstance(one, TypedColumns)]
        if not tables:
            return self._after(name, said, given)
        if name in TABLE_OPERATORS and isinstance(given[0], TypedColumns):
            return TABLE_OPERATORS[name](said, *given)
        if name in ARITHMETIC and tables[0].kind.kind == "f":
            step = _step(name, *given)
            if step is not None:
                return step
        if name in STATED:
            raise unread(name, STATED[name])
        if name not in ONNX_OPERATORS:
            raise unread(name, "it comes before a model")
        (_, to), *_ = (self.entered(table) for table in tables)
        return written(name, said, [to.tape.inputs if isinstance(one, TypedColumns) else one for one in given], to)

    def _after(self, name: str, said: Mapping[str, Any], given: list[Any]) -> Any:
        """What an operator makes of scores and constants."""
        x = next((one for one in given if isinstance(one, AFTER)), None)
        if isinstance(x, Labels) or (name == "ArgMax" and x is not None):
            if name not in ("ArgMax", "Cast", "Identity", "Reshape", "ai.onnx.ml.ArrayFeatureExtractor", "Squeeze"):
                raise unread(name, "it follows the labels")
            return x if isinstance(x, Labels) else Labels(x)
        if name in ("Identity", "Cast", "Reshape", "ai.onnx.ml.ZipMap") and isinstance(x, Forest | Bent | Shares):
            if name == "Cast" and said["to"] not in FLOATS:
                raise unread("Cast", "it cuts off the fractions of what a model returns")
            return x
        if name == "Add" and isinstance(x, Sums) and self.to is not None:
            constants = [np.ravel(one) for one in given if isinstance(one, np.ndarray)]
            found = self.to.tape.started(x, constants[0]) if constants and constants[0].size in (1, x.width) else None
            if found is not None:
                return found
        if isinstance(x, Forest | Bent | Sums) and name in BENT_AFTER | ARITHMETIC.keys():
            found = _bent(name, x, given)
            if found is not None:
                return found
        if isinstance(x, Ended) and name in ("Abs", "ai.onnx.ml.Normalizer") and x.end in (End.SIGMOID, End.SOFTMAX):
            return Shares(x) if name != "Abs" and x.end is End.SIGMOID else x
        if isinstance(x, Forest) and name == "ai.onnx.ml.Normalizer" and said.get("norm") == b"L1":
            return x
        if name == "ReduceSum" and isinstance(x, Ended):
            return Total(x)
        if name == "Div" and isinstance(x, Ended) and isinstance(given[1], Total) and given[1].of is x:
            return Shares(x)
        if isinstance(x, Forest | Bent | Shares | Total) or name not in ONNX_OPERATORS:
            raise unread(name, "it follows a model")
        return written(name, said, given, self.to or GraphOperators(0, self.block, single=True))


AFTER = (Forest, Bent, Sums, Ended, Labels, Total, Shares)
FLOATS = (1, 11)
"""The numbers of float32 and float64 among the types of ONNX."""

BENT_AFTER: dict[str, AbstractStep] = {"Exp": Exponential(), "Sigmoid": Logistic()}


def _step(name: str, a: Any, b: Any) -> TypedColumns | None:
    """A step that calculates with constants."""
    if isinstance(a, TypedColumns) and isinstance(b, np.ndarray):
        return calculated_with(name, a, b)
    turns = name in ("Add", "Mul") and isinstance(b, TypedColumns) and isinstance(a, np.ndarray)
    return calculated_with(name, b, a) if turns else None


def _bent(name: str, x: Forest | Bent | Sums, given: list[Any]) -> Any:
    """A function of one value; None if the operator is none of these, or adds values up."""
    if isinstance(x, Forest) and x.readout is not None:
        return _other_scores(name, x, given)
    if name in BENT_AFTER:
        if isinstance(x, Sums) and (name == "Sigmoid" or x.width != 1):
            return None  # the end of a network
        return Bent(x.of, (*x.steps, BENT_AFTER[name])) if isinstance(x, Bent) else Bent(x, (BENT_AFTER[name],))
    constants = [one for one in given if isinstance(one, np.ndarray)]
    if isinstance(x, Sums) or len(constants) != 1 or constants[0].size != 1:
        return None
    by = float(constants[0].item())
    factor, shift = {
        "Mul": (by, 0.0), "Add": (1.0, by), "Sub": (1.0, -by), "Div": (1.0 / by if by else np.inf, 0.0),
    }[name]  # fmt: skip
    if isinstance(given[0], np.ndarray) and name in ("Sub", "Div"):
        raise unread(name, "it turns the values around")
    more = Scaled(factor, shift)
    return Bent(x.of, (*x.steps, more)) if isinstance(x, Bent) else Bent(x, (more,))


def _other_scores(name: str, x: Forest, given: list[Any]) -> Forest | None:
    """The scores of two classes, s and -s, times a constant, and as probabilities."""
    constants = [one for one in given if isinstance(one, np.ndarray)]
    if name == "Mul" and isinstance(x.readout, Sign) and constants and constants[0].size == 1 and constants[0] > 0:
        by = float(constants[0].item())
        more = not exact(by)
        model = replace(x.model, value=x.model.value * by, base=x.model.base * by, folded=x.model.folded or more)
        return replace(x, model=model)
    if name == "Sigmoid" and isinstance(x.readout, Sign) and x.readout.link == "none":
        return replace(x, readout=replace(x.readout, link="logistic"))
    return None


PIPELINE_KNOWN = {
    *MODELS, *TABLE_OPERATORS, *ARITHMETIC, *BENT_AFTER, *ONNX_OPERATORS,
    "Abs", "ArgMax", "ReduceSum", "ai.onnx.ml.Normalizer",
}  # fmt: skip
"""All operators that are read somewhere."""

STATED = {"ai.onnx.ml.Normalizer": "it divides columns by what others hold"}
"""Operators that are refused in other words than that they are not known."""


def read_values(pipeline: OnnxPipelineRegressor, columns: list[Column]) -> Imported:
    """A pipeline that predicts values."""
    walk = Walk(pipeline, columns)
    found = walk.value(str(pipeline.heads.numbers))
    of, steps = (found.of, found.steps) if isinstance(found, Bent) else (found, ())
    if isinstance(of, Ended) and of.end is End.SIGMOID:
        of, steps = of.scores, (Logistic(), *steps)
    model = of.model if isinstance(of, Forest) else _summed(walk, of)
    if isinstance(of, Forest) and of.readout is not None:
        raise unread("Identity", "a classifier's scores are no values")
    if not steps:
        return model, Value(unit=walk.unit)
    return model, Linked(function=MonotoneFunction(steps, walk.unit), unit=walk.unit)


def _summed(walk: Walk, of: Any) -> Any:
    if not isinstance(of, Sums) or walk.to is None:
        raise UnsupportedModelError("the ONNX file returns no sums.", "", "Let the swarm search.")
    return walk.to.tape.model(of, walk.reached, walk.unit)


def read_classes(pipeline: OnnxPipelineClassifier, columns: list[Column]) -> Imported:
    """A pipeline that predicts classes. Its labels decide; what is not known of its probabilities is searched."""
    walk, classes = Walk(pipeline, columns), tuple(np.asarray(pipeline.classes_).tolist())
    labels, numbers = pipeline.heads
    chances: Any = None
    if numbers is not None:
        try:
            chances = walk.value(numbers)
        except UnsupportedModelError:
            if labels is None:
                raise
    decided = chances if labels is None else walk.value(labels).of
    if isinstance(decided, Forest):
        own = chances if isinstance(chances, Forest) and _alike(decided, chances) else None
        return _of_trees(decided, own, classes)
    scores = decided.scores if isinstance(decided, Ended) else decided
    if isinstance(decided, Shares) or (isinstance(decided, Ended) and decided.end is End.SIGMOID and scores.width > 1):
        raise unread("ArgMax", "it compares probabilities that may be rounded to 1")
    if not isinstance(scores, Sums):
        raise UnsupportedModelError("the ONNX file returns no sums.", "", "Let the swarm search.")
    return _of_sums(walk, scores, chances, classes)


def _alike(one: Forest, other: Forest) -> bool:
    """Whether two forests are the same, but perhaps for a factor."""
    return one.model.roots is other.model.roots and one.model.feature is other.model.feature


def _of_trees(decided: Forest, chances: Forest | None, classes: tuple[Any, ...]) -> Imported:
    forest = decided if chances is None else chances
    readout = forest.readout
    if readout is None:
        if forest.model.scores != len(classes):
            raise unread("ArgMax", f"{forest.model.scores} scores stand for {len(classes)} classes")
        return forest.model, Argmax(classes, "none", unit=UNIT_SINGLE)
    if isinstance(readout, Threshold):
        assert isinstance(readout.inner, Sign)
        return forest.model, replace(readout, inner=replace(readout.inner, classes=classes))
    assert isinstance(readout, Sign | Argmax)
    link: Link = readout.link if chances is not None else "none"
    return forest.model, replace(readout, classes=classes, link=link)


def _of_sums(walk: Walk, scores: Sums, chances: Any, classes: tuple[Any, ...]) -> Imported:
    shares = isinstance(chances, Shares)
    end = chances.of if shares else chances
    kind = end.end if isinstance(end, Ended) and end.scores is scores else End.SCORES
    assert walk.to is not None
    unit, tape, count = walk.unit, walk.to.tape, len(classes)
    link: Link = "none"
    opposite = scores.width == 2 and count == 2 and kind is End.SIGMOID and tape.are_opposite(scores)
    if opposite:
        scores = tape.mixed(scores, np.array([[0.0, 1.0]]), np.zeros(1))
    if count == 2 and scores.width == 1:
        link = "logistic" if kind is End.SIGMOID else "none"
    elif scores.width == count:
        link = "softmax" if kind is End.SOFTMAX else "ovr" if shares else "none"
    else:
        raise unread("ArgMax", f"{scores.width} scores stand for {count} classes")
    model = tape.model(scores, walk.reached, unit)
    return model, Sign(classes, link, unit) if scores.width == 1 else Argmax(classes, link, unit=unit)


register_importer(OnnxPipelineRegressor, read_values)
register_importer(OnnxPipelineClassifier, read_classes)
