"""The page of the documentation and its picture, from the lines that were written: no number there is typed.

`python -m benchmarks.ensembles.report`
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.ensembles.report_regions import regions
from benchmarks.ensembles.report_treecf import treecf, triples
from benchmarks.ensembles.report_veritas import veritas
from benchmarks.ensembles.written import markdown, pairs, read, rows_of, seconds, summaries, times
from benchmarks.harness import RESULTS, ROOT

PAGE, PICTURE = "benchmarks.md", "images/ensembles-growth.png"
PROVEN = ("PROVEN_OPTIMAL", "OPTIMAL")
CONTINUOUS = "butfor, numbers continuous"


def page(folder: Path) -> str:
    """The page, as Markdown."""
    rivals = (ocean, dice, treecf, triples, veritas, regions)
    parts = (header, tables, proofs, bigger, *rivals, growth, evaluator, memory, left_out)
    return "\n\n".join(text for text in (part(folder) for part in parts) if text) + "\n"


def header(folder: Path) -> str:
    """What the page is, and where its numbers were measured."""
    parts = [read(folder, path.stem) for path in sorted(folder.glob("*.jsonl"))]
    machines = [machine for part in parts for machine in part["machine"]]
    of = " and ".join(dict.fromkeys(f"{machine['cores']} cores of {machine['cpu']}" for machine in machines))
    commits = ", ".join(dict.fromkeys(f"`{str(commit)[:7]}`" for part in parts for commit in part["commit"]))
    names = ("python", "numpy", "numba", "scikit-learn")
    versions = ", ".join(f"{name} {' and '.join(dict.fromkeys(m[name] for m in machines))}" for name in names)
    load = [part["load"].median() for part in parts]
    return f"""# Benchmarks: sums of trees

Forests and boosting, explained to proven optimality. Every number on this page was written by a script:
`make bench-ensembles` measures (JSON lines in `benchmarks/results/ensembles`) and makes the page from them.

Measured on {of}, at commits {commits}
({versions}),
one thread. Others used the machine at the same time: its load was {min(load):.1f} to {max(load):.1f} in the median of each part,
so the seconds are rather too many than too few, ours and the rivals' alike.

A row is a row of the training table that the model puts in the undesired class (drawn with seed 0); the question is
the cheapest change that puts it in the other one, at the default cost: every number a share of its range, a changed
category 1. Seconds are those of the whole call, certificate included, the explainer being built and its code compiled
before; a row may take {lines_limit(folder):g} s. Where rows take long, fewer of them are asked about; `rows` says how many."""


def lines_limit(folder: Path) -> float:
    """The seconds that a row may take."""
    return float(rows_of(read(folder, "exact"))["limit"].max())


def tables(folder: Path) -> str:
    """How the tables are prepared."""
    lines = summaries(read(folder, "exact")).drop_duplicates("table")
    rows = [(line["table"], line["data"]) for _, line in lines.iterrows()]
    text = markdown(("table", "how it is prepared"), rows).replace("---:", "---")
    return (
        f"## Tables\n\n{text}\n\nText columns go through a one-hot encoder in front of the model; numbers as they are."
    )


def proofs(folder: Path) -> str:
    """The share proven and the waits, for each ensemble and table."""
    lines = summaries(read(folder, "exact"))
    parts = ["## Proofs"]
    for model, group in lines.groupby("model", sort=False):
        rows = []
        for _, line in group.iterrows():
            gap = line.get("gap_median")
            rest = "" if gap is None or pd.isna(gap) else f"{gap:.1%} (at most {line['gap_most']:.1%})"
            rows.append(
                (line["table"], int(line["leaves"]), int(line["rows"]), f"{line['proven']:.0%}", seconds(line["value"]),
                 seconds(line["most"]), rest)
            )  # fmt: skip
        head = ("table", "leaves", "rows", "proven", "median s", "longest s", "certified gap of the rest")
        parts += [f"### {model}", markdown(head, rows)]
        wish = group.iloc[0]["against"].get("wish")
        if wish:
            reached = (group["value"] <= wish["value"]).sum()
            parts.append(f"Aim: a median of {wish['value']:g} s; reached on {reached} of {len(group)} tables.")
    return "\n\n".join(parts)


def bigger(folder: Path) -> str:
    """Models of the size that people have."""
    lines = summaries(read(folder, "bigger"))
    if lines.empty:
        return ""
    rows = [
        (line["model"], line["table"], int(line["leaves"]), seconds(line["explainer_s"]), int(line["rows"]),
         f"{line['proven']:.0%}", seconds(line["value"]), seconds(line["most"]),
         "" if pd.isna(line.get("gap_most")) else f"{line['gap_most']:.1%}",
         "-" if pd.isna(line.get("most_mb")) else f"{line['most_mb']:.0f} ({line['before_butfor_mb']:.0f})")
        for _, line in lines.iterrows()
    ]  # fmt: skip
    head = (
        "model", "table", "leaves", "explainer, s", "rows", "proven", "median s", "longest s", "largest gap",
        "most MB (before butfor)",
    )  # fmt: skip
    return f"""### Models of the size that people have

