"""All benchmarks, one after the other."""

from benchmarks import (
    additive,
    batches,
    calibrated,
    checks,
    cold_start,
    compress,
    first_explanation,
    groups,
    import_time,
    latency,
    linear_throughput,
    linked,
    menus,
    mixed_throughput,
    portfolios,
    ratios,
    relations,
    reports,
    tree_throughput,
)  # fmt: skip
from benchmarks.harness import main

main(
    {
        "additive": additive.measure,
        "import_time": import_time.measure,
        "cold_start": cold_start.measure,
        "first_explanation": first_explanation.measure,
        "latency": latency.measure,
        "tree_throughput": tree_throughput.measure,
        "linear_throughput": linear_throughput.measure,
        "linked": linked.measure,
        "mixed_throughput": mixed_throughput.measure,
        "batches": batches.measure,
        "compress": compress.measure,
        "calibrated": calibrated.measure,
        "checks": checks.measure,
        "menus": menus.measure,
        "groups": groups.measure,
        "portfolios": portfolios.measure,
        "ratios": ratios.measure,
        "relations": relations.measure,
        "reports": reports.measure,
    },
    __doc__,
)
