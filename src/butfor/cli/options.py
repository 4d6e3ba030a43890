"""The options that several commands share: their names and their texts in `--help`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A fitted estimator or pipeline, saved with joblib or pickle. Loading such a file runs code in it: "
        "give only files that you trust. Or a file that holds no code, such as one of XGBoost, LightGBM, CatBoost, ONNX or "
        "PMML.",
        show_default=False,
    ),
]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A .csv, .parquet, .feather or .xlsx file with the rows to explain. It also shows which values each column takes.",
        show_default=False,
    ),
]
Answer = Annotated[
    Path,
    typer.Argument(metavar="ANSWER", help="What `butfor explain --out`, to_json(), to_jsonl() or to_parquet() wrote."),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="A .toml file with target, cost, constraints, columns and words; see `bf.rules`.",
    ),
]
WordsFile = Annotated[
    Path | None, typer.Option("--words", metavar="FILE", help="A .toml file with words for columns; see `bf.describe`.")
]
Target = Annotated[
    str | None,
    typer.Option(help="The class that is wanted; several as a,b; 'other' means any other class.  [default: other]"),
]
Cost = Annotated[
    str | None, typer.Option(help="L1, L2, LInf, L0, Gower, MAD, or a sum such as L1+0.5*L0.  [default: L1]")
]
RelativeChange = Annotated[
    float | None,
    typer.Option(help="For a regressor: the change of the prediction; 0.2 is 20 % up, -0.2 is 20 % down."),
]
Constraint = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint",
        "-c",
        metavar="TEXT",
        help="What a change must respect, such as 'income <= 90000', 'fixed age, sex' or 'age + 2*years <= 90'; one for each.",
    ),
]
Forests = Annotated[
    list[Path] | None,
    typer.Option(
        "--plausible",
        metavar="FOREST",
        help="An isolation forest, saved as MODEL is. Answers must not be outliers to it.",
    ),
]
GivenForests = Annotated[
    list[Path] | None,
    typer.Option(
        "--plausible", metavar="FOREST", help="The isolation forest that was given for the answer with --plausible."
    ),
]
AtLeast = Annotated[float | None, typer.Option(help="For a regressor: the least value wanted.")]
AtMostValue = Annotated[float | None, typer.Option("--at-most", help="For a regressor: the largest value wanted.")]
Probability = Annotated[float | None, typer.Option(help="The least probability of the class that is wanted.")]
ProbabilityAtMost = Annotated[
    float | None,
    typer.Option(help="The largest probability of the class that is wanted. With --probability, between both."),
]
Training = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The table that the model was trained on, if it is not DATA."),
]
Safety = Annotated[
    float | None,
    typer.Option(metavar="NUMBER", help="How much more than the target is asked for, on its own scale."),
]
MeanGain = Annotated[float | None, typer.Option(help="For a survival model: by how much the mean time is to rise.")]
MedianGain = Annotated[float | None, typer.Option(help="For a survival model: by how much the median time is to rise.")]
SurvivalAt = Annotated[
    str | None, typer.Option(metavar="T:P", help="For a survival model: the chance to outlast T is to be at least P.")
]
QuantileAtLeast = Annotated[
    str | None,
    typer.Option(
        metavar="Q:T", help="For a survival model: the time by which a share Q has had the event is at least T."
    ),
]
Unit = Annotated[str, typer.Option(help="The unit of times, such as days.")]
TimeLimit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="End after this time. What was found by then is shown.")
]
TimeLimitPerRow = Annotated[float | None, typer.Option(metavar="SECONDS", help="The same for each row.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Also write the answers: .jsonl for many rows or .json, for `butfor check`; .parquet; or .csv.",
    ),
]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page that shows the answer.")]
LogOption = Annotated[
    str | None,
    typer.Option(
        "--log", metavar="LOG", help="Log the answers before they are shown: a file, or postgresql://user@host/name."
    ),
]
Condition = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION", help="The rows for which it holds, such as \"income > 3000 and job == 'nurse'\"."
    ),
]
Unmet = Annotated[bool, typer.Option("--unmet", help="Only rows that do not meet the target yet.")]
Conflicts = Annotated[
    str | None,
    typer.Option(
        metavar="N", help="In how many impossible rows to look for the constraints to blame: a number, all, or none."
    ),
]
Threads = Annotated[
    int, typer.Option("--n-jobs", metavar="N", help="Threads that share the rows; -1: one per processor.")
]
Sample = Annotated[
    str | None,
    typer.Option(metavar="N", help="Check so many answers, drawn at random: a share such as 0.1, or a number."),
]
Bounds = Annotated[
    bool,
    typer.Option(
        "--bounds/--no-bounds",
        help="Whether to prove claimed bounds again. That takes about as long as the answers took.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no bar.")]
