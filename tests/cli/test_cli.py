"""The command, in process: what it prints, what it writes, how it ends, and what it says to a wrong question."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_diabetes
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import butfor as bf
from butfor.cli import app
from butfor.datasets import loans
from butfor.records.schema import sealed
from butfor.solvers.linear import kernels as linear_kernels
from butfor.solvers.tree import kernels as tree_kernels

ALL, Y = loans.load()
X = ALL.head(300)
POSSIBLE = ["--constraint", "fixed sex,age,late_payments", "-c", "only_up education"]
ASKED = ["explain", "model.joblib", "loans.csv", "--row", "206", "--target", "approved", *POSSIBLE]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with models and tables."""
    folder = tmp_path_factory.mktemp("command")
    model = loans.pipeline().fit(ALL, Y)
    joblib.dump(model, folder / "model.joblib")
    joblib.dump(loans.pipeline().set_params(tree__max_depth=3).fit(ALL, Y), folder / "other.joblib")
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    joblib.dump({"weights": [1, 2]}, folder / "dict.joblib")
    joblib.dump(loans.pipeline(), folder / "unfitted.joblib")
    (folder / "broken.joblib").write_bytes(b"\x80\x05no model")
    (folder / "absent.pkl").write_bytes(b"cno_such_library\nModel\n.")
    (folder / "binary.json").write_bytes(b"\xff\xfe\x00")
    (folder / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    (folder / "folder.jsonl").mkdir()
    (folder / "empty.jsonl").write_text("")
    (folder / "table.jsonl").write_text("age,income\n3,4\n")
    bf.Explainer(model, X).explain(X.head(1))[:0].to_jsonl(folder / "none.jsonl")
    X.to_csv(folder / "loans.csv", index=False)
    X.to_parquet(folder / "loans.parquet")
    X.to_feather(folder / "loans.feather")
    X.drop(columns="income").to_csv(folder / "narrow.csv", index=False)
    X.head(0).to_csv(folder / "empty.csv", index=False)
    X.assign(job=X["job"].where(X.index != 3, "pilot")).to_csv(folder / "pilot.csv", index=False)
    X.assign(income=X["income"].astype(object).where(X.index != 3, "lots")).to_csv(folder / "lots.csv", index=False)
    (folder / "blank.csv").write_text("")
    (folder / "torn.parquet").write_text("no parquet")
    patients, disease = load_diabetes(return_X_y=True, as_frame=True)
    joblib.dump(Ridge().fit(patients, disease), folder / "ridge.joblib")
    patients.to_csv(folder / "patients.csv", index=False)
    numbers = X[["age", "income"]].to_numpy(dtype=float)
    joblib.dump(DecisionTreeClassifier(max_depth=3).fit(numbers, numbers[:, 1] > 30_000), folder / "array.joblib")
    joblib.dump(IsolationForest(n_estimators=20, random_state=0).fit(numbers), folder / "forest.joblib")
    X[["age", "income"]].to_csv(folder / "two.csv", index=False)
    return folder


@pytest.fixture
def run(made, monkeypatch, tmp_path):
    """Run the command in the folder; files named in capitals go to a fresh one."""

    def _run(*words: str) -> Any:
        monkeypatch.chdir(made)
        return CliRunner().invoke(app, [word.replace("OUT", str(tmp_path)) for word in words], prog_name="butfor")

    return _run


def test_demo_explains_and_writes_a_page_and_nobody_waits_for_what_it_does_not_need(run, tmp_path, monkeypatch) -> None:
    compiled = []
    monkeypatch.setattr("butfor.warming.warm.warm", lambda: compiled.append("everything"))
    done = run("demo", "--html", "OUT/demo.html")
    assert done.exit_code == 0, done.output
    assert (compiled, "butfor warm" in done.stderr) == ([], True)
    assert "rejected → approved, by changing 3 of 10 columns" in done.stdout
    assert "proven optimal: no admissible change costs less than" in done.stdout
    assert done.stdout.count("passed - ") == 4
    assert "FAILED" not in done.stdout
    assert "<title>rejected → approved" in (tmp_path / "demo.html").read_text("utf-8")


@pytest.mark.long
def test_warm_compiles_every_kernel(run) -> None:
    assert run("warm").exit_code == 0
    for kernel in (linear_kernels._rise, linear_kernels._fewest_changes, tree_kernels.nearest_leaves):
        assert list(Path(kernel.stats.cache_path).glob(f"kernels.{kernel.py_func.__name__}-*.nbi"))


@pytest.mark.parametrize(
    ("model", "data"), [("model.joblib", "loans.csv"), ("model.pkl", "loans.parquet"), ("model.pkl", "loans.feather")]
)
def test_explain_prints_what_the_library_prints(run, model, data) -> None:
    done = run("explain", model, data, "--row", "206", "--target", "approved", *POSSIBLE)
    constraints = [bf.fixed("sex", "age", "late_payments"), bf.only_up("education")]
    explainer = bf.Explainer(loans.pipeline().fit(ALL, Y), X)
    assert done.exit_code == 0, done.output
    assert done.stdout == repr(explainer.explain(X.iloc[[206]], target="approved", constraints=constraints)) + "\n"


def test_every_option_reaches_the_question(run) -> None:
    done = run(
        *ASKED, "-c", "only_down amount", "-c", "between income:0:90000", "-c", "within income:0.5", "-c", "step months:6",
        "-c", "allowed job:permanent,temporary,unemployed", "-c", "between education:none:college", "-c", "at_most_changes 3",
        "-c", "margin 0.001", "--cost", "l1 + 0.5*L0", "--probability", "0.6", "--seed", "7", "--time-limit", "60", "--json",
        "--training", "loans.parquet", "-c", "between housing:rents:owns",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "the values of 'housing' have no order" in done.stderr
    done = run(
        *ASKED, "-c", "only_down amount", "-c", "between income:0:90000", "-c", "within income:0.5", "-c", "step months:6",
        "-c", "allowed job:permanent,temporary,unemployed", "-c", "between education:none:master", "-c", "at_most_changes 3",
        "-c", "margin 0.001", "--cost", "l1 + 0.5*L0", "--probability", "0.6", "--seed", "7", "--time-limit", "60", "--json",
        "--training", "loans.parquet", "--constraint", "age + 2*months <= 500", "--constraint", "fixed late_payments",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    answer = bf.Explanation.from_json(done.stdout)
    assert answer.question.target == "approved with probability at least 0.6"
    assert answer.question.cost == "L1() + 0.5 * L0()"
    assert answer.certificate.seed == 7
    assert answer.question.constraints == (
        "fixed('sex', 'age', 'late_payments')",
        "only_up('education')",
        "only_down('amount')",
        "between('income', 0.0, 90000.0)",
        "within('income', 0.5)",
        "step('months', 6.0)",
        "allowed('job', ['permanent', 'temporary', 'unemployed'])",
        "between('education', 'none', 'master')",
        "at_most_changes(3)",
        "margin(0.001)",
        "linear({'age': 1.0, 'months': 2.0}, '<=', 500.0)",
        "fixed('late_payments')",
    )


def test_several_rows_and_several_answers(run) -> None:
    done = run("explain", "model.joblib", "loans.csv", "--row", "0:2,206", "--row", "5", "-k", "2", "--json")
    data = json.loads(done.stdout)
    assert [(one["row"], one["rank"]) for one in data] == [(row, rank) for row in (0, 1, 206, 5) for rank in (1, 2)]
    assert [one["factual"][list(X).index("age")] for one in data[::2]] == X["age"].iloc[[0, 1, 206, 5]].tolist()


def test_a_bar_is_shown_where_it_may_be_unless_it_is_quiet(run, monkeypatch) -> None:
    shown, explain = [], bf.Explainer.explain

    def told(self, *rows, progress, **question):
        shown.append(progress)
        return explain(self, *rows, progress=progress, **question)

    monkeypatch.setattr(bf.Explainer, "explain", told)
    asked = ("explain", "model.joblib", "loans.csv", "--row", "206", "--target", "approved")
    assert run(*asked).stdout == run(*asked, "--quiet").stdout
    assert shown == [None, False]


def test_that_there_is_no_answer_is_an_answer(run) -> None:
    done = run(*ASKED, "-c", "fixed amount,months,job", "-c", "within income:0.05")
    assert done.exit_code == 0
    assert "no admissible change makes it approved" in done.stdout
    assert "proven impossible: impossible with" in done.stdout


def test_a_page_is_written_whole_or_not_at_all(run, tmp_path) -> None:
    (tmp_path / "answer.html").write_text("old")
    done = run(*ASKED, "--html", "OUT/answer.html")
    assert done.exit_code == 0
    assert "Wrote" in done.stderr
    assert (tmp_path / "answer.html").read_text("utf-8").endswith("</html>\n")
    assert [path.name for path in tmp_path.iterdir()] == ["answer.html"]
    done = run(*ASKED, "--html", "OUT/nowhere/answer.html")
    assert done.exit_code == 2
    assert done.stderr.endswith("nowhere/answer.html: No such file or directory\n")


def test_regressors_are_asked_for_values(run) -> None:
    for words, said in (
        (["--at-least", "200"], "at least 200"),
        (["--at-least", "150", "--at-most", "160"], "from 150 to 160"),
        (["--relative-change", "-0.2"], "down by 20%"),
    ):
        done = run("explain", "ridge.joblib", "patients.csv", "--row", "3", *words, "--json")
        assert done.exit_code == 0, done.output
        answer = bf.Explanation.from_json(done.stdout)
        assert answer.found
        assert answer.question.target == said


def test_labels_that_are_no_text_are_meant_as_written(run) -> None:
    done = run("explain", "array.joblib", "two.csv", "--row", "0", "--target", "True", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["after"] is True


def test_check_passes_a_good_answer(run, tmp_path) -> None:
    (tmp_path / "answer.json").write_text(run(*ASKED, "--json").stdout, encoding="utf-8")
    done = run("check", "OUT/answer.json", "model.joblib")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("passed - ") == 12
    assert done.stdout.endswith("the answer holds\n")


def test_a_forest_is_asked_and_asked_again(run, tmp_path) -> None:
    asked = ["explain", "array.joblib", "two.csv", "--row", "3", "--plausible", "forest.joblib"]
    (tmp_path / "answer.json").write_text(run(*asked, "--json").stdout)
    assert json.loads((tmp_path / "answer.json").read_text())["question"]["constraints"] == [
        "plausible(IsolationForest)"
    ]
    assert "not checked - all constraints hold" in run("check", "OUT/answer.json", "array.joblib").stdout
    done = run("check", "OUT/answer.json", "array.joblib", "--plausible", "forest.joblib")
    assert done.exit_code == 0, done.output
    assert "not checked" not in done.stdout


def test_check_reads_several_answers(run, tmp_path) -> None:
    (tmp_path / "answers.json").write_text(run(*ASKED, "-k", "2", "--json").stdout, encoding="utf-8")
    done = run("check", "OUT/answers.json", "model.joblib")
    assert done.exit_code == 0, done.output
    assert "Row 206, answer 2:" in done.stdout
    assert done.stdout.count("the answer holds") == 2


ROWS = ["explain", "model.joblib", "loans.csv", "--row", "206,5:30", "--target", "approved", *POSSIBLE]


def test_a_batch_is_written_and_checked(run, tmp_path) -> None:
    done = run(*ROWS, "--out", "OUT/answers.jsonl")
    assert done.exit_code == 0, done.output
    assert done.stdout == run(*ROWS).stdout
    assert "answers.jsonl" in done.stderr
    answers = bf.Explanations.from_jsonl(tmp_path / "answers.jsonl")
    assert answers.rows.tolist() == [206, *range(5, 30)]
    assert answers[0].to_frame().equals(bf.Explanation.from_json(run(*ASKED, "--json").stdout).to_frame())
    done = run("check", "OUT/answers.jsonl", "model.joblib")
    assert done.exit_code == 0, done.output
    assert done.stdout == "26 of 26 answers hold\n"
    done = run("check", "OUT/answers.jsonl", "other.joblib")
    assert done.exit_code == 1
    assert "Row 206, answer 1:\n" in done.stdout
    assert done.stdout.endswith("0 of 26 answers hold\n")


def test_answers_in_parquet_are_checked_and_proven(run, tmp_path) -> None:
    assert run(*ROWS, "--out", "OUT/answers.parquet").exit_code == 0
    assert run("check", "OUT/answers.parquet", "model.joblib").stdout == "26 of 26 answers hold\n"
    assert run("check", "OUT/answers.parquet", "other.joblib").exit_code == 1
    assert run("prove", "OUT/answers.parquet", "model.joblib", "--out", "OUT/proofs").exit_code == 0
    missing = run("check", "OUT/none.parquet", "model.joblib")
    assert missing.exit_code == 2
    assert "none.parquet: No such file or directory" in missing.stderr


def test_records_are_written_and_checked(run, tmp_path) -> None:
    for rows, records in (("206", 1), ("206,7", 2)):
        asked = [rows if word == "206" else word for word in ASKED]
        assert run(*asked, "--out", "OUT/answers.json").exit_code == 0
        text = (tmp_path / "answers.json").read_text("utf-8")
        assert isinstance(json.loads(text), list) is (records > 1)
        assert len(bf.Explanations.from_json(text)) == records
        assert run("check", "OUT/answers.json", "model.joblib").exit_code == 0


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace('"income":', '"savings":', 1), "line 2: it was changed"),
        (lambda text: text.replace('"created":"2', '"created":"1'), "line 1: the header was changed"),
        (lambda text: text[:-50], "line 27: it is cut off"),
        (lambda text: text[: text.rindex('{"row')], "has 25 answers, and line 1 says that there are 26"),
    ],
)
@pytest.mark.parametrize("name", ["answers.jsonl", "answers.txt"])
def test_a_changed_batch_fails_the_check(run, tmp_path, change, said, name) -> None:
    run(*ROWS, "--out", "OUT/answers.jsonl")
    text = (tmp_path / "answers.jsonl").read_text("utf-8")
    (tmp_path / name).write_text(change(text), encoding="utf-8")
    done = run("check", f"OUT/{name}", "model.joblib")
    assert done.exit_code == 1
    assert done.stdout.startswith("FAILED - ")
    assert said in done.stdout


def test_check_fails_another_model(run, tmp_path) -> None:
    (tmp_path / "answer.json").write_text(run(*ASKED, "--json").stdout, encoding="utf-8")
    done = run("check", "OUT/answer.json", "other.joblib")
    assert done.exit_code == 1
    assert "FAILED - the model is the one that was explained" in done.stdout
    assert "the answer does not hold" in done.stdout


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("cost",), 0.01, "FAILED - the cost is 0.01: computed again, it is"),
        (("point",), {"income": 19_800.0}, "the answer contradicts itself"),
        (("fingerprint",), "0" * 16, "FAILED - the model is the one that was explained"),
        (("bound",), 0.01, "the answer contradicts itself"),
        (("before",), "approved", "FAILED - the model predicts approved before the change: it predicts rejected"),
        (
            ("question", "constraints", 0),
            "fixed('sex')",
            "FAILED - the question in words agrees with the question as data",
        ),
        (("question", "spec", "target", "labels"), ["rejected"], "FAILED - that meets the target"),
    ],
)
def test_check_fails_a_tampered_answer(run, tmp_path, place, value, said) -> None:
    data = json.loads(run(*ASKED, "--json").stdout)
    part: Any = data
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    (tmp_path / "careless.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "careful.json").write_text(json.dumps(sealed(data)), encoding="utf-8")
    for name, words in (("careless", "FAILED - the record was changed since it was written"), ("careful", said)):
        done = run("check", f"OUT/{name}.json", "model.joblib")
        assert done.exit_code == 1, done.output
        assert words in done.stdout


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    ("place", "value", "code", "said"),
    [
        (("space", 0, "name"), "agex", 1, "FAILED - the answer contradicts itself: table has the columns"),
        (("table", "columns", 0, "name"), "agex", 1, "FAILED - the answer contradicts itself: table has the columns"),
        (("question", "spec", "cost", "weights"), 1.0, 1, "FAILED - "),
        (("why",), "no admissible change costs less than 99", 1, "FAILED - the words of the certificate"),
        (("checks", 0, "passed"), False, 1, "FAILED - the words of the certificate"),
        (("rank",), "first", 2, "the answer has 'first' as rank. It must be a whole number of at least 1."),
        (("seconds",), None, 2, "the answer has None as seconds. It must be a number."),
    ],
)
def test_check_refuses_a_spoilt_answer_in_words(run, tmp_path, place, value, code, said) -> None:
    data = json.loads(run(*ASKED, "--json").stdout)
    part: Any = data
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    (tmp_path / "answer.json").write_text(json.dumps(sealed(data)), encoding="utf-8")
    done = run("check", "OUT/answer.json", "model.joblib")
    assert done.exit_code == code, done.output
    assert said in done.output
    assert "Traceback" not in done.output


