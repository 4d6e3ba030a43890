"""Whoever does the parts, and whoever dies while they are done: the folder is the same in the end."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import butfor as bf
from tests.portfolio.asked import explainer, rows, same

SCRIPT = """
import os, sys, time
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info
import butfor as bf

HOME = os.getpid()

class Slow:
    '''A model of a script: it takes a while for each call, and other processes cannot import it.'''
    classes_ = np.array([False, True])
    def predict(self, X):
        time.sleep({pause})
        if os.getpid() != HOME:
            assert all(pool["num_threads"] == 1 for pool in threadpool_info()), "a library uses several threads"
            assert os.environ["NUMBA_NUM_THREADS"] == "1"
        return X["a"].to_numpy() > 0.5

X = pd.DataFrame({{"a": np.linspace(0, 1, 101), "b": np.linspace(1, 0, 101)}}).round(2)
explainer = bf.Explainer(Slow(), X)
real = bf.candidates(X)
made = explainer.portfolio(X[:{rows}], sys.argv[1], constraints=[real], rows_per_part=2, n_jobs={jobs}, progress=False)
print(made.reached)
"""


def started(
    folder: Path, *, pause: float = 0.0, rows: int = 24, jobs: int = 2, **options: Any
) -> subprocess.Popen[str]:
    script = folder.parent / f"script_{pause}_{rows}_{jobs}.py"
    script.write_text(SCRIPT.format(pause=pause, rows=rows, jobs=jobs))
    own = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options}
    return subprocess.Popen([sys.executable, str(script), str(folder)], **own)


def ended(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    return out


def until_some_parts_stand(folder: Path, count: int) -> None:
    begin = time.monotonic()
    while len(bf_parts(folder)) < count:
        assert time.monotonic() - begin < 120, "no part was done"
        time.sleep(0.02)


def bf_parts(folder: Path) -> list[Path]:
    return sorted((folder / "parts").glob("part-*.parquet"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder as one process makes it when nobody disturbs it."""
    made = tmp_path_factory.mktemp("whole") / "out"
    ended(started(made, jobs=1))
    return made


