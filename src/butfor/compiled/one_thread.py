"""How to start a process whose libraries use one thread each."""

from __future__ import annotations

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS",
    ),
    "1",
)  # fmt: skip
"""What tells libraries to use one thread. They read it when they are loaded."""
