"""`bf.widget` itself: what a notebook gets, and clear errors. What it says is tested in `test_conversation.py`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import butfor as bf
from butfor.errors import InputError, InputTypeError, MissingExtraError
from butfor.serve import widget as home
from butfor.serve.desk import Desk


@pytest.fixture
def made_anew() -> Iterator[None]:
    home._what_if.cache_clear()
    yield
    home._what_if.cache_clear()


@pytest.fixture
def made(desk: Desk) -> Any:
    pytest.importorskip("anywidget", reason='anywidget is not installed: pip install "butfor[widget]"')
    return bf.widget(desk.explainer, desk.table, language="de")


def test_the_missing_extra_is_named(desk: Desk, made_anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtraError, match=r'anywidget.*pip install "butfor\[widget\]"') as error:
        bf.widget(desk.explainer, desk.table)
    assert isinstance(error.value, ImportError)


def test_a_notebook_gets_the_desk_its_module_and_its_styles(made: Any) -> None:
    assert 'data-row="0"' in made.html
    assert "Was darf sich ändern?" in made.html
    assert "export default { render }" in made._esm
    assert "import " not in made._esm  # one module, which asks for no other
    assert ".desk" in made.style
    assert ":is(.butfor, #_)" in made.style
    for text in (made._esm, made._css, made.style, made.html):
        assert "https://" not in text


def test_a_message_is_answered(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = list[dict[str, Any]]()
    monkeypatch.setattr(made._conversation, "tell", sent.append)

    async def ask() -> None:
        made._handle_custom_msg({"ask": "a", "work": "explain", "body": {"row": 3}}, [])
        async with asyncio.timeout(60):
            while not sent or sent[-1]["event"] != {"event": "end"}:
                await asyncio.sleep(0.01)

    asyncio.run(ask())
    assert {one["about"] for one in sent} == {"a"}
    assert [one["event"]["event"] for one in sent][:2] == ["heard", "answers"]
    (answer,) = made.answers
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert made.answers[0].meta.get("who") is None


@pytest.mark.parametrize("given", [{"language": "xx"}, {"rows": "none"}])
def test_what_cannot_be_shown_is_refused(given: dict[str, Any], desk: Desk) -> None:
    pytest.importorskip("anywidget", reason='anywidget is not installed: pip install "butfor[widget]"')
    rows = desk.table.iloc[:0] if "rows" in given else desk.table
    with pytest.raises(InputError, match=r"language='xx'|no rows"):
        bf.widget(desk.explainer, rows, language=given.get("language", "en"))


def test_a_model_is_no_explainer(desk: Desk) -> None:
    with pytest.raises(InputTypeError, match="Explainer"):
        bf.widget(desk.explainer.model, desk.table)
