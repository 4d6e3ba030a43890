"""Pictures are drawn without a screen and closed afterwards, and libraries do not compete for processors."""

import os
import sys

import matplotlib as mpl
import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
mpl.use("Agg")


@pytest.fixture(autouse=True)
def _pictures_are_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
