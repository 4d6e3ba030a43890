"""Many answers as plain data, in columns: for several rows, or several for one row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, suggests
from butfor.explanation.alternatives import Alternatives, alternatives
from butfor.explanation.as_single import AsSingle
from butfor.explanation.changes import Change
from butfor.explanation.column_words import Words, words_over
from butfor.explanation.explanation import Explanation, freeze, now
from butfor.explanation.near_threshold import NEAR_THRESHOLD, TOLD_NEAR, near_threshold
from butfor.explanation.question_record import QuestionRecord
from butfor.explanation.render import rendered
from butfor.problem.targets.score import Score
from butfor.solvers.outcome import Status, Stopped
from butfor.space import frames
from butfor.space.space import Space
from butfor.verdict.certificate import Certificate


@suggests
@dataclass(frozen=True, eq=False)
class Explanations(AsSingle, Sequence[Explanation]):
    """Answers for several rows, or several answers for one row, in columns.

    Indexing gives single explanations. With the name of a column beside it, it gives that column, before and after:
    `answers[3, "income"]` is one `Change`, and `answers[:, "income"]` a list of them.

    - `rows`: which of the given rows each answer is for;
    - `table_rows`: where that row stands in `table` and `factual_codes` (default: in the same place);
    - `ranks`: the place of each answer among those for the same row (1: the cheapest);
    - `point_codes`: the points as solvers see them; of an impossible answer the closest row, if one is known;
    - `outputs_before`, `outputs_after`: what the model predicts for the row and for the point;
    - `costs`: what each answer costs; infinite if none was found (its place is kept);
    - `scores`: the number that the target is about, before and after each answer (None: the model has none);
    - `data_fingerprint`: a hash of the data that the explainer was given (empty: not known);
    - `meta`: what was noted with the call (see `Explainer.explain`);
    - `words`: how columns and predictions are called (see `described`);
    - `sealed`: whether the file that they were read from had hashes (None: they were not read from a file).

    If there is only one answer, its attributes can be used directly: `answers.point` is `answers.only.point`.
    """

    space: Space
    rows: IntArray
    factual_codes: FloatArray
    point_codes: FloatArray
    table: Any
    outputs_before: Sequence[Any]
    outputs_after: Sequence[Any]
    costs: FloatArray
    certificates: Sequence[Certificate]
    question: QuestionRecord
    model: str = ""
    created: str = field(default_factory=now)
    ranks: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    table_rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    sealed: bool | None = None
    scores: Sequence[Score | None] = ()
    words: Words | None = None
    data_fingerprint: str = ""
    meta: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.table_rows) < len(self.rows):  # not given: the table holds the given rows, and no others
            object.__setattr__(self, "table_rows", self.rows)
        if len(self.ranks) < len(self.rows):  # not given: the answers to each row are in order
            object.__setattr__(self, "ranks", ranks_of(self.rows))
        if len(self.scores) < len(self.rows):  # not given: they are not known
            object.__setattr__(self, "scores", [None] * len(self.rows))
        freeze(self, "rows", "ranks", "table_rows", "factual_codes", "point_codes", "costs")

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: tuple[int, str]) -> Change: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: tuple[slice | NDArray[Any], str]) -> list[Change]: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | NDArray[Any]) -> Explanations: ...
    def __getitem__(self, index: Any) -> Explanation | Explanations | Change | list[Change]:
        if isinstance(index, tuple) and len(index) == 2 and isinstance(index[1], str):
            some = self[index[0]]
            return some[index[1]] if isinstance(some, Explanation) else [one[index[1]] for one in some]
        if isinstance(index, slice | Sequence | np.ndarray):
            at = np.arange(len(self))[index]
            return replace(
                self,
                rows=self.rows[at],
                ranks=self.ranks[at],
                table_rows=self.table_rows[at],
                point_codes=self.point_codes[at],
                outputs_before=[self.outputs_before[i] for i in at],
                outputs_after=[self.outputs_after[i] for i in at],
                costs=self.costs[at],
                certificates=[self.certificates[i] for i in at],
                scores=[self.scores[i] for i in at],
            )
        i = range(len(self))[index]
        place = int(self.table_rows[i])
        factual = frames.take(self.table, [place])
        found = bool(np.isfinite(self.costs[i]))
        codes = self.point_codes[i] if found else None
        certificate = self.certificates[i]
        start = self.factual_codes[place]
        return Explanation(
            space=self.space,
            factual_codes=start,
            point_codes=codes,
            factual=factual,
            point=self.space.decode(codes[None], factual, start[None]) if codes is not None else None,
            before=self.outputs_before[i],
            after=self.outputs_after[i] if found else None,
            cost=float(self.costs[i]),
            certificate=certificate,
            closest_codes=self.point_codes[i] if certificate.evidence.has_closest_row else None,
            question=self.question,
            row=int(self.rows[i]),
            rank=int(self.ranks[i]),
            model=self.model,
            created=self.created,
            sealed=self.sealed,
            score=self.scores[i],
            words=self.words,
            data_fingerprint=self.data_fingerprint,
            meta=self.meta,
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Explanation):
            return len(self) == 1 and self[0] == other
        if not isinstance(other, Explanations):
            return NotImplemented
        same = np.array_equal(self.rows, other.rows) and np.array_equal(self.ranks, other.ranks)
        return same and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def only(self) -> Explanation:
        """The single answer. An error explains what to do if there are several."""
        if len(self) != 1:
            raise InputError(
                f"these are {len(self)} answers.",
                "Only a single answer has a point, a cost, changes and a certificate.",
                "Choose one (answers[0]), or use the columns: points, costs, certificates.",
            )
        return self[0]

    @property
    def statuses(self) -> list[Status]:
        """The status of each answer."""
        return [certificate.status for certificate in self.certificates]

    def described(self, words: Words) -> Explanations:
        """The same answers, told in these words. See `bf.describe`."""
        return replace(self, words=words_over(words, self.space))

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
        """A whole letter about the only row, in which its answers are several ways. See `Explanation.to_letter`."""
        form = {"date": date, "reference": reference, "contact": contact, "proof": proof, "templates": templates}
        return str(rendered(self, "customer letter", language, template, **form))

    def letters(
        self,
        folder: str | PathLike[str],
        language: str = "en",
        template: str | PathLike[str] | None = None,
        *,
        date: dt.date | str | None = None,
        reference: str | Iterable[Any] | None = None,
        contact: str = "",
        proof: bool = False,
        templates: Mapping[str, Any] | str | PathLike[str] | None = None,
    ) -> list[Path]:
        """Write a letter for each row, such as `206.txt` for the row with that label. See `Explanation.to_letter`.

        All of them are written, or none. A file that is there already is refused. The paths are returned.

        `reference`: a column of the rows, or a text for each row (default: the labels of the rows).
        """
        form = {"date": date, "contact": contact, "proof": proof, "templates": templates}
        written: list[Path] = rendered(self, "letters written", folder, reference, language, template, **form)
        return written

    @property
    def summary(self) -> str:
        """How many rows are proven, and what to do about the others, in one line. It is about first answers."""
        first = [self.certificates[int(i)] for i in np.flatnonzero(self.ranks == 1)]
        above = [one.excess for one in first if one.status is Status.WITHIN_GAP]
        counts = {
            "proven optimal": sum(one.status is Status.PROVEN_OPTIMAL for one in first),
            "proven impossible": sum(one.status is Status.PROVEN_INFEASIBLE for one in first),
            f"at most {max(above, default=0.0):.1%} above the optimum": len(above),
            "valid, with nothing proven": sum(one.status is Status.VALID for one in first),
            "without an answer": sum(one.status is Status.NOT_FOUND for one in first),
        }
        told = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
        cut = [one.stopped for one in first if _cut_short(one)]
        ended = "; Ctrl-C ended it" if Stopped.INTERRUPTED in cut else ""
        advice = ended or "; more time would help (time_limit), or fewer rows at once" if cut else self._near
        return f"{len(first)} {'row' if len(first) == 1 else 'rows'}: {told}{advice}"

    @property
    def near_threshold(self) -> tuple[int, int]:
        """How many first answers lie within 0.01 of the probability at which the model decides, and of how many.

        Rows that need no change are left out. `safety=` asks for more than that.
        """
        changed = np.flatnonzero((self.ranks == 1) & self.found & (self.costs > 0))
        return near_threshold(self.question.spec["target"], (self.scores[int(i)] for i in changed))

    @property
    def _near(self) -> str:
        near, every = self.near_threshold
        return "; " + TOLD_NEAR.format(near=near, all=every, distance=NEAR_THRESHOLD) if near else ""

    @property
    def cut_short(self) -> bool:
        """Whether the time limit or Ctrl-C left a row unproven."""
        return any(map(_cut_short, self.certificates))

    @property
    def found(self) -> BoolArray:
        """Which answers were found. `answers[answers.found]` keeps only those."""
        return np.isfinite(self.costs)

    @property
    def points(self) -> Any:
        """All points that were found, as one table of the same kind as the given one."""
        at = np.flatnonzero(self.found)
        rows = self.table_rows[at]
        return self.space.decode(self.point_codes[at], frames.take(self.table, rows), self.factual_codes[rows])

    def cells(self) -> dict[str, list[Any]]:
        """The values of each point, column by column, as the user's table has them.

        Where `found` is False they are no answer, but those of the closest row, if one is known.
        """
        rows = frames.take(self.table, self.table_rows) if self.space.unread else self.table
        return self.space.values(self.point_codes, rows)

    @property
    def labels(self) -> list[Any]:
        """The label of the row that each answer is for: that of the user's table, or its position if it has none."""
        own = frames.row_labels(self.table)
        return self.rows.tolist() if own is None else [own[at] for at in self.table_rows.tolist()]

    def to_frame(self, form: Literal["wide", "long"] = "wide") -> Any:
        """The answers as a table of the same kind as the given one (for arrays, a dict of columns).

        - "wide": one row per answer: the label of its row, rank, status, cost, bound, number of changes, predictions,
          scores, and the columns of the point. Answers that were not found have missing values;
        - "long": one row per change of the answers that were found: the column, its values before and after (as text,
          because columns differ in type), the difference of numbers, what it costs and its share of the cost, and the
          scores. The parts of a cost that does not add up over the columns are Shapley values.
        """
        return rendered(self, "frame", form)

    def to_csv(self, path: str | PathLike[str] | None = None, *, form: Literal["wide", "long"] = "wide") -> str | None:
        """`to_frame` as CSV, written to `path` completely or not at all, or returned as text if there is no path."""
        written: str | None = rendered(self, "csv", path, form)
        return written

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """A file of Parquet as portfolios have: a line per answer, with its record. `bf.load` reads the answers back."""
        rendered(self, "parquet", path)

    def to_excel(self, path: str | PathLike[str], *, form: Literal["wide", "long"] = "wide") -> None:
        """`to_frame` as a sheet of Excel. It needs `pip install "butfor[excel]"`."""
        rendered(self, "excel", path, form)

    def alternatives(self) -> Alternatives:
        """Several answers to one row, side by side, for whoever compares: print it, or use its `to_frame` or `plot`."""
        return alternatives(self)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The single answer as JSON, or a JSON list of all."""
        return str(
            rendered(self.only, "json", indent=indent) if len(self) == 1 else rendered(self, "json list", indent=indent)
        )

    @staticmethod
    def from_json(text: str) -> Explanations:
        """The answers that `to_json` or `to_jsonl` wrote: one, or several to one question."""
        answers: Explanations = rendered(text, "loaded together")
        return answers

    def to_jsonl(self, path: str | PathLike[str] | None = None) -> str | None:
        """The answers as a batch of JSON lines: what they share once, then a short line for each.

        It is written to `path`, completely or not at all, or returned as text if there is no path. `from_jsonl` and
        `butfor check` read it. The schema is described in the documentation.
        """
        if path is not None:
            rendered(self, "lines written", path)
            return None
        return str(rendered(self, "lines"))

    @staticmethod
    def from_jsonl(source: str | PathLike[str]) -> Explanations:
        """The answers that `to_jsonl` wrote. `source` is the path of the file, or its text."""
        answers: Explanations = rendered(source, "lines loaded")
        return answers

    def to_html(self, title: str = "", by: str | Iterable[Any] | None = None, *, language: str = "en") -> str:
        """The page that `report` writes, as text."""
        return str(rendered(self, "page", title, by, language))

    def report(
        self,
        path: str | PathLike[str],
        title: str = "",
        by: str | Iterable[Any] | None = None,
        *,
        language: str = "en",
    ) -> None:
        """Write a page about all answers, for the screen and for paper: for whoever decides or supervises.

        The summary comes first: what became of the rows, which columns change, what it costs. Then there is a line per
        answer, to filter and to sort by the labels of your rows, and each kind of certificate once. It is one file of
        HTML that needs no other, and is written completely or not at all.

        - `by`: a column of the rows that were explained, or the group of each row. Groups are compared, as `bf.groups`
          does (default: no groups);
        - `language`: "en" or "de".
        """
        rendered(self, "page written", path, title, by, language)

    def plot(self, ax: Any = None) -> Any:
        """Draw the changes of the single answer on each column's range, with matplotlib. Returns the axes."""
        if len(self) != 1:
            several = "answers.alternatives().plot() puts them side by side"
            if len(set(self.rows.tolist())) != 1:
                several = "bf.plots.statuses(bf.groups.statuses(answers)) draws what became of all rows"
            choice = f"Choose one: answers[0].plot(). Or: {several}."
            raise InputError(f"these are {len(self)} answers.", "plot() draws a single one.", choice)
        return self.only.plot(ax)

    def __repr__(self) -> str:
        return repr(self.only) if len(self) == 1 else str(rendered(self, "text of many"))

    def __rich__(self) -> Any:
        return rendered(self.only, "panel") if len(self) == 1 else rendered(self, "panel of many")

    def _repr_html_(self) -> str:
        return str(rendered(self.only, "fragment") if len(self) == 1 else rendered(self, "fragment of many"))


def _cut_short(certificate: Certificate) -> bool:
    proven = certificate.status.settled
    return not proven and certificate.stopped in (Stopped.TIME, Stopped.INTERRUPTED)


def ranks_of(row: IntArray) -> IntArray:
    """The place of each answer among those for the same row: 1, 2, ..."""
    order = np.argsort(row, kind="stable")
    first = np.searchsorted(row[order], row[order])
    ranks = np.empty(len(row), dtype=np.intp)
    ranks[order] = np.arange(len(row)) - first + 1
    return ranks
