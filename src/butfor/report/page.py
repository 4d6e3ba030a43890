"""The page: what it begins with, and its sections in order."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Any

from butfor.errors import InputTypeError
from butfor.explanation.answer_list import AnswerList
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.render import rendered
from butfor.portfolio.portfolio import Portfolio
from butfor.records.whole_file import write_whole
from butfor.report.by_group import by_group
from butfor.report.certificates import certificates
from butfor.report.reported import Reported, reported
from butfor.report.rows import rows
from butfor.report.summary import summary
from butfor.views import html
from butfor.views.languages import say, speaking, spoken
from butfor.views.markup import isolated
from butfor.views.page_words import headline_told

ANSWERS_ONE_BY_ONE = 20
"""Up to so many answers also have a card each, with drawings. More of them would make the page long and heavy."""

ONE = "The cheapest change to one row that makes the model answer differently."
MANY = "The cheapest change to each row that makes the model answer differently."

NOTHING_FROM_ELSEWHERE = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page tells the browser: load nothing, and run no script. A list has one of ours, which is let in."""

Groups = str | Iterable[Any] | None

Told = Explanation | Explanations | Portfolio
"""What a page is about."""


def page(answers: Told, title: str = "", by: Groups = None, language: str = "en") -> str:
    """The whole page. A single answer is a card; of several, the summary comes first."""
    if not isinstance(title, str):
        raise InputTypeError(f"title={title!r} was given.", "It must be a text.")
    with speaking(language):
        return _page(answers, title, by)


def _page(answers: Told, title: str, by: Groups) -> str:
    if isinstance(answers, Explanation) or (isinstance(answers, Explanations) and len(answers) == 1 and by is None):
        one = answers.only
        name = title or say("Counterfactual explanation")
        return document(title or headline_told(one), name, say(ONE), [html.card(one)], _version(one), "")
    of = reported(answers, by)
    title = title or say("Counterfactual explanations")
    sections = [summary(of), by_group(of), rows(of), *_cards(of), certificates(of)]
    head = f"{title}: {answers.summary}" if spoken() == "en" else title
    return document(head, title, say(MANY), sections, _version(of.first), _file("rows.js"))


def listings(several: Sequence[AnswerList], names: Sequence[str], title: str) -> str:
    """A page of menus or ladders, each under its name."""
    sections = [
        f'<section class="butfor"><p class="whose">{escape(name)}</p></section>'
        + str(rendered(rendered(one, one.way), "listing fragment"))
        for name, one in zip(names, several, strict=True)
    ]
    first = next((answer for one in several for answer in one), None)
    return document(title, title, "", sections, "" if first is None else _version(first), "")


def write(
    answers: Told,
    path: str | PathLike[str],
    title: str = "",
    by: Groups = None,
    language: str = "en",
) -> None:
    """Write the page into a file, completely or not at all."""
    write_whole(path, [page(answers, title, by, language)])


def _cards(of: Reported) -> list[str]:
    """The answers one by one, if they are few."""
    if len(of.answers) > ANSWERS_ONE_BY_ONE:
        return []
    return [
        f'<section class="butfor"><p class="whose">{say("Row")} {isolated(one.label)}</p>{html.outline(one)}</section>'
        for one in of.answers
    ]


def document(head: str, title: str, about: str, sections: Sequence[str], made: str, script: str) -> str:
    """A page of sections. `made` is the version of butfor that made them; `script` is the only one that may run."""
    ours = f"; script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" if script else ""
    main = "\n".join(filter(None, sections))
    last = f"\n<script>{script}</script>" if script else ""
    return f"""<!DOCTYPE html>
<html lang="{spoken()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{NOTHING_FROM_ELSEWHERE}{ours}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(head)} – butfor</title>
<style>
{html.style()}{_file("report.css")}</style>
</head>
<body class="butfor-page">
<header>
<h1>{isolated(title)}</h1>
<p>{about}</p>
</header>
<main>
{main}
</main>
<footer>{escape(say("Made by butfor {version}", version=made).rstrip())}.</footer>{last}
</body>
</html>
"""


def _version(one: Explanation) -> str:
    """The version of butfor that made an answer."""
    return one.certificate.versions.get("butfor", "")


@cache
def _file(name: str) -> str:
    return files("butfor.report").joinpath(name).read_text(encoding="utf-8")
