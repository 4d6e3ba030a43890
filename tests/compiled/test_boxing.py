"""No step of Python is made between the end of a kernel and the line that called it: a signal may raise in one."""

from __future__ import annotations

import importlib.util
import random
import signal
import sys
import time
from collections import Counter
from types import FrameType, ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from butfor.compiled.kernel import kernel

SECONDS = 0.5


SOURCE = """
from typing import NamedTuple
import numpy as np

class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray

class Result(NamedTuple):
    pair: Pair
    one: float
    mask: np.ndarray

def result(x):
    return Result(Pair(x, 2 * x), x[0], x > 0), (x + 1, x.astype(np.float32))
"""


@pytest.fixture(params=["butfor.solvers.linear.of_a_test", "of_a_test"])
def module(request, tmp_path, monkeypatch) -> ModuleType:
    """Of this package or not, with a kernel that was called once."""
    path = tmp_path / "of_a_test.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(request.param, path)
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, request.param, found)
    spec.loader.exec_module(found)
    found.ours = "butfor" in request.param
    found.kernel = kernel(found.result) if found.ours else numba.njit(nogil=True)(found.result)
    found.kernel(np.ones(3))
    return found


def test_results_are_those_of_python(module) -> None:
    x = np.array([3.0, -1.0])
    (found, arrays), (said, same) = module.kernel(x), module.result(x)
    assert [type(found), type(found.pair), type(found.one)] == [module.Result, module.Pair, float]
    assert repr((found.pair, found.one, found.mask, arrays)) == repr((said.pair, float(said.one), said.mask, same))


def test_classes_are_not_counted_up_with_each_result(module) -> None:
    kinds = (module.Pair, module.Result, np.ndarray)
    before = [sys.getrefcount(kind) for kind in kinds]
    for _ in range(1000):
        module.kernel(np.ones(3))
    more = [sys.getrefcount(kind) - b for kind, b in zip(kinds, before, strict=True)]
    assert max(map(abs, more[:2])) < 100
    assert abs(more[2]) < 100 or not module.ours, "numba counts the class of arrays up with each of them"


@pytest.mark.shorter(1)
def test_a_signal_is_handled_where_the_kernel_was_called(module) -> None:
    x = np.ones(3)
    assert (frames_of_signals(lambda: module.kernel(x)) <= {__file__}) is module.ours


@pytest.mark.long
def test_a_question_can_be_interrupted_at_any_moment() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomForestClassifier(50, max_depth=8, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, data=X)
    seconds = explainer.explain(X[0]).certificate.seconds
    draw, ended = random.Random(0), Counter[str]()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(20):
            signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.001, 2 * seconds))
            try:
                ended[explainer.explain(X[0]).certificate.status.name] += 1
            except KeyboardInterrupt:
                ended["raised"] += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert ended.total() == 20
    assert len(ended) > 1


def frames_of_signals(call: Any) -> set[str]:
    """The files whose code handled a signal while a function was called again and again."""
    found: Counter[str] = Counter()
    noting = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noting
        assert frame is not None
        if not noting:  # to look at a frame may call an audit hook, in which the next signal may be handled
            noting = True
            found[frame.f_code.co_filename] += 1
            noting = False

    before = signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for _ in range(100):
                call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert found.total() > 100
    return set(found)
