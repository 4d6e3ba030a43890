"""Words and letters: columns as the user calls them in every view, and sentences that say no more than is proven."""

from __future__ import annotations

import pickle
import re
import tomllib
from dataclasses import replace
from importlib.resources import files

import matplotlib.pyplot as plt
import pytest

import butfor as bf
from butfor.explanation.changes import readable
from butfor.explanation.column_words import ENGLISH, NumberStyle
from butfor.views.letters import STYLES, languages
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, STUCK, X
from tests.shorter import first
from tests.views.answers import drawn, made, question

WORDS = bf.describe(
    {
        "income": bf.Column("Yearly income", unit="EUR", decimals=0),
        "amount": bf.Column("Amount", unit="EUR", decimals=2),
        "months": "Duration",
        "job": bf.Column("Job", levels={"permanent": "permanent contract"}),
    },
    prediction=bf.Column("Decision", levels={"approved": "granted", "rejected": "refused"}),
)
ANSWER = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE)
NONE = EXPLAINER.explain(ROW, target="approved", constraints=STUCK)


def test_every_view_uses_the_words(tmp_path) -> None:
    told = ANSWER.described(WORDS)
    for shown in (repr(told), told.to_html(), told._repr_html_(), repr(EXPLAINER.contributions(told))):
        assert "Yearly income" in shown
        assert "22,150" in shown
        assert "EUR" in shown
        assert "granted" in shown
    ax = told.plot()
    assert "Yearly income" in [label.get_text() for label in ax.get_yticklabels()]
    assert ax.get_title(loc="left").startswith("refused → granted")
    plt.close("all")
    assert "11,750.00\N{NO-BREAK SPACE}EUR" in told.only.changes[1].text[1]


def test_an_explainer_tells_its_answers_in_words() -> None:
    explainer = bf.Explainer(MODEL, X, words=WORDS)
    assert repr(explainer.explain(ROW, target="approved", constraints=POSSIBLE)) == repr(ANSWER.described(WORDS))


def test_words_are_no_part_of_a_record() -> None:
    told = ANSWER.only.described(WORDS)
    assert told == ANSWER.only
    assert told.to_json() == ANSWER.only.to_json()
    loaded = bf.Explanation.from_json(told.to_json())
    assert loaded.words is None
    assert bf.check(told, MODEL).passed
    assert loaded.described(WORDS).to_text() == told.to_text()
    assert pickle.loads(pickle.dumps(told)).to_text() == told.to_text()


def test_an_english_letter() -> None:
    assert ANSWER.described(WORDS).to_text().replace("\N{NO-BREAK SPACE}", " ") == (
        "With your yearly income at 22,150 EUR instead of 19,800 EUR, your amount at 11,750.00 EUR instead of "
        "12,800.00 EUR and your duration at 21 instead of 24, the decision would be granted instead of refused. "
        "The probability of granted would go from 3.57 % to 65 %. At least 50 % is needed. "
        "It is proven that no smaller permitted change is enough, as changes are measured here. "
        "This is no promise: it says how the model decides today. With other facts or a later model, the decision may be "
        "another."
    )


@pytest.mark.parametrize(
    ("language", "number", "proven", "impossible"),
    [
        ("en", "22,150", "It is proven", "It is proven that no"),
        ("de", "22.150", "Es ist bewiesen", "Es ist bewiesen, dass keine"),
        ("fr", "22\N{NARROW NO-BREAK SPACE}150", "Il est prouvé", "Il est prouvé qu'aucun"),
        ("es", "22.150", "Está demostrado", "Está demostrado que ningún"),
    ],
)
def test_letters_in_other_languages(language, number, proven, impossible) -> None:
    letter = ANSWER.to_text(language=language)
    assert number in letter
    assert proven in letter
    assert impossible in NONE.to_text(language=language)


PROOFS = {"en": "proven", "de": "bewiesen", "fr": "prouvé", "es": "demostrad"}
CLAIMS = (bf.Status.PROVEN_OPTIMAL, bf.Status.WITHIN_GAP, bf.Status.PROVEN_INFEASIBLE)


@pytest.mark.parametrize("language", PROOFS)
@pytest.mark.parametrize("style", ["letter", "brief"])
@pytest.mark.parametrize("status", bf.Status)
def test_a_letter_says_no_more_than_the_certificate(language, style, status) -> None:
    answer = made(status=status, **({} if status.found else {"after": None}))
    text = answer.to_text(style, language)
    assert (PROOFS[language] in text.lower()) is (status in CLAIMS)
    if status.found:
        assert PROOFS[language] not in replace(answer, rank=2).to_text(style, language).lower()


