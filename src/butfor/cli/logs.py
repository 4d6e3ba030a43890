"""`butfor log`: what was answered, for those who must account for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from butfor.cli.options import Bounds

FALSE = 1
"""The exit code of a log that does not hold. Wrong input ends with 2."""

logs = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="The log of answers that `butfor explain --log` and explain(log=) write: list, show, verify, export, purge.",
)

Where = Annotated[
    str, typer.Argument(metavar="LOG", help="The file of a log, or postgresql://user@host/name.", show_default=False)
]
Who = Annotated[str | None, typer.Option(metavar="NAME", help="Who does it.  [default: the user of this process]")]


def _log(where: str, who: str | None = None) -> Any:
    """A log that is there."""
    from butfor.ledger.log import Log

    return Log(where, who=who, make=False)


@logs.command(name="list")
def list_(
    where: Where, last: Annotated[int, typer.Option(metavar="N", min=1, help="How many entries, the last ones.")] = 20
) -> None:
    """List the last entries: number, time, who, model, question, row, and what is known of its answer."""
    from butfor.cli.printing import printed
    from butfor.ledger.exported import columns_of
    from butfor.views import text

    shown = ("number", "at", "who", "model", "question", "row", "status", "cost")
    with _log(where) as log:
        columns, count = columns_of(log.last(last)), len(log)
    columns["at"] = [at.partition(".")[0] for at in columns["at"]]
    columns["cost"] = [None if cost is None else f"{cost:.6g}" for cost in columns["cost"]]
    rows = zip(*(columns[name] for name in shown), strict=True)
    printed(text.table(shown, [tuple("" if cell is None else str(cell) for cell in row) for row in rows]))
    typer.echo(f"{min(last, count):,} of {count:,} entries; times are UTC")


@logs.command()
def show(
    where: Where,
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", help="The number of the entry, from 1.", show_default=False)
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the record of the answer, for `butfor check`.")
    ] = False,
) -> None:
    """Show one entry with its answer."""
    from butfor.cli.printing import printed

    with _log(where) as log:
        entry = log.entry(number)
    if as_json:
        typer.echo(entry.answer.to_json())
        return
    for name in ("number", "at", "who", "model", "question", "digest"):
        typer.echo(f"{name:10}{getattr(entry, name)}")
    if entry.purged:
        typer.echo("its record was purged")
    elif entry.noted:
        typer.echo("a note, and no answer")
    else:
        printed(entry.answer)


@logs.command()
def verify(
    where: Where,
    model: Annotated[
        Path | None,
        typer.Argument(metavar="MODEL", help="The model, as for `butfor check`: its answers are checked, too."),
    ] = None,
    bounds: Bounds = True,
    head: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="A head that was printed before. It must still be there.")
    ] = None,
) -> None:
    """Compute the chain of digests again and, given the model, the answers. The exit code is 1 if an entry is false."""
    from butfor.cli.files import load

    estimator = None if model is None else load(model)
    with _log(where) as log:
        found = log.verify(estimator, bounds=bounds, head=head)
    typer.echo(repr(found))
    if not found.passed:
        raise typer.Exit(FALSE)


@logs.command()
def export(
    where: Where, file: Annotated[Path, typer.Argument(metavar="FILE", help="A .parquet or .jsonl file.")]
) -> None:
    """Write all entries into one file."""
    with _log(where) as log:
        log.export(file)
    typer.echo(f"Wrote {file}.", err=True)


@logs.command()
def purge(
    where: Where,
    older_than: Annotated[str, typer.Option(metavar="AGE", help="Such as 25months, 90days or 2years.")],
    who: Who = None,
) -> None:
    """Take the records of older answers away, for good. Digests stay, so the chain holds, and the purge is logged."""
    with _log(where, who) as log:
        count = log.purge(older_than)
    typer.echo(f"{count:,} {'record was' if count == 1 else 'records were'} purged.")
