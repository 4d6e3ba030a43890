"""All of them, one after the other: `python -m benchmarks.swarm`; RIVAL_PYTHON names a Python 3.12 for DiCE."""

from benchmarks.harness import main
from benchmarks.swarm import gap, overhead, prediction, rivals

main(
    {
        "swarm_overhead": overhead.measure,
        "swarm_prediction": prediction.measure,
        "swarm_gap": gap.measure,
        "swarm_rivals": rivals.measure,
    },
    __doc__,
)