{markdown(head, rows)}

{lines.iloc[0]["budget"]}. The explainer reads the model once. Memory is the most that a process held which loads the
model and its table and explains a row."""


def ocean(folder: Path) -> str:
    """OCEAN beside our answers to its own question."""
    lines = rows_of(read(folder, "rivals"))
    if lines.empty or not (lines["rival"] == "ocean").any():
        return ""
    versions = lines.loc[lines["rival"] == "ocean", "versions"].iloc[0]
    rows = []
    for table, pair in pairs(lines, CONTINUOUS, "ocean"):
        both = pair[pair["status_ours"].isin(PROVEN) & pair["status"].isin(PROVEN)]
        off = (both["cost"] - both["cost_ours"]).abs().max()
        rows.append(
            (table[0], len(pair), seconds(pair["seconds_ours"].median()), seconds(pair["seconds"].median()),
             times(pair["seconds"] / pair["seconds_ours"]), f"{pair['status_ours'].isin(PROVEN).sum()}",
             f"{pair['status'].isin(PROVEN).sum()}", "-" if both.empty else f"{off:.0e}")
        )  # fmt: skip
    head = ("table", "rows", "ours, s", "OCEAN, s", "OCEAN / ours", "proven: ours", "OCEAN", "costs differ by at most")
    limit = f"{lines_limit(folder):g} s a row"
    return f"""## Against OCEAN

OCEAN {versions["oceanpy"]} (CP-SAT of OR-Tools {versions["ortools"]}, two threads against our one) on the same fitted
forest of 100 trees of depth 5, the same rows and {limit}. OCEAN prices a number by its plain difference, so it is
given the forest with thresholds and columns scaled by range; and as it has no whole numbers on such a scale, both
answer with every number continuous. Its model is built before, as ours is.

{markdown(head, rows)}

Seconds are medians; the ratio is the median over rows, with its ends. Where OCEAN used up the time of a table on its
first rows it was asked about no further ones. On a busy machine two threads wait longer than one."""


def dice(folder: Path) -> str:
    """DiCE beside our answers: how long it guesses, and how dear."""
    lines = rows_of(read(folder, "rivals"))
    if lines.empty or not lines["rival"].str.startswith("dice").any():
        return ""
    versions = lines.loc[lines["rival"] == "dice_random", "versions"].iloc[0]
    rows = []
    for rival in ("dice_random", "dice_genetic"):
        for (table, model), pair in pairs(lines, "butfor", rival):
            answered = pair[pair["cost"].notna() & (pair["cost_ours"] > 0)]
            rows.append(
                (table, model, rival.removeprefix("dice_"), f"{len(answered)} of {len(pair)}",
                 seconds(pair["seconds"].median()), seconds(pair["seconds_ours"].median()),
                 times(pair["seconds"] / pair["seconds_ours"]), times(answered["cost"] / answered["cost_ours"]))
            )  # fmt: skip
    head = ("table", "model", "method", "answered", "DiCE, s", "ours, s", "time, DiCE / ours", "cost, DiCE / ours")
    return f"""## Against DiCE

DiCE {versions["dice-ml"]} guesses; four answers a row, of which the best by our cost counts. Same model, same rows.

{markdown(head, rows)}

