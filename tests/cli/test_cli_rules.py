"""The command with a file of rules, rows by id and condition, and the commands that show several ways."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pytest
from typer.testing import CliRunner

import butfor as bf
from butfor.cli import app
from butfor.datasets import loans

ALL, Y = loans.load()
X = ALL.head(300)
RULES = """
target = "approved"
constraints = ["income <= 90000"]

[columns.age]
frozen = true
label = "Age"

[columns.sex]
frozen = true

[columns.late_payments]
frozen = true

[columns.amount]
label = "Amount"
unit = "EUR"

[prediction]
levels = { approved = "granted" }
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    joblib.dump(loans.pipeline().fit(ALL, Y), folder / "model.joblib")
    X.to_csv(folder / "loans.csv", index=False)
    X.assign(case=[f"A{k}" for k in range(300)]).to_csv(folder / "cases.csv", index=False)
    X[204:207].to_csv(folder / "three.csv", index=False)
    (folder / "rules.toml").write_text(RULES, encoding="utf-8")
    (folder / "wrong.toml").write_text(RULES.replace("frozen", "frozn"), encoding="utf-8")
    (folder / "words.toml").write_text('[columns]\namount = "The amount"\n', encoding="utf-8")
    (folder / "plain.toml").write_text('target = "approved"\n', encoding="utf-8")
    return folder


@pytest.fixture
def run(made, monkeypatch, tmp_path):
    def _run(*words: str) -> Any:
        monkeypatch.chdir(made)
        return CliRunner().invoke(app, [word.replace("OUT", str(tmp_path)) for word in words], prog_name="butfor")

    return _run


@pytest.fixture(scope="module")
def explainer(made) -> bf.Explainer:
    return bf.Explainer(joblib.load(made / "model.joblib"), X, rules=bf.rules(made / "rules.toml"))


RULED = ["model.joblib", "loans.csv", "--rules", "rules.toml"]


def test_the_command_asks_what_python_asks(run, explainer, tmp_path) -> None:
    done = run("explain", *RULED, "--row", "206", "--out", "OUT/a.json")
    answer = explainer.explain(X.iloc[[206]])
    assert done.exit_code == 0, done.output
    assert done.stdout == repr(answer) + "\n"
    written = bf.load(tmp_path / "a.json")
    assert written.meta == answer.meta
    assert written.meta["rules"]["file"] == "rules.toml"
    assert run("check", "OUT/a.json", "model.joblib").exit_code == 0
    further = run("explain", *RULED, "--row", "206", "-c", "fixed amount")
    assert further.stdout == repr(explainer.explain(X.iloc[[206]], constraints="fixed amount")) + "\n"


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (["--id", "case=A206,A204"], [204, 206]),
        (["--id", "case=A206", "--id", "case=A3"], [3, 206]),
        (
            ["--where", "age < 25 and job == 'unemployed'"],
            X.index[(X["age"] < 25) & (X["job"] == "unemployed")].tolist(),
        ),
        (["--row", "200:210", "--where", "case in ['A206', 'A3']"], [206]),
    ],
)
def test_rows_are_chosen_by_id_and_by_condition(run, tmp_path, words, chosen) -> None:
    done = run("explain", "model.joblib", "cases.csv", "--target", "approved", *words, "--out", "OUT/a.jsonl")
    assert done.exit_code == 0, done.output
    assert bf.load(tmp_path / "a.jsonl").rows.tolist() == chosen


@pytest.mark.long
def test_rows_that_have_the_target_are_left_out(run, tmp_path, explainer) -> None:
    done = run("explain", *RULED, "--row", "200:240", "--unmet", "--out", "OUT/a.parquet")
    assert done.exit_code == 0, done.output
    found = bf.load(tmp_path / "a.parquet")
    rejected = explainer.model.predict(X[200:240]) == "rejected"
    assert found.rows.tolist() == (200 + rejected.nonzero()[0]).tolist()
    assert [one.cost for one in found] == [one.cost for one in explainer.explain(X[200:240][rejected])]


@pytest.mark.long
def test_more_than_the_target_is_asked_for(run, tmp_path, explainer) -> None:
    wanted = explainer.explain(X[206:207], safety=0.1)
    done = run("explain", *RULED, "--row", "206", "--safety", "0.1", "--out", "OUT/a.parquet")
    assert done.exit_code == 0, done.output
    assert bf.load(tmp_path / "a.parquet").costs.tolist() == wanted.costs.tolist()
    words = ["model.joblib", "loans.csv", "--out", "OUT/all", "--rules", "rules.toml", "--training", "loans.csv"]
    done = run("portfolio", *words, "--where", "age < 30", "--unmet", "--safety", "0.1", "--n-jobs", "1")
    assert done.exit_code == 0, done.output
    young = X[X["age"] < 30]
    chance = explainer.model.predict_proba(young)[:, explainer.model.classes_.tolist().index("approved")]
    assert [one.row for one in bf.load(tmp_path / "all")] == young.index[chance < 0.6].tolist()


