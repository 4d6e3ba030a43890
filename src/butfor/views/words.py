"""A question in plain words, with columns as the user calls them.

Its cost is told in the language of the page, and its constraints in any language. The words are made from the question's
plain data, so that an answer reads the same after it was loaded from a file.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from butfor.explanation.changes import word
from butfor.explanation.column_words import ColumnWords, NumberStyle, Words
from butfor.explanation.question_record import QuestionRecord
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.names import moves
from butfor.problem.constraints.slipping import ANY
from butfor.problem.spec import class_of, from_spec, to_spec
from butfor.verdict.certificate import Certificate
from butfor.views.languages import Templates, built_in, filled, say, spoken

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation

Spec = dict[str, Any]


def by_changing(answer: Explanation) -> str:
    """How many columns one changes, and how many follow from them."""
    count, more = len(answer.actions), len(answer.consequences)
    follow = f"; {more} more {'follows' if more == 1 else 'follow'}" if more else ""
    return f"by changing {count} of {len(answer.space)} columns{follow}"


def cost_in_words(question: QuestionRecord, words: Words | None = None) -> str:
    """The cost in words. If there are no words for it, it is given as it was written."""
    return _cost(question.spec.get("cost"), question.cost, ConstraintWords(built_in(spoken()), words))


def constraints_in_words(
    question: QuestionRecord, words: Words | None = None, templates: Templates | None = None
) -> list[str]:
    """One sentence per constraint. If there are no words for it, it is given as it was written."""
    told = ConstraintWords(templates or built_in("en"), words)
    specs = question.spec.get("constraints", [None] * len(question.constraints))
    return [told.sentence(spec, text) for spec, text in zip(specs, question.constraints, strict=True)]


def promised_in_words(question: QuestionRecord, words: Words | None = None) -> list[str]:
    """The constraints that an answer survives changes, one sentence each."""
    told = ConstraintWords(built_in("en"), words)
    specs = question.spec.get("constraints", [])
    return [told.sentence(spec, "") for spec in specs if class_of(spec).survives]


def blamed_in_words(
    question: QuestionRecord, conflict: Iterable[str], words: Words | None = None, templates: Templates | None = None
) -> list[str]:
    """The constraints, or parts of them, that a certificate blames: a sentence each. Parts of one kind share a sentence.

    What is no constraint of the question is given as it stands there.
    """
    told = ConstraintWords(templates or built_in("en"), words)
    parts: dict[str, Spec] = {}
    for spec in question.spec.get("constraints", []):
        try:
            constraint = from_spec(spec)
        except LookupError:
            continue
        if isinstance(constraint, AbstractConstraint):
            parts |= {repr(atom): to_spec(atom) for atom in constraint.atoms()}
    merged: dict[Any, tuple[Any, str]] = {}
    for text in conflict:
        spec = parts.get(text) or _of_prices(text)
        of_columns = spec is not None and spec["kind"] in ("Fixed", "Direction")
        kind = (spec["kind"], spec.get("up")) if spec is not None and of_columns else text
        before = merged.get(kind, (None, ""))[0]
        if before is not None and spec is not None:
            spec = {**before, "names": [*before["names"], *spec["names"]]}
        merged[kind] = (spec, text)
    return [told.sentence(spec, text) for spec, text in merged.values()]


def _of_prices(text: str) -> Spec | None:
    """The moves that have a price, as they are blamed if a table of prices leaves others out (`moves_at_a_price`)."""
    if not text.startswith("moves("):
        return None
    try:
        named: Spec = to_spec(moves(*literal_eval(text.removeprefix("moves"))))
    except (SyntaxError, ValueError):  # a level is no plain value
        return None
    return named


def why_in_words(certificate: Certificate, question: QuestionRecord, words: Words | None = None) -> str:
    """The reason of a certificate, with the constraints that it blames in words and not as they were written."""
    written, told = " and ".join(certificate.conflict), blamed_in_words(question, certificate.conflict, words)
    if told == list(certificate.conflict):  # the ranges, the model, or what has no words
        return certificate.why
    return certificate.why.replace(f"impossible with {written}", f"impossible if {' and '.join(told)}", 1)


class ConstraintWords:
    """The sentences about constraints in one language, with columns and values as the user calls them."""

    def __init__(self, templates: Templates, words: Words | None) -> None:
        self.own, self.lists = templates["constraints"], templates["lists"]
        self.numbers, self.words = NumberStyle(**templates["numbers"]), words

    def sentence(self, spec: Any, text: str) -> str:
        """The sentence for a constraint that is given as data; `text` if there is none for it."""
        kind = spec.get("kind") if isinstance(spec, dict) else None
        try:
            return SENTENCES[kind](self, spec) if kind in SENTENCES else text
        except LookupError:
            return text

    def fill(self, name: str, **facts: str) -> str:
        """The template of this name, filled in."""
        return filled(self.own[name], facts)

    def listed(self, words: Iterable[str], glue: str = "and") -> str:
        """`a, b and c`."""
        *others, last = list(words)
        return f"{self.lists['comma'].join(others)}{self.lists[glue]}{last}" if others else last

    def label(self, name: Any) -> str:
        """The column as the user calls it."""
        return self.column(name).label or str(from_spec(name))

    def column(self, name: Any) -> ColumnWords:
        """The words for a column. Without any, its numbers have no marks between thousands."""
        known = self.words.columns if self.words else {}
        return known.get(str(from_spec(name)), ColumnWords(thousands=False))

    def value(self, name: Any, spec: Any) -> str:
        """A value of a column: a number with its unit, or a level."""
        value, column = from_spec(spec), self.column(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or column.levels:
            return column.level(value)
        return column.number(_digits(value), self.numbers)

    def number(self, spec: Any) -> str:
        """A number that is no value of a column."""
        return self.numbers.apply(_digits(from_spec(spec)), grouped=False)

    def share(self, spec: Any) -> str:
        """A share in per cent."""
        return f"{self.number(100 * from_spec(spec))} %"

    def of_columns(self, names: list[Any], name: str) -> str:
        """A sentence about one column, or about several."""
        return self.fill(name if len(names) == 1 else f"{name}_many", label=self.listed(map(self.label, names)))


def _digits(value: Any) -> str:
    """A number with six digits, and at least all of those before the point."""
    return word(float(f"{value:.6g}") if abs(value) < 1e6 else value) if isinstance(value, float) else str(value)


def _between(told: ConstraintWords, spec: Spec) -> str:
    name, low, high = spec["name"], from_spec(spec["low"]), from_spec(spec["high"])
    kind = "equal" if low == high else "at_most" if low == -inf else "at_least" if high == inf else "between"
    ends = {end: told.value(name, spec[end]) for end in ("low", "high")}
    return told.fill(kind, label=told.label(name), **ends)


def _grid(told: ConstraintWords, spec: Spec) -> str:
    kind = "whole" if spec["step"] == 1 and not spec["anchor"] else "step_from" if spec["anchor"] else "step"
    name = spec["name"]
    return told.fill(
        kind, label=told.label(name), step=told.value(name, spec["step"]), anchor=told.value(name, spec["anchor"])
    )


def _levels(told: ConstraintWords, name: Any, levels: list[Any]) -> str:
    return told.listed((told.value(name, level) for level in levels), "or")


def _move(told: ConstraintWords, name: Any, before: Any, after: list[Any]) -> str:
    return told.fill("move", before=told.value(name, before), after=_levels(told, name, after))


def _moves(told: ConstraintWords, spec: Spec) -> str:
    name = spec["name"]
    ways = [_move(told, name, before, after) for before, after in spec["table"] if after]
    return told.fill("moves" if ways else "no_moves", label=told.label(name), moves="; ".join(ways))


def _relation(told: ConstraintWords, spec: Spec) -> str:
    sense = {"<=": "≤", ">=": "≥", "==": "="}[spec["sense"]]
    terms = (
        told.label(name) if weight == 1 else f"{told.number(weight)} × {told.label(name)}"
        for name, weight in spec["weights"]
    )
    return f"{' + '.join(terms).replace('+ -', '− ')} {sense} {told.number(spec['bound'])}"


def _event(told: ConstraintWords, spec: Spec) -> str:
    name, word = spec["name"], spec["word"]
    facts = {"label": told.label(name)}
    if word == "becomes":
        return told.fill(word, level=told.value(name, spec["level"]), **facts)
    return told.fill(f"{word}_by", by=told.value(name, spec["by"]), **facts) if spec["by"] else told.fill(word, **facts)


def _follows(told: ConstraintWords, spec: Spec) -> str:
    by, of = from_spec(spec["by"]), spec["of"]
    facts = {"label": told.label(spec["name"]), "by": told.value(spec["name"], spec["by"])}
    if isinstance(of, dict) and of.get("kind") == "Event":
        facts["by"] = told.value(spec["name"], to_spec(abs(by)))
        return told.fill("follows_up" if by > 0 else "follows_down", event=_event(told, of), **facts)
    return told.fill("follows", of=told.label(of), **facts | {"by": told.number(spec["by"])})


def _plausible(told: ConstraintWords, spec: Spec) -> str:
    if spec["path_length"] is None:
        return told.fill("plausible")
    return told.fill("plausible_at", questions=told.number(spec["path_length"]))


def _robust(told: ConstraintWords, spec: Spec) -> str:
    radius = from_spec(spec["radius"])
    slips = [_slip(told, name, way) for name, way in spec.get("slips", {"map": []})["map"]]
    shifts = [] if slips and not radius else _shifts(told, radius, spec)
    return told.fill("robust", which=told.listed([*shifts, *slips]))


def _shifts(told: ConstraintWords, radius: Any, spec: Spec) -> list[str]:
    """By how much numbers may be off."""
    box = spec["norm"] == "linf"
    together = "" if box else told.own[spec["norm"]]
    if not isinstance(radius, dict):
        return [told.fill("off_each" if box else "off_together", share=told.share(radius), sum=together)]
    off = [told.fill("off", label=told.label(name), length=told.value(name, far)) for name, far in radius.items()]
    return off if box else [told.fill("off_in_part", which=told.listed(off, "or"), sum=together)]


def _slip(told: ConstraintWords, name: Any, way: Any) -> str:
    """What the level of a column may slip to."""
    label = told.label(name)
    if isinstance(way, list):
        return told.fill("slip_groups", label=label, groups="; ".join(_levels(told, name, group) for group in way))
    if isinstance(way, dict):
        moves = "; ".join(_move(told, name, before, after) for before, after in way["map"])
        return told.fill("slip_moves", label=label, moves=moves)
    if way == ANY:
        return told.fill("slip_any", label=label)
    return told.fill("slip_one" if way == 1 else "slip_steps", label=label, steps=told.number(way))


def _agree(told: ConstraintWords, spec: Spec) -> str:
    count = len(spec["models"])
    return told.fill("agree" if count == 1 else "agree_many", count=str(count))


Told = Callable[[ConstraintWords, Spec], str]

SENTENCES: dict[Any, Told] = {
    "Fixed": lambda told, spec: told.of_columns(spec["names"], "fixed"),
    "Direction": lambda told, spec: told.of_columns(spec["names"], "only_up" if spec["up"] else "only_down"),
    "Between": _between,
    "Within": lambda told, spec: told.fill("within", label=told.label(spec["name"]), share=told.share(spec["share"])),
    "Grid": _grid,
    "Allowed": lambda told, spec: told.fill(
        "allowed", label=told.label(spec["name"]), values=_levels(told, spec["name"], spec["values"])
    ),
    "Moves": _moves,
    "MayVanish": lambda told, spec: told.fill("missing", label=told.listed(map(told.label, spec["names"]))),
    "AtMost": lambda told, spec: told.fill("change" if spec["count"] == 1 else "changes", count=str(spec["count"])),
    "Relation": _relation,
    "Event": _event,
    "Implication": lambda told, spec: told.fill(
        "implies", **{part: SENTENCES[spec[part]["kind"]](told, spec[part]) for part in ("cause", "consequence")}
    ),
    "LinkedColumns": lambda told, spec: told.fill(
        "linked", label=told.listed(map(told.label, spec["names"][1:])), first=told.label(spec["names"][0])
    ),
    "Combinations": lambda told, spec: told.fill("combinations", label=told.listed(map(told.label, spec["names"]))),
    "Follows": _follows,
    "ComputedColumn": lambda told, spec: told.fill(
        "computed" if spec["text"] else "computed_somehow",
        label=told.label(spec["name"]),
        formula=spec["text"],
        others=told.listed(map(told.label, spec["names"])) if spec["names"] else "",
    ),
    "Margin": lambda told, spec: told.fill("margin", eps=told.number(spec["eps"])),
    "Plausible": _plausible,
    "Robust": _robust,
    "RobustTo": _agree,
    "Confident": lambda told, spec: told.fill("confident", level=told.share(spec["level"])),
}
"""For each kind of constraint, a function that puts it into words."""


def _cost(spec: Any, text: str, told: ConstraintWords) -> str:
    kind = spec.get("kind") if isinstance(spec, dict) else None
    try:
        return COST_SENTENCES[kind](told, spec) if kind in COST_SENTENCES else text
    except LookupError:
        return text


def _norm(what: str) -> Told:
    units = {
        "range": "as a share of its column's range",
        "mad": "in median absolute deviations of its column",
        "std": "in standard deviations of its column",
        "none": "in the column's own units",
    }

    def sentence(told: ConstraintWords, spec: Spec) -> str:
        scale = from_spec(spec["scale"])
        unit = units.get(scale, "") if isinstance(scale, str) else "in units given per column"
        each = say("{what}, each {unit}; a changed category counts 1", what=say(what), unit=say(unit) if unit else "")
        return each + _weighted(told, spec)

    return sentence


def _weighted(told: ConstraintWords, spec: Spec) -> str:
    weights: Mapping[Any, float] = from_spec(spec["weights"]) or {}
    if not weights:
        return ""
    listed = told.listed(f"{told.label(name)} × {told.number(float(weight))}" for name, weight in weights.items())
    return say("; weighted {listed}", listed=listed)


def _missing_price(told: ConstraintWords, spec: Spec) -> str:
    lost, found = (_prices(told, from_spec(spec[way])) for way in ("lost", "found"))
    parts = [say("a value that becomes missing costs {price}", price=lost)] if lost else []
    parts += [say("a value that becomes known costs {price}", price=found)] if found else []
    return say("; plus ").join(parts)


def _prices(told: ConstraintWords, given: Any) -> str:
    if not isinstance(given, Mapping):
        return "" if given is None else told.number(float(given))
    return told.listed(f"{told.number(float(price))} ({told.label(name)})" for name, price in given.items())


def _mix(told: ConstraintWords, spec: Spec) -> str:
    parts = ((weight, _cost(term, say("a price"), told)) for weight, term in spec["parts"])
    return say("; plus ").join(
        words if weight == 1 else f"{told.number(weight)} × ({words})" for weight, words in parts
    )


COST_SENTENCES: dict[Any, Told] = {
    "L1": _norm("the sum of the changes"),
    "L2": _norm("the sum of the squared changes"),
    "LInf": _norm("the largest of the changes"),
    "L0": lambda told, spec: say("the number of changed columns") + _weighted(told, spec),
    "Gower": lambda told, spec: say(
        "Gower's distance: the mean of the changes over all columns, as shares of their ranges"
    ),
    "MAD": lambda told, spec: say(
        "{what}, each {unit}; a changed category counts 1",
        what=say("the sum of the changes"),
        unit=say("in median absolute deviations of its column"),
    ),
    "Missing": _missing_price,
    "Mix": _mix,
}
"""For each kind of cost, a function that puts it into words."""
