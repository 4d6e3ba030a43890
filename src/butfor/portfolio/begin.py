"""A call about many rows: what is asked, of which folder, and who does what is missing."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from butfor.errors import InputError, choice
from butfor.explanation.explanation import now
from butfor.explanation.explanations import Explanations
from butfor.portfolio.engines import Engines
from butfor.portfolio.folder import Folder
from butfor.portfolio.manifest import Manifest, read_manifest, versions_here
from butfor.portfolio.part import OF_QUESTION, Ledger, PartTask, explained
from butfor.portfolio.portfolio import Portfolio
from butfor.portfolio.progress import Progress, Tally, told
from butfor.portfolio.results import schema_of, table_of
from butfor.portfolio.rows import Reader, RowFile, check_ids, files_of, schema_in
from butfor.portfolio.run import run
from butfor.portfolio.settings import written
from butfor.records.header import header_of
from butfor.records.schema import hash_of
from butfor.space import frames
from butfor.space.arrow import from_arrow, held_by_parquet, sample_of, to_arrow
from butfor.space.where import rows_where

PROBED = 1.0
"""Seconds in which a row of the data is asked about first: an error in the question is one before any work begins."""


def portfolio_of(
    explainer: Any,
    rows: Any,
    out: Any,
    options: dict[str, Any],
    *,
    id_column: str | None,
    where: str | None,
    unmet: bool,
    rows_per_part: int,
    engines: Engines,
    time_limit: float,
    progress: Progress,
    ledger: Ledger | None = None,
) -> Portfolio:
    """The answers to the rows, in a folder: what is missing in it is done."""
    engines.check()
    folder, reading = Folder.at(out), explainer.reading
    _check_ours(folder)
    probe = _probe(explainer, options)
    like = sample_of(reading.data)
    with made(folder):
        files = files_of(rows, folder, reading.space)
        schema = schema_in(files)
        with held_by_parquet():
            none = from_arrow(schema.empty_table(), like)
        reading.space.check_columns(none)
        check_ids(files, schema, id_column)
        if where is not None:
            first = next(file for file in files if file.rows)
            rows_where(from_arrow(Reader(first.path).rows(0, 1), like), where)
        manifest = _manifest(explainer, probe, options, files, id_column, rows_per_part, (where, unmet))
        if folder.manifest.exists():
            read_manifest(folder).check_same(manifest, folder)
        results = schema_of(probe.space, schema, _type_of(schema, id_column), probe.outputs_before[0])
        task = PartTask(explainer, options, like, manifest, folder, results, ledger=ledger)
        if not folder.manifest.exists():
            manifest.write(folder)
    have_done(task, engines, time_limit, progress)
    return Portfolio(folder, manifest)


def _probe(explainer: Any, options: Mapping[str, Any]) -> Explanations:
    """The answer to the first row of the data. An error in the question is one here, and loops are compiled, too."""
    quick = {**options, "time_limit": PROBED, "time_limit_per_row": None, "conflicts": False, "log": None}
    found: Explanations = explainer.explain(frames.take(explainer.reading.data, [0]), **quick)
    return found


def _type_of(schema: Any, id_column: str | None) -> Any:
    return None if id_column is None else schema.field(id_column).type


def have_done(task: PartTask, engines: Engines, time_limit: float, progress: Progress) -> bool:
    """Have the missing parts of a task done. False if it was ended before."""
    task.folder.sweep()
    missing = task.missing()
    if not missing:
        return True
    until = time.monotonic() + time_limit
    tally = Tally(task.rows_in, task.rows_in - sum(len(task.parts[number]) for number in missing))
    with engines.opened(task) as engine, told(tally, progress) as show:
        return run(task, engine, missing, until, show)


def _check_ours(folder: Folder) -> None:
    """Refuse a folder that holds something else."""
    ours = {folder.parts, folder.leases, folder.passes, folder.rows.parent}
    found = [*folder.home.iterdir()] if folder.home.exists() and not folder.manifest.exists() else []
    if others := [one.name for one in found if one not in ours and not one.name.startswith(".")]:
        raise InputError(
            f"{folder.home} holds other files, such as {others[0]}.",
            "A portfolio needs a folder of its own.",
            "Give the name of a new one.",
        )


@contextmanager
def made(folder: Folder) -> Iterator[None]:
    """Make a folder. If an error arises before its manifest is there, it is removed again."""
    fresh = not folder.home.exists()
    folder.make()
    try:
        yield
    except BaseException:
        if fresh and not folder.manifest.exists():
            shutil.rmtree(folder.home)
        raise


def _manifest(
    explainer: Any,
    probe: Explanations,
    options: Mapping[str, Any],
    files: tuple[RowFile, ...],
    id_column: str | None,
    rows_per_part: int,
    chosen: tuple[str | None, bool],
) -> Manifest:
    """What this call is about."""
    header = header_of(probe)
    search = {name: value for name, value in options.items() if name not in ASKED}
    about = {
        "model": probe.model,
        "fingerprint": explainer.fingerprint,
        "data_fingerprint": explainer.data_fingerprint,
        "question": header["question"],
        "columns": hash_of({"space": header["space"]}),
        "search": {name: written(value) for name, value in search.items()},
        "meta": options.get("meta") or {},
    }
    return Manifest(json.loads(json.dumps(about)), files, id_column, rows_per_part, now(), versions_here(), *chosen)


ASKED = (*OF_QUESTION, "progress", "n_jobs", "meta")
"""The arguments of `explain` that are in the question already, or change no answer."""


def mapped(explainer: Any, tables: Iterable[Any], id_column: str | None, options: dict[str, Any]) -> Iterator[Any]:
    """The results for tables that come one after the other, each as a table of the kind that was given."""
    schema, probe, like = None, _probe(explainer, options), sample_of(explainer.reading.data)
    for table in tables:
        rows = to_arrow(frames.as_table(table))
        if id_column is not None and id_column not in rows.column_names:
            raise InputError(
                f"id_column={id_column!r} was given.", *choice("The columns are", id_column, rows.column_names)
            )
        own = from_arrow(rows, like)
        pieces = [*explained(explainer, own, np.arange(rows.num_rows), options)]
        if schema is None:
            schema = schema_of(probe.space, rows.schema, _type_of(rows.schema, id_column), probe.outputs_before[0])
        ids = None if id_column is None else dict(enumerate(rows[id_column].to_pylist()))
        yield from_arrow(table_of(pieces, ids, schema).replace_schema_metadata(), table)
