"""What one did oneself for an answer, apart from what followed."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.explanation.question_record import QuestionRecord
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.follows import Consequences
from butfor.problem.spec import class_of, following_in, from_spec
from butfor.space.space import Space


def effects_of(question: QuestionRecord, space: Space) -> tuple[int, ...]:
    """The columns that follow from others in the answers to a question (see `bf.follows` and `bf.computed`)."""
    return (*_computed(question, space), *_consequences(question, space).effects)


def acted(question: QuestionRecord, space: Space, start: FloatArray, points: FloatArray) -> FloatArray:
    """What one's own actions alone would make of rows (n, columns) that become these points. What is computed stays."""
    own = np.array(_consequences(question, space).actions(start, points))
    computed = list(_computed(question, space))
    own[:, computed] = start[:, computed]
    return own


def acted_alone(
    question: QuestionRecord, space: Space, start: FloatArray, point: FloatArray
) -> tuple[FloatArray, tuple[int, ...]]:
    """What one's own actions alone would make of a row that becomes this point, and which columns follow from others."""
    return acted(question, space, start[None], point[None])[0], effects_of(question, space)


def _computed(question: QuestionRecord, space: Space) -> tuple[int, ...]:
    return tuple(map(space.index, following_in(question.spec)))


def _consequences(question: QuestionRecord, space: Space) -> Consequences:
    """The consequences of a question, of which an answer holds all as data."""
    specs = (spec for spec in question.spec.get("constraints", []) if class_of(spec).alters)
    told = (from_spec(spec) for spec in specs)
    return Consequences.listed(space, [one for one in told if isinstance(one, AbstractConstraint)])
