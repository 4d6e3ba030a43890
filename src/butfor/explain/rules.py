"""Rules: what is asked of a model, in one place that can be kept in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from butfor.errors import ButforError, InputError, InputTypeError, suggests
from butfor.estimator.source import Source
from butfor.explain.rules_table import RulesTable, read_toml
from butfor.explain.rules_writing import written
from butfor.explanation.column_words import Words, words_over
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.importers.read import Reading
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.costs import AbstractCost, price
from butfor.problem.question import held_to_rules
from butfor.problem.spec import from_spec
from butfor.problem.targets.names import as_target
from butfor.problem.targets.safer import AskedSafely, safety_of
from butfor.problem.written.constraints import Constraints, as_constraints, listed
from butfor.space.infer import Declaration
from butfor.space.space import Space


@dataclass(frozen=True)
class Origin:
    """Where rules come from: a file with its text, or neither."""

    name: str = ""
    text: str = ""

    @property
    def digest(self) -> str:
        """The hash of the text; empty without one."""
        return sha256(self.text.encode()).hexdigest() if self.text else ""

    def place(self, words: Sequence[str]) -> str:
        """The first line that holds the first of these words, or a later one with the next word, and so on."""
        lines, at, known = self.text.splitlines(), 0, False
        for word in words:
            found = next((k for k in range(at, len(lines)) if word in lines[k]), None)
            at, known = (at, known) if found is None else (found, True)
        return (self.name or "the rules") + (f", line {at + 1}" if known else "")

    @contextmanager
    def at(self, *words: str) -> Iterator[None]:
        """Errors that begin with the place of these words."""
        try:
            yield
        except ButforError as error:
            raise error.at(self.place(words)) from None


@dataclass(frozen=True)
class Rules:
    """What is asked of a model: target, cost, constraints, what is known of columns, and words. See `bf.rules`.

    - `target`, `cost`, `constraints`, `safety`: as for `Explainer.explain`. None: the rules do not say it;
    - `space`, `words`: as for `bf.Explainer`;
    - `origin`: the file with its text, if they were read from one;
    - `places`: for each constraint, words that lead to its line in the file.

    Print them for a summary. `to_toml` writes them as a file has them.
    """

    target: Any = None
    cost: AbstractCost | None = None
    constraints: tuple[AbstractConstraint | str, ...] = ()
    space: Mapping[str, Declaration] = field(default_factory=dict)
    words: Words | None = None
    safety: float | None = None
    origin: Origin = field(default_factory=Origin, repr=False, compare=False)
    places: tuple[tuple[str, ...], ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        said = {"target": self.target, "cost": self.cost, "safety": self.safety}
        told = [f"{name} {value!r}" for name, value in said.items() if value is not None]
        counts = {"constraint": len(self.constraints), "declared column": len(self.space)}
        told += [f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count]
        told += ["words"] if self.words is not None else []
        return f"<Rules{' of ' * bool(self.origin.name)}{self.origin.name}: {', '.join(told) or 'none'}>"

    @property
    def noted(self) -> dict[str, Any]:
        """What is noted with each answer under these rules: the name of their file and its hash."""
        if not self.origin.name:
            return {}
        return {"rules": {"file": self.origin.name, "sha256": self.origin.digest}}

    def asked(
        self, target: Any, cost: AbstractCost | str | None, constraints: Constraints, safety: float | None = None
    ) -> tuple[Any, Any, Any]:
        """The question of a call under these rules. What both say is an error; constraints add up."""
        for name, given, own in (("target", target, self.target), ("cost", cost, self.cost)):
            if given is not None and own is not None:
                raise said_twice(self.origin, f"{name}={given!r} was given, and the rules say {name} {own!r}.")
        target = self.target if target is None else target
        wanted = "other" if target is None else target
        more = self.safety if safety is None else self.safer(safety).safety
        wanted = wanted if more is None else AskedSafely(wanted, more)
        return wanted, self.cost if cost is None else cost, [*self.constraints, *listed(constraints)]

    def safer(self, by: Any) -> Rules:
        """The same, which ask for so much more than the target."""
        if self.safety is not None:
            raise said_twice(self.origin, f"safety={by!r} was given, and the rules say safety {self.safety!r}.")
        return replace(self, safety=safety_of(by))

    @property
    def without_question(self) -> Rules:
        """The same without target, cost and constraints: for a question that says them all."""
        return replace(self, target=None, cost=None, constraints=(), safety=None)

    def declared(self, space: Any) -> Any:
        """What is declared of columns, with what a call declares beside it."""
        both = [name for name in space or () if name in self.space] if isinstance(space, Mapping | None) else []
        if both:
            raise said_twice(self.origin, f"space declares {both[0]!r}, and the rules declare it, too.")
        return {**self.space, **space} if self.space and space else self.space or space

    def check(self, reading: Reading) -> Reading:
        """The reading over which they are asked: columns that they name are held to the rules of all others.

        Raises an error with its place in the file if a rule does not fit the columns or the estimator.
        """
        return held_to_rules(reading, partial(self._check, reading.source))[0]

    def _check(self, source: Source, space: Space) -> None:
        if self.target is not None:
            with self.origin.at("target"):
                as_target(self.target, source)
        if self.cost is not None:
            with self.origin.at("price"):
                price(self.cost, space)
        if self.words is not None:
            for name, words in self.words.columns.items():
                with self.origin.at(f"columns.{name}"):
                    words_over(Words({name: words}), space)
        for given, place in zip(self.constraints, self.places, strict=True):
            with self.origin.at(*place):
                for one in as_constraints(given, space):
                    one.validate(space)

    def to_toml(self) -> str:
        """The rules as the text of a file, which `bf.rules` reads. What a file cannot say is an error that names it.

        >>> import butfor as bf
        >>> print(bf.rules({"target": "approved", "constraints": [bf.fixed("age"), "income <= 90000"]}).to_toml())
        target = "approved"
        constraints = [
            "fixed age",
            "income <= 90000",
        ]
        <BLANKLINE>
        """
        return written(self.target, self.cost, self.constraints, self.space, self.words, self.safety)


@suggests
def rules(source: str | os.PathLike[str] | Mapping[str, Any] | Explanation | Explanations) -> Rules:
    """The rules in a TOML file: target, cost, constraints, what is known of columns, and words.

    Choose it to keep what is asked under version control, and to ask the same in Python and on the command line
    (`butfor explain --rules rules.toml`). Give them to `bf.Explainer(model, data, rules=...)`.

    `source` is the path of a file, its text, a dict of the same names (which may hold objects such as `bf.fixed("age")`), or
    an answer: then they are the target, the cost and the constraints of its question.

    >>> import butfor as bf
    >>> bf.rules('''
    ... target = "approved"
    ... constraints = ["income <= 90000"]
    ... [columns.age]
    ... frozen = true
    ... ''')
    <Rules: target approved, 2 constraints>
    """
    if isinstance(source, Explanation | Explanations):
        return _of_answer(source)
    if isinstance(source, Mapping):
        return _read(source, Origin())
    if not isinstance(source, str | os.PathLike):
        raise InputTypeError(
            f"{type(source).__name__} was given to bf.rules.",
            "The path of a file, its text, a dict, or an answer is needed.",
        )
    is_text = isinstance(source, str) and ("\n" in source or "=" in source)
    origin = Origin("", str(source)) if is_text else _in_file(Path(source))
    return _read(read_toml(origin.text, origin.name or "the text"), origin)


def rules_given(given: Any) -> Rules:
    """The rules that a user gave to an explainer."""
    if given is not None and not isinstance(given, Rules):
        raise InputTypeError(f"rules={given!r} was given.", "Rules are needed.", 'Write bf.rules("rules.toml").')
    return Rules() if given is None else given


def said_twice(origin: Origin, given: str) -> InputError:
    """The error about what a call and the rules both say."""
    return InputError(given, "One thing is said in one place.", f"Leave it out here, or in {origin.place(())}.")


def spoken(rules: Rules, words: Words | None) -> Words | None:
    """The words, of the rules or of a call."""
    if words is not None and rules.words is not None:
        raise said_twice(rules.origin, "words= was given, and the rules have words, too.")
    return rules.words if words is None else words


def _in_file(path: Path) -> Origin:
    """The file of rules, with its text."""
    try:
        return Origin(path.name, path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8.", "A TOML file is needed.") from None


def _read(data: Mapping[str, Any], origin: Origin) -> Rules:
    table = RulesTable(data, origin.at)
    constraints, places = table.constraints()
    return Rules(
        table.target(), table.cost(), constraints, table.space(), table.words(), table.safety(), origin, places
    )


def _of_answer(answer: Explanation | Explanations) -> Rules:
    """The rules under which an answer was asked for."""
    spec = answer.question.spec
    try:
        target, cost, constraints = (from_spec(spec[name]) for name in ("target", "cost", "constraints"))
    except LookupError as described:
        raise InputError(
            f"the answer does not hold {described.args[0]} as data.", "So it is no part of rules."
        ) from None
    return Rules(target, cost, constraints, places=((),) * len(constraints))
