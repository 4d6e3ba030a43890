"""`python -m reproductions.fcca [set ...]` writes results/folds.jsonl, results/tables.md and the pictures.

Lines of sets that are not named stay as they are. "beyond" names the table beyond the paper.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """All of it; the lines of a set are written as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help='such as "Boston" or "beyond" (default: all); "none" only draws anew')
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    asked = parser.parse_args()
    mpl.use("Agg")
    from reproductions.fcca import beyond, figures, folds, tables
    from reproductions.fcca.sets import data_sets

    out = asked.out or (None if asked.smoke else RESULTS)
    found = _known(out / "folds.jsonl", asked.sets) if out and asked.sets else []

    def keep(lines: list[dict[str, Any]]) -> None:
        found.extend(lines)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            (out / "folds.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
            (out / "tables.md").write_text(tables.page(found))

    keep([])
    for one in data_sets(asked.smoke):
        if not asked.sets or one.name in asked.sets:
            made = []
            for line in folds.lines(one, asked.smoke):
                made.append(line | {"about": one.about, "paper": one.paper})
                if line["kind"] == "model":
                    told = {key: line[key] for key in ("set", "model", "fold", "accuracy", "seconds", "rows", "proven")}
                    print(told, flush=True)
            keep(made)
    if not asked.sets or "beyond" in asked.sets:
        for line in beyond.lines(asked.smoke):
            print({key: value for key, value in line.items() if key != "told"}, flush=True)
            keep([line])
    if out:
        figures.draw(out, found)


def _known(path: Path, sets: list[str]) -> list[dict[str, Any]]:
    """The lines of other sets that were written before."""
    text = path.read_text() if path.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if (line["set"] if line["kind"] != "beyond" else "beyond") not in sets]


if __name__ == "__main__":
    main()
