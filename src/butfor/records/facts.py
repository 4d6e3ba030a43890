"""What is an answer's own, as plain data and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.explanation.changes import Change, change_rows, changed_rows
from butfor.explanation.consequences import acted_alone, effects_of
from butfor.explanation.explanations import Explanations
from butfor.problem.spec import from_spec, to_spec
from butfor.problem.targets.score import Score
from butfor.records import tables
from butfor.records.header import shared_from
from butfor.records.schema import contradicted
from butfor.records.unread import recorded, recorded_unread
from butfor.space.space import Space
from butfor.verdict import certificate as certificates
from butfor.verdict.certificate import Certificate, finite

Facts = dict[str, Any]


def facts_of(answers: Explanations) -> Iterator[Facts]:
    """The answers as plain data, one by one. What they share, and what follows from the rest, is left out."""
    labels = tables.labels_of(answers.table)
    columns = recorded(answers)
    missing = tables.blanks(answers.table, tables.kind_of(answers.table, columns)["columns"])
    unread = recorded_unread(answers, columns)
    found = answers.found.tolist()
    for i, at in enumerate(answers.table_rows.tolist()):
        certificate, start = answers.certificates[i], answers.factual_codes[at]
        moved = _moved(answers.space, start, answers.point_codes[i])
        proven = certificate.to_dict()
        del proven["gap"]
        yield {
            "row": int(answers.rows[i]),
            "label": labels[at],
            "rank": int(answers.ranks[i]),
            "before": to_spec(answers.outputs_before[i]),
            "after": to_spec(answers.outputs_after[i]) if found[i] else None,
            **proven,
            "factual": _codes(start),
            "point": moved if found[i] else None,
            "missing": missing[at],
            **({"unread": {name: to_spec(cells[at]) for name, cells in unread.items()}} if unread else {}),
            **_score_facts(answers.scores[i]),
            **({"closest": moved} if certificate.evidence.has_closest_row else {}),
        }


def readable(answers: Explanations, i: int) -> Facts:
    """What follows from the facts of an answer, for whoever reads its record without butfor."""
    start, rows = answers.factual_codes[answers.table_rows[i]], tuple[Change, ...]()
    if answers.found[i]:
        end, asked = answers.point_codes[i], (answers.question, answers.space)
        if effects_of(*asked):
            own = acted_alone(*asked, start, end)
            rows = tuple(row for row in change_rows(answers.space, start, end, acted=own) if row.changed)
        else:
            rows = changed_rows(answers.space, start, end)
    return {
        "gap": finite(answers.certificates[i].gap),
        "changes": [
            {
                "column": row.name,
                "before": to_spec(row.before),
                "after": to_spec(row.after),
                "change": row.change,
                "text": list(row.text),
                **({} if row.acted is None or row.consequence is None else {"follows": row.consequence}),
            }
            for row in rows
        ],
    }


class Own(NamedTuple):
    """What the facts of an answer say. `end` is the point, or the closest row, or missing values."""

    start: FloatArray
    end: FloatArray
    before: Any
    after: Any
    certificate: Certificate
    score: Score | None


def own_from(facts: Facts, space: Space) -> Own:
    """The facts of one answer. They must fit each other and the space."""
    proof = certificates.from_dict(facts)
    if proof.evidence.has_closest_row != ("closest" in facts):
        raise contradicted("only one of the closest row and its note in the certificate is there")
    if (facts["point"] is None) != (facts["cost"] is None):
        raise contradicted(f"point is {facts['point']!r}, and cost is {facts['cost']!r}")
    place = "closest" if facts["point"] is None else "point"
    end = np.full(len(space), np.nan)
    if facts.get(place) is not None:
        end = _moves(space, facts["factual"], facts[place], place)
    return Own(
        start=_codes_from(facts["factual"], space, "factual"),
        end=end,
        before=from_spec(facts["before"]),
        after=from_spec(facts["after"]),
        certificate=proof,
        score=_score_from(facts),
    )


def answers_from(
    header: Mapping[str, Any], space: Space, lines: Sequence[Facts], read: Sequence[Own], sealed: bool
) -> Explanations:
    """The answers with these facts, in columns, of which `own_from` has read each. Each has a row of its own in the table."""
    shape = (len(lines), len(space))
    starts = np.array([one.start for one in read], dtype=np.float64).reshape(shape)
    labels, missing = ([facts[name] for facts in lines] for name in ("label", "missing"))
    held = dict(zip(space.columns, space.cells(starts), strict=True))
    held |= {name: [from_spec(facts.get("unread", {}).get(name)) for facts in lines] for name in space.unread}
    cells = [held[column["name"]] for column in header["table"]["columns"]]
    return Explanations(
        space=space,
        rows=np.array([facts["row"] for facts in lines], dtype=np.intp),
        ranks=np.array([facts["rank"] for facts in lines], dtype=np.intp),
        table_rows=np.arange(len(lines)),
        factual_codes=starts,
        point_codes=np.array([one.end for one in read], dtype=np.float64).reshape(shape),
        table=tables.rebuild(header["table"], cells, labels, missing),
        outputs_before=[one.before for one in read],
        outputs_after=[one.after for one in read],
        costs=np.array([one.certificate.cost for one in read], dtype=np.float64),
        certificates=[one.certificate for one in read],
        scores=[one.score for one in read],
        sealed=sealed,
        **shared_from(header),
    )


def _score_facts(score: Score | None) -> Facts:
    """The score in two parts: the numbers of this answer, and what most answers of a batch share."""
    if score is None:
        return {}
    scored = {"of": score.of, "threshold": to_spec(score.threshold), "up": score.up}
    return {"score": [to_spec(score.before), to_spec(score.after)], "scored": scored}


def _score_from(facts: Facts) -> Score | None:
    if "score" not in facts or "scored" not in facts:
        return None
    before, after = map(from_spec, facts["score"])
    scored = facts["scored"]
    return Score(scored["of"], before, after, from_spec(scored["threshold"]), scored["up"])


def _codes(codes: FloatArray) -> list[float | None]:
    """The codes of a row. A missing value is None."""
    return [None if code != code else code for code in codes.tolist()]


def _codes_from(codes: Sequence[float | None], space: Space, place: str) -> FloatArray:
    """The codes of a row. Each must be one that its column can have."""
    if len(codes) != len(space):
        raise InputError(f"the answer has {len(codes)} codes in {place}.", f"Its space has {len(space)} columns.")
    for feature, code in zip(space, codes, strict=True):
        known = feature.missing if code is None else feature.levels is None or code in range(len(feature.levels))
        if not known:
            raise contradicted(f"{place} has the code {code} in {feature.name!r}, which has no such value")
    return np.array([np.nan if code is None else code for code in codes], dtype=np.float64)


def _moved(space: Space, start: FloatArray, end: FloatArray) -> dict[str, float | None]:
    """The codes of the columns that changed, by name.

    Bits are compared: -0.0 is not 0.0, because an answer is read back as it was.
    """
    changed = np.flatnonzero(start.view(np.int64) != end.view(np.int64))
    return {space.names[j]: code for j, code in zip(changed.tolist(), _codes(end[changed]), strict=True)}


def _moves(space: Space, start: Sequence[float | None], moved: Mapping[str, float | None], place: str) -> FloatArray:
    """The factual with the codes of the columns that changed: the row at a `place` of the facts."""
    end = list(start)
    for name, code in moved.items():
        if name not in space.names:
            raise contradicted(f"{place} has {name!r}, which is no column of space")
        end[space.names.index(name)] = code
    return _codes_from(end, space, place)
