"""What butfor promises in numbers, measured: one script per claim, `python -m benchmarks` runs all.

Everything here is measured on one thread, so the thread counts are set before numpy and numba are loaded.
"""

import os

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
)
