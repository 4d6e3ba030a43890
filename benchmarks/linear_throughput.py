"""A linear model of 100 continuous columns: at least 20,000 exact explanations a second on one core."""

from __future__ import annotations

from collections.abc import Iterator

import butfor as bf
from benchmarks.data import hundred
from benchmarks.harness import Number, main
from benchmarks.throughput import rates


def measure(smoke: bool) -> Iterator[Number]:
    """L1, L2 and L-infinity."""
    X, model = hundred(200 if smoke else 20_000)
    explainer = bf.Explainer(model, data=X)
    for cost in (bf.L1(), bf.L2(), bf.LInf()):
        repeats = 1 if smoke else 7
        yield from rates(repr(cost), explainer, X, repeats, {"limit": 20_000.0}, "generated", cost=cost)


if __name__ == "__main__":
    main({"linear_throughput": measure}, __doc__ or "")
