"""A chromium that a person's journeys go through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.browser import BROWSER


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if BROWSER is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test-web")
    with playwright.sync_playwright() as p:
        yield p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