@pytest.mark.long
def test_a_model_that_a_script_defines_goes_to_other_processes(whole: Path, tmp_path: Path) -> None:
    assert "24 of 24 rows are done" in ended(started(tmp_path / "out"))  # the script has no `if __name__ == "__main__"`
    assert same(whole, tmp_path / "out")
    assert not [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
    assert not list((tmp_path / "out" / "leases").iterdir())


@pytest.mark.long
@pytest.mark.parametrize("who", ["both", *(pytest.param(one, marks=pytest.mark.long) for one in ("driver", "worker"))])
def test_a_kill_loses_nothing_and_doubles_nothing(who: str, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = started(folder, pause=0.02)
    until_some_parts_stand(folder, 2)
    workers = children(process.pid)
    assert len(workers) == 2
    if who in ("worker", "both"):
        os.kill(workers[0], signal.SIGKILL)
    if who in ("driver", "both"):
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
        gone(workers)
        assert len(bf_parts(folder)) < 12
        ended(started(folder, pause=0.02))
    else:
        ended(process)
    assert same(whole, folder)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(50))
def test_a_kill_at_any_moment(seed: int, whole: Path, tmp_path: Path) -> None:
    """Workers and drivers are killed again and again, each at a moment of its own, until a call gets through."""
    rng, folder, killed = np.random.default_rng(seed), tmp_path / "out", 0
    while killed < 4:
        process = started(folder, pause=0.01)
        time.sleep(float(rng.uniform(1.0, 5.0)))
        victims = [process.pid, *children(process.pid)] if process.poll() is None else []
        if not victims:
            process.communicate()
            break
        for victim in rng.permutation(victims)[: rng.integers(1, len(victims) + 1)].tolist():
            os.kill(victim, signal.SIGKILL)
            killed += 1
        process.communicate(timeout=120)
    ended(started(folder))
    assert same(whole, folder)


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def gone(processes: list[int]) -> None:
    """Wait until processes have ended by themselves."""
    begin = time.monotonic()
    while any(alive(process) for process in processes):
        assert time.monotonic() - begin < 60, "a worker outlived its caller"
        time.sleep(0.02)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.long
def test_two_calls_at_once_share_the_work(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    first = started(folder, pause=0.02, jobs=1)
    until_some_parts_stand(folder, 1)
    second = started(folder, pause=0.02, jobs=1)
    assert "24 of 24" in ended(first)
    assert "24 of 24" in ended(second)
    assert same(whole, folder)


@pytest.mark.long
def test_ctrl_c_ends_after_the_running_parts(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = started(folder, pause=0.02)
    until_some_parts_stand(folder, 2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert "ends after the running parts" in out
    done = len(bf_parts(folder))
    assert done < 12
    assert f"{2 * done} of 24 rows are done" in out
    for row in first_rows(folder):
        assert bf.load(folder).of(row).found.all()


@pytest.mark.long
def test_ctrl_c_twice_ends_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    process = started(folder, pause=0.1)
    until_some_parts_stand(folder, 1)
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    gone(workers)
    assert all(one.of(int(row)) is not None for one in [bf.load(folder)] for row in first_rows(folder))


def first_rows(folder: Path) -> list[int]:
    return [2 * int(path.stem.removeprefix("part-")) for path in bf_parts(folder)]


class Deadly:
    """A model that ends its process when it meets a row."""

    classes_ = (False, True)

    def __init__(self, home: int) -> None:
        self.home = home

    def predict(self, X: Any) -> Any:
        if os.getpid() != self.home and (X["debt"] == 77.0).any():
            os.kill(os.getpid(), signal.SIGKILL)
        return explainer().model.predict(X)


@pytest.mark.long
def test_rows_that_end_their_process_are_told(tmp_path: Path) -> None:
    bad = rows(20)
    bad.loc[13, "debt"] = 77.0
    own = bf.Explainer(bf.black_box(Deadly(os.getpid()).predict, classes=[False, True]), rows(60))
    made = own.portfolio(bad, tmp_path / "out", constraints=[bf.candidates(rows(60))], n_jobs=2, rows_per_part=5)
    assert made.reached.complete
    assert made.errors()["row"].to_pylist() == [10, 11, 12, 13, 14]
    assert "ended 2 times" in made.errors()["error"][0].as_py()


@pytest.mark.long
def test_any_executor_of_processes(tmp_path: Path) -> None:
    explainer().portfolio(rows(), tmp_path / "here", rows_per_part=15, n_jobs=1)
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawned) as executor:
        made = explainer().portfolio(rows(), tmp_path / "there", rows_per_part=15, executor=executor)
    assert made.reached.complete
    assert same(tmp_path / "here", tmp_path / "there")


def test_an_executor_of_threads_is_refused(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(TypeError, match="an executor of threads was given"):
        explainer().portfolio(rows(), tmp_path / "out", executor=executor)
    assert not (tmp_path / "out").exists()


def test_a_model_that_cannot_be_sent_is_told_before_any_work(tmp_path: Path) -> None:
    import threading

    lock = threading.Lock()

    def locked(X: Any) -> Any:
        with lock:
            return explainer().model.predict(X)

    own = bf.Explainer(bf.black_box(locked, classes=[False, True]), rows(60))
    with pytest.raises(TypeError, match="cannot be sent to other processes"):
        own.portfolio(rows(4), tmp_path / "out", constraints=[bf.candidates(rows(60))], n_jobs=2)
    assert own.portfolio(rows(4), tmp_path / "out", constraints=[bf.candidates(rows(60))], n_jobs=1).reached.complete


def test_a_task_that_was_changed_is_not_read(tmp_path: Path) -> None:
    from butfor.portfolio.part import Sent, do

    (tmp_path / "task").write_bytes(b"something")
    with pytest.raises(bf.errors.InputError, match="was changed since it was written"):
        do(Sent(str(tmp_path / "task"), "0" * 64), 0)


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from butfor.portfolio import folder

    explainer().portfolio(rows(), tmp_path / "whole", rows_per_part=10, n_jobs=1)
    count, on_disk = 0, folder._on_disk

    def full(path: Path) -> None:
        nonlocal count
        count += path.name.startswith(".part")
        if count == 3:
            raise OSError(28, "No space left on device", str(path))
        on_disk(path)

    with monkeypatch.context() as patched:
        patched.setattr(folder, "_on_disk", full)
        with pytest.raises(OSError, match="No space left on device"):
            explainer().portfolio(rows(), tmp_path / "out", rows_per_part=10, n_jobs=1)
    assert not (tmp_path / "out" / "parts" / "part-00000002.parquet").exists()
    assert not [path for path in (tmp_path / "out" / "parts").iterdir() if path.name.startswith(".")]
    explainer().portfolio(rows(), tmp_path / "out", rows_per_part=10, n_jobs=1)
    assert same(tmp_path / "whole", tmp_path / "out")


@pytest.mark.long
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=120k", "tmpfs", str(small)]
    if subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("only root may make a small disk")
    try:
        rows(60).to_parquet(tmp_path / "rows.parquet")
        asked = {"rows": tmp_path / "rows.parquet", "rows_per_part": 5, "n_jobs": 1}
        with pytest.raises(OSError, match="No space left"):
            explainer().portfolio(out=small / "out", **asked)
        done = bf.load(small / "out").reached.done
        assert 0 < done < 60
        assert not [path for path in (small / "out" / "parts").iterdir() if path.name.startswith(".")]
        shutil.copytree(small / "out", tmp_path / "larger")
        explainer().portfolio(out=tmp_path / "larger", **asked)
        explainer().portfolio(out=tmp_path / "whole", **asked)
        assert same(tmp_path / "whole", tmp_path / "larger")
    finally:
        subprocess.run(["umount", str(small)], check=True)


class Client:
    """A client of Dask whose workers have another Python."""

    def get_executor(self, **options: Any) -> Any:
        raise AssertionError("nothing is asked of it")

    def run(self, function: Any) -> dict[str, dict[str, str]]:
        return {"tcp://there:1": {**function(), "python": "3.9.1"}}


def test_workers_of_another_python_are_refused(tmp_path: Path) -> None:
    with pytest.raises(bf.errors.InputError, match=r"the worker tcp://there:1 has python 3\.9\.1"):
        explainer().portfolio(rows(), tmp_path / "out", client=Client())


DASK = """
import os, signal, sys, threading
from pathlib import Path
from dask.distributed import Client, LocalCluster
from tests.portfolio.asked import explainer, rows, same

if __name__ == "__main__":
    home = Path(sys.argv[1])
    explainer().portfolio(rows(), home / "here", rows_per_part=1, n_jobs=1)
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        worker = min(client.run(os.getpid).values())
        threading.Timer(0.5, lambda: os.kill(worker, signal.SIGKILL)).start()
        explainer().portfolio(rows(), home / "there", rows_per_part=1, client=client)
        assert worker not in client.run(os.getpid).values(), "it was killed too late"
    assert same(home / "here", home / "there")
"""


@pytest.mark.long
def test_a_worker_of_dask_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", DASK, str(tmp_path)], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