def test_a_proven_share_is_rounded_down() -> None:
    answer = made(status=bf.Status.WITHIN_GAP)
    near = replace(answer, certificate=replace(answer.certificate, bound=1.4999))
    assert "at least 99\N{NO-BREAK SPACE}% as large as this one" in near.to_text()


def test_an_answer_without_changes() -> None:
    same = made((1.0, 0.5, 0.0), (1.0, 0.5, 0.0))
    assert same.to_text() == "The answer is no already: nothing needs to change."


@pytest.mark.parametrize("seed", first(6, range(30)))
@pytest.mark.parametrize("language", PROOFS)
def test_any_answer_can_be_told(seed, language) -> None:
    for style in STYLES:
        text = drawn(seed).to_text(style, language)
        assert text
        assert not re.search(r"\{\w+\}", text.replace(drawn(seed).question.cost, ""))


@pytest.mark.parametrize(
    ("target", "german"),
    [
        (bf.other(), "„ein anderes“"),
        (bf.classes("a", "b"), "„a oder b“"),
        (bf.probability("a", 0.75), "„a mit einer Wahrscheinlichkeit von mindestens 0,75“"),
        (bf.probability("a", at_most=0.25), "„a mit einer Wahrscheinlichkeit von höchstens 0,25“"),
        (bf.value(at_least=1234.5), "„mindestens 1.234,5“"),
        (bf.value(at_most=2), "„höchstens 2“"),
        (bf.relative_change(0.2), "„up by 20%“"),
    ],
)
def test_targets_are_told_in_the_language(target, german) -> None:
    asked = question(target, bf.L1(), [])
    assert german in made(after=None, status=bf.Status.NOT_FOUND, asked=asked).to_text(language="de")


def test_a_predicted_number_is_told_once() -> None:
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import LinearRegression

    rows, values = load_diabetes(return_X_y=True)
    explainer = bf.Explainer(
        LinearRegression().fit(rows, values),
        rows,
        words=bf.describe({}, prediction=bf.Column("Progress", unit="points", decimals=1)),
    )
    text = explainer.explain(rows[:1], target=bf.value(at_most=150)).to_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "the predicted value would be 150.0 points instead of 206.1 points. At most 150 is needed." in text


def test_templates_can_be_replaced_and_translated(tmp_path) -> None:
    own = {"letter": {"found": "Dear customer: {changes} -> {output}.", "PROVEN_OPTIMAL": ""}}
    text = ANSWER.to_text(templates=own)
    assert text.startswith("Dear customer: your income at 22,150")
    assert "proven" not in text
    file = tmp_path / "it.toml"
    file.write_text('[letter]\nfound = "Se {changes}, {output}."\n', encoding="utf-8")
    assert ANSWER.to_text(language="it", templates=file).startswith("Se ")


