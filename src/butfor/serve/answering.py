"""What a question is answered with: events, each a JSON object. Every answer in them has its certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from butfor.audit.recheck import check
from butfor.compiled.clock import now
from butfor.errors import ButforError, InputError, LogError
from butfor.explain.notices import collected
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.region import Region
from butfor.log import LOG
from butfor.records.plain import plain
from butfor.serve.asked import LANGUAGES, Inquiry, asked
from butfor.serve.desk import Desk
from butfor.serve.plain import Json
from butfor.views.html import card
from butfor.views.languages import speaking

REGION_SECONDS = 1.0
"""How long it may take to say where an answer stays valid."""

CHECKED_WITHIN = 10.0
"""How long it may take to prove the bound of an answer again."""


def explained(desk: Desk, question: Inquiry) -> Iterator[Json]:
    """The answers as they are found, and at last where the best one stays valid."""
    begin, row = now(), desk.given(question.row)
    best: Explanations | None = None
    steps = desk.explainer.improving(
        row, **question.question, k=question.k, seed=question.seed, time_limit=question.seconds, progress=False,
        meta={"who": question.who} if question.who else None,
    )  # fmt: skip
    with collected() as outside:
        for best in steps:
            unlogged = _unlogged(desk, best, question)
            yield {
                "event": "answers",
                "answers": [answered(one, question) for one in best],
                "seconds": now() - begin,
                "unlogged": unlogged,
                "outside": outside[0] if outside else "",
            }
    if question.region and best is not None and best[0].found and best[0].changes:
        target = desk.explainer.rules.target if question.rules.target is None else question.rules.target
        yield from _region(desk, best[0], target)


def _unlogged(desk: Desk, answers: Explanation | Explanations, question: Inquiry) -> str:
    """Log what is shown next, if there is a log. If that fails, nothing is shown, or why it failed is shown, too."""
    try:
        if desk.log is not None:
            desk.log.append(answers, who=question.who or None)
    except LogError as error:
        if not desk.unlogged:
            raise
        LOG.error("an answer is shown that is not logged: %s", error)
        return str(error)
    return ""


def warm(desk: Desk) -> None:
    """Answer one question, so that all loops are compiled and loaded before somebody waits for them."""
    silent = replace(desk, log=None)
    with suppress(ButforError):
        for _ in explained(silent, Inquiry(row=0, seconds=1.0, region=True)):
            pass


def _region(desk: Desk, answer: Explanation, target: Any) -> Iterator[Json]:
    wanted = answer.after if target is None else target
    try:
        found = desk.explainer.region(answer, wanted, time_limit=REGION_SECONDS)
    except ButforError:
        return  # this model, or this target, has no region: nothing is said of it
    yield {"event": "region", "widest": found.widest, "columns": _intervals(found, answer)}


def _intervals(region: Region, answer: Explanation) -> list[Json]:
    """The changed columns that have room, with their ends."""
    changed = {change.name for change in answer.changes}
    return [
        {"column": f.name, "low": plain(region.low[j]), "high": plain(region.high[j]), "text": region.ends(j)}
        for j, f in enumerate(region.space)
        if f.name in changed and f.levels is None and region.low[j] < region.high[j]
    ]


def answered(answer: Explanation, question: Inquiry) -> Json:
    """An answer in short, its record, and how it looks if that is asked for."""
    with speaking(question.language):
        shown = card(answer) if question.card else None
    short = {name: one for name, one in answer.to_dict("brief").items() if name not in ("row", "rank")}
    return {**short, "html": shown, "record": answer.to_json()}


def menu(desk: Desk, question: Inquiry) -> Iterator[Json]:
    """Every set of columns that is worth changing, with its cheapest answer."""
    row = desk.given(question.row)
    with collected() as outside:
        made = desk.explainer.menu(row, **question.question, most=question.most, time_limit=question.seconds)
    failed = [words for one in made.answers if (words := _unlogged(desk, one, question))]
    options = [answered(one, question) for one in made.answers]
    said = {"unlogged": failed[0] if failed else "", "outside": outside[0] if outside else ""}
    yield {"event": "menu", "answers": options, "text": str(made), **said}


def scored(desk: Desk, body: Any) -> Json:
    """What the model predicts for a row."""
    if not isinstance(body, Mapping) or "row" not in body:
        raise InputError("the body has no row.", 'Write {"row": {...}}.')
    table = desk.given(body["row"])
    return {"values": desk.values(table)[0], **desk.scores(table)[0]}


def checked(desk: Desk, body: Any) -> Iterator[Json]:
    """The certificate of an answer, done again."""
    answer = _recorded(desk, body)
    found = check(answer, desk.explainer.model, time_limit=CHECKED_WITHIN, progress=False)
    yield {"event": "checked", "passed": found.passed, "text": str(found)}


def rendered(desk: Desk, body: Any) -> Iterator[Json]:
    """An answer as a page or as a letter."""
    answer = _recorded(desk, body)
    language, form = body.get("language", "en"), body.get("as", "page")
    if language not in LANGUAGES or form not in FORMS:
        raise InputError(
            f"as={form!r} and language={language!r} were given.",
            f"as is one of {', '.join(FORMS)}; language is one of {', '.join(LANGUAGES)}.",
        )
    yield {"event": "rendered", "text": FORMS[form](answer, language)}


FORMS: dict[str, Callable[[Explanation, str], str]] = {
    "page": lambda answer, language: answer.to_html(language=language),
    "letter": lambda answer, language: answer.to_letter(language),
}


def _recorded(desk: Desk, body: Any) -> Explanation:
    """The answer in a body.

    Its record is text. As an object, it would lose its hash on the way through a script, which writes 1.0 as 1.
    """
    if not isinstance(body, Mapping) or not isinstance(body.get("answer"), str):
        raise InputError("the body has no answer.", 'The record of one is needed, as text: {"answer": "{...}"}.')
    return desk.read(body["answer"])


DESK_WORK: Mapping[str, Callable[[Desk, Any, str], Iterator[Json]]] = {
    "explain": lambda desk, body, who: explained(desk, replace(asked(body), who=who)),
    "menu": lambda desk, body, who: menu(desk, replace(asked(body), who=who)),
    "score": lambda desk, body, who: iter([{"event": "score", **scored(desk, body)}]),
    "check": lambda desk, body, who: checked(desk, body),
    "render": lambda desk, body, who: rendered(desk, body),
}
"""What is done at a desk, for whom."""


def at(desk: Desk) -> Callable[[str, Any], Iterator[Json]]:
    """What a process does at a desk, which is warm from then on."""
    warm(desk)
    return lambda work, body: DESK_WORK[work](desk, body["asked"], body["who"])
