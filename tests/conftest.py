"""Pictures are drawn without a screen and closed afterwards, and libraries do not compete for processors."""

import gc
import os
import sys
import time
from collections.abc import Generator

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded, which reads it then

import matplotlib as mpl
import pytest
from _pytest.doctest import DoctestModule

from butfor.compiled import clock
from tests.shorter import leave_to_the_long_run

mpl.use("Agg")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is made for the tests stays to the end: Python never looks for garbage in it, neither now nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """No examples are looked for in the docstrings of tests."""
    return [each for each in (yield) if not isinstance(each, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before tests are chosen by their marks."""
    leave_to_the_long_run(items)


@pytest.fixture(autouse=True)
def _pictures_are_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


class QuickClock:
    """The clock of time limits, which goes on without anybody waiting. Work takes the time that it takes."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def perf_counter(self) -> float:
        return time.perf_counter() + self.ahead

    def sleep(self, seconds: float) -> None:
        self.ahead += seconds


@pytest.fixture
def quick_clock(monkeypatch: pytest.MonkeyPatch) -> QuickClock:
    """Instead of waiting: `quick_clock.sleep(5.0)`."""
    made = QuickClock()
    monkeypatch.setattr(clock, "time", made)
    return made
