"""imodels: sums of small trees, weighted rules, lists of rules, and estimators that hold one of scikit-learn.

A rule is a tree: where a condition fails, nothing is added. None of these models takes missing values.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import register_native
from butfor.importers.fold.column import Column
from butfor.importers.fold.leaf_lines import linear_leaves_over
from butfor.importers.fold.nodes import trees_over
from butfor.importers.registry import Imported, ReadModel, read_model, read_step, register_importer
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.nodes import LeafLines, Nodes
from butfor.model.readout import AbstractReadout, Argmax, Link, Sign, Value
from butfor.model.trees import Trees


class Rising(NamedTuple):
    """A leaf that adds a weight times a column to the only score."""

    column: int
    weight: float


class Branch(NamedTuple):
    """Where a row goes whose column is at most a threshold, and where it goes otherwise."""

    column: int
    threshold: float
    below: Grown
    above: Grown


Grown = Branch | Rising | FloatArray
"""A tree. A leaf is what it adds to each score."""


def _over(columns: list[Column], trees: list[Grown], base: FloatArray) -> Trees | LinearLeaves:
    """The sum of some trees."""
    rows: list[tuple[int, float, int, int]] = []
    value, rising = np.zeros((_count(trees), len(base))), {}

    def write(tree: Grown) -> int:
        here = len(rows)
        rows.append((-1, 0.0, -1, -1))
        if isinstance(tree, Branch):
            rows[here] = (tree.column, tree.threshold, write(tree.below), write(tree.above))
        elif isinstance(tree, Rising):
            rising[here] = tree
        else:
            value[here] = tree
        return here

    roots = np.array([write(tree) for tree in trees], dtype=np.intp)
    table = np.array(rows, dtype=np.float64)
    feature, left, right = (table[:, at].astype(np.intp) for at in (0, 2, 3))
    nodes = Nodes(roots, feature, table[:, 1], np.zeros(len(rows), dtype=np.bool_), left, right, value, single=False)
    if not rising:
        return trees_over(columns, nodes, base, folded=True)
    start = np.zeros(len(rows) + 1, dtype=np.intp)
    start[1 + np.array([*rising])] = 1
    column, weight = zip(*rising.values(), strict=True)
    lines = LeafLines(value[:, 0], np.cumsum(start), np.array(column), np.array(weight))
    known = [replace(one, refuses_missing=True) for one in columns]
    return linear_leaves_over(known, known, nodes, lines, base)


def _count(trees: Iterable[Grown]) -> int:
    """How many nodes there are."""
    return sum(1 + (_count(tree[2:]) if isinstance(tree, Branch) else 0) for tree in trees)


def read_figs(figs: Any, columns: list[Column]) -> Imported:
    """FIGS: trees whose leaves are added up. The largest sum is the class."""
    model = _over(columns, [_of_figs(root) for root in figs.trees_], np.zeros(figs.n_outputs))
    return model, _readout(figs, "softmax")


def _of_figs(node: Any) -> Grown:
    if node.left is None and node.right is None:
        return np.ravel(node.value).astype(np.float64)
    return Branch(int(node.feature), float(node.threshold), _of_figs(node.left), _of_figs(node.right))


class _FigsOfCategories:
    """FIGS that codes some columns itself. It takes the columns that it was fitted on, before they were coded.

    imodels puts the others in the order of a set, which another process may not repeat, and then raises an error.
    Here they have the order of the fit.
    """

    _estimator_type = "regressor"

    def __init__(self, figs: Any) -> None:
        self.encoder, self.coded = figs._encoder, list(figs.categorical_features_)
        self.after_coding = copy(figs)
        del self.after_coding._encoder
        width = len(self.encoder.get_feature_names_out(self.coded))
        self.plain = list(figs.feature_names_in_)[:-width]
        self.feature_names_in_ = np.array([*self.plain, *self.coded], dtype=object)

    def code(self, X: Any) -> Any:
        """The rows as the trees take them, under the names of the fit."""
        import pandas as pd

        X = X.to_pandas() if hasattr(X, "to_pandas") else X
        codes = pd.DataFrame(self.encoder.transform(pd.DataFrame(X[self.coded])), index=X.index)
        return pd.concat([X[self.plain], codes], axis=1).set_axis(self.after_coding.feature_names_in_, axis=1)

    def predict(self, X: Any) -> Any:
        """What the sums of the trees say."""
        return self.after_coding.predict(self.code(X))


class _FigsOfCategoriesClassifier(_FigsOfCategories):
    """The same, of classes."""

    _estimator_type = "classifier"

    @property
    def classes_(self) -> Any:
        """The classes."""
        return self.after_coding.classes_

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class."""
        return self.after_coding.predict_proba(self.code(X))


