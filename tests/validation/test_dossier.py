"""The dossier: its numbers are those of the answers, counted again by hand; its words are the same in both renderings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.importers.faithful import faithful
from butfor.validation.sections import exact_interval
from tests.applicant import EXPLAINER, MODEL, X
from tests.views.test_html import EVIL, Reader

FILES = {"HOW_TO_VERIFY.txt", "SHA256SUMS", "answers.jsonl", "dossier.html", "dossier.json"}
RULES: list[Any] = ["fixed age, sex", bf.within("income", 0.02), "fixed late_payments, savings"]
ASKED: dict[str, Any] = {"target": "approved", "constraints": RULES, "groups": "sex", "sample": 60, "progress": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A dossier about 60 rejected applicants."""
    home = tmp_path_factory.mktemp("dossier")
    bf.dossier(EXPLAINER, X, home / "dossier", **ASKED)
    return home / "dossier"


@pytest.fixture(scope="module")
def told(folder) -> dict[str, Any]:
    """Its sections as JSON has them."""
    return json.loads((folder / "dossier.json").read_text("utf-8"))["sections"]


@pytest.fixture(scope="module")
def lines(folder) -> list[dict[str, Any]]:
    """Its answers, read without butfor."""
    header, *own = map(json.loads, (folder / "answers.jsonl").read_text("utf-8").splitlines())
    return [{**header["shared"], **one} for one in own]


def facts(told: dict[str, Any], section: str) -> dict[str, Any]:
    return {name: one["value"] for name, one in told[section]["facts"].items()}


