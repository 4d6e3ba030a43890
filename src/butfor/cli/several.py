"""The commands that show more than one way, or compare groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from butfor.cli.asked import QuestionOptions, RowOptions
from butfor.cli.options import Threads, TimeLimit
from butfor.errors import InputError, choice

if TYPE_CHECKING:
    from butfor.explain.explainer import Explainer
    from butfor.explanation.answer_list import AnswerList

OutOfSeveral = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Also write them: .csv or .parquet (a table), .json (for `butfor check`), or .html.",
    ),
]
GROUP_TABLES = ("statuses", "changes", "conflicts", "costs", "differences", "levers")
"""What `butfor groups` can show. The words are those of `bf.groups`."""


def menu(
    chosen: RowOptions,
    asked: QuestionOptions,
    most: Annotated[int, typer.Option(metavar="N", help="How many columns may change together.")] = 3,
    time_limit: TimeLimit = None,
    out: OutOfSeveral = None,
) -> None:
    """List every set of columns that is worth changing, with its cheapest answer: let a person choose."""
    from butfor.cli.files import check_ending

    check_ending(out, OF_SEVERAL)
    explainer, table, rows = chosen.read(asked)
    question = asked.question(explainer)
    made = [explainer.menu(one, **question, most=most, time_limit=time_limit) for one in _one_by_one(table, rows)]
    _shown(made, rows, out, "Menu")


def ladder(
    chosen: RowOptions,
    asked: QuestionOptions,
    goals: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="What is wanted, step by step: probabilities of the class of --target, values, or classes in their order.",
        ),
    ] = None,
    time_limit: TimeLimit = None,
    out: OutOfSeveral = None,
) -> None:
    """Say what each of several goals costs, such as grades, or more and more certainty."""
    from butfor.cli.files import check_ending
    from butfor.cli.parse import goals_of

    check_ending(out, OF_SEVERAL)
    if goals is None:
        raise InputError("no goals were given.", "", "Use --goals 0.5,0.7,0.9 with --target, or --goals bronze,silver.")
    explainer, table, rows = chosen.read(asked)
    steps = goals_of(explainer, goals, asked.aim(explainer))
    under = asked.under()
    made = [explainer.ladder(one, steps, **under, time_limit=time_limit) for one in _one_by_one(table, rows)]
    _shown(made, rows, out, "Ladder")


def groups(
    chosen: RowOptions,
    asked: QuestionOptions,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column by which rows are grouped.")] = None,
    table: Annotated[str, typer.Option(help=f"What is shown: {', '.join(GROUP_TABLES)}.")] = "statuses",
    time_limit: TimeLimit = None,
    n_jobs: Threads = 1,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the table: .csv or .parquet.")] = None,
) -> None:
    """Compare groups of rows: what became of them, what changes, and what it costs."""
    from butfor.cli.files import TABLE_WRITERS, check_ending
    from butfor.cli.printing import printed
    from butfor.space import frames
    from butfor.views import text

    if table not in GROUP_TABLES:
        raise InputError(f"--table {table} was given.", *choice("The tables are", table, GROUP_TABLES))
    if (by is None) != (table == "levers") and table in ("differences", "levers"):
        raise InputError(
            f"--table {table} was given {'without' if by is None else 'with'} --by.",
            "",
            "Add --by COLUMN." if by is None else "Leave --by out.",
        )
    check_ending(out, TABLE_WRITERS)
    explainer, rows, _ = chosen.read(asked)
    columns = frames.listed(_compared(explainer, rows, asked, table, by, time_limit, n_jobs))
    lines = [["" if one is None else f"{one:.6g}" if isinstance(one, float) else str(one) for one in line]
             for line in zip(*columns.values(), strict=True)]  # fmt: skip
    printed(text.table(tuple(columns), lines))
    if out is not None:
        TABLE_WRITERS[out.suffix.lower()](columns, out)


def _compared(
    explainer: Explainer,
    rows: Any,
    asked: QuestionOptions,
    table: str,
    by: str | None,
    time_limit: float | None,
    n_jobs: int,
) -> Any:
    """A table of `bf.groups`."""
    from importlib import import_module

    made = getattr(import_module("butfor.groups"), table)
    question = asked.question(explainer)
    if table == "levers":
        return made(explainer, rows, **question, time_limit=time_limit)
    return made(explainer.explain(rows, **question, time_limit=time_limit, n_jobs=n_jobs), by)


def _one_by_one(table: Any, rows: Sequence[int]) -> list[Any]:
    from butfor.space import frames

    return [frames.take(table, [place]) for place in range(len(rows))]


def headed(row: int, rows: int) -> str:
    """The number of a row above what is said of it, if there are several."""
    return f"Row {row}\n" if rows > 1 else ""


def _shown(made: Sequence[AnswerList], rows: Sequence[int], out: Path | None, title: str) -> None:
    """Print the answers to each row, and write them into a file in the way that its ending says."""
    typer.echo("\n\n".join(f"{headed(row, len(rows))}{one!r}" for row, one in zip(rows, made, strict=True)))
    if out is not None:
        OF_SEVERAL[out.suffix.lower()](made, rows, out, title)


def _write_table(made: Sequence[Any], rows: Sequence[int], out: Path, title: str) -> None:
    from butfor.cli.files import TABLE_WRITERS
    from butfor.space import frames

    columns: dict[str, list[Any]] = {"row": []}
    for row, one in zip(rows, made, strict=True):
        own = frames.listed(one.to_frame())
        columns["row"] += [row] * len(next(iter(own.values())))
        for name, values in own.items():
            columns.setdefault(name, []).extend(values)
    TABLE_WRITERS[out.suffix.lower()](columns, out)


def _write_records(made: Sequence[AnswerList], rows: Sequence[int], out: Path, title: str) -> None:
    from dataclasses import replace

    from butfor.cli.files import write

    records = [replace(one, row=row).to_json() for row, answers in zip(rows, made, strict=True) for one in answers]
    write(out, f"[{','.join(records)}]\n")


def _write_page(made: Sequence[AnswerList], rows: Sequence[int], out: Path, title: str) -> None:
    from butfor.cli.files import write
    from butfor.report.page import listings

    write(out, listings(made, [f"{title}: row {row}" for row in rows], title))


OF_SEVERAL = {".csv": _write_table, ".parquet": _write_table, ".json": _write_records, ".html": _write_page}
"""How menus and ladders are written, by the ending of the file."""
