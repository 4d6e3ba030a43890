"""The answers to a part as a table: one line per answer, which polars, DuckDB and pandas read; and back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.explanation.explanations import Explanations
from butfor.portfolio.folder import put
from butfor.records import reading, writing
from butfor.records.tables import labels_of
from butfor.records.whole_file import path_of
from butfor.space import frames
from butfor.space.arrow import held_by_parquet, pyarrow, to_arrow
from butfor.space.feature import Feature
from butfor.space.space import Space, same

RAISED = "ERROR"
"""The status of a row about which the question could not be asked."""

SHARED_FACTS = b"butfor.shared"
"""Where a file keeps what its records share: the headers of batches, of which batch each line is, and the order in which they
were written (the lines are in the order of the rows)."""

PASS = b"butfor.pass"
"""Where it keeps the number of the last pass in which it was done."""

ID = "id"


@dataclass(frozen=True)
class Raised:
    """A row (its number in the whole portfolio) that raised an error, and the words of the error."""

    row: int
    error: str


Piece = Explanations | Raised
"""Answers to some rows of a part, or a row that raised an error."""


def schema_of(space: Space, rows: Any, id_type: Any, output: Any) -> Any:
    """The columns of results, and their types.

    - `rows`: the types of the rows;
    - `id_type`: the type of what names the rows; None if nothing does;
    - `output`: something that the model predicts.
    """
    arrow = pyarrow()
    number, text, whole = arrow.float64(), arrow.string(), arrow.int64()
    said = arrow.array([output]).type if isinstance(output, bool | int | float | str) else text
    own = {} if id_type is None else {ID: _plain(id_type)}
    about = own | {
        "row": whole, "rank": whole, "status": text, "cost": number, "bound": number, "gap": number,
        "changed": arrow.list_(text), "before": said, "after": said, "score": text, "score_before": number,
        "score_after": number, "score_needed": number, "conflict": arrow.list_(text), "seconds": number, "error": text,
    }  # fmt: skip
    features = {name: feature for feature in space.features for name in feature.columns}
    points = {
        name if name not in about else f"{name} (column)": _of_points(features[name], _plain(rows.field(name).type))
        for name in space.columns
        if name in rows.names or name not in space.unread
    }
    return arrow.schema([*about.items(), *points.items(), ("record", text)])


def write(answers: Explanations, path: str | os.PathLike[str]) -> None:
    """Write answers into a file of Parquet, completely or not at all."""
    if not len(answers):
        raise InputError("there is no answer to write.", "At least one is needed.")
    with held_by_parquet():
        table = _labelled(answers)
    put(path_of(path), lambda beside: pyarrow("parquet").write_table(table, beside, compression="zstd"))


def _labelled(answers: Explanations) -> Any:
    """Answers as a table of pyarrow. The label of each row stands in front, where rows have labels."""
    labels = id_type = None
    if frames.row_labels(answers.table) is not None:
        rows = frames.take(answers.table, answers.table_rows)
        labels = dict(zip(answers.rows.tolist(), labels_of(rows), strict=True))
        id_type = pyarrow().array(list(labels.values())).type
    schema = schema_of(answers.space, to_arrow(answers.table).schema, id_type, answers.outputs_before[0])
    return table_of([answers], labels, schema)


def read(path: str | os.PathLike[str]) -> Explanations:
    """The answers in a file that `write` wrote, or in that of a part."""
    try:
        with path_of(path).open("rb") as file:
            table = pyarrow("parquet").ParquetFile(file).read()
    except pyarrow().ArrowInvalid as error:
        why = str(error).rstrip(".")
        raise InputError(f"{path} is no file of Parquet: {why}.", "A file of to_parquet() is needed.") from None
    if SHARED_FACTS not in (table.schema.metadata or {}):
        raise InputError(f"{path} holds no answers.", "A file of to_parquet() is needed.")
    pieces = [*pieces_of(table)]
    if len(pieces) == 1:
        return pieces[0]
    raise InputError(f"{path} holds the answers of {len(pieces)} calls.", "Those of one are needed.")


def _plain(kind: Any) -> Any:
    """The type of values, without a dictionary."""
    return kind.value_type if pyarrow().types.is_dictionary(kind) else kind


def _of_points(feature: Feature, kind: Any) -> Any:
    """The type of a column in points: that of the rows, if it holds whatever an answer may say there."""
    arrow = pyarrow()
    if feature.unread:
        return kind
    if feature.levels is None and feature.step != 1:
        holds = arrow.types.is_floating(kind) and (feature.single or arrow.types.is_float64(kind))
        return kind if holds else arrow.float64()
    if arrow.types.is_null(kind):
        return arrow.float64() if feature.levels is None else arrow.array([*feature.levels]).type
    return arrow.int64() if arrow.types.is_integer(kind) and kind.bit_width < 64 else kind


def table_of(pieces: Sequence[Piece], ids: Mapping[int, Any] | None, schema: Any, passes: int = 0) -> Any:
    """The results of a part, after so many further `passes`. `ids` are those of its rows, by their numbers."""
    arrow = pyarrow()
    tables, headers, of = list[Any](), list[str](), list[int]()
    for one in pieces:
        if isinstance(one, Raised):
            tables.append(_raised(one, schema))
            of.append(-1)
            continue
        header, *records = writing.lines_of(one)
        tables.append(_answered(one, records, schema))
        of += [len(headers)] * len(one)
        headers.append(header)
    table = arrow.concat_tables(tables) if tables else schema.empty_table()
    rows = np.array(table["row"])
    order = np.argsort(rows, kind="stable")
    table = table.take(order)
    if ids is not None:
        own = [ids[row] for row in rows[order].tolist()]
        table = table.set_column(0, schema.field(ID), arrow.array(own, schema.field(ID).type))
    shared = {"headers": headers, "of": np.array(of)[order].tolist(), "at": order.tolist()}
    return table.replace_schema_metadata({SHARED_FACTS: json.dumps(shared), PASS: str(passes)})


def _answered(answers: Explanations, records: Sequence[str], schema: Any) -> Any:
    """The results of answers, whose rows are numbered in the whole portfolio, with their records."""
    space, found = answers.space, answers.found
    start = answers.factual_codes[answers.table_rows]
    moved = ~same(start, answers.point_codes) & found[:, None]
    names = np.array(space.names, dtype=object)
    certificates, scores = list(answers.certificates), answers.scores
    about = {
        "row": answers.rows,
        "rank": answers.ranks,
        "status": [status.name for status in answers.statuses],
        "cost": np.where(found, answers.costs, np.nan),
        "bound": [one.bound for one in certificates],
        "gap": [one.gap for one in certificates],
        "changed": [names[its].tolist() if has else None for its, has in zip(moved, found, strict=True)],
        "before": answers.outputs_before,
        "after": [after if has else None for after, has in zip(answers.outputs_after, found, strict=True)],
        "score": [one and one.of for one in scores],
        "score_before": [one and one.before for one in scores],
        "score_after": [one and one.after for one in scores],
        "score_needed": [one and one.threshold for one in scores],
        "conflict": [list(one.conflict) for one in certificates],
        "seconds": [one.seconds for one in certificates],
        "record": [record.rstrip("\n") for record in records],
    }
    for name, cells in answers.cells().items():
        about[_called(name, schema)] = [cell if has else None for cell, has in zip(cells, found, strict=True)]
    return _table(about, len(answers), schema)


def _called(name: str, schema: Any) -> str:
    """What a column of points is called among the results."""
    return f"{name} (column)" if f"{name} (column)" in schema.names else name


def _raised(one: Raised, schema: Any) -> Any:
    return _table({"row": [one.row], "rank": [1], "status": [RAISED], "error": [one.error]}, 1, schema)


def _table(columns: dict[str, Any], height: int, schema: Any) -> Any:
    arrow = pyarrow()
    made = []
    for field in schema:
        values = columns.get(field.name)
        if values is None:
            made.append(arrow.nulls(height, field.type))
        elif arrow.types.is_floating(field.type):
            made.append(arrow.array(np.asarray(values, dtype=np.float64), from_pandas=True).cast(field.type))
        elif field.name in ("before", "after") and arrow.types.is_string(field.type):
            made.append(arrow.array([None if one is None else str(one) for one in values], field.type))
        else:
            made.append(arrow.array(values, field.type))
    return arrow.Table.from_arrays(made, schema=schema)


def pass_in(table: Any) -> int:
    """The last pass in which results were made: 0 if there was only the first."""
    return int((table.schema.metadata or {}).get(PASS, b"0"))


def pieces_of(table: Any) -> Iterator[Explanations]:
    """The answers in the results of a part, as they were."""
    shared = json.loads((table.schema.metadata or {}).get(SHARED_FACTS, b'{"headers": [], "of": []}'))
    records = np.array(table["record"].to_pylist(), dtype=object)
    of = np.array(shared["of"], dtype=np.intp)
    # what older files hold was written in the order of the rows
    back = np.argsort(shared.get("at", range(len(of))))
    for number, header in enumerate(shared["headers"]):
        yield reading.batch(header + "\n".join(records[back[of[back] == number]]))