def moved(line: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """The codes of the columns that an answer changes, before and after."""
    names, point = EXPLAINER.space.names, line["point"] or {}
    return {name: (line["factual"][names.index(name)], code) for name, code in point.items()}


@pytest.mark.long
def test_the_rows_are_drawn_from_those_that_do_not_meet_the_target(told, lines) -> None:
    rejected = np.flatnonzero(MODEL.predict(X) == "rejected")
    known = facts(told, "question")
    assert known["rows"] == len(X)
    assert known["needing"] == len(rejected)
    assert known["drawn"] == known["asked"] == len(lines) == 60
    rows = [line["row"] for line in lines]
    assert len({*rows}) == 60
    assert {*rows} <= {*rejected.tolist()}
    assert told["limits"]["limits"]["not_asked"]["value"] == len(rejected) - 60


def test_what_is_proven_is_counted_from_the_answers(told, lines) -> None:
    status = Counter(line["status"] for line in lines)
    assert len(status) > 1, "the test needs impossible rows, too"
    settled = status["PROVEN_OPTIMAL"] + status["PROVEN_INFEASIBLE"]
    known = facts(told, "proven")
    assert (known["proven"], known["share"]) == (settled, settled / 60)
    table = told["proven"]["tables"]["statuses"]["lines"]
    assert {one["status"]: one["rows"] for one in table} == {
        bf.Status[name].short: rows for name, rows in status.items()
    }
    conflicts = Counter(" and ".join(line["conflict"]) for line in lines if line["status"] == "PROVEN_INFEASIBLE")
    table = told["proven"]["tables"]["conflicts"]["lines"]
    assert {one["conflict"]: one["rows"] for one in table} == dict(conflicts)


@pytest.mark.parametrize(("hits", "of"), [(0, 20), (20, 20), (13, 20), (199, 200)])
def test_the_interval_of_the_share_is_that_of_the_binomial_tails(hits: int, of: int) -> None:
    low, high = exact_interval(hits, of)
    assert low <= hits / of <= high
    if hits:
        assert binom.sf(hits - 1, of, low) == pytest.approx(0.025)
    if hits < of:
        assert binom.cdf(hits, of, high) == pytest.approx(0.025)


def test_times_are_quantiles_of_the_seconds_of_single_rows(told, lines) -> None:
    everything, *_ = told["times"]["tables"]["seconds"]["lines"]
    seconds = [line["seconds"] for line in lines]
    assert len({*seconds}) > 30, "each row has a time of its own"
    for name, share in (("median", 0.5), ("share_90", 0.9), ("share_99", 0.99), ("longest", 1)):
        assert everything[name] == pytest.approx(np.quantile(seconds, share))


def test_columns_are_counted_from_the_answers_with_their_share_of_the_cost(told, lines) -> None:
    often, paid = Counter[str](), defaultdict[str, float](float)
    for line in lines:
        for name, (before, after) in moved(line).items():
            feature = EXPLAINER.space[name]
            often[name] += 1
            paid[name] += 1.0 if feature.levels is not None else abs(after - before) / feature.range
    table = {one["column"]: one for one in told["levers"]["tables"]["columns"]["lines"]}
    found = sum(line["point"] is not None for line in lines)
    assert {name: one["rows"] for name, one in table.items()} == dict(often)
    for name, one in table.items():
        assert one["share"] == pytest.approx(often[name] / found)
        assert one["cost_share"] == pytest.approx(paid[name] / sum(paid.values()))
    assert {*facts(told, "levers")["never"]} == {*X.columns} - {*often}


def test_what_follows_by_itself_has_no_share_of_the_cost(tmp_path) -> None:
    led = [bf.follows("savings", 0.1, "income"), bf.fixed("savings", "amount", "months")]
    asked = {**ASKED, "constraints": led, "groups": (), "sample": 30}
    made = bf.dossier(EXPLAINER, X, tmp_path / "led", **asked)
    table = {one["column"]: one for one in made.to_dict()["sections"]["levers"]["tables"]["columns"]["lines"]}
    assert table["savings"]["rows"] > 0
    assert table["savings"]["cost_share"] == 0
    paid = defaultdict[str, float](float)
    for one in made.answers:
        for change in one.actions if one.found else ():
            paid[change.name] += abs(change.share) or 1.0
    assert {name: one["cost_share"] for name, one in table.items()} == pytest.approx(
        {name: paid[name] / sum(paid.values()) for name in table}
    )


def test_costs_of_groups_are_means_over_their_answers(told, lines) -> None:
    costs, rows = defaultdict[str, list[float]](list), Counter[str]()
    for line in lines:
        rows[X["sex"].iloc[line["row"]]] += 1
        if line["cost"] is not None:
            costs[X["sex"].iloc[line["row"]]].append(line["cost"])
    for one in told["groups_1"]["tables"]["costs"]["lines"]:
        assert one["rows"] == rows[one["group"]]
        assert one["answered"] == len(costs[one["group"]])
        assert one["mean"] == pytest.approx(np.mean(costs[one["group"]]))
        low, high = one["interval"]
        assert low < one["mean"] < high
        spread = np.std(costs[one["group"]]) / len(costs[one["group"]]) ** 0.5
        assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.2)


def test_the_bias_check_is_what_the_estimator_says_with_the_other_level(told, lines) -> None:
    rows = X.iloc[[line["row"] for line in lines]]
    other = rows.assign(sex=rows["sex"].map({"male": "female", "female": "male"}))
    would = MODEL.predict(other) == "approved"
    for one in told["groups_1"]["tables"]["flips"]["lines"]:
        its = (rows["sex"] == one["group"]).to_numpy()
        assert (one["rows"], one["yes"], one["no"]) == (its.sum(), would[its].sum(), (~would[its]).sum())


def test_a_protected_column_that_decides_is_found(tmp_path) -> None:
    table = pd.DataFrame({"sex": ["f", "m"] * 30, "income": np.arange(60.0)})
    encoded = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    unfair = make_pipeline(encoded, DecisionTreeClassifier()).fit(table, table["sex"] == "m")
    made = bf.dossier(bf.Explainer(unfair, table), table, tmp_path / "unfair", target=True, groups="sex")
    sections = made.to_dict()["sections"]
    assert sections["groups_1"]["tables"]["flips"]["lines"] == [
        {"group": "f", "rows": 30, "yes": 30, "no": 0, "open": 0}
    ]
    assert "sex alone would change the decision about 30 of 30 rows." in sections["groups_1"]["says"]


