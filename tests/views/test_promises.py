"""What an answer was asked to survive stands beside it: in text, on pages and in letters."""

from __future__ import annotations

from functools import cache

import matplotlib.pyplot as plt
import pytest

import butfor as bf
from butfor.datasets import loans

WITHIN = ("22,150", "23,150")
"""Income may be off by 500."""


@cache
def answer() -> bf.Explanation:
    X, y = loans.load()
    explainer = bf.Explainer(loans.pipeline().fit(X, y), data=X)
    kept = [bf.robust({"income": 500, "amount": 300})]
    return explainer.explain(X.iloc[[206]], target="approved", constraints=kept).only


def test_the_text_tells_between_which_values_it_stays_valid() -> None:
    text = str(answer())
    assert "stays valid" in text.splitlines()[2]
    assert "from 22150 to 23150" in text
    assert "it stays valid if income is off by up to 500 and amount is off by up to 300" in text


def test_a_column_that_may_not_be_off_is_told_as_ever() -> None:
    assert answer()["income"].stays == (22150.0, 23150.0)
    assert answer()["months"].stays is None
    assert answer()["income"].changed
    assert answer()["months"].changed


def test_an_answer_without_a_promise_has_no_such_column() -> None:
    X, y = loans.load()
    plain = bf.Explainer(loans.pipeline().fit(X, y), data=X).explain(X.iloc[[206]], target="approved").only
    assert "stays valid" not in str(plain)
    assert "Stays valid" not in plain.to_html()
    assert all(change.stays is None for change in plain.columns())


def test_the_page_has_a_column_for_it() -> None:
    page = answer().to_html()
    assert '<th scope="col" class="number">Change</th><th scope="col">Stays valid</th>' in page
    assert "from 22150 to 23150" in page
    assert page.count('data-label="Stays valid"') == len(answer().changes)


@pytest.mark.parametrize(
    ("language", "ends"),
    [("en", WITHIN), ("de", ("22.150", "23.150")), ("es", ("22.150", "23.150")), ("fr", ("22 150", "23 150"))],
)
@pytest.mark.parametrize("style", ["letter", "brief", "technical"])
def test_letters_tell_it_in_their_numbers(language: str, ends: tuple[str, str], style: str) -> None:
    text = answer().to_text(style=style, language=language)
    plain = text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert all(end in plain for end in ends)


def test_a_translation_without_that_sentence_stays_in_its_language() -> None:
    own = {"letter": {"change": "{label} was {after} in plaats van {before}"}}
    text = answer().to_text(templates=own)
    assert "income was 22,650 in plaats van 19,800" in text
    assert "anything from" not in text


def test_what_was_promised_is_in_the_saved_answer_too() -> None:
    again = bf.Explanation.from_json(answer().to_json())
    assert again["income"].stays == answer()["income"].stays
    assert str(again) == str(answer())


def test_words_and_decimals_are_those_of_the_column() -> None:
    words = bf.describe({"income": bf.Column("Income", unit="EUR"), "amount": bf.Column("Amount", decimals=2)})
    told = answer().described(words)
    low, high = (text.replace("\N{NO-BREAK SPACE}", " ") for text in told["income"].show_within(22150.0, 23150.0))
    assert (low, high) == ("22,150 EUR", "23,150 EUR")
    assert "from 11,150.00 to 11,750.00" in str(told)


def test_pictures_have_a_band_where_it_stays_valid() -> None:
    page = answer().to_html()
    assert page.count('<line class="stays"') == 2
    assert "it stays valid from 22150 to 23150" in page
    ax = answer().plot()
    assert "income from 19800 to 22650 (stays valid from 22150 to 23150)" in ax.get_label()
    bands = [line for line in ax.lines if line.get_alpha() == 0.3]
    assert len(bands) == 2
    assert all(low < high for low, high in (band.get_xdata() for band in bands))
    plt.close(ax.figure)
