"""What happens around a call: a process without a console, whose streams are None or closed, and Ctrl-C."""

from __future__ import annotations

import subprocess
import sys

import joblib
import pytest

from butfor.datasets import loans

SERVICE = """
import sys
import butfor as bf
from butfor.compiled.saying import say_unkept
from butfor.datasets import loans
X, y = loans.load()
explainer = bf.Explainer(loans.pipeline().fit(X, y), X)
{0}
say_unkept()
found = explainer.explain(X.iloc[:3], target="approved")
open({1!r}, "w").write(str(len(found)))
"""

WITHOUT = {
    "no streams": "sys.stdout = sys.stderr = None",
    "closed streams": "sys.stdout.close(); sys.stderr.close()",
}


@pytest.mark.long
@pytest.mark.parametrize("without", WITHOUT)
def test_a_service_gets_its_answers(without, tmp_path) -> None:
    told = tmp_path / "told.txt"
    subprocess.run([sys.executable, "-c", SERVICE.format(WITHOUT[without], str(told))], check=True, timeout=300)
    assert told.read_text() == "3"


@pytest.mark.long
def test_a_command_whose_output_is_closed_does_its_work(tmp_path) -> None:
    X, y = loans.load()
    joblib.dump(loans.pipeline().fit(X, y), tmp_path / "model.joblib")
    X.to_csv(tmp_path / "rows.csv", index=False)
    command = f"{sys.executable} -c 'from butfor.cli.commands import main; main()'"
    line = f"{command} explain model.joblib rows.csv --row 1 --target approved --html page.html >&-"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert "approved" in (tmp_path / "page.html").read_text()


NETWORK = """
import os, signal, threading, time, warnings
from sklearn.datasets import load_breast_cancer
from sklearn.neural_network import MLPClassifier
import butfor as bf
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = (X - X.mean()) / X.std()
model = MLPClassifier((40, 40), max_iter=100, random_state=0).fit(X, y)
explainer, rows = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[:8]
explainer.explain(rows.iloc[:1], time_limit=0.5)
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
found = explainer.explain(rows)
print(found.summary, all(one.found for one in found))
"""


@pytest.mark.long
def test_ctrl_c_ends_a_program_and_every_row_has_an_answer() -> None:
    """Proofs of all of these rows would take minutes."""
    done = subprocess.run([sys.executable, "-c", NETWORK], capture_output=True, text=True, timeout=100, check=True)
    assert "Ctrl-C ended it True" in done.stdout