def test_solvers_say_whether_and_why(run) -> None:
    done = run("solvers", "model.joblib", "loans.csv")
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()[1:]]  # a long reason goes on in a line of its own
    said = {words[0]: words[1] for words in lines if len(words) > 1 and words[1] in ("yes", "no")}
    assert said == {
        "row_search": "no", "acted_columns": "no", "computed_columns": "no", "merged_columns": "no",
        "separable_trees": "no", "tree_exact": "yes", "linear_exact": "no",
        "linear_knapsack": "no", "interior_point": "no", "additive_knapsack": "no", "piece_programs": "no",
        "oblique_exact": "no", "ensemble_branch_bound": "no", "largest_move": "no",
        "mixed_branch_bound": "no", "network_exact": "no", "implied_parts": "no",
        "milp": "yes", "robust_linear": "no", "robust_exact": "no",
        "blend_branching": "no", "enumeration": "no", "far_apart": "no", "swarm": "yes", "brute_force": said["brute_force"],
    }  # fmt: skip
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_solvers_without_data_says_what_each_does(run) -> None:
    done = run("solvers", "model.joblib")
    assert done.exit_code == 0
    assert "tree_exact" in done.stdout
    assert "Give the training data as well" in done.stdout


def test_space_lists_every_column(run) -> None:
    done = run("space", "model.joblib", "loans.csv")
    assert done.exit_code == 0
    assert all(name in done.stdout for name in X.columns)
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert not any(line != line.rstrip() for line in done.stdout.splitlines())


