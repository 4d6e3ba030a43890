"""`butfor dossier`: what an independent validator asks for, in a folder."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from butfor.cli.asked import ROWS_KNOWN, QuestionOptions
from butfor.cli.options import Data, Model, Quiet, TimeLimit, Training
from butfor.errors import InputError
from butfor.validation.patience import ROW_SECONDS, ROWS_DRAWN


def dossier(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder for the dossier; it is made.")],
    asked: QuestionOptions,
    training: Training = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--groups", metavar="COLUMN", help="A column by which rows are compared, with a bias check; one for each."
        ),
    ] = None,
    sample: Annotated[
        str,
        typer.Option(metavar="N", help="How many rows are asked, drawn at random: a share such as 0.1, or a number."),
    ] = str(ROWS_DRAWN),
    seed: Annotated[int, typer.Option(help="The seed of the draw, and of solvers that draw random numbers.")] = 0,
    time_limit: TimeLimit = None,
    time_limit_per_row: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long each row may take.")
    ] = ROW_SECONDS,
    title: Annotated[str, typer.Option(metavar="TEXT", help="The title of the page.")] = "",
    quiet: Quiet = False,
) -> None:
    """Write what an independent validator asks for: how faithfully the model was read, what is proven, and what is not.

    The rows are drawn from those of DATA that do not meet the target yet. The folder holds a page, the same as JSON, the
    answers, and how to verify them.
    """
    from butfor.cli.files import load, read_table
    from butfor.cli.parse import sample_of
    from butfor.records.whole_file import new_folder
    from butfor.space import frames
    from butfor.validation.dossier import written
    from butfor.validation.material import DossierWish

    new_folder(out)
    estimator = load(model)
    table = read_table(data, estimator)
    if training is None and frames.height(table) < ROWS_KNOWN:
        raise InputError(
            f"{data} has {frames.height(table)} rows, and no other table was given.",
            "The values that a column may take would be known from these rows alone.",
            "Give the table that the model was trained on: --training FILE.",
        )
    explainer = asked.explainer(estimator, table if training is None else read_table(training, estimator))
    files = {"model": model, "data": data, "training": training, "rules": asked.rules, "words": asked.words}
    files |= {f"plausible forest {place}": path for place, path in enumerate(asked.plausible or (), 1)}
    chosen = {"training": training, "groups": groups, "sample": sample, "seed": seed, "time_limit": time_limit,
              "time_limit_per_row": time_limit_per_row, "title": title}  # fmt: skip
    wish = DossierWish(
        asked.question(explainer), sample_of(sample), tuple(dict.fromkeys(groups or ())), seed, time_limit,
        time_limit_per_row, {name: path for name, path in files.items() if path is not None},
        _command(model, data, {**{one.name: getattr(asked, one.name) for one in fields(asked)}, **chosen}),
    )  # fmt: skip
    typer.echo(repr(written(explainer, table, out, wish, title, progress=False if quiet else None)))


def _command(model: Path, data: Path, options: dict[str, Any]) -> str:
    """The words that make the same dossier again, where all files are beside each other."""
    words = ["butfor", "dossier", model.name, data.name, "--out", "again"]
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None and one != "":
                words += [f"--{name.replace('_', '-')}", one.name if isinstance(one, Path) else str(one)]
    return shlex.join(words)
