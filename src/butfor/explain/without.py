"""The question of an answer once more, without some of its changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from butfor.errors import InputError
from butfor.explain.asking import Asking
from butfor.explanation.explanation import Explanation
from butfor.problem.constraints.restrictions import Fixed
from butfor.problem.spec import from_spec
from butfor.verdict.case import Case


def left_alone(asking: Asking, answer: Explanation, columns: Sequence[str]) -> Case:
    """The row of an answer and its question, with these columns fixed."""
    _check(asking, answer, columns)
    spec = answer.question.spec
    row = asking.reading.space.select(answer.factual)
    rules = (*meant(spec["constraints"]), Fixed(tuple(map(str, columns))))
    return asking.case(row, meant(spec["target"]), meant(spec["cost"]), rules)


def _check(asking: Asking, answer: Explanation, columns: Sequence[str]) -> None:
    changed = [change.name for change in answer.changes]
    for name in columns:
        answer.space.position(name)
    if not answer.found:
        raise InputError("an answer without a point was given.", "There is no change to leave out.")
    ours = answer.space.names == asking.reading.space.names
    if not ours or answer.certificate.fingerprint != asking.reading.held_as_in(answer.space).fingerprint:
        raise InputError("the answer is to a question about another model.", "", "Use the Explainer of its model.")
    others = [str(name) for name in columns if str(name) not in changed]
    if others or not columns:
        given = f"the answer does not change {others[0]!r}." if others else "no column was given to leave alone."
        raise InputError(given, f"It changes {', '.join(changed) or 'nothing'}.", "Name one or more of these columns.")


def meant(spec: Any) -> Any:
    """A part of a question, from its data."""
    try:
        return from_spec(spec)
    except LookupError as described:
        raise InputError(
            f"the answer does not hold {described.args[0]} as data.",
            "So its question cannot be asked again.",
            "Call explain again, with bf.fixed(...) among the constraints.",
        ) from None
