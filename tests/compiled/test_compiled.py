"""What is compiled, what is said of it, and what happens if it cannot be kept."""

from __future__ import annotations

import gc
import importlib.util
import logging
import pickle
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest
from numba.core import caching
from numba.core.caching import FunctionCache

from butfor.compiled import cache, clock, helper, saying
from butfor.compiled.kernel import kernel
from butfor.compiled.searches import SEARCHES
from butfor.errors import InputError
from butfor.warming import warm as warming
from butfor.warming.examples import SMALL_PROBLEMS

USER_PROVIDED = getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator
"""The private name is that of numba before 0.61."""

LINE = "butfor compiles its search for linear models, once: about 2 s, longer if the machine is busy\n"

SOURCE = """
def twice(x):
    return {}
twice.__module__ = "butfor.solvers.{}.kernels"
"""

EXPLAIN = """
import numpy as np
import butfor as bf
from sklearn.linear_model import LogisticRegression
X = np.random.default_rng(0).normal(size=(50, 3))
explainer = bf.Explainer(LogisticRegression().fit(X, X[:, 0] > 0), data=X)
assert explainer.explain(X[:1]).certificate.status is bf.Status.PROVEN_OPTIMAL
explainer.explain(X[1:2])
"""


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """An empty cache, of which nothing was said yet."""
    numba.config.reload_config()  # it would put the directory back if another test has set a variable of numba's meanwhile
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(saying, "_said", set())
    monkeypatch.setattr(helper, "_helpers", {})
    return tmp_path


def module(place: Path, does: str = "2 * x", search: str = "linear") -> ModuleType:
    """A module with a function, as another process would read it."""
    path = place / "twice.py"
    source = SOURCE.format(does, search)
    if (
        not path.exists() or path.read_text(encoding="utf-8") != source
    ):  # numba before 0.61 looks at the time of the file
        path.write_text(source, encoding="utf-8")
    sys.modules.pop("twice", None)
    spec = importlib.util.spec_from_file_location("twice", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), found.__dict__)
    return found


def fresh(place: Path, does: str = "2 * x", search: str = "linear") -> Any:
    """The function as a kernel that this process has not compiled."""
    return kernel(module(place, does, search).twice)


def loaded(found: Any) -> bool:
    """Whether a kernel came from the cache."""
    return bool(found.stats.cache_hits)


def test_compiling_is_said_once_and_never_again(place, capsys, caplog) -> None:
    with caplog.at_level(logging.INFO, "butfor"):
        first = fresh(place)
        assert (first(3), first(1.5)) == (6, 3.0)
    assert capsys.readouterr().err == LINE
    assert caplog.messages == [LINE.strip()]
    saying._said.clear()
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "butfor"):
        again = fresh(place)
        assert again(3) == 6
    assert loaded(again), caplog.messages
    assert capsys.readouterr().err == ""


def test_silence_leaves_the_log(place, capsys, caplog) -> None:
    with caplog.at_level(logging.INFO, "butfor"), saying.silence(True):
        fresh(place)(3)
    assert capsys.readouterr().err == ""
    assert caplog.messages == [LINE.strip()]


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("content", [b"", b"broken", None])
def test_a_broken_file_counts_as_missing_and_is_replaced(place, pattern, content) -> None:
    fresh(place)(3)
    (path,) = (place / "cache").rglob(pattern)
    path.write_bytes(path.read_bytes()[:-20] if content is None else content)
    assert fresh(place)(3) == 6
    last = fresh(place)
    assert last(3) == 6
    assert loaded(last)


def test_a_file_of_another_source_counts_as_missing(place) -> None:
    assert fresh(place)(3) == 6
    assert fresh(place, "200 * x")(3) == 600
    assert fresh(place, "2 * x")(3) == 6


def test_a_change_of_any_file_of_the_package_counts(place, monkeypatch) -> None:
    assert fresh(place)(3) == 6
    monkeypatch.setattr(cache, "_digest", lambda search: "another")
    found = fresh(place)
    assert found(3) == 6
    assert not loaded(found)


def test_a_file_of_another_numba_counts_as_missing(place) -> None:
    fresh(place)(3)
    (path,) = (place / "cache").rglob("*.nbi")
    path.write_bytes(pickle.dumps("0.1") + b"something else")
    assert fresh(place)(3) == 6


def test_without_a_place_every_process_compiles(place, monkeypatch, capsys) -> None:
    (place / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(place / "file" / "below"))
    monkeypatch.setattr(FunctionCache._impl_class, "_locator_classes", [USER_PROVIDED])
    assert fresh(place)(3) == 6
    said = capsys.readouterr().err
    assert said.startswith(LINE)
    assert "no directory for it can be written" in said
    assert "NUMBA_CACHE_DIR" in said
    assert cache.kept_in() is None
    with pytest.raises(InputError, match="NUMBA_CACHE_DIR"):
        warming.warm()


def test_a_place_that_is_lost_meanwhile_costs_nothing_but_time(place, monkeypatch, capsys) -> None:
    found = fresh(place)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    assert found(3) == 6
    assert "cannot keep what it compiles" in capsys.readouterr().err


