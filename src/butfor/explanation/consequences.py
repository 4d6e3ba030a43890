"""What one did oneself for an answer, apart from what followed."""

from __future__ import annotations

from butfor.arrays import FloatArray
from butfor.explanation.question_record import QuestionRecord
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.follows import Consequences
from butfor.problem.spec import class_of, from_spec
from butfor.space.space import Space


def consequences_of(question: QuestionRecord, space: Space) -> Consequences:
    """The consequences of a question, of which an answer holds all as data."""
    specs = (spec for spec in question.spec.get("constraints", []) if class_of(spec).alters)
    told = (from_spec(spec) for spec in specs)
    return Consequences.listed(space, [one for one in told if isinstance(one, AbstractConstraint)])


def acted(question: QuestionRecord, space: Space, start: FloatArray, points: FloatArray) -> FloatArray:
    """What one's own actions alone would make of rows (n, columns) that become these points."""
    known = consequences_of(question, space)
    return known.actions(start, points) if known else points