def test_the_model_that_was_read_is_compared_with_the_estimator() -> None:
    numbers = X[["age", "income", "amount"]].to_numpy(dtype=float)
    model = LogisticRegression(C=1e-8).fit(numbers, MODEL.predict(X) == "approved")
    reading = bf.Explainer(model, numbers).reading
    found = faithful(reading, numbers)
    theirs = model.predict_proba(numbers)[:, 1]
    ours = 1 / (1 + np.exp(-(numbers @ model.coef_[0] + model.intercept_[0])))
    assert found is not None
    assert (found.rows, found.compared, found.differing) == (len(X), "probabilities", ())
    assert found.largest < 1e-12
    off = faithful(replace(reading, model=replace(reading.model, intercept=reading.model.intercept + 0.5)), numbers)
    assert off is not None
    assert len(off.differing) == len(X)
    moved = 1 / (1 + np.exp(-(numbers @ model.coef_[0] + model.intercept_[0] + 0.5)))
    assert off.largest == pytest.approx(np.abs(moved - theirs).max())
    assert np.abs(ours - theirs).max() < 1e-12


def words_in(data: Any) -> Iterator[str]:
    """Every text for people in the JSON of a dossier."""
    if isinstance(data, dict):
        for name, one in data.items():
            if name in ("title", "label", "text", "does", "command") and isinstance(one, str):
                yield one
            elif name in ("says", "texts"):
                yield from (cell for line in one for cell in ([line] if isinstance(line, str) else line))
            elif name == "columns":
                yield from (
                    one.values() if isinstance(one, dict) and all(isinstance(v, str) for v in one.values()) else ()
                )
            if name not in ("value", "lines"):
                yield from words_in(one)
    elif isinstance(data, list):
        for one in data:
            yield from words_in(one)


def test_the_page_says_every_word_of_the_json(folder, told) -> None:
    shown = Reader((folder / "dossier.html").read_text("utf-8")).text
    words = [*words_in(told)]
    assert len(words) > 200
    assert [one for one in words if one not in shown] == []
    how = (folder / "HOW_TO_VERIFY.txt").read_text("utf-8")
    assert all(one["command"] in how and one["does"] in how for one in told["verify"]["commands"])


def test_the_page_needs_nothing_else_and_what_is_given_is_no_markup(tmp_path) -> None:
    table = X.rename(columns={"income": EVIL})[[EVIL, "age", "sex"]].assign(sex=X["sex"].replace("male", EVIL))
    model = DecisionTreeClassifier(max_depth=3).fit(table[[EVIL, "age"]], MODEL.predict(X))
    explainer = bf.Explainer(model, table[[EVIL, "age"]])
    made = bf.dossier(explainer, table, tmp_path / "evil", target="approved", groups="sex", sample=20, title=EVIL)
    html = (tmp_path / "evil" / "dossier.html").read_text("utf-8")
    read = Reader(html)
    assert made.to_html() == html
    assert not {"script", "link", "img", "iframe", "object", "form"} & {*read.tags}
    assert all(link[1:] in read.ids for link in read.links)
    assert EVIL in read.text
    assert f"By {EVIL}" not in html
    assert "The model reads no column 'sex'" in read.text


def test_files_have_their_digests(folder, told) -> None:
    assert {one.name for one in folder.iterdir()} == FILES
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: sha256((folder / name).read_bytes()).hexdigest() for name in FILES - {"SHA256SUMS"}}
    (answers,) = told["origin"]["tables"]["files"]["lines"]
    assert answers["sha256"] == sums["answers.jsonl"]
    assert answers["bytes"] == (folder / "answers.jsonl").stat().st_size
    known = facts(told, "origin")
    assert (known["fingerprint"], known["data_fingerprint"]) == (EXPLAINER.fingerprint, EXPLAINER.data_fingerprint)


def without_times(sections: dict[str, Any]) -> str:
    """What must be the same the next time."""
    kept = json.loads(json.dumps(sections))
    del kept["times"], kept["origin"]["facts"]["made"], kept["origin"]["tables"]["files"]
    return json.dumps(kept)