def test_version_and_help(run) -> None:
    assert run("--version").stdout == f"butfor {bf.__version__}\n"
    assert "runs code" in " ".join(run("explain", "--help").stdout.split())


EXPLAIN = ["explain", "model.joblib", "loans.csv"]
WRONG = {
    "no row": (EXPLAIN, "no row was given"),
    "row out of range": ([*EXPLAIN, "--row", "300"], "rows 0 to 299"),
    "negative row": ([*EXPLAIN, "--row", "-1"], "rows 0 to 299"),
    "row backwards": ([*EXPLAIN, "--row", "5:3"], "rows 0 to 299"),
    "row no number": ([*EXPLAIN, "--row", "three"], "'three' is not a whole number"),
    "no model file": (["explain", "nowhere.joblib", "loans.csv", "--row", "3"], "nowhere.joblib: No such file"),
    "model is a folder": (["explain", ".", "loans.csv", "--row", "3"], "Is a directory"),
    "model is a table": (["explain", "loans.csv", "loans.csv", "--row", "3"], "contains no model that can be loaded"),
    "model is broken": (
        ["explain", "broken.joblib", "loans.csv", "--row", "3"],
        "contains no model that can be loaded",
    ),
    "model is a dict": (["explain", "dict.joblib", "loans.csv", "--row", "3"], "dict was given as the model"),
    "model needs a library": (["explain", "absent.pkl", "loans.csv", "--row", "3"], "no_such_library"),
    "model not fitted": (["explain", "unfitted.joblib", "loans.csv", "--row", "3"], "not fitted"),
    "no data file": (["explain", "model.joblib", "nowhere.csv", "--row", "3"], "nowhere.csv: No such file"),
    "data of another kind": (["explain", "model.joblib", "model.pkl", "--row", "3"], ".csv, .parquet, .feather"),
    "data lacks a column": (["explain", "model.joblib", "narrow.csv", "--row", "3"], "income"),
    "data has no rows": (["explain", "model.joblib", "empty.csv", "--row", "3"], "no rows"),
    "text among numbers": (
        ["explain", "model.joblib", "lots.csv", "--row", "3", "--training", "loans.csv"],
        "column 'income' holds 'lots'",
    ),
    "text among numbers of the training data": (
        ["explain", "model.joblib", "lots.csv", "--row", "3"],
        "a column holds 'lots' where the model needs numbers",
    ),
    "data is blank": (["explain", "model.joblib", "blank.csv", "--row", "3"], "is not a table"),
    "data is torn": (["explain", "model.joblib", "torn.parquet", "--row", "3"], "torn.parquet"),
    "unseen category": (
        ["explain", "model.joblib", "pilot.csv", "--row", "3", "--training", "loans.csv"],
        "'pilot', which was not seen before",
    ),
    "unknown class": ([*EXPLAIN, "--row", "3", "--target", "maybe"], "Its classes are 'approved', 'rejected'"),
    "unknown column": ([*EXPLAIN, "--row", "3", "-c", "fixed agee"], "there is no column 'agee'"),
    "unknown level": ([*EXPLAIN, "--row", "3", "-c", "allowed job:pilot"], "which is not a value of 'job'"),
    "between without end": ([*EXPLAIN, "--row", "3", "-c", "between age:3"], "Write it as between A:LOW:HIGH"),
    "between no number": ([*EXPLAIN, "--row", "3", "-c", "between age:3:old"], "'old' is not a number"),
    "within no number": ([*EXPLAIN, "--row", "3", "-c", "within age:a"], "'a' is not a number"),
    "text that is no constraint": ([*EXPLAIN, "--row", "3", "--constraint", "be nice"], "'be nice' cannot be read"),
    "unknown cost": ([*EXPLAIN, "--row", "3", "--cost", "L7"], "costs are L1, L2, LInf"),
    "negative weight": ([*EXPLAIN, "--row", "3", "--cost", "-1*L1"], "not negative"),
    "unknown solver": ([*EXPLAIN, "--row", "3", "--solver", "magic"], "solvers are 'auto'"),
    "wrong solver": ([*EXPLAIN, "--row", "3", "--solver", "linear_exact"], "does not take this problem"),
    "value of a classifier": ([*EXPLAIN, "--row", "3", "--at-least", "4"], "was given for a classifier"),
    "probability of nothing": ([*EXPLAIN, "--row", "3", "--probability", "0.9"], "Give the class with --target"),
    "probability of two": (
        [*EXPLAIN, "--row", "3", "--target", "approved,rejected", "--probability", "0.9"],
        "It needs exactly one",
    ),
    "no class of a regressor": (["explain", "ridge.joblib", "patients.csv", "--row", "3"], "given for a regressor"),
    "no answers asked": ([*EXPLAIN, "--row", "3", "-k", "0"], "k=0"),
    "no threads": ([*EXPLAIN, "--row", "3", "--n-jobs", "0"], "number of threads"),
    "no time": ([*EXPLAIN, "--row", "3", "--time-limit", "0"], "positive number of seconds"),
    "no changes": ([*EXPLAIN, "--row", "3", "-c", "at_most_changes 0"], "at least 1"),
    "text for a number": ([*EXPLAIN, "--row", "3", "--seed", "x"], "--seed"),
    "answer is no JSON": (["check", "loans.csv", "model.joblib"], "the text is not JSON"),
    "answer is no text": (["check", "binary.json", "model.joblib"], "is not text in UTF-8"),
    "no answer file": (["check", "nowhere.json", "model.joblib"], "nowhere.json: No such file"),
    "answers of no ending": ([*EXPLAIN, "--row", "3", "--out", "answers"], "must end in .json or .jsonl or .csv"),
    "answers as a sheet": ([*EXPLAIN, "--row", "3", "--out", "answers.xlsx"], "must end in .json or .jsonl or .csv"),
    "batch is no text": (["check", "binary.jsonl", "model.joblib"], "is not text in UTF-8"),
    "batch is a folder": (["check", "folder.jsonl", "model.joblib"], "is no portfolio"),
    "batch is empty": (["check", "empty.jsonl", "model.joblib"], "the batch is empty"),
    "batch is a table": (["check", "table.jsonl", "model.joblib"], "line 1: the text is not JSON"),
    "batch of no answers": (["check", "none.jsonl", "model.joblib"], "contains no answer"),
    "no batch file": (["check", "nowhere.jsonl", "model.joblib"], "nowhere.jsonl: No such file"),
    "unknown command": (["explian"], "explian"),
    "a constraint as an option": (
        [*EXPLAIN, "--row", "3", "--only-up", "age"],
        '--only-up. Constraints are texts: --constraint "only_up A,B".',
    ),
    "an option that is nothing": ([*EXPLAIN, "--row", "3", "--rows", "3"], "--row"),
}


