"""All of them, one after the other: `python -m benchmarks.swarm`."""

from benchmarks.harness import main
from benchmarks.swarm import gap, overhead, prediction

main({"swarm_overhead": overhead.measure, "swarm_prediction": prediction.measure, "swarm_gap": gap.measure}, __doc__)