@pytest.mark.parametrize("language", languages())
def test_every_language_has_every_name(language) -> None:
    def names(text: str) -> dict[str, list[str]]:
        return {table: sorted(rows) for table, rows in tomllib.loads(text).items() if table != "page"}

    folder = files("butfor.views.sentences")
    english = names(folder.joinpath("en.toml").read_text(encoding="utf-8"))
    assert names(folder.joinpath(f"{language}.toml").read_text(encoding="utf-8")) == english


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ANSWER.to_text("poem"), "styles are 'letter', 'brief', 'technical'"),
        (lambda: ANSWER.to_text(language="xx"), "languages are 'de', 'en', 'es', 'fr'"),
        (lambda: ANSWER.to_text(templates={"letter": {"fuond": "x"}}), "names there are"),
        (lambda: ANSWER.to_text(templates={"poem": {}}), "tables are"),
        (lambda: ANSWER.to_text(templates={"letter": {"found": "{nobody}"}}), "It may name"),
        (lambda: ANSWER.to_text(templates={"letter": {"found": "{now.__class__}"}}), "It may name"),
        (lambda: ANSWER.to_text(templates={"letter": {"found": "{now"}}), "It may name"),
        (lambda: ANSWER.to_text(templates={"letter": {"found": 3}}), "must be a text"),
        (lambda: ANSWER.to_text(templates=3), "path of a TOML file"),
        (lambda: bf.Column("a", decimals=-1), "0 to 15"),
        (lambda: bf.Column("a", decimals=True), "0 to 15"),
        (lambda: bf.Column(3), "must be a text"),
        (lambda: bf.Column(unit=None), "must be a text"),
        (lambda: bf.Column(levels=["a"]), "from value to text"),
        (lambda: bf.Column(thousands="x"), "True or False"),
        (lambda: bf.describe({"a": 3}), "A label or"),
        (lambda: bf.describe(3), "dict from column"),
        (lambda: bf.describe({}, prediction="x"), "bf.Column"),
        (lambda: ANSWER.described(bf.describe({"incme": "Income"})), "columns are income"),
        (lambda: ANSWER.described(bf.describe({"job": bf.Column("Job", decimals=2)})), "not a column of numbers"),
        (lambda: ANSWER.described(bf.describe({"job": bf.Column(levels={"king": "x"})})), "Its values are"),
        (lambda: ANSWER.described(bf.describe({"income": bf.Column(levels={"1": "x"})})), "column of numbers"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(call, words) -> None:
    with pytest.raises(bf.ButforError, match=words):
        call()


TOML = """
[columns.income]
label = "Yearly income"
unit = "EUR"
decimals = 0

[columns]
months = "Duration"

[prediction.levels]
approved = "granted"
"""


def test_words_from_a_file(tmp_path) -> None:
    file = tmp_path / "words.toml"
    file.write_text(TOML.replace('[columns]\nmonths = "Duration"\n', '[columns.months]\nlabel = "Duration"\n'))
    words = bf.describe(file)
    assert words.columns["income"] == bf.Column("Yearly income", unit="EUR", decimals=0)
    assert words.prediction == bf.Column(levels={"approved": "granted"})
    assert "granted" in repr(ANSWER.described(words))
    assert repr(words) == "<Words for 2 columns (income: Yearly income, months: Duration)>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "is not TOML"),
        ("[column.income]\nlabel = 'x'", "'column'"),
        ("[columns.income]\nname = 'x'", "'name' in \\[columns.income\\]"),
        ("columns = 3", "'columns'"),
        ("[columns]\nincome = 3", "columns.income"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, text, words) -> None:
    file = tmp_path / "words.toml"
    file.write_text(text)
    with pytest.raises(bf.ButforError, match=words):
        bf.describe(file)


@pytest.mark.parametrize(
    ("before", "after", "decimals", "shown"),
    [
        (4000.0, 5000.000244, 0, ("4000", "5000.1")),
        (4000.0, 5000.000244, 2, ("4000.00", "5000.01")),
        (0.31, 0.35, 0, ("0", "0.35")),
        (19_700.4, 22_150.0, 0, ("19700", "22150")),
        (3, 4, 2, ("3.00", "4.00")),
        (1.0, 1.0, 1, ("1.0", "1.0")),
        (None, 2.5, 2, ("missing", "2.50")),
        (None, 3440.1240000000003, 0, ("missing", "3440.1240000000003")),
        (None, 3440.0, 0, ("missing", "3440")),
        (100.6, 100.9, 0, ("100.6", "100.9")),
        (5000.0, 3999.9997, 0, ("5000", "3999.9")),
    ],
)
def test_decimals_never_hide_or_undo_a_change(before, after, decimals, shown) -> None:
    assert readable(before, after, None, decimals) == shown


def test_number_styles() -> None:
    assert ENGLISH.apply("-1234567.25", grouped=True) == "-1,234,567.25"
    assert ENGLISH.apply("1e+20", grouped=True) == "1e+20"
    assert NumberStyle("'", ",").apply("1999", grouped=False) == "1999"
    assert NumberStyle("'", ",").apply("1999.5", grouped=True) == "1'999,5"


EVIL = "<script>alert('x')</script>"


def test_scripts_in_words_are_escaped() -> None:
    words = bf.describe(
        {"income": bf.Column(EVIL, unit=EVIL), "amount": EVIL},
        prediction=bf.Column(levels={"approved": EVIL, "rejected": EVIL}),
    )
    told = ANSWER.described(words)
    for shown in (told.to_html(), told._repr_html_(), NONE.described(words).to_html()):
        assert "<script" not in shown


def test_control_characters_are_visible_in_letters() -> None:
    words = bf.describe({"income": "a\x1b[31m\n"})
    assert "\\x1b[31m\\n" in ANSWER.described(words).to_text()
