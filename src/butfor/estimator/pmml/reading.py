"""From the elements of a PMML file to sums of trees, or to weighted sums of columns, with what is made of them.

Everything that can be written as trees is: trees, scorecards (a tree for each characteristic), sums, means, votes, and
chains in which a regression reads sums of trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args
from xml.etree.ElementTree import Element

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.estimator.pmml.elements import (
    Label,
    attribute,
    child,
    children,
    in_single,
    label_of,
    name_of,
    not_read,
    number_in,
    parsed,
    segments_in,
)
from butfor.estimator.pmml.expressions import as_number
from butfor.estimator.pmml.growing import Growing, Grown, PmmlNode, WhereMissing, written
from butfor.estimator.pmml.models import MedianOfTrees, SumOfTrees, WeightedSum
from butfor.estimator.pmml.reading_predicates import predicate_of
from butfor.estimator.pmml.reading_scorecards import characteristics, reasons
from butfor.estimator.pmml.scope import Scope, fields_of
from butfor.estimator.pmml.targets import NOT_RESCALED, check_as_it_is, rescaling_of_sum, scaled

NORMALIZATIONS = {
    "none": None,
    "identity": None,
    **{name: name for name in ("exp", "logit", "softmax", "probit", "cloglog")},
}
"""The ways from a sum to a prediction, by normalizationMethod."""

MEDIANS = ("median", "weightedMedian", "x-weightedMedian")
"""The medians of several models; the last is how an older converter calls one."""

NO_MODELS = ("Header", "DataDictionary", "MiningBuildTask", "TransformationDictionary", "Extension")


def read_pmml(held: bytes) -> SumOfTrees | WeightedSum:
    """The model in a PMML file."""
    root = parsed(held)
    models = [one for one in children(root) if name_of(one) not in NO_MODELS]
    if len(models) != 1:
        raise InputError(f"the file has {len(models)} models.", "One is needed.")
    (model,) = models
    return _ModelReader(root, model).read(model)


@dataclass
class _ModelReader:
    """Reads the outermost model."""

    root: Element
    model: Element

    def read(self, model: Element) -> SumOfTrees | WeightedSum:
        """The model, as sums of trees or of columns."""
        self.scope = Scope.of(self.root, model)
        self.growing = Growing({})
        self.labels = self._labels(model)
        if name_of(model) == "RegressionModel":
            return self._regression(model, self.scope.inside(model))
        median = self._median(model, self.scope.inside(model))
        if median is not None:
            return median
        trees, base, link, total = self._trees(model, self.scope)
        scores = len(base)
        sums = SumOfTrees(
            self.scope.fields, tuple(self.scope.reads), self._refused(), tuple(self.labels), link,
            nodes=written(trees, scores), base=base, total=total,
            single=in_single(model), reasons=reasons(model, self.scope.inside(model)),
        )  # fmt: skip
        return sums

    def _refused(self) -> tuple[int, ...]:
        """The fields that must not be missing."""
        return fields_of(self.growing.refused, self.scope)

    def _labels(self, model: Element) -> list[Label]:
        """The classes, in the order of the file; none for a model that predicts a number."""
        if model.get("functionName") != "classification":
            if model.get("functionName") != "regression":
                raise not_read(f"functionName={model.get('functionName')!r}", model)
            return []
        schema = child(model, "MiningSchema")
        targets = [
            one for one in children(schema if schema is not None else model, "MiningField")
            if one.get("usageType") in ("target", "predicted")
        ]  # fmt: skip
        dictionary = child(self.root, "DataDictionary")
        for one in children(dictionary if dictionary is not None else model, "DataField"):
            if targets and one.get("name") == targets[0].get("name"):
                self.kind = one.get("dataType", "string")
                found = [label_of(attribute(value, "value"), self.kind) for value in children(one, "Value")]
                if found:
                    return found
        self.kind = getattr(self, "kind", "string")
        named = [
            text for one in model.iter() if name_of(one) in ("ScoreDistribution", "RegressionTable", "Node")
            for text in [one.get("value") or one.get("targetCategory") or one.get("score")] if text
        ]  # fmt: skip
        return [label_of(text, self.kind) for text in dict.fromkeys(named)]

    # ---- everything that is a sum of trees -------------------------------------------------------------------------

    def _trees(self, model: Element, scope: Scope) -> tuple[list[Grown], FloatArray, str | None, float]:
        """Trees, what their sum starts from, the link behind it, and what the shares of classes add up to."""
        classes = len(self.labels) if model.get("functionName") == "classification" else 0
        trees, base, link, total = self._before_targets(model, scope, classes)
        factor, constant = rescaling_of_sum(model, link)
        if (factor, constant) != NOT_RESCALED:
            trees, base = scaled(trees, np.array([[factor]])), factor * base + constant
        return trees, base, link, total

    def _before_targets(
        self, model: Element, scope: Scope, classes: int
    ) -> tuple[list[Grown], FloatArray, str | None, float]:
        kind, inner = name_of(model), scope.inside(model)
        if kind == "TreeModel":
            return [self._tree(model, inner, classes)], np.zeros(classes or 1), None, 1.0
        if kind == "Scorecard":
            start = np.array([number_in(model, "initialScore", 0.0)])
            return [self._grown(one, inner) for one in characteristics(model, inner)], start, None, 1.0
        if kind == "MiningModel":
            return self._segments(model, inner, classes)
        raise not_read(f"a {kind}")

    def _segments(
        self, model: Element, scope: Scope, classes: int
    ) -> tuple[list[Grown], FloatArray, str | None, float]:
        segmentation = child(model, "Segmentation")
        if segmentation is None:
            raise InputError("a MiningModel has no Segmentation.", "It holds the models.")
        how = attribute(segmentation, "multipleModelMethod")
        segments = segments_in(segmentation)
        if how == "modelChain":
            return self._chain(segments, scope)
        weighted = how.startswith("weighted")
        weights = [number_in(one, "weight", 1.0) if weighted else 1.0 for one in segments]
        models = [_model_in(one) for one in segments]
        votes = how in ("majorityVote", "weightedMajorityVote")
        if how not in ("sum", "weightedSum", "average", "weightedAverage") and not votes:
            raise not_read(f"multipleModelMethod={how!r}", segmentation)
        if votes and not all(name_of(one) == "TreeModel" for one in models):
            raise not_read("votes of other models than trees", segmentation)
        share = 1.0 if how in ("sum", "weightedSum") or classes else 1 / sum(weights)
        trees, base, totals = list[Grown](), np.zeros(classes or 1), 0.0
        for one, weight in zip(models, weights, strict=True):
            if votes:
                check_as_it_is(one, "votes")
                own, start, total = [self._tree(one, scope.inside(one), classes, votes=True)], np.zeros(classes), 1.0
            else:
                own, start, link, total = self._trees(one, scope)
                if link is not None:
                    raise not_read("a sum or a mean of models with links", segmentation)
            factor = weight * share
            trees += own if factor == 1 else scaled(own, np.array([[factor]]))
            base, totals = base + factor * start, totals + weight * total
        return trees, base, None, totals if classes else 1.0

    def _median(self, model: Element, scope: Scope) -> MedianOfTrees | None:
        """A median of trees, each with a score of its own; None if the model is none."""
        segmentation = child(model, "Segmentation")
        how = None if segmentation is None else segmentation.get("multipleModelMethod")
        if segmentation is None or how not in MEDIANS or self.labels:
            return None
        segments = segments_in(segmentation)
        models, own = [_model_in(one) for one in segments], np.eye(len(segments))
        weights = np.array([1.0 if how == "median" else number_in(one, "weight", 1.0) for one in segments])
        if not all(name_of(one) == "TreeModel" for one in models):
            raise not_read("a median of other models than trees", segmentation)
        if how == "median" and len(models) % 2 == 0:
            raise not_read("a median of an even number of models, which is the mean of two", segmentation)
        for one in (model, *models):
            check_as_it_is(one, "a median")
        if in_single(model):
            raise not_read("a median that is computed in float32", segmentation)
        if (weights < 0).any() or not weights.any():
            raise InputError(
                f"the models have the weights {weights.tolist()}.", "They must be at least 0, and not all 0."
            )
        trees = [
            scaled([self._tree(one, scope.inside(one), 0)], column[:, None])[0]
            for one, column in zip(models, own, strict=True)
        ]
        base = np.zeros(len(models))
        return MedianOfTrees(
            self.scope.fields, tuple(self.scope.reads), self._refused(), (), None,
            nodes=written(trees, len(base)), base=base, weights=weights,
        )  # fmt: skip

    def _chain(self, segments: list[Element], scope: Scope) -> tuple[list[Grown], FloatArray, str | None, float]:
        """A regression that reads the sums of the models before it."""
        *before, last = [_model_in(one) for one in segments]
        if name_of(last) != "RegressionModel" or not before:
            raise not_read("a chain that does not end in a RegressionModel")
        sums = {name: self._trees(one, scope) for one in before for name in _outputs(one)}
        tables, link = self._tables(last)
        factor, constant = rescaling_of_sum(last, link)
        trees, base = list[Grown](), np.zeros(len(tables))
        for k, table in enumerate(tables):
            base[k] = factor * number_in(table, "intercept") + constant
            for term in children(table):
                name = term.get("name", "")
                if name_of(term) != "NumericPredictor" or name not in sums or number_in(term, "exponent", 1.0) != 1:
                    raise not_read(f"a chain whose last model reads {name!r}", last)
                own, start, inner, _ = sums[name]
                if inner is not None or len(start) != 1:
                    raise not_read("a chain of models with links", last)
                column = np.zeros((len(tables), 1))
                column[k] = factor * number_in(term, "coefficient")
                trees, base = [*trees, *scaled(own, column)], base + column[:, 0] * start[0]
        return trees, base, link, 1.0

    def _tree(self, model: Element, scope: Scope, classes: int, votes: bool = False) -> Grown:
        """One tree."""
        root = child(model, "Node")
        missing = model.get("missingValueStrategy", "none")
        if missing not in get_args(WhereMissing):
            raise not_read(f"missingValueStrategy={missing!r}", model)
        if root is None:
            raise InputError("a TreeModel has no Node.", "One is needed.")
        last = model.get("noTrueChildStrategy", "returnNullPrediction") == "returnLastPrediction"
        return self._grown(self._branch(root, scope, classes, votes), scope, cast(WhereMissing, missing), last)

    def _grown(self, root: PmmlNode, scope: Scope, missing: WhereMissing = "none", last: bool = False) -> Grown:
        self.growing.start = scope.start
        return self.growing.tree(root, missing, last)

    def _branch(self, node: Element, scope: Scope, classes: int, votes: bool) -> PmmlNode:
        return PmmlNode(
            predicate_of(node, scope),
            self._value(node, classes, votes),
            tuple(self._branch(one, scope, classes, votes) for one in children(node, "Node")),
            node.get("id", ""),
            node.get("defaultChild", ""),
        )

    def _value(self, node: Element, classes: int, votes: bool) -> FloatArray | None:
        """What a node says: a number, or the shares of the classes."""
        score = node.get("score")
        if not classes:
            return None if score is None else np.array([number_in(node, "score")])
        found = list(children(node, "ScoreDistribution"))
        if votes or not found:
            return None if score is None else np.asarray(np.eye(classes)[self._class(score)])
        shares = np.zeros(classes)
        for one in found:
            name = "probability" if one.get("probability") is not None else "recordCount"
            shares[self._class(attribute(one, "value"))] = number_in(one, name)
        shares = shares / shares.sum()
        own = shares.argmax() if score is None else self._class(score)
        if shares[own] < shares.max():
            raise not_read("a Node whose score is not its most probable class", node)
        if own != shares.argmax() and name_of(self.model) == "TreeModel":  # several trees decide by their shares alone
            raise not_read("a Node with several most probable classes whose score is not the first of them", node)
        return np.asarray(shares)

    def _class(self, text: str) -> int:
        label = label_of(text, self.kind)
        if label not in self.labels:
            raise InputError(f"the file names the class {text!r}.", f"The classes are {self.labels}.")
        return self.labels.index(label)

    # ---- regressions -----------------------------------------------------------------------------------------------

    def _tables(self, model: Element) -> tuple[list[Element], str | None]:
        """The tables of a regression in the order of the scores, and its link. Of two classes, one score is enough."""
        tables = list(children(model, "RegressionTable"))
        method = model.get("normalizationMethod", "none")
        if method not in NORMALIZATIONS:
            raise not_read(f"normalizationMethod={method!r}", model)
        link = NORMALIZATIONS[method]
        if model.get("functionName") == "regression":
            if len(tables) != 1:
                raise InputError(f"a regression has {len(tables)} tables.", "It has one.")
            return tables, link
        if link not in ("logit", "softmax"):
            raise not_read(f"normalizationMethod={method!r} of classes", model)
        named = [self._class(attribute(one, "targetCategory")) for one in tables]
        empty = [number_in(one, "intercept") == 0 and child(one) is None for one in tables]
        if len(tables) == 2 and empty[1]:
            self.labels = [self.labels[named[1]], self.labels[named[0]]]
            return tables[:1], "logit"
        if link == "logit":
            raise not_read("normalizationMethod='logit' of more than two classes", model)
        if sorted(named) != list(range(len(self.labels))):
            raise InputError("the RegressionTables are not those of the classes.", f"They are {self.labels}.")
        self.labels = [self.labels[k] for k in named]
        return tables, link

    def _regression(self, model: Element, scope: Scope) -> WeightedSum:
        """A weighted sum of columns for each table."""
        tables, link = self._tables(model)
        terms = [self._term(one, scope) for table in tables for one in children(table)]
        reads = [*dict.fromkeys(read for read, _ in terms)]  # what is not read may be missing
        weights, at = np.zeros((len(tables), len(reads))), iter(terms)
        for k, table in enumerate(tables):
            for _ in children(table):
                read, weight = next(at)
                weights[k, reads.index(read)] += weight
        base = np.array([number_in(table, "intercept") for table in tables])
        factor, constant = rescaling_of_sum(model, link)
        weights, base = factor * weights, factor * base + constant
        lost = fields_of([read for read in reads if scope.may_be_missing(read)], scope)
        return WeightedSum(
            scope.fields, tuple(scope.reads[read] for read in reads), lost, tuple(self.labels), link,
            weights=weights, base=base,
        )  # fmt: skip

    def _term(self, one: Element, scope: Scope) -> tuple[int, float]:
        kind, weight = name_of(one), number_in(one, "coefficient", 0.0)
        if kind == "NumericPredictor" and number_in(one, "exponent", 1.0) == 1:
            return scope.read(as_number(scope.reads[scope.number(attribute(one, "name"))], one)), weight
        if kind == "CategoricalPredictor":
            read = scope.number(attribute(one, "name"))
            position = scope.position(read, attribute(one, "value"))  # no row is None
            return scope.read(scope.reads[read].then("is", position).then("instead", 0.0)), weight
        raise not_read("a power" if kind == "NumericPredictor" else f"a {kind}", one)


def _model_in(segment: Element) -> Element:
    found = [one for one in children(segment) if name_of(one).endswith("Model") or name_of(one) == "Scorecard"]
    if len(found) != 1:
        raise not_read("a Segment without a single model", segment)
    return found[0]


def _outputs(model: Element) -> list[str]:
    """The names under which later models of a chain know a prediction."""
    output = child(model, "Output")
    found = [] if output is None else list(children(output, "OutputField"))
    for one in found:
        if one.get("feature", "predictedValue") != "predictedValue":
            raise not_read(f"the output {one.get('feature')!r} of a model in a chain", output)
    return [attribute(one, "name") for one in found]
