"""The question, as an answer keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from butfor.problem.question import Question
from butfor.problem.spec import to_spec


@dataclass(frozen=True)
class QuestionRecord:
    """A question in words, and as data. With the data, its answer can be checked later.

    - `target`, `cost`, `constraints`: each as it prints;
    - `spec`: the same as data, as far as it can be held as data. A price that is a function, for example, cannot.
    """

    target: str
    cost: str
    constraints: tuple[str, ...]
    spec: dict[str, Any] = field(compare=False, hash=False, default_factory=dict)


def record(question: Question, different: str | float | None = None) -> QuestionRecord:
    """The record of a question, and of the rule by which several answers differ, if one was named."""
    spec = {
        "target": to_spec(question.target),
        "cost": to_spec(question.cost),
        "constraints": [to_spec(constraint) for constraint in question.constraints],
    }
    spec |= {} if different is None else {"different": different}
    return QuestionRecord(repr(question.target), repr(question.cost), tuple(map(repr, question.constraints)), spec)