def test_garbage_is_looked_for_again_after_compiling_even_if_it_fails(place) -> None:
    assert gc.isenabled()
    fresh(place)(3)
    assert gc.isenabled()
    with pytest.raises(numba.TypingError):
        fresh(place, "x.nothing")(3)
    assert gc.isenabled()


def test_the_clock_of_time_limits_stands_still_while_kernels_are_compiled_read_and_kept(place, monkeypatch) -> None:
    """Else the first call with a limit spends it on compiling, and its rows get no answers."""
    save = cache.KernelCache.save_overload

    def slowly(*arguments: Any) -> None:
        time.sleep(0.3)
        save(*arguments)

    monkeypatch.setattr(cache.KernelCache, "save_overload", slowly)

    def passed(work: Any) -> tuple[float, float]:
        real, ours = time.perf_counter(), clock.now()
        work()
        return time.perf_counter() - real, clock.now() - ours

    for work in (lambda: fresh(place)(3), lambda: fresh(place)(3)):  # it compiles, and reads what was compiled
        real, ours = passed(work)
        assert 0 <= ours < min(real, 0.3)
    with pytest.raises(numba.TypingError):
        fresh(place, "x.nothing")(3)
    assert passed(lambda: time.sleep(0.01))[1] >= 0.01, "the clock did not go on"
    clock.stop()
    clock.stop()
    clock.go()
    assert passed(lambda: time.sleep(0.01))[1] == 0.0, "it goes on only when all have ended"
    clock.go()
    assert passed(lambda: time.sleep(0.01))[1] >= 0.01


class Worker:
    """A process that compiles at its second look, or ends."""

    def __init__(self, work: Any) -> None:
        self.work, self.looks = work, 0

    def poll(self) -> int | None:
        self.looks += 1
        if self.looks == 2 and self.work is not None:
            self.work()
        return 1 if self.work is None else None


@pytest.fixture
def two_shares(monkeypatch) -> None:
    """A search whose only kernel is compiled by another process."""
    shares = SEARCHES["butfor.solvers.linear"]._replace(shares=((), ("twice",)))
    monkeypatch.setitem(SEARCHES, "butfor.solvers.linear", shares)
    monkeypatch.setattr(helper, "processors", lambda: 2)
    monkeypatch.delenv(helper.ALONE, raising=False)
    monkeypatch.setattr(helper, "_welcome", lambda: True)


def test_what_another_process_compiles_is_waited_for(place, two_shares, monkeypatch) -> None:
    source = module(place).twice

    def work() -> None:
        monkeypatch.setattr(helper, "is_at_work_on", lambda search, name: False)
        kernel(source)(3)

    worker = Worker(work)
    monkeypatch.setattr(helper, "start", lambda search, kernels: worker)
    found = kernel(source)
    assert found(3) == 6
    assert worker.looks == 2
    assert loaded(found)


def test_a_process_that_fails_is_not_waited_for(place, two_shares, monkeypatch) -> None:
    monkeypatch.setattr(helper, "start", lambda search, kernels: Worker(None))
    found = fresh(place)
    assert found(3) == 6
    assert not loaded(found)


def test_a_process_that_cannot_begin_is_done_without(place, two_shares, monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", str(place / "nothing"))
    assert fresh(place)(3) == 6


def test_a_process_is_not_begun_where_it_is_not_wanted(monkeypatch) -> None:
    monkeypatch.setattr(helper, "processors", lambda: 2)
    monkeypatch.delenv(helper.ALONE, raising=False)
    assert helper._welcome()
    monkeypatch.setenv(helper.ALONE, "1")
    assert not helper._welcome()
    monkeypatch.delenv(helper.ALONE)
    monkeypatch.setattr(helper, "processors", lambda: 1)
    assert not helper._welcome()


def test_every_search_has_an_example() -> None:
    assert set(SMALL_PROBLEMS) == set(SEARCHES)


def test_what_is_warm_is_not_begun_again_until_a_file_is_missing_or_changed(place, monkeypatch) -> None:
    begun: list[str] = []

    def compiled(shares: Any, advance: Any) -> None:
        begun.append("")
        fresh(place)(1.0)

    monkeypatch.setattr(warming, "_run", compiled)
    kept = warming.warm()
    warming.warm()
    assert len(begun) == 1
    next(kept.rglob("*.nbc")).unlink()
    warming.warm()
    warming.warm()
    assert len(begun) == 2
    noted = next(kept.rglob("warmed.json"))
    for content in ("{", "[]", noted.read_text().replace('"of": "', '"of": "0')):
        noted.write_text(content)
        warming.warm()
        warming.warm()
    assert len(begun) == 2 + 3


def process(place: Path, code: str) -> subprocess.Popen[str]:
    """A process with its own cache, which tells whether it compiles."""
    environment = {**helper_environment(), "NUMBA_CACHE_DIR": str(place)}
    return subprocess.Popen(
        [sys.executable, "-W", "error::ResourceWarning", "-c", code],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def helper_environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.slow
@pytest.mark.long
def test_two_processes_compile_at_once_and_a_third_need_not(tmp_path) -> None:
    both = [process(tmp_path, EXPLAIN) for _ in range(2)]
    for one in both:
        said = one.communicate()[1]
        assert one.returncode == 0, said
        assert said.count(LINE) == 1
    third = process(tmp_path, EXPLAIN)
    assert third.communicate()[1] == ""
    assert third.returncode == 0
