"""Logistic regression on Adult, whole numbers and categories: at least 2,000 exact explanations a second on one core."""

from __future__ import annotations

from collections.abc import Iterator

import butfor as bf
from benchmarks.data import adult, adult_linear
from benchmarks.harness import Number, main, seconds
from benchmarks.throughput import rates

IMMUTABLE = bf.fixed("age", "race", "sex", "native_country")


def measure(smoke: bool) -> Iterator[Number]:
    """Several costs, and a limit on the number of changes; the rate of `milp` on some of the same rows stands beside."""
    X, y, data = adult(smoke)
    explainer = bf.Explainer(adult_linear(X, y), data=X)
    rows, sample = X.head(100 if smoke else 20_000), X.head(5 if smoke else 100)
    for name, cost, constraints in (
        ("L1", bf.L1(), [IMMUTABLE]),
        ("L2", bf.L2(), [IMMUTABLE]),
        ("L1 + L0", bf.L1() + 0.1 * bf.L0(), [IMMUTABLE]),
        ("L1, at most two changes", bf.L1(), [IMMUTABLE, bf.at_most_changes(2)]),
    ):
        asked = {"cost": cost, "constraints": constraints}
        slow = seconds(lambda asked=asked: explainer.explain(sample, solver="milp", **asked), 1)[0]  # type: ignore[misc]
        against = {"limit": 2000.0, "milp": len(sample) / slow}
        yield from rates(name, explainer, rows, 1 if smoke else 3, against, data, **asked)


if __name__ == "__main__":
    main({"mixed_throughput": measure}, __doc__ or "")
