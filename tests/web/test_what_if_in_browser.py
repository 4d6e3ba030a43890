"""The what-if page as a person uses it: in chromium, by mouse and by keyboard, narrow and dark, and when things break.

It needs playwright (`pip install playwright`) and a chromium; `make test-web` also fetches axe-core.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.web.browser import AXE
from tests.web.journeys import SERIOUS, answered, photograph, until
from tests.web.served import Served

pytestmark = [pytest.mark.web, pytest.mark.slow]
APPLICANT = 206


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("served"))
    yield made
    made.kill()


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """A page about the applicant, which must ask nobody but the server, and log no error."""
    yield from opened(browser, served)


def opened(browser: Any, served: Served, *, refused: tuple[str, ...] = ("422",), **options: Any) -> Iterator[Any]:
    """A page that asks nobody but the server, and logs no error but replies with these numbers."""
    context = browser.new_context(**options)
    page, asked, wrong = context.new_page(), list[str](), list[str]()
    page.set_default_timeout(60_000)
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda told: (
            wrong.append(told.text)
            if told.type == "error" and not any(number in told.text for number in refused)
            else None
        ),
    )
    page.goto(f"{served.address}?row={APPLICANT}")
    yield page
    hosts = {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))}
    assert hosts == {urlsplit(served.address).netloc}
    assert not wrong
    context.close()


def test_ask_refuse_undo(page: Any) -> None:
    page.click("button.main")
    first = answered(page)
    assert "approved" in first
    assert "Where it stays valid" in first
    assert re.search(r"not less than [\d.]+ · cost [\d.]+", page.inner_text("#closing"))
    refusal = page.locator("#cards button").first
    column = refusal.inner_text().split(": ")[1]
    refusal.click()
    until(page, lambda: page.inner_text("#cards") != first)
    second = answered(page)
    names = {"Amount": "amount"}
    assert page.is_checked(f"[name=lock][value={names.get(column, column)}]")
    assert f"I refuse this change: {column}" not in second
    page.click("#undo")
    until(page, lambda: page.inner_text("#cards") != second)
    assert f"I refuse this change: {column}" in answered(page)
    page.click("#history summary")
    assert page.locator("#history li").count() == 3
    photograph(page, "what-if-history")


def test_a_slider_moves_the_score_and_the_question(page: Any) -> None:
    before = page.inner_text("#decision")
    page.fill("[data-column=income] [data-value]", "60000")
    until(page, lambda: page.inner_text("#decision") != before)
    assert "changed by hand" in page.inner_text("#decision")
    assert page.input_value("[data-column=income] [data-slider]") == "60000"
    assert page.inner_text("button.main") == "Ask from here"
    page.click("button.main")
    answered(page)
    page.click("#reset")
    until(page, lambda: page.inner_text("#decision") == before)


def test_use_the_answer_and_the_decision_is_the_other(page: Any) -> None:
    page.click("button.main")
    answered(page)
    page.click("#use")
    until(page, lambda: page.inner_text("#decision").startswith("approved"))


def test_a_link_restores_the_question_and_holds_no_values(page: Any) -> None:
    page.check("[name=lock][value=income]")
    page.select_option("[name=target]", "approved")
    page.fill("[data-column=savings] [data-value]", "12345")
    page.click("#link")
    address = page.url
    assert "12345" not in address
    page.goto("about:blank")
    page.goto(address)
    answered(page)
    assert page.is_checked("[name=lock][value=income]")
    assert page.input_value("[name=target]") == "approved"


def test_classes_that_are_no_words_can_be_asked_for(browser: Any, tmp_path: Path) -> None:
    served = Served(tmp_path, truth=True)
    for page in opened(browser, served, refused=()):
        page.select_option("[name=target]", "True")
        page.fill("#probability", "0.6")
        page.click("button.main")
        assert "True" in answered(page)
    served.kill()


def test_what_is_impossible_is_told(page: Any) -> None:
    for one in page.query_selector_all("[name=lock]:enabled"):
        one.check()
    page.click("button.main")
    assert "impossible" in answered(page)
    assert page.is_disabled("#use")


def test_bad_input_is_told_and_the_page_goes_on(page: Any) -> None:
    page.click("[data-column=income] summary")
    page.fill("[data-column=income] [data-from]", "9")
    page.fill("[data-column=income] [data-to]", "3")
    page.click("button.main")
    until(page, lambda: "swap the ends" in page.inner_text("#problem"))
    page.fill("[data-column=income] [data-from]", "")
    page.fill("[data-column=income] [data-to]", "")
    page.click("button.main")
    assert "approved" in answered(page)
    assert not page.inner_text("#problem")


def test_menu_comparison_and_files(page: Any) -> None:
    page.click("button.main")
    answered(page)
    page.click("#pin")
    assert page.locator("#pinned .butfor").count() == 1
    for form, words in (("json", '"schema"'), ("letter", "not a promise"), ("page", "<!DOCTYPE html>")):
        with page.expect_download() as kept:
            page.click(f"[data-save={form}]")
        assert words.lower() in Path(kept.value.path()).read_text(encoding="utf-8").lower()
    page.click("#menu")
    until(page, lambda: page.locator("#cards .butfor").count() > 1)
    photograph(page, "what-if-menu")


def test_by_keyboard_alone(page: Any) -> None:
    page.focus("[name=target]")
    page.keyboard.press("ArrowDown")
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('button.main')"):
            break
    page.keyboard.press("Enter")
    assert "approved" in answered(page)


@pytest.mark.parametrize(("width", "dark"), [(320, False), (390, True), (768, False), (1400, True)])
def test_no_width_overflows(width: int, dark: bool, browser: Any, served: Served) -> None:
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": "dark" if dark else "light"}
    for page in opened(browser, served, **options):
        page.click("button.main")
        answered(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        photograph(page, f"what-if-{width}{'-dark' if dark else ''}")


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not fetched: make test-web")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(dark: bool, browser: Any, served: Served) -> None:
    for page in opened(browser, served, color_scheme="dark" if dark else "light", bypass_csp=True):
        page.click("button.main")
        answered(page)
        page.add_script_tag(path=str(AXE))
        assert page.evaluate(SERIOUS) == []


def test_without_a_script(browser: Any, served: Served) -> None:
    for page in opened(browser, served, java_script_enabled=False):
        page.check("[name=lock][value=amount]")
        page.click("button.main")
        assert "proven optimal" in page.inner_text("#cards").lower()
        page.click("text=DE")
        assert "Was wäre, wenn?" in page.inner_text("h1")


def test_a_lost_connection_is_told_and_what_was_found_stays(browser: Any, tmp_path: Path) -> None:
    served = Served(tmp_path)
    page = browser.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{served.address}?row={APPLICANT}")
    page.click("button.main")
    found = answered(page)
    served.kill()
    page.click("button.main")
    until(page, lambda: "connection was lost" in page.inner_text("#problem"))
    assert page.inner_text("#cards") == found
    page.close()


@pytest.fixture
def two_workers(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path, workers=2)
    yield made
    made.kill()


def test_a_slow_question_of_one_does_not_keep_another_waiting(browser: Any, two_workers: Served) -> None:
    """Both processes are stopped, and one goes on: whose question it has is answered, and the other one waits."""
    with closing(opened(browser, two_workers)) as first, closing(opened(browser, two_workers)) as second:
        pages = [next(first), next(second)]
        for pid in two_workers.workers():
            os.kill(pid, signal.SIGSTOP)
        for page in pages:
            page.click("button.main")
            until(page, lambda page=page: page.is_enabled("#stop"))
        one, other = two_workers.workers()
        os.kill(one, signal.SIGCONT)
        until(pages[0], lambda: [page.is_enabled("#stop") for page in pages].count(True) == 1)
        os.kill(other, signal.SIGCONT)
        assert all("proven optimal" in answered(page).lower() for page in pages)


def test_processes_that_die_are_told_and_others_take_their_place(browser: Any, two_workers: Served) -> None:
    """Both die, one of them within a question. Only that question ends in an error."""
    for page in opened(browser, two_workers, refused=("503",)):
        page.click("button.main")
        found = answered(page)
        for pid in two_workers.workers():
            os.kill(pid, signal.SIGSTOP)
        page.click("button.main")
        page.wait_for_timeout(1000)  # it has reached a process
        for pid in two_workers.workers():
            os.kill(pid, signal.SIGKILL)
        until(page, lambda page=page: "has ended" in page.inner_text("#problem"))
        assert page.inner_text("#cards") == found
        page.click("button.main")
        until(page, lambda page=page: page.inner_text("#problem") == "" and page.is_enabled("#stop"))
        page.wait_for_timeout(1000)
        assert page.inner_text("#problem") == ""


def test_what_is_not_logged_is_said(browser: Any, tmp_path: Path) -> None:
    served = Served(tmp_path, "--log", "answers.log", "--unlogged")
    for page in opened(browser, served):
        page.click("button.main")
        answered(page)
        assert page.inner_text("#problem") == ""
        (tmp_path / "answers.log").write_text("no longer a log" * 1000)
        page.check("[name=lock][value=income]")
        page.click("button.main")
        answered(page)
        assert "it is not in the log" in page.inner_text("#problem")
    served.kill()
