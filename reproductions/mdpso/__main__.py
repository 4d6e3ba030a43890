"""`python -m reproductions.mdpso` writes results/*.jsonl, a file a data set, and results/tables.md from all of them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.harness import of_this_commit
from benchmarks.rivals import environment, named
from reproductions.mdpso.sets import SOURCES, data_sets
from reproductions.mdpso.tables import COLUMNS, SEEDS, Line, lines, page


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    parser.add_argument("--seeds", type=int, help="how many seeds the swarm has (rivals at most three; default: 10)")
    parser.add_argument("--set", action="append", choices=SOURCES, help="only this data set (may be repeated)")
    return parser.parse_args()


def main() -> None:
    """All of it; every line is written as soon as it is known, and not made again for the same commit."""
    asked = arguments()
    out = asked.out or (None if asked.smoke else Path(__file__).parent / "results")
    if out:
        out.mkdir(parents=True, exist_ok=True)
    python, why = environment(None if asked.smoke else named())
    if why:
        print(f"DiCE is left out: {why}", flush=True)
    for of in data_sets(asked.smoke):
        if asked.set and of.name not in asked.set:
            continue
        path = None if out is None else out / f"{of.name.lower().replace('-', '_')}.jsonl"
        found: list[Line] = [] if path is None else of_this_commit(path)
        for line in lines(of, asked.smoke, python, asked.seeds or (2 if asked.smoke else SEEDS), tuple(found)):
            found.append(line)
            print(of.name, {key: line.get(key) for key in ("method", "seed", "row", "gap", *COLUMNS)}, flush=True)
            if out and path:
                path.write_text("".join(json.dumps(one) + "\n" for one in found))
                (out / "tables.md").write_text(page(_known(out)))


def _known(out: Path) -> list[Line]:
    """What all files say, in the order of the data sets."""
    order = {name: place for place, name in enumerate(SOURCES)}
    every = [json.loads(line) for path in out.glob("*.jsonl") for line in path.read_text().splitlines()]
    return sorted(every, key=lambda line: order.get(line["set"], len(order)))


if __name__ == "__main__":
    main()
