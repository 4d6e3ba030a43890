"""Reports: whole without a network or a script, summary first, each certificate once, and small for many rows."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.report.page import ANSWERS_ONE_BY_ONE
from butfor.report.pictures import histogram, interval, share_bar, stacked_bar
from butfor.report.reported import MEANINGS
from butfor.space.feature import Feature
from butfor.views.words import why_in_words
from tests.applicant import EXPLAINER, POSSIBLE, STUCK, X
from tests.views.answers import made
from tests.views.test_html import EVIL, Reader

LABELLED = X.set_axis([f"A-{i:04d}" for i in range(len(X))])
MANY = EXPLAINER.explain(LABELLED.iloc[:120], target="approved", constraints=POSSIBLE)


def batch(*answers: bf.Explanation) -> bf.Explanations:
    """Answers made by hand, together."""
    alike = [replace(one, model="Tree", created=answers[0].created, question=answers[0].question) for one in answers]
    read = bf.Explanations.from_json(f"[{', '.join(one.to_json() for one in alike)}]")
    return replace(read, sealed=None)


def lines(html: str) -> list[str]:
    """The lines of the list of rows, as text."""
    body = html.split('<table class="rows">')[1].split("<tbody>")[1].split("</tbody>")[0]
    return [unescape(re.sub(r"<[^>]+>", " ", line)) for line in body.strip().split("\n")]


@pytest.mark.parametrize("answers", [MANY, MANY[:5], MANY[0]], ids=["many", "few", "one"])
def test_a_page_needs_nothing_from_elsewhere(answers) -> None:
    html = answers.to_html()
    read = Reader(html)
    assert not {"link", "img", "iframe", "object"} & {*read.tags}
    assert all(link.startswith("#") for link in read.links)
    named = html.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//[a-z]|url\(|@import|fetch|XMLHttp", named)
    assert "default-src 'none'" in html


def test_only_our_script_may_run() -> None:
    html = MANY.to_html()
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in html
    assert "innerHTML" not in script
    assert "<script" not in MANY[0].to_html()


def test_the_summary_comes_first_and_counts_the_rows() -> None:
    html = MANY.to_html(title="Loans of May")
    read = Reader(html)
    already = sum(one.found and not one.changes for one in MANY)
    impossible = MANY.statuses.count(bf.Status.PROVEN_INFEASIBLE)
    assert "Loans of May" in read.text
    assert f"{already} of 120 rows meet the target without a change." in read.text
    assert f"The others: {120 - already - impossible} answered, {impossible} proven impossible." in read.text
    assert f"already met: {already} ({100 * already / 120:.3g}\N{NO-BREAK SPACE}%)" in read.text
    titles = re.findall(r"<h2>(.*?)</h2>", html)
    assert titles == ["Summary", "Rows", "The question and its certificates"]


def test_the_summary_says_which_columns_change_and_what_it_costs() -> None:
    html = MANY.to_html()
    paid = MANY.costs[(MANY.costs > 0) & MANY.found]
    frame = bf.groups.changes(MANY).set_index("column")
    for column, line in frame.iterrows():
        told = re.search(rf'<th scope="row">{column}</th>(.*?)</tr>', html, re.DOTALL)[1]
        assert f'data-label="Answers">{line["rows"]}<' in told
        assert f'data-label="Up">{int(line["up"])}<' in told
        assert f"{100 * line['share']:.3g}\N{NO-BREAK SPACE}%" in told
    assert f"<dt>answers</dt><dd>{len(paid)}</dd>" in html
    assert f"<dt>most</dt><dd>{paid.max():.3g}</dd>" in html


def test_every_row_is_listed_by_its_own_label_with_score_changes_and_cost() -> None:
    listed = lines(MANY.to_html())
    assert [line.split()[0] for line in listed] == LABELLED.index[:120].tolist()
    for line, one in zip(listed, MANY, strict=True):
        assert one.score.texts[0] in line
        for change in one.changes:
            assert all(text in line for text in (change.label, *change.text))
        if one.changes:
            assert f"{one.cost:.6g}"[:6] in line
        elif not one.found:
            assert why_in_words(one.certificate, one.question)[1:] in line


def test_each_kind_of_certificate_is_said_once_and_each_row_leads_to_its_own() -> None:
    html = MANY.to_html()
    kinds = {(one.certificate.status, bool(one.changes), one.certificate.checks) for one in MANY}
    ids = re.findall(r'id="certificate-(\d+)"', html)
    assert len(ids) == len(set(ids)) == len(kinds)
    assert {*re.findall(r'href="#certificate-(\d+)"', html)} == {*ids}
    counted = [int(count) for count in re.findall(r"<h3>[\w ]+: (\d+) answers?</h3>", html)]
    assert sum(counted) == len(MANY)
    assert html.count("the model predicts approved") <= len(ids)
    assert html.count(MANY[0].certificate.fingerprint) == 1


def test_groups_are_compared_if_a_column_is_given() -> None:
    html = MANY.to_html(by="sex")
    read = Reader(html)
    costs = bf.groups.costs(MANY, by="sex")
    assert "<h2>By sex</h2>" in html
    for _, line in costs.iterrows():
        assert f"of {line['rows']} that need a change: {line['answered']} answered" in read.text
        assert f"{line['mean']:.3g} ({line['low']:.3g} to {line['high']:.3g})" in read.text
    assert re.search(r"mean cost: lowest for \w+, highest for \w+; difference [\d.]+, p = [\d.]+", read.text)
    assert all(f"  {sex}  " in line for line, sex in zip(lines(html), LABELLED["sex"], strict=False))


def test_groups_may_be_given_row_by_row_and_follow_every_answer_to_a_row() -> None:
    rejected = X[EXPLAINER.model.predict(X) == "rejected"].iloc[:2]
    answers = EXPLAINER.explain(rejected, target="approved", k=2)
    told = lines(answers.to_html(by=["north", "south"]))
    assert ["north" in line for line in told] == [row == 0 for row in answers.rows]
    assert [", answer 2" in line for line in told] == [rank == 2 for rank in answers.ranks]


def test_unknown_groups_are_refused() -> None:
    with pytest.raises(bf.errors.InputError, match=r"by='colour' was given"):
        MANY.to_html(by="colour")
    with pytest.raises(bf.errors.InputError, match="holds 2 groups, and 120 rows"):
        MANY.to_html(by=[1, 2])
    with pytest.raises(bf.errors.InputTypeError, match="title=5"):
        MANY.to_html(title=5)


def test_no_answer_at_all_is_an_outcome() -> None:
    rejected = X[EXPLAINER.model.predict(X) == "rejected"].iloc[:8]
    none = EXPLAINER.explain(
        rejected, target="approved", constraints=[*STUCK, bf.fixed("income", "savings", "housing")]
    )
    assert not none.found.any()
    read = Reader(none.to_html(by="housing"))
    for words in ("8 rows: 8 proven impossible.", "No answer changes a column.", "No row has an answer that costs"):
        assert words in read.text
    assert "None" not in read.text
    assert "nan" not in read.text.lower()


def test_no_row_is_an_error() -> None:
    with pytest.raises(bf.errors.InputError, match="no answer was given"):
        MANY[:0].to_html()


def test_further_answers_without_a_first_one_are_refused() -> None:
    rejected = X[EXPLAINER.model.predict(X) == "rejected"].iloc[:2]
    answers = EXPLAINER.explain(rejected, target="approved", k=2)
    with pytest.raises(
        bf.errors.InputError, match="2 answers were given, and none of them is the first one to its row"
    ):
        answers[answers.ranks == 2].to_html()


def test_text_from_right_to_left_is_isolated() -> None:
    space = bf.Space((Feature("הכנסה", 0.0, 10.0, step=1.0), Feature("age", 0.0, 10.0)))
    html = batch(*(made((1.0, 2.0), (3.0, 5.0), space=space, row=row) for row in (0, 1))).to_html()
    assert "<li><bdi>הכנסה</bdi> 1 → <b>3</b></li><li>age 2 → <b>5</b></li>" in html


def test_few_answers_have_cards_and_many_have_none() -> None:
    assert MANY[:ANSWERS_ONE_BY_ONE].to_html().count('class="whose"') == ANSWERS_ONE_BY_ONE
    assert 'class="whose"' not in MANY[: ANSWERS_ONE_BY_ONE + 1].to_html()


def test_a_gap_and_an_open_row_are_told_as_they_are() -> None:
    of = batch(
        made(status=bf.Status.WITHIN_GAP, row=0),
        made(status=bf.Status.VALID, row=1),
        made(after=None, status=bf.Status.NOT_FOUND, row=2),
    )
    html = of.to_html()
    gap, valid, open_ = lines(html)
    assert "1.5" in gap
    assert "at least 0.75" in gap
    assert "at least" not in valid
    assert "No answer was found" in open_
    read = Reader(html)
    assert "3 rows: 2 answered, 1 open." in read.text
    for status in (bf.Status.WITHIN_GAP, bf.Status.VALID, bf.Status.NOT_FOUND):
        assert MEANINGS[status][1:] in read.text
    assert MEANINGS[bf.Status.PROVEN_OPTIMAL][1:] not in read.text


def test_a_failed_check_is_seen() -> None:
    assert '<li class="failed">all constraints hold</li>' in batch(made(row=0), made(row=1)).to_html()


@pytest.mark.parametrize("place", ["column", "level", "prediction", "target", "label", "group", "title", "by"])
def test_nothing_of_the_users_is_markup(place) -> None:
    column = EVIL if place in ("column", "by") else "a"
    table = pd.DataFrame(
        {column: [0.0, 1.0, 2.0, 3.0] * 5, "b": [EVIL if place == "level" else "x", "y"] * 10},
        index=[f"{EVIL if place == 'label' else 'row'} {i}" for i in range(20)],
    )
    classes = np.array(["no", EVIL if place in ("prediction", "target") else "yes"])
    coded = make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough")
    model = make_pipeline(coded, DecisionTreeClassifier(random_state=0))
    model.fit(table, classes[((table[column] > 1) & (table["b"] == "y")).astype(int)])
    answers = bf.Explainer(model, data=table).explain(table)
    by = [EVIL, "other"] * 10 if place == "group" else column if place == "by" else "b"
    html = answers.to_html(title=EVIL if place == "title" else "", by=by)
    read = Reader(html)
    assert read.tags.count("script") == html.count("<script") == 1
    assert EVIL in read.text
    assert re.search(r'="[^"]*<script', html) is None


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_any_table_will_do(kind) -> None:
    X = np.arange(60.0).reshape(30, 2)
    frame = pd.DataFrame(X, columns=["p", "q"])
    tables = {"pandas": frame, "polars": pl.DataFrame(frame.to_dict("list")), "array": X}
    table = tables[kind]
    model = DecisionTreeClassifier(random_state=0).fit(table if kind != "polars" else frame, X[:, 0] > 29)
    answers = bf.Explainer(model, data=table).explain(table)
    told = lines(answers.to_html(by=[0, 1, 2] * 10))
    assert [line.split()[0] for line in told] == [str(i) for i in range(30)]


def test_numbers_are_predictions_and_need_no_score_beside() -> None:
    table = pd.DataFrame({"a": np.linspace(0, 9, 30), "b": np.linspace(3, 1, 30) ** 2})
    model = LinearRegression().fit(table, 3 * table["a"] + table["b"])
    html = bf.Explainer(model, data=table).explain(table, target=bf.value(at_least=20)).to_html()
    head = html.split('<table class="rows">')[1].split("</thead>")[0]
    assert re.findall(r'<th scope="col".*?>(.*?)</th>', head) == ["Row", "Prediction", "Changes", "Cost", "Status"]


def test_words_are_used_everywhere() -> None:
    words = bf.describe(
        {"income": bf.Column("Yearly income", unit="EUR", decimals=0)},
        prediction=bf.Column(levels={"approved": "granted", "rejected": "refused"}),
    )
    text = Reader(MANY.described(words).to_html(by="income")).text
    assert "By Yearly income" in text
    assert "Probability of granted" in text
    assert "refused → granted" in text
    assert re.search(r"median [+−][\d,]+\sEUR", text)
    assert "approved" not in text.split("The question and its certificates")[0]


def test_a_report_is_written_completely_or_not_at_all(tmp_path) -> None:
    for answers, options in ((MANY, {"by": "sex"}), (MANY[0], {"title": "One"})):
        goal = tmp_path / "report.html"
        answers.report(goal, **options)
        assert goal.read_text("utf-8") == answers.to_html(**options)
    with pytest.raises(bf.errors.InputError):
        MANY.report(goal, by="colour")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert goal.read_text("utf-8").endswith("</html>\n")


def test_a_batch_that_was_read_gives_the_same_report() -> None:
    again = bf.Explanations.from_jsonl(MANY.to_jsonl())
    assert again.to_html(by="sex") == MANY.to_html(by="sex")


def test_many_rows_make_a_small_page() -> None:
    rows = np.resize(np.arange(len(MANY)), 1000)
    html = MANY[rows].to_html(by="sex")
    assert html.count("<tr>") >= 1000
    assert len(html.encode()) < 1_500_000


def test_pictures_say_themselves_and_keep_within_their_place() -> None:
    drawn = [
        stacked_bar([("already met", 0.25), ("not found", 0.75)], "a & b"),
        share_bar(0.4, "four in ten"),
        histogram(np.array([0.0, 1.0, 1.0, 5.0]), "costs"),
        histogram(np.array([0.0, 0.0]), "nothing"),
        interval(1.0, 2.0, 4.0, 4.0, "mean 2"),
        interval(0.0, 0.0, 0.0, 0.0, "mean 0"),
    ]
    for picture in drawn:
        read = Reader(picture)
        assert read.tags[:2] == ["svg", "title"]
        assert read.text
        for begin, width in re.findall(r'x="([\d.]+)%" width="([\d.e-]+)%"', picture):
            assert 0 <= float(begin) <= float(begin) + float(width) <= 100.01
    assert "a &amp; b" in drawn[0]
