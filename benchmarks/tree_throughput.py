"""One axis-aligned tree, CART of depth 12 on Adult: at least 20,000 exact explanations a second on one core."""

from __future__ import annotations

from collections.abc import Iterator

import butfor as bf
from benchmarks.data import adult, adult_tree
from benchmarks.harness import Number, main
from benchmarks.latency import PAPER
from benchmarks.throughput import rates

AGAINST = {"limit": 20_000.0, "paper": 1 / PAPER}


def measure(smoke: bool) -> Iterator[Number]:
    """L1, L2, and L1 with immutable columns."""
    X, y, data = adult(smoke)
    explainer = bf.Explainer(adult_tree(X, y), data=X)
    rows = X.head(200 if smoke else 20_000)
    for name, cost, constraints in (
        ("L1", bf.L1(), []),
        ("L2", bf.L2(), []),
        ("L1, race and sex fixed", bf.L1(), [bf.fixed("race", "sex")]),
    ):
        repeats = 1 if smoke else 7
        yield from rates(name, explainer, rows, repeats, AGAINST, data, cost=cost, constraints=constraints)


if __name__ == "__main__":
    main({"tree_throughput": measure}, __doc__ or "")
