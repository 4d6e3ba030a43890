"""Measure sums of trees; every line is written as soon as it is known."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from benchmarks.data import TABLES
from benchmarks.ensembles import bigger, evaluator, exact, growth, memory, regions, rivals, treecf, veritas
from benchmarks.ensembles.scale import SMOKE, Line, Scale
from benchmarks.harness import RESULTS, head

PARTS = {
    "evaluator": evaluator.measure,
    "memory": memory.measure,
    "exact": exact.measure,
    "rivals": rivals.measure,
    "treecf": treecf.measure,
    "veritas": veritas.measure,
    "regions": regions.measure,
    "growth": growth.measure,
    "bigger": bigger.measure,
}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part (may be repeated)")
    parser.add_argument("--table", action="append", choices=TABLES, help="only this table (may be repeated)")
    parser.add_argument("--rows", type=int, help="rows a model")
    parser.add_argument("--rival-rows", type=int, help="rows a model that a rival is asked about")
    parser.add_argument("--limit", type=float, help="seconds a row may take")
    parser.add_argument("--patience", type=float, help="seconds after which no further row of a model is begun")
    return parser.parse_args()


def scale(asked: argparse.Namespace) -> Scale:
    """How much is measured."""
    chosen = SMOKE if asked.smoke else Scale()
    given = {
        "tables": asked.table, "rows": asked.rows, "rival_rows": asked.rival_rows, "limit": asked.limit,
        "patience": asked.patience,
    }  # fmt: skip
    return replace(chosen, **{name: value for name, value in given.items() if value is not None})


def shown(line: Line) -> str:
    """A line for the screen: what it says, without the machine."""
    hidden = {"machine", "commit", "dirty", "data", "versions", "kind", "seed", "budget", "repeats"}
    return " ".join(f"{key}={value}" for key, value in line.items() if key not in hidden)


def main() -> None:
    """Run the parts."""
    asked = arguments()
    folder = asked.out or (None if asked.smoke else RESULTS / "ensembles")
    for name in asked.part or PARTS:
        lines = []
        for line in PARTS[name](scale(asked)):
            print(f"{name}: {shown(line)}", flush=True)
            lines.append(json.dumps({**head(f"ensembles/{name}", asked.smoke), **line}) + "\n")
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}.jsonl").write_text("".join(lines))


main()