@pytest.mark.long
def test_the_same_question_gives_the_same_dossier(told, tmp_path) -> None:
    again = bf.dossier(EXPLAINER, X, tmp_path / "again", **ASKED)
    assert without_times(again.to_dict()["sections"]) == without_times(told)
    other = bf.dossier(EXPLAINER, X, tmp_path / "other", **{**ASKED, "seed": 1})
    assert [one.row for one in other.answers] != [one.row for one in again.answers]


def test_the_certificates_in_the_folder_hold(folder) -> None:
    answers = bf.Explanations.from_jsonl(folder / "answers.jsonl")
    assert bf.check(answers, MODEL, sample=20, progress=False).passed


def test_a_searched_model_is_said_to_be_one(tmp_path) -> None:
    box = bf.Explainer(lambda rows: (rows["income"] > 30_000).astype(int), data=X[["income", "age"]])
    made = bf.dossier(box, X[["income", "age"]], tmp_path / "box", target=1, sample=3)
    sections = made.to_dict()["sections"]
    assert facts(sections, "proven")["proven"] == 0
    assert sections["limits"]["limits"]["searched"]["value"] == 3
    assert sections["limits"]["limits"]["unproven"]["text"].startswith("3 have a valid answer")
    assert "rows_compared" not in sections["reading"]["facts"]
    assert "The model was not read" in made.to_html()
    assert not any("butfor prove" in one["command"] for one in sections["verify"]["commands"])


def test_a_row_without_time_is_open_and_that_is_a_limit(tmp_path) -> None:
    forest = loans.pipeline()
    forest.steps[-1] = ("forest", RandomForestClassifier(40, max_depth=6, random_state=0))
    explainer = bf.Explainer(forest.fit(X, MODEL.predict(X)), X)
    made = bf.dossier(explainer, X, tmp_path / "late", target="approved", sample=4, time_limit=1e-6, progress=False)
    limits = made.to_dict()["sections"]["limits"]["limits"]
    open_ = sum(not one.certificate.status.settled for one in made.answers)
    assert open_ > 0
    assert limits["unproven"]["value"] == open_
    assert 0 < limits["time"]["value"] <= open_


@pytest.mark.parametrize("kind", ["polars", "numpy"])
def test_tables_of_every_kind(kind: str, tmp_path) -> None:
    numbers = X[["age", "income", "amount"]].dropna()
    given = pl.from_pandas(numbers) if kind == "polars" else numbers.to_numpy(dtype=float)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(given, (numbers["income"] > 30_000).to_numpy())
    made = bf.dossier(bf.Explainer(model, given), given, tmp_path / kind, target=True, sample=0.02, progress=False)
    assert facts(made.to_dict()["sections"], "proven")["share"] == 1.0


def test_words_name_the_columns(tmp_path) -> None:
    words = bf.describe(columns={"income": bf.Column("yearly income", unit="EUR")})
    explainer = bf.Explainer(MODEL, X, words=words)
    made = bf.dossier(explainer, X, tmp_path / "words", target="approved", sample=30, progress=False)
    columns = made.to_dict()["sections"]["levers"]["tables"]["columns"]
    place = [one["column"] for one in columns["lines"]].index("income")
    assert columns["texts"][place][0] == "yearly income"
    assert columns["texts"][place][-1].endswith("EUR")


def test_it_is_silent_when_asked(tmp_path, capsys) -> None:
    bf.dossier(EXPLAINER, X, tmp_path / "quiet", target="approved", sample=2, progress=False)
    assert capsys.readouterr() == ("", "")


def test_its_short_text_says_what_is_proven(tmp_path) -> None:
    made = bf.dossier(EXPLAINER, X, tmp_path / "short", target="approved", sample=2, progress=False, title="Loans")
    first, *_, last = repr(made).splitlines()
    assert first == "Loans"
    assert last.endswith(f"limits are listed, in {tmp_path / 'short'}")
    assert made.folder == tmp_path / "short"
