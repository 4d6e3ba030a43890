"""A question in plain English.

It is made from the question's plain data, so that an answer reads the same after it was loaded from a file.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from butfor.explanation.question_record import QuestionRecord
from butfor.problem.spec import from_spec

Spec = dict[str, Any]


def cost_in_words(question: QuestionRecord) -> str:
    """The cost in words. If there are no words for it, it is given as it was written."""
    return _sentence_of(question.spec.get("cost"), question.cost)


def constraints_in_words(question: QuestionRecord) -> list[str]:
    """One sentence per constraint. If there are no words for it, it is given as it was written."""
    specs = question.spec.get("constraints", [None] * len(question.constraints))
    return [_sentence_of(spec, text) for spec, text in zip(specs, question.constraints, strict=True)]


def promised_in_words(question: QuestionRecord) -> list[str]:
    """The constraints that an answer survives changes, one sentence each."""
    specs = question.spec.get("constraints", [])
    return [_sentence_of(spec, "") for spec in specs if isinstance(spec, dict) and spec.get("kind") in PROMISES]


def _sentence_of(spec: Any, text: str) -> str:
    kind = spec.get("kind") if isinstance(spec, dict) else None
    try:
        return SENTENCES[kind](spec) if kind in SENTENCES else text
    except LookupError:
        return text


def listed(things: Any, glue: str = "and") -> str:
    """`a, b and c`."""
    words = [str(from_spec(thing)) for thing in things]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {glue} {words[-1]}"


def _keep(names: list[str], one: str, many: str) -> str:
    return f"{listed(names)} {one if len(names) == 1 else many}"


def _interval(low: Any, high: Any) -> str:
    """An interval, which may be open at one end."""
    if low == -inf:
        return f"at most at {_number(high)}"
    return f"at least at {_number(low)}" if high == inf else f"between {_number(low)} and {_number(high)}"


def _number(spec: Any) -> str:
    value = from_spec(spec)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _direction(spec: Spec) -> str:
    way = "fall" if spec["up"] else "rise"
    return _keep(spec["names"], f"does not {way}", f"do not {way}")


def _grid(spec: Spec) -> str:
    if spec["step"] == 1 and not spec["anchor"]:
        return f"{spec['name']} becomes a whole number, if it changes"
    start = f", counted from {_number(spec['anchor'])}" if spec["anchor"] else ""
    return f"{spec['name']} becomes a multiple of {_number(spec['step'])}{start}, if it changes"


def _moves(spec: Spec) -> str:
    ways = (f"{from_spec(before)} to {listed(after, 'or')}" for before, after in spec["table"] if after)
    return f"{spec['name']} changes only from {'; '.join(ways)}"


def _relation(spec: Spec) -> str:
    sense = {"<=": "≤", ">=": "≥", "==": "="}[spec["sense"]]
    total = " + ".join(name if weight == 1 else f"{_number(weight)} × {name}" for name, weight in spec["weights"])
    return f"{total.replace('+ -', '− ')} {sense} {_number(spec['bound'])}"


def _event(spec: Spec) -> str:
    if spec["kind"] != "Event":  # where a column ends
        return SENTENCES[spec["kind"]](spec)
    if spec["word"] == "becomes":
        return f"{spec['name']} becomes {from_spec(spec['level'])}"
    return f"{spec['name']} {spec['word']}" + (f" by at least {_number(spec['by'])}" if spec["by"] else "")


def _plausible(spec: Spec) -> str:
    if spec["path_length"] is None:
        return "an isolation forest finds no outlier in it"
    return f"an isolation forest needs at least {_number(spec['path_length'])} questions, on average, to single it out"


def _robust(spec: Spec) -> str:
    radius, box = from_spec(spec["radius"]), spec["norm"] == "linf"
    shares = {"l2": "the root of the sum of squares", "l1": "the sum"}.get(spec["norm"], "")
    if isinstance(radius, dict):
        off = [f"{name} is off by up to {_number(length)}" for name, length in radius.items()]
        which = listed(off) if box else f"{listed(off, 'or')}, or some in part ({shares} of the shares is at most 1)"
    elif box:
        which = f"each real number is off by up to {_number(100 * radius)} % of its range"
    else:
        which = f"real numbers are off by up to {_number(100 * radius)} % of their ranges together ({shares})"
    return f"it stays valid if {which}"


def _agree(models: int) -> str:
    return "1 other model agrees" if models == 1 else f"{models} other models agree"


def _norm(what: str) -> Callable[[Spec], str]:
    units = {
        "range": "as a share of its column's range",
        "mad": "in median absolute deviations of its column",
        "std": "in standard deviations of its column",
        "none": "in the column's own units",
    }

    def sentence(spec: Spec) -> str:
        scale = from_spec(spec["scale"])
        unit = units.get(scale, "") if isinstance(scale, str) else "in units given per column"
        return f"{what}, each {unit}; a changed category counts 1{_weighted(spec)}"

    return sentence


def _weighted(spec: Spec) -> str:
    weights = from_spec(spec["weights"])
    return f"; weighted {listed([f'{name} × {weight:g}' for name, weight in weights.items()])}" if weights else ""


def _mix(spec: Spec) -> str:
    parts = ((weight, _sentence_of(term, "a price")) for weight, term in spec["parts"])
    return "; plus ".join(words if weight == 1 else f"{_number(weight)} × ({words})" for weight, words in parts)


PROMISES = ("Robust", "RobustTo")
"""The kinds of constraints that say what an answer survives."""

SENTENCES: dict[Any, Callable[[Spec], str]] = {
    "Fixed": lambda spec: _keep(spec["names"], "keeps its value", "keep their values"),
    "Direction": _direction,
    "Between": lambda spec: f"{spec['name']} ends {_interval(spec['low'], spec['high'])}",
    "Within": lambda spec: f"{spec['name']} moves by at most {100 * spec['share']:.4g} % of its value",
    "Grid": _grid,
    "Allowed": lambda spec: f"{spec['name']} ends as {listed(spec['values'], 'or')}",
    "Moves": _moves,
    "MayVanish": lambda spec: f"{listed(spec['names'])} may become missing",
    "AtMost": lambda spec: f"at most {spec['count']} column{'s' if spec['count'] > 1 else ''} may change",
    "Relation": _relation,
    "Implication": lambda spec: f"if {_event(spec['cause'])}, then {_event(spec['consequence'])}",
    "Margin": lambda spec: f"every deciding boundary is at least {_number(spec['eps'])} ranges away",
    "Plausible": _plausible,
    "Robust": _robust,
    "RobustTo": lambda spec: _agree(len(spec["models"])),
    "L1": _norm("the sum of the changes"),
    "L2": _norm("the sum of the squared changes"),
    "LInf": _norm("the largest of the changes"),
    "L0": lambda spec: f"the number of changed columns{_weighted(spec)}",
    "Gower": lambda spec: "Gower's distance: the mean of the changes over all columns, as shares of their ranges",
    "MAD": lambda spec: (
        "the sum of the changes, each in median absolute deviations of its column; a changed category counts 1"
    ),
    "Mix": _mix,
}
"""For each kind of cost or constraint, a function that puts it into words."""
