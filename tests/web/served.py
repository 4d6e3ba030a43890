"""The server of the what-if page, in a process of its own, over the loan table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import joblib
from sklearn.ensemble import RandomForestClassifier

from butfor.datasets import loans


class Served:
    """A server in a process of its own.

    - `more`: further words of the command;
    - `workers`: how many processes answer;
    - `truth`: whether the classes are true and false, and no words.
    """

    def __init__(self, folder: Path, *more: str, workers: int = 1, truth: bool = False) -> None:
        X, y = loans.load()
        y = y == "approved" if truth else y
        forest = RandomForestClassifier(30, max_depth=5, random_state=0)
        joblib.dump(loans.pipeline().set_params(tree=forest).fit(X, y), folder / "model.joblib")
        X.to_csv(folder / "data.csv", index=False)
        (folder / "rules.toml").write_text(
            '[columns.age]\nfrozen = true\n[columns.amount]\nlabel = "Amount"\nunit = "EUR"\n'
        )
        more = ("--workers", str(workers), *more)
        command = ["serve", "model.joblib", "data.csv", "--rules", "rules.toml", "--port", "0", *more]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "butfor", *command],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def workers(self) -> list[int]:
        """The processes that answer."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
