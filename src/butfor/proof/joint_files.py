"""Several models that are asked together, as one file that the checker reads: the sums of one after those of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.linear import Linear
from butfor.model.rounding import Extent
from butfor.model.side_by_side import lines_side_by_side
from butfor.problem.constraints.constraint import AskedModel
from butfor.problem.question import Question
from butfor.problem.referee import Referee
from butfor.proof.linear_files import Line, linear_file
from butfor.proof.model_files import BITS_OF_SUMS, AbstractInputs, ModelFile, hexes, not_proven, recorded
from butfor.proof.read_files import ReadInputs, forest
from butfor.proof.read_model import ReadModel
from butfor.proof.tree_sums import plain_sums
from butfor.proof.wanted import wanted_of

SUMS_TOGETHER = ("logistic", "score", "value", "shares", "largest")
"""What the sums of models may be that are asked together, as the checker calls it."""


@dataclass(frozen=True, eq=False)
class OtherModel:
    """A model that a constraint asks, together with the explained one."""

    asked: AskedModel

    @cached_property
    def read(self) -> ReadModel:
        """What was read of it."""
        return ReadModel.of(self.asked.reading)

    def wanted(self, before: Prediction) -> dict[str, Any]:
        """What is wanted of it, for a row that the explained model predicts `before`."""
        target, least = self.asked.target, self.asked.least
        if target is None:
            return {"of": ["value", None], "label": "path length", "at least": least.hex()}
        return wanted_of(target, self.read.reading, before, self.read.sum)


def others_of(question: Question, referee: Referee, before: Prediction) -> list[OtherModel]:
    """The models that constraints ask besides the explained one."""
    return [OtherModel(one) for rule in question.judged if rule.asks_models for one in rule.asked(referee, before)]


@dataclass(frozen=True)
class JointFile(ModelFile):
    """The file of several models. A row is recorded with what each of them says."""

    each: tuple[ReadModel, ...] = ()

    def recorded(self, said: Any) -> Any:
        return {"each": [recorded(one, read.tells) for read, one in zip(self.each, said, strict=True)]}


def joint_file(reading: Reading, others: Sequence[OtherModel], extent: Extent) -> tuple[ModelFile, AbstractInputs]:
    """The file of a model and of others, and its rows. Raises an error if they are no sums of trees, steps and numbers."""
    each = (ReadModel.of(reading), *(other.read for other in others))
    for read in each:
        line = read.line(extent)
        if line is None or line.steps or read.sum not in SUMS_TOGETHER:
            raise not_proven(f"a {read.name} beside other models")
    found = _weights(each, extent) if all(read.weighs for read in each) else None
    found = found or _trees(each, extent)
    if found is None:
        raise not_proven(f"{' and '.join(sorted({f'a {read.name}' for read in each}))}, asked together")
    file, inputs = found
    words = f"what butfor read of {', and of '.join(f'a {read.name}' for read in each)}"
    return JointFile(file.name, file.kind, file.content, words, partial(_said, each), each=each), inputs


def _said(each: tuple[ReadModel, ...], table: Any) -> list[tuple[Any, ...]]:
    """What each model says of rows."""
    return list(zip(*(read.score(table) for read in each), strict=True))


def _weights(each: tuple[ReadModel, ...], extent: Extent) -> tuple[ModelFile, AbstractInputs] | None:
    """All weighted sums, side by side; None if one of them is computed in float32."""
    models = [read.reading.model for read in each if isinstance(read.reading.model, Linear)]
    whole = lines_side_by_side(models)
    unit = max(read.reading.unit for read in each)
    told = [_told(read, one.scores, BITS_OF_SUMS[unit]) for read, one in zip(each[1:], models[1:], strict=True)]
    reading, line = replace(each[0].reading, model=whole, unit=unit), Line.of_scores(whole.scores)
    return linear_file(reading, line, each[0].sum, extent, "", each[0].score, "sums", {"others": told})


def _trees(each: tuple[ReadModel, ...], extent: Extent) -> tuple[ModelFile, AbstractInputs] | None:
    """All sums of trees, steps and numbers, side by side: a tree, and a number, adds to the sums of its own model."""
    sets = dict[tuple[int, bytes], int]()
    sums = [one for read in each if (one := plain_sums(read.reading, sets, extent)) is not None]
    if len(sums) < len(each) or any(
        read.over not in (1.0, len(one.trees)) for read, one in zip(each, sums, strict=True)
    ):
        return None
    count = [len(one.base) for one in sums]
    trees, at = list[dict[str, Any]](), 0
    for one, n in zip(sums, count, strict=True):
        trees += [_placed(tree, at, sum(count) - at - n) if n > 1 else {**tree, "of": at} for tree in one.trees]
        at += n
    bits = [BITS_OF_SUMS[one.unit] for one in sums]
    off = np.concatenate([np.zeros(n) if one.off is None else one.off for one, n in zip(sums, count, strict=True)])
    told = {
        "sum": each[0].sum, "mean": each[0].over > 1, "over": int(each[0].over), "digits": bits[0],
        "base": hexes(np.concatenate([one.base for one in sums]).tolist()), "off": hexes(off.tolist()), "trees": trees,
        "others": [_told(*its) for its in zip(each[1:], count[1:], bits[1:], strict=True)],
    }  # fmt: skip
    columns = len(each[0].reading.space)
    weights = [
        np.zeros((n, columns)) if one.weights is None else one.weights for one, n in zip(sums, count, strict=True)
    ]
    if any(its.any() for its in weights):
        told["weights"] = hexes(np.vstack(weights).tolist())
    file = ModelFile("model.json", "arrays", forest(each[0].name, told), "", each[0].score)
    return file, ReadInputs(each[0].reading.space, sets)


def _placed(tree: dict[str, Any], before: int, after: int) -> dict[str, Any]:
    """A tree whose leaves add nothing to the sums of other models."""
    none = (0.0).hex()
    return {**tree, "value": [[*[none] * before, *leaf, *[none] * after] for leaf in tree["value"]]}


def _told(read: ReadModel, sums: int, digits: int) -> dict[str, Any]:
    """What the last sums of a file are."""
    return {"of": read.name, "sum": read.sum, "sums": sums, "digits": digits, "over": int(read.over)}