@pytest.mark.shorter(3)
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_question_is_told_so_in_one_message(run, case) -> None:
    words, said = WRONG[case]
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("text", "said"), [("[]", "contains no answer"), ('{"schema": "butfor.explanation/9"}', "/9")])
def test_an_answer_of_another_schema_is_refused(run, tmp_path, text, said) -> None:
    (tmp_path / "answer.json").write_text(text)
    done = run("check", "OUT/answer.json", "model.joblib")
    assert done.exit_code == 2
    assert said in done.stderr


def test_what_loading_a_model_warns_of_is_passed_on(run, made) -> None:
    version = sklearn.__version__.encode()
    (made / "old.pkl").write_bytes((made / "model.pkl").read_bytes().replace(version, b"0" * len(version)))
    done = run("space", "old.pkl", "loans.csv")
    assert done.exit_code == 0, done.output
    assert "butfor: warning: Trying to unpickle" in done.stderr


def test_it_runs_as_a_program(made) -> None:
    code = "import sys; from butfor.cli import main; sys.argv[:] = ['butfor', 'explain', 'nix', 'loans.csv']; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=made, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "butfor: nix: No such file or directory\n"


@pytest.fixture(scope="module")
def cox(made) -> Any:
    """A Cox model and its table, saved beside the others."""
    linear = pytest.importorskip("sksurv.linear_model", reason="scikit-survival is not installed")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((200, 3)), columns=["a", "b", "c"])
    died = np.array(
        list(zip(rng.random(200) < 0.9, rng.exponential(np.exp(1 - table["a"] * 2)) + 0.1, strict=True)), dtype="?,f8"
    )
    model = linear.CoxPHSurvivalAnalysis().fit(table, died)
    joblib.dump(model, made / "cox.joblib")
    table.to_csv(made / "cox.csv", index=False)
    return model, pd.read_csv(made / "cox.csv")


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["--mean-gain", "0.2"], bf.survival.mean_gain(0.2)),
        (["--median-gain", "0.1", "--unit", "days"], bf.survival.median_gain(0.1, unit="days")),
        (["--survival-at", "1:0.7"], bf.survival.survival_at(1, 0.7)),
        (["--quantile-at-least", "0.25:0.9"], bf.survival.quantile_at_least(0.25, 0.9)),
    ],
)
def test_survival_models_are_asked_for_times(run, cox, words, target) -> None:
    model, table = cox
    done = run("explain", "cox.joblib", "cox.csv", "--row", "3", *words)
    assert done.exit_code == 0, done.stderr
    answer = bf.Explainer(model, table).explain(table.iloc[[3]], target=target)
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert done.stdout == repr(answer) + "\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--mean-gain", "5", "--at-least", "3"], "--at-least and --mean-gain were given"),
        (["--target", "approved", "--relative-change", "0.1"], "--relative-change and --target were given"),
        (["--probability", "0.5", "--at-most", "3"], "--at-most and --probability were given"),
        (["--survival-at", "5"], "Write it as --survival-at T:P"),
        (["--quantile-at-least", "half:5"], "'half' is not a number"),
        (["--mean-gain", "5"], "survival"),
    ],
)
def test_contradicting_or_unreadable_targets_are_named(run, words, said) -> None:
    done = run("explain", "ridge.joblib", "patients.csv", "--row", "3", *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_report_is_written_from_answers_that_were_kept(run, tmp_path) -> None:
    asked = ["explain", "model.joblib", "loans.csv", "--row", "200:210", "--target", "approved", *POSSIBLE]
    assert run(*asked, "--out", "OUT/answers.jsonl").exit_code == 0
    (tmp_path / "words.toml").write_text('[columns.income]\nlabel = "Yearly income"\n', encoding="utf-8")
    done = run(
        "report", "OUT/answers.jsonl", "OUT/page.html", "--by", "sex", "--title", "May", "--words", "OUT/words.toml"
    )
    assert done.exit_code == 0
    assert done.stderr.endswith("page.html.\n")
    answers = bf.load(tmp_path / "answers.jsonl")
    words = bf.describe(tmp_path / "words.toml")
    assert (tmp_path / "page.html").read_text("utf-8") == answers.described(words).to_html("May", "sex")


def test_a_report_of_one_answer_has_no_groups(run, tmp_path) -> None:
    assert run(*ASKED, "--out", "OUT/answer.json").exit_code == 0
    assert run("report", "OUT/answer.json", "OUT/page.html").exit_code == 0
    assert (tmp_path / "page.html").read_text("utf-8") == bf.load(tmp_path / "answer.json").to_html()
    refused = run("report", "OUT/answer.json", "OUT/page.html", "--by", "sex")
    assert refused.exit_code == 2
    assert "--by sex was given" in refused.stderr


def test_a_report_of_answers_to_different_questions_is_refused(run, tmp_path) -> None:
    texts = []
    for target in ("approved", "rejected"):
        assert (
            run(
                "explain", "model.joblib", "loans.csv", "--row", "206", "--target", target, "--out", "OUT/a.json"
            ).exit_code
            == 0
        )
        texts.append((tmp_path / "a.json").read_text("utf-8"))
    (tmp_path / "both.json").write_text(f"[{','.join(texts)}]", encoding="utf-8")
    done = run("report", "OUT/both.json", "OUT/page.html")
    assert done.exit_code == 2
    assert "answer 2 has another question than the first" in done.stderr
    assert not (tmp_path / "page.html").exists()
