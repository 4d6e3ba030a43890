"""A desk: a model, and the rows that people ask about. What it says is plain data for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from butfor.errors import ButforError, InputError
from butfor.estimator.prediction import Prediction
from butfor.explain.explainer import Explainer
from butfor.explanation.changes import shown, word
from butfor.explanation.column_words import Words
from butfor.explanation.explanation import Explanation
from butfor.ledger.log import Log
from butfor.problem.constraints.admissible import admissible
from butfor.problem.targets.names import as_target
from butfor.problem.written.constraints import as_constraints
from butfor.records.plain import plain
from butfor.serve.plain import Json, refused
from butfor.space import frames
from butfor.space.feature import Feature
from butfor.space.given import named_rows
from butfor.space.where import rows_where

MOST_LISTED = 200
"""How many rows are listed at once, at most."""


@dataclass(frozen=True, eq=False)
class Desk:
    """A model that was read, the rows that people ask about, and the log of what they were told.

    `unlogged`: whether an answer that cannot be logged is shown, with a word about that. Else it is not shown.
    """

    explainer: Explainer
    table: Any
    log: Log | None = None
    unlogged: bool = False

    @property
    def words(self) -> Words | None:
        """How columns and predictions are called."""
        return self.explainer.words

    @cached_property
    def model(self) -> Json:
        """What the model is, and what is asked of it in every question."""
        source, rules = self.explainer.reading.source, self.explainer.rules
        return {
            "model": type(self.explainer.model).__name__,
            "fingerprint": self.explainer.fingerprint,
            "data_fingerprint": self.explainer.data_fingerprint,
            "classes": [plain(one) for one in source.classes] if source.predicts_classes else [],
            "survives": source.survives,
            "rows": frames.height(self.table),
            "rules": {
                "target": None if rules.target is None else repr(as_target(rules.target, source)),
                "cost": None if rules.cost is None else repr(rules.cost),
                "constraints": [str(one) for one in rules.constraints],
                "safety": rules.safety,
            },
        }

    @cached_property
    def columns(self) -> list[Json]:
        """What each column may hold, and how it is called. Those that nothing reads are not shown."""
        return [self._column(feature) for feature in self.explainer.space if not feature.unread]

    @cached_property
    def _kept(self) -> frozenset[str]:
        """The columns that the rules let change in no row: not in the typical one, nor in one of which nothing is known."""
        space = self.explainer.space
        rules = [one for rule in self.explainer.rules.constraints for one in as_constraints(rule, space)]
        typical = [feature.typical for feature in space]
        movable = admissible(space, np.array([typical, [np.nan] * len(space)]), rules).movable
        return frozenset(
            feature.name for feature, able in zip(space, movable, strict=True) if not able and not feature.unread
        )

    def _column(self, feature: Feature) -> Json:
        words = self.words
        told = words.columns.get(feature.name) if words else None
        return {
            "name": feature.name,
            "label": (told.label if told else "") or feature.name,
            "unit": told.unit if told else "",
            "kind": feature.kind,
            "low": None if feature.levels else feature.low,
            "high": None if feature.levels else feature.high,
            "step": feature.step or None,
            "levels": None if feature.levels is None else [plain(level) for level in feature.levels],
            "words": None
            if feature.levels is None
            else [told.level(level) if told else str(level) for level in feature.levels],
            "missing": feature.missing,
            "kept": feature.name in self._kept,
        }

    def logged(self, count: int) -> Json:
        """The last entries of the log, newest first."""
        if self.log is None:
            raise InputError("this server keeps no log.", "", "Start it with --log.")
        if not 0 < count <= MOST_LISTED:
            raise InputError(f"last={count} was given.", f"At most {MOST_LISTED} entries are listed at once.")
        shown = ("number", "kind", "at", "who", "model", "question", "digest")
        found = [{name: getattr(one, name) for name in shown} for one in reversed(self.log.last(count))]
        return {"total": len(self.log), "entries": found}

    def row(self, number: int) -> Json:
        """One row of the table."""
        return self._rows([self._known(number)])[0]

    def _known(self, number: int) -> int:
        """The number of a row, which must be there."""
        height = frames.height(self.table)
        if not 0 <= number < height:
            raise InputError(f"row {number} was asked for.", f"The table has {height:,} rows, counted from 0.")
        return number

    def rows(self, offset: int = 0, limit: int = 20, where: str = "") -> Json:
        """A part of the rows, or of those for which a condition holds, and how many there are.

        A row that cannot be read is listed with the reason.
        """
        if offset < 0 or not 0 < limit <= MOST_LISTED:
            raise InputError(
                f"offset={offset} and limit={limit} were given.", f"At most {MOST_LISTED} rows are listed at once."
            )
        found = rows_where(self.table, where) if where.strip() else range(frames.height(self.table))
        return {"total": len(found), "offset": offset, "rows": self._listed(found[offset : offset + limit])}

    def _listed(self, numbers: Sequence[int] | Any) -> list[Json]:
        """Rows in a list. They are read one by one if not all of them can be."""
        chosen = [int(one) for one in numbers]
        try:
            return self._rows(chosen) if chosen else []
        except ButforError:
            return [self._alone(number) for number in chosen]

    def _alone(self, number: int) -> Json:
        """A row in a list, or why it cannot be read."""
        try:
            return self._rows([number])[0]
        except ButforError as error:
            (label,) = self._labels([number])
            nothing: Json = {"values": {}, "prediction": None, "told": "", "probabilities": None}
            return {"row": number, "label": label, **nothing, "error": refused(error)}

    def _rows(self, numbers: list[int]) -> list[Json]:
        """Rows with their values and predictions. All of them must be as the model takes them."""
        part = frames.take(self.table, numbers)
        values = self.values(part)
        predicted = self.scores(part)
        return [
            {"row": number, "label": label, "values": own, **score}
            for number, label, own, score in zip(numbers, self._labels(numbers), values, predicted, strict=True)
        ]

    def _labels(self, numbers: list[int]) -> list[str]:
        """What rows are called."""
        return [word(label) for label in frames.row_labels(frames.take(self.table, numbers)) or numbers]

    def values(self, table: Any) -> list[Json]:
        """The features of rows, by their names: numbers, levels, and null if missing."""
        space = self.explainer.space
        codes = space.encode(frames.opened(table))
        return [
            {f.name: plain(f.value(code)) for f, code in zip(space, row, strict=True) if not f.unread}
            for row in codes.tolist()
        ]

    def scores(self, table: Any) -> list[Json]:
        """What the model predicts for rows, and with which probabilities."""
        source = self.explainer.reading.source
        before = Prediction(source, table)
        outputs = before.outputs()
        chances: Any = [None] * len(outputs)
        if source.predicts_classes and hasattr(source.estimator, "predict_proba"):
            chances = before.probabilities
        return [
            {"prediction": plain(output), "told": self.told(output), "probabilities": self._chances(own)}
            for output, own in zip(outputs, chances, strict=True)
        ]

    def _chances(self, chances: Any) -> Json | None:
        classes = self.explainer.reading.source.classes
        if chances is None:
            return None
        return {str(label): float(one) for label, one in zip(classes, chances, strict=True)}

    def told(self, output: Any) -> str:
        """A prediction in the words of the rules."""
        words = self.words
        named = words.prediction if words else None
        return word(output) if named is None else shown(output, named)

    def read(self, record: str) -> Explanation:
        """An answer from its record, in the words of the desk."""
        answer = Explanation.from_json(record)
        return answer.described(self.words) if self.words else answer

    def given(self, row: Any) -> Any:
        """The row that a question is about, as a table: one of the table, by its number, or its values by column."""
        if isinstance(row, bool) or not isinstance(row, int | Mapping):
            raise InputError(
                f"row={row!r} was given.", "The number of a row is needed, or an object with a value for each column."
            )
        if isinstance(row, int):
            return frames.take(self.table, [self._known(row)])
        return self.typed(row)

    def typed(self, row: Mapping[str, Any]) -> Any:
        """A row that was typed, as a table. Dummies may be typed as the feature that they are."""
        space = self.explainer.space
        told = [_cells(feature, row) for feature in space]
        lacking = [f.name for f, own in zip(space, told, strict=True) if len(own) < len(f.columns) and not f.unread]
        if lacking:
            raise InputError(f"the row lacks {', '.join(map(repr, lacking))}.", "It needs a value for each column.")
        cells = {column: value for own in told for column, value in own.items()}
        return named_rows(self.explainer.reading.data, [cells], space.unread)


def _cells(feature: Feature, row: Mapping[str, Any]) -> Json:
    """What the columns of a feature hold in a row that was typed. Those that the row does not tell are not there."""
    dummies = feature.dummies
    if dummies is None or feature.unread or feature.name not in row:
        return {column: row[column] for column in feature.columns if column in row}
    code = np.array([feature.code(row[feature.name], "the row")], dtype=np.float64)
    return {column: dummies.cells(place, code)[0] for place, column in enumerate(dummies.columns)}