def test_few_rows_need_the_table_of_the_training(run, explainer) -> None:
    refused = run("explain", "model.joblib", "three.csv", "--rules", "rules.toml", "--row", "2")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--training FILE" in refused.stderr
    given = run(
        "explain", "model.joblib", "three.csv", "--rules", "rules.toml", "--row", "2", "--training", "loans.csv"
    )
    assert given.stdout == repr(explainer.explain(X.iloc[[206]])) + "\n"


def test_menus_are_printed_and_written(run, explainer, tmp_path) -> None:
    menu = explainer.menu(X.iloc[[206]], most=2)
    for ending in ("csv", "parquet", "json", "html"):
        done = run("menu", *RULED, "--row", "206", "--most", "2", "--out", f"OUT/menu.{ending}")
        assert done.exit_code == 0, done.output
        assert done.stdout == repr(menu) + "\n"
    empty = dict.fromkeys(["cost", "bound", "score", "reached", "needed"], "")
    read = pd.read_csv(tmp_path / "menu.csv", keep_default_na=False, na_values=empty)
    for table in (read, pd.read_parquet(tmp_path / "menu.parquet")):
        assert table["row"].unique().tolist() == [206]
        pd.testing.assert_frame_equal(
            table.drop(columns="row"), menu.to_frame(), check_dtype=False, check_index_type=False
        )
    assert run("check", "OUT/menu.json", "model.joblib").exit_code == 0
    assert (tmp_path / "menu.html").read_text(encoding="utf-8").count("<tr>") > len(menu)


def test_ladders_go_up_in_probability_or_from_class_to_class(run, explainer) -> None:
    done = run("ladder", *RULED, "--row", "204,206", "--goals", "0.5,60%")
    goals = [bf.probability("approved", 0.5), bf.probability("approved", 0.6)]
    told = [f"Row {row}\n{explainer.ladder(X.iloc[[row]], goals)!r}" for row in (204, 206)]
    assert done.stdout == "\n\n".join(told) + "\n"
    classes = run("ladder", "model.joblib", "loans.csv", "--row", "206", "--goals", "rejected,approved")
    assert classes.exit_code == 0, classes.output
    assert "approved" in classes.stdout


@pytest.mark.shorter(1)
@pytest.mark.parametrize("style", ["customer", "brief"])
def test_letters_are_printed_or_put_into_a_folder(run, explainer, tmp_path, style) -> None:
    form = {"date": dt.date(2026, 11, 27), "contact": "Ms Berger"}
    asked = ["--language", "de", "--style", style]
    asked += ["--date", "2026-11-27", "--contact", "Ms Berger"] if style == "customer" else []
    answers = {row: explainer.explain(X.iloc[[row]]) for row in (204, 206)}
    texts = {
        row: one.to_letter("de", reference=str(row), **form) if style == "customer" else one.to_text(style, "de")
        for row, one in answers.items()
    }
    done = run("letter", *RULED, "--row", "206", *asked)
    assert done.stdout == texts[206] + "\n"
    written = run("letter", *RULED, "--row", "204,206", *asked, "--out", "OUT/letters")
    assert (written.exit_code, written.stdout) == (0, "")
    assert {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "letters").iterdir()} == {
        f"{row}.txt": text + "\n" for row, text in texts.items()
    }
    again = run("letter", *RULED, "--row", "204,206", *asked, "--out", "OUT/letters")
    assert again.exit_code == 2
    assert "204.txt and 1 more already" in again.output


def test_letters_have_a_reference_and_a_template(run, tmp_path) -> None:
    (tmp_path / "letter.txt").write_text("{reference}\n\n{text}", encoding="utf-8")
    done = run("letter", *RULED, "--row", "206", "--reference", "job", "--template", "OUT/letter.txt", "--proof")
    assert done.stdout.startswith(f"Reference: {X['job'][206]}\n\nOn the basis")
    assert "proven" in done.stdout


@pytest.mark.shorter(1)
@pytest.mark.parametrize("table", ["statuses", "costs", "differences", "levers"])
def test_groups_are_compared(run, explainer, tmp_path, table) -> None:
    by = [] if table == "levers" else ["--by", "sex"]
    done = run("groups", *RULED, "--where", "age < 30", "--table", table, *by, "--out", "OUT/g.parquet")
    assert done.exit_code == 0, done.output
    rows = X[X["age"] < 30]
    known = (
        bf.groups.levers(explainer, rows)
        if table == "levers"
        else getattr(bf.groups, table)(explainer.explain(rows), "sex")
    )
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "g.parquet"), known, check_dtype=False)


def test_words_of_a_file_are_used(run) -> None:
    done = run("explain", "model.joblib", "loans.csv", "--row", "206", "--target", "approved", "--words", "words.toml")
    assert "The amount" in done.stdout


