"""What journeys through the what-if page and its widget have in common: waiting, reading, pictures, and axe."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

SERIOUS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .filter(one => ["serious", "critical"].includes(one.impact)).map(one => [one.id, one.nodes.length, one.nodes[0].html])"""


def until(page: Any, holds: Callable[[], bool]) -> None:
    """Wait. The page itself evaluates no text: its policy forbids that."""
    for _ in range(600):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not come to that in half a minute")


def answered(page: Any) -> str:
    """What the answer says, when it is proven."""
    until(page, lambda: "proven" in page.inner_text("#told") and page.is_disabled("#stop"))
    return str(page.inner_text("#cards"))


def photograph(page: Any, name: str) -> None:
    """A picture of the page, if `SCREENSHOTS` names a folder."""
    if "SCREENSHOTS" in os.environ:
        Path(os.environ["SCREENSHOTS"]).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(os.environ["SCREENSHOTS"]) / f"{name}.png"), full_page=True)
