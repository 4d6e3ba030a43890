"""The gallery shows every picture, each above its code, and stays small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import butfor as bf

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "gallery.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
MOST_BYTES = 60_000


def anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


@pytest.mark.parametrize("title", SECTIONS)
def test_each_picture_is_small_and_leads_to_its_code(title: str) -> None:
    name = anchor(title)
    assert f"images/gallery-{name}.png){{ .small }}](#{name} " in PAGE
    assert re.search(rf"^```python\n.*?^ax = .*?^```\n\n!\[.+\]\(images/gallery-{name}\.png\)$", SECTIONS[title],
                     re.MULTILINE | re.DOTALL)  # fmt: skip
    assert (DOCS / "images" / f"gallery-{name}.png").stat().st_size < MOST_BYTES


def test_every_function_of_plots_has_a_picture() -> None:
    shown = {anchor(title).replace("-", "_") for title in SECTIONS}
    assert {*bf.plots.__all__} <= shown