def as_given(figs: Any) -> Any:
    """FIGS that codes columns itself, as an estimator of these. Any other is one already."""
    if not hasattr(figs, "_encoder"):
        return figs
    return _FigsOfCategoriesClassifier(figs) if hasattr(figs, "classes_") else _FigsOfCategories(figs)


def read_coded_figs(figs: _FigsOfCategories, columns: list[Column]) -> Imported:
    """FIGS behind its own encoder."""
    count = len(figs.plain)
    return read_figs(figs.after_coding, columns[:count] + read_step(figs.encoder, columns[count:]))


def read_rule_fit(fit: Any, columns: list[Column]) -> Imported:
    """RuleFit: weighted rules, and columns that stop rising at two ends."""
    classes = hasattr(fit, "classes_")
    times = 2.0 if classes else 1.0  # the probability is the logistic function of `2 s - 1`
    base = times * np.ravel(np.asarray(fit.intercept, dtype=np.float64)) - (times - 1)
    trees = [_rule(rule, fit, columns, np.array([times * rule.args[0]])) for rule in _rules(fit)]
    if fit.include_linear:
        weights = times * np.asarray(fit.coef[: len(columns)], dtype=np.float64)
        ends = np.tile([[-np.inf], [np.inf]], len(columns))
        if fit.lin_standardise:
            weights, ends = weights * fit.friedscale.scale_multipliers, fit.winsorizer.winsor_lims
        trees += [_between(j, float(weights[j]), *ends[:, j].tolist()) for j in np.flatnonzero(weights).tolist()]
    model = _over(columns, trees or [np.zeros(1)], base)
    return model, Sign(tuple(fit.classes_.tolist()), "logistic") if classes else Value()


def _between(column: int, weight: float, low: float, high: float) -> Grown:
    """A weight times a column, which stops at two ends."""
    tree: Grown = Rising(column, weight)
    if high < np.inf:
        tree = Branch(column, high, tree, np.array([weight * high]))
    return Branch(column, low, np.array([weight * low]), tree) if low > -np.inf else tree


def read_rule_votes(votes: Any, columns: list[Column]) -> Imported:
    """Skope rules: the weight of the rules that hold, as a share of all, is the probability."""
    rules = _rules(votes)
    total = sum(rule.args[0] for rule in rules) or 1.0
    shares = [np.array([-1.0, 1.0]) * (rule.args[0] / total) for rule in rules]
    trees = [_rule(rule, votes, columns, share) for rule, share in zip(rules, shares, strict=True)]
    return _over(columns, trees or [np.zeros(2)], np.array([1.0, 0.0])), _readout(votes)


def _rules(model: Any) -> list[Any]:
    return list(model.rules_without_feature_names_)


def _rule(rule: Any, model: Any, columns: list[Column], value: FloatArray) -> Grown:
    """A value where all conditions hold, and nothing elsewhere."""
    if all(column.single for column in columns):
        raise UnsupportedModelError(
            f"the rules of a {type(model).__name__} read float32 columns alone.",
            "pandas compares them with float32 or float64 numbers, which depends on what else is installed.",
            "Give float64: X.astype('float64').",
        )
    tree: Grown = value
    names = list(model.feature_placeholders)
    for (name, word), number in rule.agg_dict.items():
        column, x = names.index(name), float(number)
        if word in ("<=", "<", "=="):
            tree = Branch(column, x if word != "<" else float(np.nextafter(x, -np.inf)), tree, np.zeros(len(value)))
        if word in (">", ">=", "=="):
            tree = Branch(column, x if word == ">" else float(np.nextafter(x, -np.inf)), np.zeros(len(value)), tree)
    return tree