Ratios are medians over rows, with their ends. A method that takes longer than {lines_limit(folder):g} s is stopped:
it has not answered."""


def growth(folder: Path) -> str:
    """The picture of how time grows."""
    lines = read(folder, "growth")
    if lines.empty:
        return ""
    where, longest = " and ".join(dict.fromkeys(lines["table"])), lines[~lines["status"].isin(PROVEN)]
    proven = "All of them were proven." if longest.empty else f"{len(longest)} of {len(lines)} were not proven in time."
    return f"""## How time grows

![Seconds against trees, depth and features]({PICTURE})

Each dot is a row of {where}, lines are medians; {lines["limit"].max():g} s a row. {proven}"""


def evaluator(folder: Path) -> str:
    """Ours against predict_proba."""
    lines = summaries(read(folder, "evaluator"))
    if lines.empty:
        return ""
    rows = [
        (line["model"], line["rows"], f"{bar['value'] * 1e6:,.0f}", f"{line['value'] * 1e6:,.0f}", f"{bar['ratio']:.1f}",
         f"{line['wish']:g}")
        for _, line in lines.iterrows()
        for bar in [line["against"]["predict_proba"]]
    ]  # fmt: skip
    head = ("forest", "rows", "`predict_proba`, µs", "ours, µs", "times faster", "aim")
    return f"""## The evaluator

The compiled sum of trees against `predict_proba` of scikit-learn, both on one thread ({lines.iloc[0]["data"]}).

{markdown(head, rows)}"""


def memory(folder: Path) -> str:
    """The most memory taken."""
    lines = summaries(read(folder, "memory"))
    if lines.empty:
        return ""
    rows = [
        (line["name"], line["leaves"], f"{line['value']:.0f}", f"{line['before_butfor']:.0f}", f"{line['wish']:.0f}")
        for _, line in lines.iterrows()
    ]
    head = ("ensemble", "leaves", "most, MB", "before butfor was loaded, MB", "aim")
    return f"""## Memory

The most that a process held which loads a model and its table, and explains a row.

{markdown(head, rows)}"""


def left_out(folder: Path) -> str:
    """What was not measured, and why."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = read(folder, path.stem)
        told = lines.loc[lines["kind"] == "left out", lines.columns.intersection(["table", "model", "why"])]
        for _, line in told.fillna("").iterrows():
            what = ", ".join(line[key] for key in ("table", "model") if line.get(key))
            found.append(f"- {path.stem}{': ' + what if what else ''}: {line['why']}")
        failed = lines[lines["status"] == "ERROR"] if {"rival", "status"} <= set(lines) else lines[:0]
        for (rival, table), group in failed.groupby(["rival", "table"]) if len(failed) else ():
            found.append(f"- {rival} on {table}, {len(group)} times: `{group.iloc[0]['why'].strip().splitlines()[-1]}`")
    return "## Left out\n\n" + "\n".join(found) if found else ""


def picture(folder: Path, path: Path) -> None:
    """Draw how time grows with trees, depth and features."""
    lines = read(folder, "growth")
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
    for ax, (axis, some) in zip(axes, lines.groupby("axis", sort=False), strict=False):
        sizes = list(dict.fromkeys("full" if pd.isna(size) else int(size) for size in some["size"]))
        place = {size: k for k, size in enumerate(sorted(sizes, key=lambda size: (size == "full", size)))}
        for number, (model, group) in enumerate(some.groupby("model", sort=False)):
            x = group["size"].map(lambda size, place=place: place["full" if pd.isna(size) else int(size)])
            proven = group["status"].isin(PROVEN)
            colour = f"C{number}"
            ax.plot(group["seconds"].groupby(x).median(), color=colour, label=f"{model}, {group.iloc[0]['table']}")
            ax.scatter(x[proven], group["seconds"][proven], s=12, color=colour)
            ax.scatter(x[~proven], group["seconds"][~proven], s=24, facecolors="none", edgecolors=colour)
        ax.set_xticks(list(place.values()), [str(size) for size in place])
        ax.set(xlabel=axis, yscale="log")
        ax.legend(fontsize=7)
    axes[0].set_ylabel("seconds a row (hollow: not proven)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Write the page and the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=Path, default=RESULTS / "ensembles", help="the folder with the JSON lines")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="the folder to write to")
    asked = parser.parse_args()
    asked.docs.mkdir(parents=True, exist_ok=True)
    (asked.docs / PAGE).write_text(page(asked.lines))
    picture(asked.lines, asked.docs / PICTURE)


if __name__ == "__main__":
    main()
