"""The widget as a person uses it in a notebook: in chromium, with the real Python side behind it, narrow and dark.

It needs playwright (`pip install playwright`) and a chromium; `make test-web` also fetches axe-core.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import butfor as bf
from tests.web.browser import AXE
from tests.web.journeys import SERIOUS, answered, photograph, until
from tests.web.notebook import ADDRESS, Kernel, opened

pytestmark = [pytest.mark.web, pytest.mark.slow]

OUTSIDE = """() => ["#outside", "h1", "body"].map(one => getComputedStyle(document.querySelector(one)))
  .map(one => [one.color, one.font, one.letterSpacing, one.backgroundColor, one.margin].join())"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    made = Kernel()
    yield made
    made.close()


@pytest.fixture
def page(browser: Any, kernel: Kernel) -> Iterator[Any]:
    yield from shown(browser, kernel)


def shown(browser: Any, kernel: Kernel, **options: Any) -> Iterator[Any]:
    """A notebook with a widget, which must ask nobody for anything, and log no error."""
    context = browser.new_context(**options)
    page, wrong = context.new_page(), list[str]()
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    asked = opened(page, kernel)
    yield page
    assert [one for one in asked if not one.startswith(("blob:", "data:"))] == [ADDRESS]
    assert not wrong
    context.close()


def test_ask_refuse_undo_and_use_the_answer_in_python(page: Any, kernel: Kernel) -> None:
    page.click("button.main")
    first = answered(page)
    assert "approved" in first
    assert "Where it stays valid" in first
    (answer,) = kernel.answers
    assert bf.check(answer, kernel.desk.explainer.model).passed
    page.locator("#cards .buttons button").first.click()
    until(page, lambda: page.inner_text("#cards") != first)
    assert page.locator("[name=lock]:checked").count() == 1
    second = answered(page)
    page.click("#undo")
    until(page, lambda: page.inner_text("#cards") != second)
    assert answered(page).startswith(first.partition("CERTIFICATE")[0])
    page.click("#use")
    until(page, lambda: page.inner_text("#decision").startswith("approved"))
    assert page.is_hidden("#link"), "a notebook has no address to share"


def test_a_slider_moves_the_score(page: Any) -> None:
    before = page.inner_text("#decision")
    page.fill("[data-column=income] [data-value]", "60000")
    until(page, lambda: "changed by hand" in page.inner_text("#decision"))
    assert page.inner_text("button.main") == "Ask from here"
    page.click("#reset")
    until(page, lambda: page.inner_text("#decision") == before)


def test_another_row_by_its_number_by_a_condition_and_by_keyboard(page: Any) -> None:
    page.fill("#choose [name=row]", "3")
    page.click("#choose button")
    until(page, lambda: page.inner_text("#row-title") == "The row 3")
    assert page.evaluate("document.activeElement.shadowRoot.activeElement.id") == "row-title"
    page.fill("#find [name=where]", "income > 90000")
    page.press("#find [name=where]", "Enter")
    until(page, lambda: "of 1,000" not in page.inner_text(".pages"))
    page.locator(".rows tbody a").first.press("Enter")
    until(page, lambda: page.inner_text("#row-title") not in ("The row 3", "The row"))
    page.fill("#find [name=where]", "incom > 3")
    page.click("#find button")
    until(page, lambda: "income" in page.inner_text("#problem"))
    assert page.url == ADDRESS


def test_what_is_wrong_is_told_in_words(page: Any) -> None:
    page.click("[data-column=income] summary")
    page.fill("[data-column=income] [data-from]", "9")
    page.fill("[data-column=income] [data-to]", "3")
    page.click("button.main")
    until(page, lambda: "swap the ends" in page.inner_text("#problem"))


def test_menu_and_files(page: Any) -> None:
    page.click("button.main")
    answered(page)
    for form, words in (("json", '"schema"'), ("letter", "not a promise"), ("page", "<!DOCTYPE html>")):
        with page.expect_download() as kept:
            page.click(f"[data-save={form}]")
        assert words.lower() in Path(kept.value.path()).read_text(encoding="utf-8").lower()
    page.click("#menu")
    until(page, lambda: page.locator("#cards .butfor").count() > 1)


def test_a_stopped_question_says_so_and_the_next_is_answered(page: Any) -> None:
    page.fill("#k", "10")
    page.fill("#probability", "0.9")
    page.select_option("[name=target]", "approved")
    page.click("button.main")
    until(page, lambda: page.is_enabled("#stop"))
    page.click("#stop")
    until(page, lambda: page.inner_text("#told") == "stopped")
    page.fill("#k", "1")
    page.fill("#probability", "")
    page.click("button.main")
    assert "approved" in answered(page)


def test_a_kernel_that_gives_no_sign_is_told_of(page: Any, kernel: Kernel) -> None:
    kernel.is_deaf = True
    try:
        page.click("button.main")
        until(page, lambda: "kernel has ended" in page.inner_text("#told"))
    finally:
        kernel.is_deaf = False
    page.click("button.main")
    assert "approved" in answered(page)


def test_neither_styles_nor_names_leave_the_widget_or_come_in(page: Any) -> None:
    with_widget = page.evaluate(OUTSIDE)
    assert page.eval_on_selector("#row-title", "one => getComputedStyle(one).color") != "rgb(255, 0, 0)"
    assert page.eval_on_selector("#row-title", "one => getComputedStyle(one).letterSpacing") == "normal"
    assert page.is_visible("button.main")
    assert page.evaluate("document.querySelector('#ask')") is None
    page.evaluate("end(); document.querySelector('.butfor-what-if').remove()")
    assert page.evaluate(OUTSIDE) == with_widget
    assert page.evaluate("listeners()") == 0


def test_two_views_of_a_widget_ask_for_themselves(page: Any) -> None:
    page.evaluate("show()")
    first, second = (page.locator(".butfor-what-if").nth(k) for k in range(2))
    second.locator("button.main").click()
    until(page, lambda: "proven" in second.locator("#told").inner_text())
    assert not first.locator("#cards").inner_text()
    first.locator("button.main").click()
    until(page, lambda: "proven" in first.locator("#told").inner_text())


@pytest.mark.parametrize(("width", "dark"), [(320, False), (390, True), (900, False), (900, True), (1400, False)])
def test_no_width_overflows(width: int, dark: bool, browser: Any, kernel: Kernel) -> None:
    for page in shown(browser, kernel, viewport={"width": width, "height": 900}):
        if dark:
            page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        page.click("button.main")
        answered(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        back = page.eval_on_selector(".desk > section", "one => getComputedStyle(one).backgroundColor")
        assert (back == "rgb(255, 255, 255)") is not dark
        photograph(page, f"widget-{width}{'-dark' if dark else ''}")


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not fetched: make test-web")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(dark: bool, browser: Any, kernel: Kernel) -> None:
    for page in shown(browser, kernel):
        if dark:
            page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        page.click("button.main")
        answered(page)
        page.add_script_tag(path=str(AXE))
        assert page.evaluate(SERIOUS.replace("document,", "'.butfor-what-if',")) == []
