"""A call about many rows: what is asked, of which folder, by which engine; and a second pass over what is not proven."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, choice
from butfor.explanation.explanation import now
from butfor.explanation.explanations import Explanations
from butfor.portfolio.again import Again, check_first, pass_of
from butfor.portfolio.folder import Folder
from butfor.portfolio.manifest import Manifest, read_manifest
from butfor.portfolio.part import Task, explained, send
from butfor.portfolio.portfolio import Portfolio
from butfor.portfolio.progress import Progress, Tally, told
from butfor.portfolio.results import schema_of, table_of
from butfor.portfolio.rows import RowFile, check_ids, files_of, schema_in
from butfor.portfolio.run import Elsewhere, Engine, Here, run
from butfor.portfolio.workers import Workers
from butfor.problem.spec import from_spec
from butfor.records.header import header_of
from butfor.records.schema import hash_of
from butfor.space import frames
from butfor.space.arrow import from_arrow, pyarrow, to_arrow

PROBED = 1.0
"""Seconds in which a row of the data is asked about first: an error in the question is one before any work begins."""


@dataclass(frozen=True)
class Engines:
    """Who does the parts: processes of our own, an executor, or a client of Dask."""

    executor: Executor | None = None
    client: Any = None
    n_jobs: int | None = None

    @contextmanager
    def opened(self, task: Task) -> Iterator[Engine]:
        """The engine for a task. What was begun for it is ended at the end."""
        count = self._count()
        if self.executor is None and self.client is None and count == 1:
            yield Here(task)
            return
        sent = send(task)
        try:
            if self.client is not None:
                yield Elsewhere(self.client.get_executor(pure=False), sent, sum(self.client.ncores().values()))
            elif self.executor is not None:
                yield Elsewhere(self.executor, sent, count)
            else:
                workers = Workers(count, sent)
                try:
                    yield workers
                finally:
                    workers.end(now=False)
        finally:
            Path(sent.path).unlink(missing_ok=True)

    def _count(self) -> int:
        if self.executor is not None:
            return int(getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)
        return processes_of(self.n_jobs)

    def check(self) -> None:
        """Refuse engines that would fail later."""
        given = [name for name in ("executor", "client", "n_jobs") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError(f"{' and '.join(given)} were given.", "One engine does the parts.", "Give one of them.")
        if isinstance(self.executor, ThreadPoolExecutor):
            raise InputTypeError(
                "an executor of threads was given.",
                "Its threads would share one model, and few models say that they may be called so.",
                "Give an executor of processes, or n_jobs=.",
            )
        if self.executor is not None and not hasattr(self.executor, "submit"):
            raise InputTypeError(
                f"{type(self.executor).__name__} was given as executor.",
                "It must be a concurrent.futures.Executor.",
            )
        processes_of(self.n_jobs)
        if self.client is not None:
            _check_client(self.client)


def processes_of(n_jobs: Any) -> int:
    """How many processes share the parts: one for each processor by default."""
    if n_jobs is None:
        return os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(
            f"n_jobs={n_jobs!r} was given.", "It must be a number of processes, or -1 for one per processor."
        )
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def _versions() -> dict[str, str]:
    return {"butfor": version("butfor"), "python": python_version()}


def _check_client(client: Any) -> None:
    """Refuse workers of another Python, or without the same butfor: what they are sent could not be read."""
    if not hasattr(client, "get_executor"):
        raise InputTypeError(f"{type(client).__name__} was given as client.", "It must be a dask.distributed.Client.")
    own = _versions()
    for worker, found in client.run(_versions).items():
        for name, here in own.items():
            there = found[name]
            if there.split(".")[:2] != here.split(".")[:2]:
                raise InputError(
                    f"the worker {worker} has {name} {there}, and here is {here}.",
                    "All must be of the same version.",
                    "Start the workers in the environment of this process.",
                )


def portfolio_of(
    explainer: Any,
    rows: Any,
    out: Any,
    options: dict[str, Any],
    *,
    id_column: str | None,
    rows_per_part: int,
    engines: Engines,
    time_limit: float,
    progress: Progress,
) -> Portfolio:
    """The answers to the rows, in a folder: what is missing in it is done."""
    engines.check()
    folder, reading = Folder.at(out), explainer.reading
    _check_ours(folder)
    probe = _probe(explainer, options)
    with made(folder):
        files = files_of(rows, folder, reading.space)
        schema = schema_in(files)
        check_ids(files, schema, id_column)
        manifest = _manifest(explainer, probe, options, files, id_column, rows_per_part)
        if folder.manifest.exists():
            read_manifest(folder).check_same(manifest, folder)
        results = schema_of(reading.space, schema, id_column, probe.outputs_before[0])
        task = Task(explainer, options, probe.table, manifest, folder, results)
        reading.space.check_columns(task.rows(task.parts[0])[0])
        if not folder.manifest.exists():
            manifest.write(folder)
    have_done(task, engines, time_limit, progress)
    return Portfolio(folder, manifest)


def _probe(explainer: Any, options: Mapping[str, Any]) -> Explanations:
    """The answer to the first row of the data. An error in the question is one here, and loops are compiled, too."""
    quick = {**options, "time_limit": PROBED, "time_limit_per_row": None, "conflicts": False}
    found: Explanations = explainer.explain(frames.take(explainer.reading.data, [0]), **quick)
    return found


def have_done(task: Task, engines: Engines, time_limit: float, progress: Progress) -> bool:
    """Have the missing parts of a task done. False if it was ended before."""
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
    if others := [one.name for one in found if one not in ours]:
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
        "search": {name: value if is_plain(value) else repr(value) for name, value in search.items()},
    }
    return Manifest(json.loads(json.dumps(about)), files, id_column, rows_per_part, now(), _versions())


ASKED = ("target", "cost", "constraints", "progress", "n_jobs", "meta")
"""The arguments of `explain` that are in the question already, or change no answer."""


def is_plain(value: Any) -> bool:
    """Whether JSON holds a value as it is."""
    return value is None or isinstance(value, bool | int | float | str)


def once_more(
    explainer: Any,
    out: Any,
    *,
    time_limit_per_row: float,
    first: Any,
    solver: Any,
    engines: Engines,
    time_limit: float,
    progress: Progress,
) -> Portfolio:
    """Ask again about the rows of a folder that are not proven, with more time, and keep the better of both."""
    engines.check()
    folder = Folder.at(out)
    manifest, order = read_manifest(folder), check_first(first)
    for name, words in (("fingerprint", "model"), ("data_fingerprint", "data")):
        if manifest.about[name] != getattr(explainer, name):
            raise InputError(f"{folder.home} holds answers of another {words}.", "", "Use the Explainer of its model.")
    files = tuple(RowFile.of(Path(file.path)) for file in manifest.files)
    manifest.check_same(replace(manifest, files=files), folder)
    asked, search = manifest.about["question"]["spec"], manifest.about["search"]
    options = {
        **{name: meant(asked[name]) for name in ("target", "cost", "constraints")},
        **search, "time_limit_per_row": time_limit_per_row, "progress": False,
    } | ({} if solver is None else {"solver": solver})  # fmt: skip
    standing = folder.standing()
    if not standing:
        raise InputError(f"{folder.home} holds no answers yet.", "There is nothing to ask again.")
    schema = pyarrow("parquet").read_schema(folder.part(standing[0])).remove_metadata()
    number = pass_of(folder, {"time_limit_per_row": time_limit_per_row, "first": order, "solver": solver})
    sample = frames.take(explainer.reading.data, [0])
    have_done(Again(explainer, options, sample, manifest, folder, schema, number, order), engines, time_limit, progress)
    return Portfolio(folder, manifest)


def meant(spec: Any) -> Any:
    """A part of a question, from its data."""
    try:
        return from_spec(spec)
    except LookupError as described:
        raise InputError(
            f"the folder does not hold {described.args[0]} as data.", "So its question cannot be asked again from it."
        ) from None


def mapped(explainer: Any, tables: Iterable[Any], id_column: str | None, options: dict[str, Any]) -> Iterator[Any]:
    """The results for tables that come one after the other, each as a table of the kind that was given."""
    schema, probe = None, _probe(explainer, options)
    for table in tables:
        rows = to_arrow(frames.as_table(table))
        if id_column is not None and id_column not in rows.column_names:
            raise InputError(
                f"id_column={id_column!r} was given.", *choice("The columns are", id_column, rows.column_names)
            )
        own = from_arrow(rows, explainer.reading.data)
        pieces = [*explained(explainer, own, np.arange(rows.num_rows), options)]
        if schema is None:
            schema = schema_of(explainer.reading.space, rows.schema, id_column, probe.outputs_before[0])
        ids = None if id_column is None else rows[id_column].to_pylist()
        yield from_arrow(table_of(pieces, ids, 0, schema).replace_schema_metadata(), table)