def test_a_portfolio_is_under_the_rules(run, explainer, tmp_path) -> None:
    asked = [
        "portfolio",
        "model.joblib",
        "three.csv",
        "--training",
        "loans.csv",
        "--rules",
        "rules.toml",
        "--out",
        "OUT/p",
    ]
    done = run(*asked, "--n-jobs", "1")
    assert done.exit_code == 0, done.output
    assert [one.cost for one in bf.load(tmp_path / "p")] == [one.cost for one in explainer.explain(X[204:207])]


ONE = [*RULED, "--row", "206"]
CASES = ["explain", "model.joblib", "cases.csv", "--target", "approved"]
WRONG = {
    "rules: no file": (["explain", "model.joblib", "loans.csv", "--row", "3", "--rules", "no.toml"], "no.toml: No such file"),
    "rules: a wrong name": (["explain", "model.joblib", "loans.csv", "--row", "3", "--rules", "wrong.toml"], "toml, line 6"),
    "rules: no TOML": (["explain", "model.joblib", "loans.csv", "--row", "3", "--rules", "loans.csv"], "loans.csv is not TOML"),
    "rules: a target twice": (["explain", *ONE, "--target", "approved"], "One thing is said in one place"),
    "rules: a cost of nothing": (["solvers", *RULED, "--cost", "L7"], "Did you mean"),
    "words: twice": (["explain", *ONE, "--words", "words.toml"], "the rules have words, too"),
    "words: none": (["explain", "model.joblib", "loans.csv", "--row", "3", "--words", "plain.toml"], "holds no words"),
    "rows: all of them": (["explain", *RULED, "--unmet", "--where", "age > 0"], "--training"),
    "rows: no such id": ([*CASES, "--id", "case=A9999"], "No row has case = A9999"),
    "rows: no such column of ids": ([*CASES, "--id", "cas=A3"], "'case'"),
    "rows: an id without a column": ([*CASES, "--id", "A3"], "COLUMN=VALUE"),
    "rows: no condition": ([*CASES, "--where", "age >"], "it is no condition"),
    "rows: a call": ([*CASES, "--where", "open('x')"], "is not a comparison"),
    "rows: no such column": ([*CASES, "--where", "aeg > 3"], "'age'"),
    "rows: none are left": ([*CASES, "--where", "age > 300"], "No row of DATA is left"),
    "rows: text and numbers": ([*CASES, "--where", "job > 3"], "not of one kind"),
    "rows: all have the target": ([*CASES, "--row", "3", "--unmet"], "meets the target already"),
    "menu: no column": (["menu", *ONE, "--most", "0"], "most=0"),
    "menu: no ending": (["menu", *ONE, "--out", "menu"], "must end in .csv"),
    "menu: lines": (["menu", *ONE, "--out", "menu.jsonl"], "must end in .csv"),
    "menu: no row": (["menu", *RULED], "no row was given"),
    "menu: no such row": (["menu", *RULED, "--row", "999"], "rows 0 to 299"),
    "ladder: no goals": (["ladder", *ONE], "--goals 0.5,0.7,0.9"),
    "ladder: no number": (["ladder", *ONE, "--goals", "0.5,high"], "'high' is not a number"),
    "ladder: downwards": (["ladder", *ONE, "--goals", "0.7,0.5"], "0.5"),
    "ladder: no such class": (["ladder", "model.joblib", "loans.csv", "--row", "3", "--goals", "approved,maybe"], "maybe"),
    "ladder: no ending": (["ladder", *ONE, "--goals", "0.5,0.7", "--out", "x"], "must end in .csv"),
    "letter: no style": (["letter", *ONE, "--style", "poem"], "The styles are"),
    "letter: no language": (["letter", *ONE, "--language", "xx"], "xx"),
    "letter: no templates": (["letter", *ONE, "--templates", "no.toml"], "no.toml"),
    "letter: a file for a folder": (["letter", *ONE, "--out", "loans.csv"], "loans.csv"),
    "letter: no date": (["letter", *ONE, "--date", "today"], "2026-11-27"),
    "letter: a date of a paragraph": (["letter", *ONE, "--style", "brief", "--date", "2026-11-27"], "Only a whole letter"),
    "letter: no template": (["letter", *ONE, "--template", "no.txt"], "no.txt"),
    "letter: no such column": (["letter", *ONE, "--reference", "jbo"], "Did you mean 'job'"),
    "letter: no row": (["letter", *RULED], "no row was given"),
    "groups: no such table": (["groups", *ONE, "--table", "cost"], "Did you mean 'costs'"),
    "groups: differences of nothing": (["groups", *ONE, "--table", "differences"], "without --by"),
    "groups: levers of groups": (["groups", *ONE, "--table", "levers", "--by", "sex"], "with --by"),
    "groups: no such column": (["groups", *ONE, "--by", "sx"], "sx"),
    "groups: no ending": (["groups", *ONE, "--out", "x.json"], "must end in .csv"),
}  # fmt: skip


@pytest.mark.shorter(20)
@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_in_one_message(run, case) -> None:
    words, said = WRONG[case]
    done = run(*words)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not done.stdout
    assert "Traceback" not in done.stderr
