"""Pictures are drawn without a screen, and libraries do not compete for processors."""

import os

import matplotlib as mpl

os.environ.setdefault("OMP_NUM_THREADS", "1")
mpl.use("Agg")
