"""One answer as plain data. It prints, pickles, compares equal and never changes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import suggests
from butfor.explanation.changes import Change, change_rows, shown, word
from butfor.explanation.column_words import ENGLISH, NumberStyle, Words, words_over
from butfor.explanation.consequences import acted_alone
from butfor.explanation.promised import promised_ends
from butfor.explanation.question_record import QuestionRecord
from butfor.explanation.region import Region
from butfor.explanation.render import rendered
from butfor.problem.targets.score import Score
from butfor.space import frames
from butfor.space.space import Space
from butfor.verdict.certificate import Certificate


def now() -> str:
    """The time in UTC, to the second."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@suggests
@dataclass(frozen=True, eq=False)
class Explanation:
    """The answer for one row: what to change, what it costs, and the certificate.

    - `point`: the changed row, of the same kind as the row that was given (None if there is none);
    - `changes`: the changed columns with their values before and after;
    - `before`, `after`: the model's own predictions;
    - `row`: the position of the factual among the rows given;
    - `rank`: the place of this answer among several to the same factual (1: the cheapest);
    - `model`: the name of the estimator's class;
    - `closest_codes`: the closest row that was found, if it is proven that there is no answer (else None);
    - `score`: the number that the target is about, before and after, and what is needed (None: the model has none);
    - `data_fingerprint`: a hash of the data that the explainer was given (empty: not known);
    - `meta`: what was noted with it (see `Explainer.explain`);
    - `words`: how columns and predictions are called. They are no part of the answer: a record has none;
    - `sealed`: whether the JSON that it was read from had a hash (None: it was not read from JSON).
    """

    space: Space
    factual_codes: FloatArray
    point_codes: FloatArray | None
    factual: Any
    point: Any
    before: Any
    after: Any
    cost: float
    certificate: Certificate
    question: QuestionRecord
    row: int = 0
    rank: int = 1
    model: str = ""
    created: str = field(default_factory=now)
    sealed: bool | None = None
    score: Score | None = None
    words: Words | None = None
    closest_codes: FloatArray | None = None
    data_fingerprint: str = ""
    meta: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        freeze(self, "factual_codes", "point_codes", "closest_codes")

    @property
    def only(self) -> Explanation:
        """This answer itself. So a single answer can stand in for `Explanations` that hold one."""
        return self

    @property
    def label(self) -> Any:
        """The label of the row in the user's table; its position among those given if it has none."""
        own = frames.row_labels(self.factual)
        return self.row if own is None else own[0]

    @property
    def found(self) -> bool:
        """Whether there is an answer."""
        return self.point is not None

    @property
    def closest(self) -> Any:
        """The admissible row that comes closest of those that were found, if it is proven that there is no answer.

        It is of the same kind as the given row. The certificate says how far it gets. None if no such row is known.
        """
        if self.closest_codes is None:
            return None
        return self.space.decode(self.closest_codes[None], self.factual, self.factual_codes[None])

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changed columns, before and after, in the user's values."""
        return tuple(column for column in self._coded() if column.changed)

    @property
    def region(self) -> Region | None:
        """The box around the answer that `bf.robust` promised: the target is met everywhere in it.

        None if no box was asked for. `Explainer.region` finds the widest one around any row.
        """
        if self.point_codes is None or self._promised is None:
            return None
        return Region(self.space, self.point_codes, *self._promised, self.question.target, self.point, self.words)

    @property
    def _promised(self) -> tuple[FloatArray, FloatArray] | None:
        """The ends of that box."""
        return None if self.point_codes is None else promised_ends(self.question, self.space, self.point_codes)

    def __getitem__(self, name: str) -> Change:
        """One column, before and after, changed or not."""
        return self.columns()[self.space.position(name)]

    def columns(self) -> tuple[Change, ...]:
        """Every column, changed or not: the facts that all views lay out."""
        held = {name: cells[0] for name, cells in self.space.held_unread(self.factual).items()}
        return tuple(
            replace(row, before=held[row.name], after=held[row.name]) if row.name in held else row
            for row in self._coded()
        )

    def _coded(self) -> tuple[Change, ...]:
        """The same, without what nothing reads: it is in no code."""
        return change_rows(self.space, self.factual_codes, self.point_codes, self.words, self._promised, self._acted)

    @property
    def actions(self) -> tuple[Change, ...]:
        """The changes that one makes oneself, at a cost."""
        return tuple(change for change in self.changes if not change.by_itself)

    @property
    def consequences(self) -> tuple[Change, ...]:
        """The changes that only follow from them (see `bf.follows` and `bf.computed`), and cost nothing."""
        return tuple(change for change in self.changes if change.by_itself)

    @property
    def closest_changes(self) -> tuple[Change, ...]:
        """What one changes oneself on the way to the closest row, where there is no answer and one is known."""
        if self.closest_codes is None:
            return ()
        own = acted_alone(self.question, self.space, self.factual_codes, self.closest_codes)
        rows = change_rows(self.space, self.factual_codes, self.closest_codes, self.words, acted=own)
        return tuple(row for row in rows if row.changed and not row.by_itself)

    @cached_property
    def _acted(self) -> tuple[FloatArray, Sequence[int]] | None:
        if self.point_codes is None:
            return None
        return acted_alone(self.question, self.space, self.factual_codes, self.point_codes)

    def described(self, words: Words) -> Explanation:
        """The same answer, told in these words. See `bf.describe`."""
        return replace(self, words=words_over(words, self.space))

    def told(self, output: Any, style: NumberStyle = ENGLISH) -> str:
        """A prediction as a short text, in the words for predictions if there are any."""
        named = self.words.prediction if self.words else None
        return word(output) if named is None else shown(output, named, style)

    def to_text(
        self,
        style: str = "letter",
        language: str = "en",
        templates: Mapping[str, Any] | str | PathLike[str] | None = None,
    ) -> str:
        """The answer in sentences. They never say more than the certificate.

        - `style`: "letter" (to the person whom the row is about), "brief" (one line) or "technical";
        - `language`: "en", "de", "es" or "fr"; any other one if `templates` are complete;
        - `templates`: sentences that take the place of the built-in ones: a dict, or the path of a TOML file. The
          documentation shows their names.

        Columns are called as `bf.describe` calls them.
        """
        return str(rendered(self, "letter", style, language, templates))

    def to_letter(
        self,
        language: str = "en",
        template: str | PathLike[str] | None = None,
        *,
        date: dt.date | str | None = None,
        reference: str = "",
        contact: str = "",
        proof: bool = False,
        templates: Mapping[str, Any] | str | PathLike[str] | None = None,
    ) -> str:
        """A whole letter to the person whom the row is about, in plain words. For a paragraph, use `to_text`.

        It says what would have to be different or what stands in the way, how near permitted changes come, and that it
        is no promise. It speaks of neither costs nor models.

        - `template`: the text of a letter with {text} in it, and {date}, {reference}, {greeting}, {contact} or {closing}
          where they belong; or the `pathlib.Path` of a file with it (default: these parts in order);
        - `date`: a `datetime.date`, or a text (default: the day on which the answer was made);
        - `reference`, `contact`: the number of the case, and whom to ask. Empty ones leave no gap;
        - `proof`: whether to say, too, what is proven;
        - `language`, `templates`: as in `to_text`. The sentences are those of the table `customer`.

        Columns are called as `bf.describe` calls them.
        """
        form = {"date": date, "reference": reference, "contact": contact, "proof": proof, "templates": templates}
        return str(rendered(self, "customer letter", language, template, **form))

    def to_frame(self) -> Any:
        """One row per changed column: column, before, after, change.

        `before` and `after` are text, because columns differ in type; `change` is missing for what is not a number.
        The result is a table of the same kind as the row that was given. For arrays it is a dict of columns, which
        holds the values themselves.
        """
        found = self.changes
        columns: dict[str, list[Any]] = {
            "column": [c.name for c in found],
            "before": [c.before for c in found],
            "after": [c.after for c in found],
            "change": [c.change for c in found],
        }
        if frames.is_array(self.factual):
            return columns
        for key in ("before", "after"):
            columns[key] = [None if value is None else str(value) for value in columns[key]]
        return frames.like(self.factual, columns)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The answer as JSON. `Explanation.from_json` and `butfor check` read it.

        The schema is described in the documentation.
        """
        return str(rendered(self, "json", indent=indent))

    def to_dict(self, form: Literal["full", "brief"] = "full") -> dict[str, Any]:
        """The answer as plain data, such as a service sends it.

        - "full": the record of `to_json`, which can be read back and checked;
        - "brief": what changes and what it costs, status, bound and reason. It is short, and cannot be checked later.
        """
        found: dict[str, Any] = rendered(self, "dict", form)
        return found

    @staticmethod
    def from_json(text: str) -> Explanation:
        """The answer that `to_json` wrote."""
        answer: Explanation = rendered(text, "loaded")
        return answer

    def to_html(self, title: str = "", *, language: str = "en") -> str:
        """The page that `report` writes, as text."""
        return str(rendered(self, "page", title, language=language))

    def report(self, path: str | PathLike[str], title: str = "", *, language: str = "en") -> None:
        """Write a page with the table of changes, the certificate and the question, for the screen and for paper.

        It is one file of HTML that needs no other, and is written completely or not at all. `language` is "en" or "de".
        """
        rendered(self, "page written", path, title, language=language)

    def plot(self, ax: Any = None) -> Any:
        """Draw the changes on each column's range, with matplotlib. Returns the axes."""
        return rendered(self, "plot", ax)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        return (
            self.question == other.question
            and _same(self.factual_codes, other.factual_codes)
            and _same(self.point_codes, other.point_codes)
            and _same(self.closest_codes, other.closest_codes)
            and (self.cost == other.cost)
            and self.space == other.space
            and self.score == other.score
            and _without_time(self.certificate) == _without_time(other.certificate)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return str(rendered(self, "text"))

    def __rich__(self) -> Any:
        return rendered(self, "panel")

    def _repr_html_(self) -> str:
        return str(rendered(self, "fragment"))


def freeze(answer: Any, *names: str) -> None:
    """Make the arrays of an answer read-only. They are views, so the caller's own arrays stay writable."""
    for name in names:
        array = getattr(answer, name)
        if array is not None:
            frozen = array.view()
            frozen.flags.writeable = False
            object.__setattr__(answer, name, frozen)


def _same(a: FloatArray | None, b: FloatArray | None) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b, equal_nan=True))


def _without_time(certificate: Certificate) -> Certificate:
    return replace(certificate, seconds=0.0)
