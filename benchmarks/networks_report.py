"""The page on networks, from the lines that were written: no number there is typed.

`python -m benchmarks.networks_report`
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from benchmarks.ensembles.written import markdown, read, seconds
from benchmarks.harness import RESULTS, ROOT

PAGE = "benchmarks-networks.md"


def page(folder: Path) -> str:
    """The page, as Markdown."""
    parts = [read(folder / "networks", path.stem) for path in sorted((folder / "networks").glob("*.jsonl"))]
    lines = pd.concat(parts, ignore_index=True)
    return "\n\n".join((_header(lines), _proofs(lines), _soon(lines), _rivals(lines))) + "\n"


def _header(lines: pd.DataFrame) -> str:
    names = ("python", "numpy", "scikit-learn", "highspy")
    versions = ", ".join(f"{name} {lines['machine'].iloc[0][name]}" for name in names)
    machine, load = lines["machine"].iloc[0], lines["load"]
    commits = ", ".join(f"`{str(commit)[:7]}`" for commit in dict.fromkeys(lines["commit"]))
    return f"""# Benchmarks: networks

Networks of ReLU, explained to proven optimality. Every number on this page was written by a script:
`make bench-networks` measures (JSON lines in `benchmarks/results`) and makes the page from them.

Measured on {machine["cores"]} cores of {machine["cpu"]}, at commit {commits}
({versions}), one thread.
Others used the machine at the same time: its load was {load.min():.1f} to {load.max():.1f},
so the seconds are too many, ours and those of the others alike.

A row is a row of the training table that the network puts in the undesired class (drawn with seed 0).
The cost is the default: a number as a share of its range, a changed category 1.
Numeric tables are scaled to [0, 1] and their columns are real numbers. German and Adult keep their columns as they are
(whole numbers, categories), in front of a one-hot encoder and a scaler.
Seconds are those of the whole call, certificate included. A row may take {lines["budget"].iloc[0].split()[0]} s."""


def _proofs(lines: pd.DataFrame) -> str:
    table = [
        (
            line["name"].split(",")[0], line["network"], line["rows"], line["proven"], seconds(line["value"]),
            seconds(line["most"]), *(seconds(line["processor_seconds"][word]) for word in ("median", "most")),
            seconds(line["against"]["wish"]["value"]), f"{line['gap']['most']:.1%}",
            seconds(line["against"]["plain program"]["value"]), seconds(line["plain"]["worst"]),
            f"{line['plain']['proven']} of {line['plain']['rows']}",
        )
        for _, line in lines.iterrows()
    ]  # fmt: skip
    head = (
        "table", "units", "rows", "proven", "median s", "longest s", "median processor s", "longest",
        "wish s", "largest gap", "plain program, median s",
        "longest s", "proven",
    )  # fmt: skip
    limit = lines["plain"].iloc[0]["limit"]
    about = f"""## Proofs

Beside `network_exact` stands the plain program (`milp`: one binary variable per unit, over the ranges of the data)
on the first rows, with {limit:g} s for each."""
    return f"{about}\n\n{markdown(head, table)}"


def _soon(lines: pd.DataFrame) -> str:
    table = [
        (
            line["name"].split(",")[0],
            line["network"],
            *(seconds(line["unbranched"]["processor_seconds"][word]) for word in ("median", "most")),
            *(f"{line['unbranched']['gap'][word]:.1%}" for word in ("median", "most")),
            f"{line['answered_soon']} of {line['rows']}",
            f"{line['gap_soon']['median']:.1%}",
            f"{line['gap_soon']['most']:.1%}",
        )
        for _, line in lines.iterrows()
    ]
    soon = f"{lines['soon'].iloc[0]:g} s"
    head = (
        "table",
        "units",
        "median processor s",
        "longest",
        "median gap",
        "largest",
        f"answered in {soon}",
        "median gap",
        "largest",
    )
    about = f"""## Before branching

The good answer and the linear programs alone: the processor's seconds of the whole call, and the gap that is proven by then.
Then the same rows with a time limit of {soon} on this machine, of which others took their share."""
    return f"{about}\n\n{markdown(head, table)}"


def _rivals(lines: pd.DataFrame) -> str:
    table = [
        (
            line["name"].split(",")[0],
            line["network"],
            name,
            f"{one['valid']} of {one['rows']}",
            "-" if one["times_the_optimum"] is None else f"{one['times_the_optimum']['median']:.2f}",
            seconds(line["against"][name]["value"]),
        )
        for _, line in lines.iterrows()
        for name, one in line["rivals"].items()
    ]
    about = "## DiCE\n\nOn the first rows: valid answers, what they cost as a multiple of the optimum, and the seconds."
    if not table:
        return f"{about}\n\nIt was not measured."
    return f"{about}\n\n{markdown(('table', 'units', 'method', 'valid', 'times the optimum', 'median s'), table)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=Path, default=RESULTS, help="the folder with the JSON lines")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="the folder to write to")
    asked = parser.parse_args()
    (asked.docs / PAGE).write_text(page(asked.lines))
