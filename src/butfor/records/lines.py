"""One answer of a batch: what its line says that the header does not, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.problem.spec import from_spec, to_spec
from butfor.problem.targets.score import Score
from butfor.records import tables
from butfor.records.parts import check_closest, codes_data, codes_from, contradicted, contradiction
from butfor.space.space import Space
from butfor.verdict import certificate as certificates
from butfor.verdict.certificate import CLOSEST_ROW, Certificate

Label = str | int | None


@dataclass(frozen=True, eq=False)
class AnswerLine:
    """One answer of a batch. The `end` of an answer that was not found is None.

    `closest` is the closest row in its place, if one is known.
    """

    row: int
    label: Label
    rank: int
    before: Any
    after: Any
    cost: float
    start: FloatArray
    end: FloatArray | None
    missing: list[str]
    certificate: Certificate
    score: Score | None = None
    closest: FloatArray | None = None

    def facts(self, space: Space) -> dict[str, Any]:
        """The answer as plain data. What follows from the rest (`gap`, the values of the row) is left out."""
        known = self.certificate.to_dict()
        del known["gap"]
        return {
            "row": self.row,
            "label": self.label,
            "rank": self.rank,
            "before": to_spec(self.before),
            "after": to_spec(self.after),
            **known,
            "factual": codes_data(self.start),
            "point": None if self.end is None else _moved(space, self.start, self.end),
            "missing": self.missing,
            **_score_facts(self.score),
            **({} if self.closest is None else {"closest": _moved(space, self.start, self.closest)}),
        }


def lines_of(answers: Explanations) -> Iterator[AnswerLine]:
    """The answers, one by one, without the tables that a single explanation holds."""
    labels = tables.labels_of(answers.table)
    missing = tables.blanks(answers.table, tables.kind_of(answers.table, answers.space.names)["columns"])
    found = answers.found.tolist()
    for i, at in enumerate(answers.table_rows.tolist()):
        certificate = answers.certificates[i]
        yield AnswerLine(
            row=int(answers.rows[i]),
            label=labels[at],
            rank=int(answers.ranks[i]),
            before=answers.outputs_before[i],
            after=answers.outputs_after[i] if found[i] else None,
            cost=float(answers.costs[i]),
            start=answers.factual_codes[at],
            end=answers.point_codes[i] if found[i] else None,
            missing=missing[at],
            certificate=certificate,
            score=answers.scores[i],
            closest=answers.point_codes[i] if CLOSEST_ROW in certificate.notes else None,
        )


def line_from(facts: dict[str, Any], space: Space) -> AnswerLine:
    """The answer whose `facts` these are. They must not contradict each other."""
    start = codes_from(facts["factual"], space, "factual")
    cost = np.inf if facts["cost"] is None else float(facts["cost"])
    end = None if facts["point"] is None else _moves(space, facts["factual"], facts["point"], "point")
    closest = _moves(space, facts["factual"], facts["closest"], "closest") if "closest" in facts else None
    proof = certificates.from_dict(facts)
    check_closest(proof, closest)
    if (end is None) != (facts["cost"] is None):
        raise contradicted(f"point is {facts['point']!r}, and cost is {facts['cost']!r}")
    line = AnswerLine(
        row=facts["row"],
        label=facts["label"],
        rank=facts["rank"],
        before=from_spec(facts["before"]),
        after=None if end is None else from_spec(facts["after"]),
        cost=cost,
        start=start,
        end=end,
        missing=facts["missing"],
        certificate=proof,
        score=_score_from(facts),
        closest=closest,
    )
    derived = line.facts(space)
    wrong = "" if derived == facts else contradiction(facts, derived)
    if wrong:
        raise contradicted(wrong)
    return line


def line_of(answer: Explanation) -> AnswerLine:
    """A single answer as one of a batch."""
    (label,) = tables.labels_of(answer.factual)
    (missing,) = tables.blanks(answer.factual, tables.kind_of(answer.factual, answer.space.names)["columns"])
    return AnswerLine(
        row=answer.row,
        label=label,
        rank=answer.rank,
        before=answer.before,
        after=answer.after,
        cost=answer.cost,
        start=answer.factual_codes,
        end=answer.point_codes,
        missing=missing,
        certificate=answer.certificate,
        score=answer.score,
        closest=answer.closest_codes,
    )


def together(lines: Sequence[AnswerLine], space: Space, table: Mapping[str, Any], **about: Any) -> Explanations:
    """The answers in columns. Each has a row of its own in the table, which is of the kind `table`."""
    shape = (len(lines), len(space))
    starts = np.array([line.start for line in lines], dtype=np.float64).reshape(shape)
    none = np.full(len(space), np.nan)
    ends = [next((row for row in (line.end, line.closest) if row is not None), none) for line in lines]
    cells = [[f.value(code) for code in column.tolist()] for f, column in zip(space, starts.T, strict=True)]
    return Explanations(
        space=space,
        rows=np.array([line.row for line in lines], dtype=np.intp),
        ranks=np.array([line.rank for line in lines], dtype=np.intp),
        table_rows=np.arange(len(lines)),
        factual_codes=starts,
        point_codes=np.array(ends, dtype=np.float64).reshape(shape),
        table=tables.rebuild(table, cells, [line.label for line in lines], [line.missing for line in lines]),
        outputs_before=[line.before for line in lines],
        outputs_after=[line.after for line in lines],
        costs=np.array([line.cost for line in lines], dtype=np.float64),
        certificates=[line.certificate for line in lines],
        scores=[line.score for line in lines],
        **about,
    )


def _score_facts(score: Score | None) -> dict[str, Any]:
    """The score in two parts: the numbers of this answer, and what most answers of a batch share."""
    if score is None:
        return {}
    scored = {"of": score.of, "threshold": to_spec(score.threshold), "up": score.up}
    return {"score": [to_spec(score.before), to_spec(score.after)], "scored": scored}


def _score_from(facts: Mapping[str, Any]) -> Score | None:
    if "score" not in facts or "scored" not in facts:
        return None
    before, after = map(from_spec, facts["score"])
    scored = facts["scored"]
    return Score(scored["of"], before, after, from_spec(scored["threshold"]), scored["up"])


def _moved(space: Space, start: FloatArray, end: FloatArray) -> dict[str, float | None]:
    """The codes of the columns that changed, by name.

    Bits are compared: -0.0 is not 0.0, because an answer is read back as it was.
    """
    changed = np.flatnonzero(start.view(np.int64) != end.view(np.int64))
    codes = codes_data(end[changed])
    return {space.names[j]: code for j, code in zip(changed.tolist(), codes, strict=True)}


def _moves(space: Space, start: list[float | None], moved: Mapping[str, float | None], place: str) -> FloatArray:
    """The factual with the codes of the columns that changed: the row at a `place` of the line."""
    end = list(start)
    for name, code in moved.items():
        if name not in space.names:
            raise contradicted(f"{place} has {name!r}, which is no column of space")
        end[space.names.index(name)] = code
    return codes_from(end, space, place)
