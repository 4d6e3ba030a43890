"""The options that several commands share: what they are called and what `--help` says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A fitted estimator or pipeline, saved with joblib or pickle. Loading such a file runs code in it: "
        "give only files that you trust.",
        show_default=False,
    ),
]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table as .csv, .parquet or .feather: the rows to explain, and what values each column takes.",
        show_default=False,
    ),
]
Target = Annotated[str, typer.Option(help="The class that is wanted; several as a,b; 'other': any other class.")]
Cost = Annotated[str, typer.Option(help="L1, L2, LInf, L0, Gower, MAD, or a sum such as L1+0.5*L0.")]
Fixed = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns that keep their value.")]
OnlyUp = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns that do not fall.")]
OnlyDown = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns that do not rise.")]
Between = Annotated[list[str] | None, typer.Option(metavar="A:LOW:HIGH", help="A column that ends in this interval.")]
Within = Annotated[
    list[str] | None, typer.Option(metavar="A:SHARE", help="A column that moves by at most this share of its value.")
]
StepBy = Annotated[list[str] | None, typer.Option("--step", metavar="A:STEP", help="A column that changes in steps.")]
Allowed = Annotated[list[str] | None, typer.Option(metavar="A:X,Y", help="A category that ends as one of these.")]
AtMost = Annotated[int | None, typer.Option(help="How many columns may change.")]
Margin = Annotated[float | None, typer.Option(help="Stay this share of a column's range inside every boundary.")]
Forests = Annotated[
    list[Path] | None,
    typer.Option(
        "--plausible",
        metavar="FOREST",
        help="An isolation forest, saved as MODEL is, to which the answer is no outlier.",
    ),
]
AtLeast = Annotated[float | None, typer.Option(help="Of a regressor: the value that is wanted, or more.")]
AtMostValue = Annotated[float | None, typer.Option("--at-most", help="Of a regressor: the value wanted, or less.")]
Probability = Annotated[float | None, typer.Option(help="With this probability at least of the one class wanted.")]
MeanGain = Annotated[float | None, typer.Option(help="Of a survival model: a mean time longer by this much.")]
MedianGain = Annotated[float | None, typer.Option(help="Of a survival model: a median time longer by this much.")]
SurvivalAt = Annotated[
    str | None, typer.Option(metavar="T:P", help="Of a survival model: to outlast T with a chance of P at least.")
]
QuantileAtLeast = Annotated[
    str | None, typer.Option(metavar="Q:T", help="Of a survival model: a share Q has had the event at T, or later.")
]
Unit = Annotated[str, typer.Option(help="What times are counted in, such as days.")]
TimeLimit = Annotated[float | None, typer.Option(metavar="RECHECK_SECONDS", help="What is found by then is shown.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page that shows the answer.")]
