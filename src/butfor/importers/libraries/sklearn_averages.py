"""scikit-learn's votes and bags: the predictions, probabilities or votes of several estimators are averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.blend import Member, blend, check_weights
from butfor.importers.fold.column import Column
from butfor.importers.fold.leaves import only_tree
from butfor.importers.libraries.sklearn_calibration import averaged_member, check_classes, votes_of
from butfor.importers.libraries.sklearn_ensembles import is_tree, read_bagged_trees
from butfor.importers.registry import Imported, read_model, register_importer
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.readout import AbstractReadout, Argmax, MeanValue, Value
from butfor.model.side_by_side import Part, TreeSum, added, side_by_side, weighted_trees
from butfor.model.tilted import leaf
from butfor.model.trees import Trees


@dataclass(frozen=True)
class Averaged:
    """Estimators whose predictions, probabilities or votes are averaged.

    - `classes`: empty of regressors;
    - `columns`: what each estimator is given.
    """

    name: str
    classes: tuple[Any, ...]
    estimators: Sequence[Any]
    columns: Sequence[list[Column]]
    weights: FloatArray

    def read(self, votes: bool) -> Imported:
        """A sum of leaves, or a mean of functions of sums."""
        if votes and len(self.classes) > 2:
            return self._votes()
        if votes:
            return self._blended(lambda: [votes_of(*one) for one in self._members], votes=True)
        read = [read_model(*member) for member in self._members]
        if not self.classes:
            return _mean_value(self.name, read, self.weights)
        leaves = [model for model, readout in read if isinstance(model, TreeSum) and _adds_leaves(readout)]
        if len(leaves) < len(read):
            each = zip(self.estimators, read, strict=True)
            return self._blended(lambda: [averaged_member(*one) for one in each], votes=False)
        check_weights(self.name, self.weights)
        totals = [readout.total if isinstance(readout, Argmax) else 1.0 for _, readout in read]
        model = weighted_trees(leaves, (self.weights / self.weights.sum() / totals).tolist())
        return model, Argmax(self.classes, unit=max(readout.unit for _, readout in read))

    @property
    def _members(self) -> Iterator[tuple[Any, list[Column]]]:
        return zip(self.estimators, self.columns, strict=True)

    def _votes(self) -> Imported:
        """The votes of single trees for one of several classes: each leaf holds a vote."""
        check_weights(self.name, self.weights)
        voters = []
        for estimator, columns in self._members:
            check_classes(estimator, tuple(range(len(self.classes))))  # a vote for a label is counted at its position
            model, readout = read_model(estimator, columns)
            tree = only_tree(model)
            if tree is None:
                raise self._unread
            voters.append(replace(tree, value=np.eye(len(self.classes))[readout.decide(tree.value)]))
        return weighted_trees(voters, self.weights.tolist()), Argmax(self.classes, "none")

    def _blended(self, members: Callable[[], Sequence[Member]], *, votes: bool) -> Imported:
        """The weighted mean of the probabilities of two classes, or of the votes for them."""
        if len(self.classes) != 2:
            raise self._unread
        return blend(self.name, self.classes, members(), self.weights, votes=votes)

    @property
    def _unread(self) -> UnsupportedModelError:
        names = ", ".join(sorted({type(member).__name__ for member in self.estimators}))
        return UnsupportedModelError(
            f"{self.name} over {names} cannot be read.",
            "Its members must be trees or forests (single trees, if votes are counted), or classifiers of two classes.",
            "Explain one member, or let the swarm search: it needs only predictions.",
        )


def read_voting(voting: Any, columns: list[Column]) -> Imported:
    """The weighted mean of what the members predict, or of their votes."""
    given, count = voting._weights_not_none, len(voting.estimators_)
    weights = np.ones(count) if given is None else np.asarray(given, dtype=np.float64)
    classes = tuple(voting.classes_.tolist()) if hasattr(voting, "classes_") else ()
    every = Averaged(type(voting).__name__, classes, voting.estimators_, [columns] * count, weights)
    return every.read(getattr(voting, "voting", "soft") != "soft")


def read_bagging(bagging: Any, columns: list[Column]) -> Imported:
    """The mean of members, each on its own sample of rows and columns: of their probabilities, or votes if they have none."""
    members = bagging.estimators_
    if all(is_tree(one) for one in members):
        return read_bagged_trees(bagging, columns)
    classes = tuple(bagging.classes_.tolist()) if hasattr(bagging, "classes_") else ()
    for member in members if classes else ():
        check_classes(member, classes)
    inputs = [[columns[j] for j in own] for own in bagging.estimators_features_]
    every = Averaged(type(bagging).__name__, classes, members, inputs, np.ones(len(members)))
    return every.read(votes=bool(classes) and not hasattr(members[0], "predict_proba"))


def _mean_value(kind: str, read: list[Imported], weights: FloatArray) -> Imported:
    """The weighted mean of what regressors predict."""
    check_weights(kind, weights)
    return summed(kind, read, weights / weights.sum())


def summed(kind: str, read: list[Imported], shares: FloatArray, constant: float = 0.0) -> Imported:
    """Shares of what regressors predict, added up: one sum of leaves, or a sum of scores side by side."""
    unit = max(readout.unit for _, readout in read)
    leaves = [model for model, readout in read if isinstance(model, TreeSum) and type(readout) is Value]
    if len(leaves) == len(read):
        return _raised(weighted_trees(leaves, shares.tolist()), 0, constant), Value(unit=unit)
    parts = [
        (model, share * readout.row)
        for (model, readout), share in zip(read, shares, strict=True)
        if isinstance(model, Part) and type(readout) in (Value, MeanValue) and isinstance(readout, Value)
    ]
    if len(parts) < len(read):
        raise UnsupportedModelError(
            f"{kind} over {', '.join(sorted({type(model).__name__ for model, _ in read}))} cannot be read.",
            "Its members must be trees, sums of trees, or linear models, and predict their scores.",
            "Explain one member, or let the swarm search: it needs only predictions.",
        )
    models = [model for model, _ in parts]
    row = np.concatenate([row for _, row in parts])
    at = int(np.argmax(np.abs(row)))
    if not row[at]:
        raise UnsupportedModelError(
            f"a {kind} predicts {constant}, whatever its members do.",
            "It must depend on them.",
            "Fit it with other weights.",
        )
    return _raised(side_by_side(models[0], models[1:]), at, constant / row[at]), MeanValue(unit=unit, weights=row)


def _raised(model: Part, score: int, by: float) -> Part:
    """The model with a constant added to one score."""
    if isinstance(model, Mixed):
        linear = _raised(model.linear, score, by)
        assert isinstance(linear, Linear)
        return replace(model, linear=linear)
    constant = np.zeros(model.scores)
    constant[score] = by
    if isinstance(model, Trees):
        return replace(model, base=model.base + constant)
    if isinstance(model, Linear):
        return replace(model, intercept=model.intercept + constant)
    return added([model, leaf(model.gates, constant)]) if by else model


def _adds_leaves(readout: AbstractReadout) -> bool:
    """Whether the prediction is a sum of leaves: shares of classes."""
    return type(readout) is Argmax and readout.link == "identity"


for name in ("VotingClassifier", "VotingRegressor"):
    register_importer(name, read_voting)
for name in ("BaggingClassifier", "BaggingRegressor"):
    register_importer(name, read_bagging)
