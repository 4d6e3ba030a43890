"""An answer as plain data: all of its record, or the little that a service sends to whoever asked."""

from __future__ import annotations

import json
from typing import Any, Literal, get_args

from butfor.errors import InputError, choice
from butfor.explanation.explanation import Explanation
from butfor.records.plain import plain
from butfor.records.writing import record_of
from butfor.verdict.certificate import finite

DictForm = Literal["full", "brief"]


def as_dict(answer: Explanation, form: DictForm = "full") -> dict[str, Any]:
    """The answer in one of its forms."""
    if form not in get_args(DictForm):
        raise InputError(f"form={form!r} was given.", *choice("The forms are", form, get_args(DictForm)))
    if form == "brief":
        return brief(answer)
    record: dict[str, Any] = json.loads(record_of(answer, indent=None))
    return record


def brief(answer: Explanation) -> dict[str, Any]:
    """What changes, what that costs, and what is proven of it."""
    known, score = answer.certificate, answer.score
    return {
        "row": answer.row,
        "rank": answer.rank,
        "status": known.status.name,
        "found": answer.found,
        "before": plain(answer.before),
        "after": plain(answer.after),
        "cost": finite(answer.cost),
        "bound": finite(known.bound),
        "score": None
        if score is None
        else {name: plain(getattr(score, name)) for name in ("before", "after", "threshold")},
        "changes": [
            {
                "column": one.name,
                "label": one.label,
                "before": plain(one.before),
                "after": plain(one.after),
                "text": list(one.text),
            }
            for one in answer.changes
        ],
        "conflict": list(known.conflict),
        "why": known.why,
    }
