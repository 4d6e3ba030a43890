"""`butfor dossier`: what it writes is verified by its own commands, and what is wrong is said before any work."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import joblib
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from butfor.cli import app
from butfor.datasets import loans
from tests.applicant import MODEL, X
from tests.validation.test_dossier import FILES, without_times

ASKED = ["--target", "approved", "-c", "fixed age, sex", "--groups", "sex", "--groups", "housing", "--sample", "12"]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with models, tables, rules and words."""
    folder = tmp_path_factory.mktemp("command")
    joblib.dump(MODEL, folder / "model.joblib")
    shallow = loans.pipeline().set_params(tree__max_depth=3, tree__random_state=0)
    joblib.dump(shallow.fit(X, MODEL.predict(X)), folder / "other.joblib")
    X.to_csv(folder / "loans.csv", index=False)
    X.head(5).to_csv(folder / "few.csv", index=False)
    (folder / "rules.toml").write_text('target = "approved"\nconstraints = ["fixed age, sex"]\n')
    (folder / "words.toml").write_text('[columns.income]\nlabel = "yearly income"\n')
    numbers = X[["age", "income"]].dropna()
    joblib.dump(DecisionTreeClassifier(max_depth=3).fit(numbers, numbers["income"] > 30_000), folder / "two.joblib")
    joblib.dump(IsolationForest(n_estimators=5, random_state=0).fit(numbers), folder / "forest.joblib")
    numbers.to_csv(folder / "two.csv", index=False)
    return folder


def run(made: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    """Run the command in the folder."""
    monkeypatch.chdir(made)
    return CliRunner().invoke(app, [*words], prog_name="butfor")


def asked(made: Path, monkeypatch: pytest.MonkeyPatch, out: Path, *words: str) -> Any:
    """Ask for a dossier in another folder."""
    return run(made, monkeypatch, "dossier", "model.joblib", "loans.csv", "--out", str(out), *words)


@pytest.mark.long
def test_its_own_commands_verify_it(made, monkeypatch, tmp_path) -> None:
    home = tmp_path / "dossier"
    done = asked(made, monkeypatch, home, *ASKED, "--title", "Loans, May", "--quiet")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Loans, May\n")
    assert done.stderr == ""
    assert {one.name for one in home.iterdir()} == FILES
    sections = json.loads((home / "dossier.json").read_text("utf-8"))["sections"]
    files = {one["what"]: one for one in sections["origin"]["tables"]["files"]["lines"]}
    for what, name in (("model", "model.joblib"), ("data", "loans.csv")):
        assert files[what]["name"] == name
        assert files[what]["sha256"] == sha256((made / name).read_bytes()).hexdigest()
        shutil.copy(made / name, home)
    sums, pins, *others = [one["command"] for one in sections["verify"]["commands"]]
    assert (
        subprocess.run(shlex.split(sums), cwd=home, check=True, capture_output=True, text=True).stdout.count("OK") == 4
    )
    assert pins.startswith("pip install butfor==")
    check, prove, checker, again = others
    for command in (check, prove, again):
        said = run(home, monkeypatch, *shlex.split(command)[1:])
        assert said.exit_code == 0, said.output
        assert "FAILED" not in said.output
    words = [sys.executable, *shlex.split(checker)[1:]]
    checked = subprocess.run(words, cwd=home, check=True, capture_output=True, text=True)
    able = 12 - sections["limits"]["limits"].get("no_proof_files", {"value": 0})["value"]
    assert able > 8
    assert f"{able} of {able}" in checked.stdout
    repeated = json.loads((home / "again" / "dossier.json").read_text("utf-8"))["sections"]
    assert without_times(repeated) == without_times(sections)


@pytest.mark.long
def test_another_model_does_not_pass_the_check(made, monkeypatch, tmp_path) -> None:
    asked(made, monkeypatch, tmp_path / "dossier", *ASKED, "--quiet")
    said = run(made, monkeypatch, "check", str(tmp_path / "dossier" / "answers.jsonl"), "other.joblib", "--quiet")
    assert said.exit_code == 1
    assert "FAILED - the model is the one that was explained" in said.output


@pytest.mark.long
def test_rules_words_and_a_training_table_are_read_and_named(made, monkeypatch, tmp_path) -> None:
    done = run(
        made, monkeypatch, "dossier", "model.joblib", "few.csv", "--out", str(tmp_path / "dossier"), "--training",
        "loans.csv", "--rules", "rules.toml", "--words", "words.toml", "--sample", "1.0", "--target", "rejected",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "target" in done.stderr
    done = run(
        made, monkeypatch, "dossier", "model.joblib", "loans.csv", "--out", str(tmp_path / "dossier"), "--training",
        "loans.csv", "--rules", "rules.toml", "--words", "words.toml", "--sample", "0.05",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    sections = json.loads((tmp_path / "dossier" / "dossier.json").read_text("utf-8"))["sections"]
    files = [one["what"] for one in sections["origin"]["tables"]["files"]["lines"]]
    assert files == ["model", "data", "training", "rules", "words", "the answers"]
    assert sections["question"]["facts"]["constraints"]["value"] == ["fixed('age', 'sex')"]
    assert [one[0] for one in sections["reading"]["tables"]["columns"]["texts"] if one[0] not in X] == ["yearly income"]
    command = sections["verify"]["commands"][-1]["command"]
    assert "--rules rules.toml --words words.toml --training loans.csv --sample 0.05" in command


def test_the_check_is_told_of_forests(made, monkeypatch, tmp_path) -> None:
    done = run(made, monkeypatch, "dossier", "two.joblib", "two.csv", "--out", str(tmp_path / "dossier"), "--target", "True",
               "--plausible", "forest.joblib", "--sample", "2")  # fmt: skip
    assert done.exit_code == 0, done.output
    sections = json.loads((tmp_path / "dossier" / "dossier.json").read_text("utf-8"))["sections"]
    commands = [one["command"] for one in sections["verify"]["commands"]]
    check = "butfor check answers.jsonl two.joblib --plausible forest.joblib"
    assert check in commands
    for name in ("two.joblib", "forest.joblib"):
        shutil.copy(made / name, tmp_path / "dossier")
    assert run(tmp_path / "dossier", monkeypatch, *shlex.split(check)[1:]).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--groups", "colour"], "groups='colour' was given"),
        (["--sample", "none"], "--sample none"),
        (["--sample", "0"], "sample=0 was given"),
        (["--time-limit-per-row", "0"], "time_limit_per_row=0.0 was given"),
        (["--rules", "no-such.toml"], "no-such.toml"),
        (["--target", "granted"], "granted"),
    ],
)
def test_wrong_words_give_one_line_and_no_folder(words, said, made, monkeypatch, tmp_path) -> None:
    done = asked(made, monkeypatch, tmp_path / "dossier", *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert not [*tmp_path.iterdir()]


def test_few_rows_and_a_folder_that_is_there_are_refused(made, monkeypatch, tmp_path) -> None:
    done = run(made, monkeypatch, "dossier", "model.joblib", "few.csv", "--out", str(tmp_path / "dossier"))
    assert done.exit_code == 2
    assert "few.csv has 5 rows, and no other table was given." in done.stderr
    (tmp_path / "mine.txt").write_text("mine")
    done = run(made, monkeypatch, "dossier", "no-such-model.joblib", "loans.csv", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert "is there already, and not empty" in done.stderr
