"""`butfor portfolio`: very many rows, into a folder that the next call goes on with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from butfor.cli.asked import QuestionOptions
from butfor.cli.expanded import expanded
from butfor.cli.options import Condition, Conflicts, LogOption, Model, RulesFile, Unmet

SOME_RAISED, UNFINISHED = 1, 3
"""The exit codes of a portfolio in which rows raised an error, and of one that is not complete. Wrong input ends with 2."""


class WithRows(TyperGroup):
    """A group whose first command need not be named: `butfor portfolio MODEL ROWS` runs it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line."""
        named = not args or args[0] in self.commands or args[0] in ctx.help_option_names
        found: list[str] = super().parse_args(ctx, args if named else ["run", *args])
        return found


portfolios = typer.Typer(
    cls=WithRows,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Answers to very many rows, in a folder: `butfor portfolio MODEL ROWS --out FOLDER`. The next call goes on with it.",
)

Training = Annotated[
    Path,
    typer.Option(metavar="FILE", help="The table that the model was trained on: it tells the values of the columns."),
]
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a portfolio.", show_default=False)]
Processes = Annotated[
    int | None,
    typer.Option(
        "--n-jobs", metavar="N", help="Processes that share the rows; 1: this one alone.  [default: one per processor]"
    ),
]
TimeLimit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="End after this time. The next call does what is missing.")
]
Shown = Annotated[
    str,
    typer.Option(
        "--progress", metavar="auto|bar|log|none", help="A bar, or lines of text for systems that keep a log."
    ),
]
PROGRESS: dict[str, Any] = {"auto": None, "bar": True, "log": "log", "none": False}


@portfolios.command()
@expanded
def run(
    model: Model,
    rows: Annotated[
        Path,
        typer.Argument(
            metavar="ROWS",
            help="A .parquet or .csv file, a folder of them, or a pattern in quotes.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder for the answers. A part of them may be there.")
    ],
    training: Training,
    asked: QuestionOptions,
    k: Annotated[int, typer.Option("-k", help="How many answers, cheapest first.")] = 1,
    solver: Annotated[str, typer.Option(help="The name of the solver; see `butfor solvers`.")] = "auto",
    seed: Annotated[int, typer.Option(help="The seed of solvers that draw random numbers.")] = 0,
    conflicts: Conflicts = None,
    id_column: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column that names the rows.")] = None,
    where: Condition = None,
    unmet: Unmet = False,
    rows_per_part: Annotated[
        int | None, typer.Option(metavar="N", help="How many rows are done together.  [default: 200]")
    ] = None,
    time_limit: TimeLimit = None,
    time_limit_per_row: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How long a row may take. It keeps its bound.")
    ] = None,
    n_jobs: Processes = None,
    progress: Shown = "auto",
    log: LogOption = None,
) -> None:
    """Explain all rows of ROWS that are not yet answered in the folder."""
    from butfor.cli.parse import conflicts_of
    from butfor.portfolio.manifest import ROWS_PER_PART

    shown = _progress(progress)
    explainer = _explainer(model, training, asked)
    made = explainer.portfolio(
        rows,
        out,
        **asked.question(explainer),
        k=k, solver=solver, seed=seed, conflicts=conflicts_of(conflicts), id_column=id_column,
        where=where, unmet=unmet, rows_per_part=ROWS_PER_PART if rows_per_part is None else rows_per_part,
        time_limit=time_limit, time_limit_per_row=time_limit_per_row, n_jobs=n_jobs, progress=shown, log=log,
    )  # fmt: skip
    _told(made)


@portfolios.command()
def status(folder: Folder) -> None:
    """Say how far a portfolio is."""
    from butfor.portfolio.portfolio import Portfolio

    _told(Portfolio.at(folder))


@portfolios.command()
def retry(
    model: Model,
    folder: Folder,
    training: Training,
    time_limit_per_row: Annotated[float, typer.Option(metavar="SECONDS", help="How long each of these rows may take.")],
    largest_first: Annotated[
        bool, typer.Option("--largest-gap-first", help="Begin with the rows that are farthest from proven.")
    ] = False,
    solver: Annotated[str | None, typer.Option(help="Another solver than before.")] = None,
    rules: RulesFile = None,
    time_limit: TimeLimit = None,
    n_jobs: Processes = None,
    progress: Shown = "auto",
    log: LogOption = None,
) -> None:
    """Ask again about the rows that are not proven, with more time. The better of both answers is kept."""
    shown = _progress(progress)
    made = _explainer(model, training, QuestionOptions(rules=rules)).retry(
        folder,
        time_limit_per_row=time_limit_per_row,
        first="largest gap" if largest_first else "smallest gap",
        solver=solver,
        time_limit=time_limit,
        n_jobs=n_jobs,
        progress=shown,
        log=log,
    )
    _told(made)


@portfolios.command()
def merge(
    folder: Folder,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .parquet or .csv file for all results.")],
) -> None:
    """Write all results into one file."""
    from butfor.portfolio.portfolio import Portfolio

    Portfolio.at(folder).merge(file)
    typer.echo(f"Wrote {file}.", err=True)


def _explainer(model: Path, training: Path, asked: QuestionOptions) -> Any:
    from butfor.cli.files import load, read_table

    estimator = load(model)
    return asked.explainer(estimator, read_table(training, estimator))


def _progress(word: str) -> Any:
    from butfor.errors import InputError, choice

    if word not in PROGRESS:
        raise InputError(f"--progress {word} was given.", *choice("The choices are", word, PROGRESS))
    return PROGRESS[word]


def _told(portfolio: Any) -> None:
    """Say how far a portfolio is, and end with the exit code that says whether it is complete."""
    reached = portfolio.reached
    typer.echo(repr(reached))
    if not reached.complete:
        typer.echo("The same call goes on with it.", err=True)
        raise typer.Exit(UNFINISHED)
    if reached.raised:
        typer.echo("The column `error` of the results says what was raised.", err=True)
        raise typer.Exit(SOME_RAISED)
