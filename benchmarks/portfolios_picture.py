"""Draw what `python -m benchmarks.portfolios` found: the memory of a process by the number of rows.

It is apart, since the processes that are measured must not load what draws.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from benchmarks.harness import RESULTS, ROOT
from benchmarks.portfolios import MEGABYTES


def picture(results: Path, path: Path) -> None:
    """The picture of a file of results."""
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for who, marker in (("driver", "o"), ("worker", "s")):
        its = sorted((one["rows"], one["value"]) for one in lines if one["name"].endswith(f"memory of a {who}"))
        ax.plot(*zip(*its, strict=True), marker=marker, label=who)
    ax.axhline(MEGABYTES, linestyle="--", color="gray", label="limit")
    ax.set(xscale="log", ylim=(0, 1.1 * MEGABYTES), xlabel="rows", ylabel="most memory in use, MB")
    ax.legend(loc="lower right")
    fig.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(fig)


if __name__ == "__main__":
    picture(
        RESULTS / "portfolios.jsonl", Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs/images/portfolios-memory.png"
    )
