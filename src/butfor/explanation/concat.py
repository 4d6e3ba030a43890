"""Answers of several calls as those of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, chain

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import InputError, InputTypeError, suggests
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.one_answer import as_batch
from butfor.space import frames
from butfor.space.stacked import stacked


@suggests
def concat(answers: Iterable[Explanation | Explanations]) -> Explanations:
    """The answers of several calls as those of one: the rows of the second stand below those of the first.

    Choose it to put tables that were explained one after the other into one report, table or file. All must be answers to
    one question about one model. Rows keep their labels. Where two parts have the same row numbers, all are numbered anew.
    Columns that nothing reads are left out if not all parts have them.

    >>> import butfor as bf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
    >>> whole = bf.concat([explainer.explain(X[60:70], target=2), explainer.explain(X[70:80], target=2)])
    >>> whole == explainer.explain(X[60:80], target=2)
    True
    """
    listed = [] if isinstance(answers, Explanation | Explanations) else list(answers)
    if not all(isinstance(one, Explanation | Explanations) for one in listed):
        raise InputTypeError(
            "bf.concat was given something else than answers.", "Give a list of what explain returned."
        )
    parts = [as_batch(one) if isinstance(one, Explanation) else one for one in listed]
    if not parts:
        raise InputError(
            "bf.concat was given no list of answers.", "At least one is needed.", "Write bf.concat([a, b])."
        )
    for part in parts[1:]:
        check_same_question(parts[0], part)
    first, heights = parts[0], [frames.height(one.table) for one in parts]
    places = [0, *accumulate(heights)]
    return replace(
        first,
        rows=_numbered([one.rows for one in parts]),
        ranks=np.concatenate([one.ranks for one in parts]),
        table_rows=np.concatenate([one.table_rows + start for one, start in zip(parts, places, strict=False)]),
        factual_codes=np.concatenate([one.factual_codes for one in parts]),
        point_codes=np.concatenate([one.point_codes for one in parts]),
        table=stacked([one.table for one in parts], first.space.unread),
        outputs_before=list(chain.from_iterable(one.outputs_before for one in parts)),
        outputs_after=list(chain.from_iterable(one.outputs_after for one in parts)),
        costs=np.concatenate([one.costs for one in parts]),
        certificates=list(chain.from_iterable(one.certificates for one in parts)),
        scores=list(chain.from_iterable(one.scores for one in parts)),
        sealed=None if first.sealed is None else all(one.sealed for one in parts),
    )


def _numbered(rows: list[IntArray]) -> IntArray:
    """The numbers of the rows: their own if they all differ, or one after the other."""
    different = [np.unique(its, return_inverse=True) for its in rows]
    if sum(len(its) for its, _ in different) == len(np.unique(np.concatenate(rows))):
        return np.concatenate(rows)
    starts = [0, *accumulate(len(its) for its, _ in different)]
    return np.concatenate([place + start for (_, place), start in zip(different, starts, strict=False)])


def check_same_question(first: Explanations, other: Explanations) -> None:
    """Refuse answers whose costs cannot be compared."""
    if other.question != first.question:
        raise InputError(
            f"answers to different questions were given together: {_words(first)}, and {_words(other)}.",
            "Their costs cannot be compared.",
            "Give the answers to one question at a time.",
        )
    prints = {one.certificates[0].fingerprint for one in (first, other) if len(one)}
    if other.space != first.space or len(prints) > 1:
        raise InputError(
            "answers about different models or columns were given together.",
            "All must be about the same.",
            "Give the answers of one explainer at a time.",
        )


def _words(answers: Explanations) -> str:
    question = answers.question
    return f"{question.target} at {question.cost} under {' and '.join(question.constraints) or 'no constraints'}"