def read_rule_list(rules: Any, columns: list[Column]) -> Imported:
    """A list of rules: the first that holds gives the probability."""
    strictly = type(rules).__name__ == "FastFrugalTreeClassifier"
    tree: Grown = np.zeros(2)
    for rule in reversed(rules.rules_):
        if "index_col" not in rule:
            tree = _chances(rule["val"])
            continue
        cutoff = float(rule["cutoff"])
        ways = (tree, _chances(rule["val_right"]))
        below, above = reversed(ways) if rule["flip"] else ways
        tree = Branch(
            int(rule["index_col"]), cutoff if strictly else float(np.nextafter(cutoff, -np.inf)), below, above
        )
    return _over(columns, [tree], np.zeros(2)), _readout(rules)


def _chances(probability: float) -> FloatArray:
    return np.array([1 - probability, probability])


def _readout(model: Any, link: Link = "identity") -> AbstractReadout:
    return Argmax(tuple(model.classes_.tolist()), link) if hasattr(model, "classes_") else Value()


def read_shrunken(shrunken: Any, columns: list[Column]) -> Imported:
    """Hierarchical shrinkage: the trees of the estimator inside. Its shares are made to add up to 1 once more."""
    model, readout = held_by("estimator_")(shrunken, columns)
    if isinstance(model, Trees) and len(model.roots) == 1 and isinstance(readout, Argmax):
        shares = np.clip(model.value, 0, 1)
        with np.errstate(invalid="ignore"):
            model = replace(model, value=np.nan_to_num(shares / shares.sum(axis=1, keepdims=True)))
    return model, readout


def held_by(name: str) -> ReadModel:
    """What reads the estimator that a model holds. It may predict the numbers of the classes."""

    def read(model: Any, columns: list[Column]) -> Imported:
        held, readout = read_model(getattr(model, name), columns)
        if isinstance(readout, Argmax | Sign):
            readout = replace(readout, classes=tuple(np.asarray(model.classes_).tolist()))
        return held, readout

    return read


IMODELS: dict[str, tuple[ReadModel, tuple[str, ...]]] = {
    "FIGS": (read_figs, ("FIGSClassifier", "FIGSRegressor")),
    "searched FIGS": (held_by("figs"), ("FIGSClassifierCV", "FIGSRegressorCV")),
    "rules that are added": (
        read_rule_fit,
        ("RuleFitClassifier", "RuleFitRegressor", "FPLassoClassifier", "FPLassoRegressor"),
    ),
    "rules that vote": (read_rule_votes, ("SkopeRulesClassifier", "FPSkopeClassifier")),
    "lists": (read_rule_list, ("GreedyRuleListClassifier", "OneRClassifier", "FastFrugalTreeClassifier")),
    "shrunken trees": (
        read_shrunken,
        (
            "HSTreeClassifier", "HSTreeRegressor", "HSTreeClassifierCV", "HSTreeRegressorCV", "HSDecisionTreeCCPClassifierCV",
            "HSDecisionTreeCCPRegressorCV",
        ),
    ),
    "pruned trees": (held_by("estimator_"), ("DecisionTreeCCPClassifier", "DecisionTreeCCPRegressor")),
    "TAO": (held_by("model"), ("TaoTreeClassifier", "TaoTreeRegressor")),
    "whole coefficients": (held_by("model_"), ("SLIMClassifier", "SLIMRegressor")),
}  # fmt: skip

for read, names in IMODELS.values():
    for name in names:
        register_importer(f"imodels.{name}", read)
register_importer(_FigsOfCategories, read_coded_figs)
for name in IMODELS["FIGS"][1]:
    register_native(f"imodels.{name}", as_given)
