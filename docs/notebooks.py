"""How-to pages and examples as notebooks, made of their blocks with the site (`mkdocs.yml` names this file as a hook)."""

from __future__ import annotations

import json
import re
from typing import Any

FOLDERS = ("how-to/", "examples/")
"""The pages that are notebooks, too."""

PYTHON = re.compile(r"^```python\n(.*?)^```$(?:\s*^```text\n.*?^```$)?", re.MULTILINE | re.DOTALL)
"""A block of code, and what it prints: a notebook prints that itself."""

LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")
"""A link to another page. It would lead nowhere from a notebook."""

PICTURE = re.compile(r"^!\[.*?\]\(.*?\)(?:\{.*?\})?$", re.MULTILINE)


def notebook(page: str) -> dict[str, Any]:
    """The notebook of a page: its text and its code, and no output yet."""
    cells, end = [], 0
    for block in PYTHON.finditer(page):
        cells += [_cell("markdown", page[end : block.start()]), _cell("code", block[1])]
        end = block.end()
    cells.append(_cell("markdown", page[end:]))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": [cell for cell in cells if cell["source"]],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def _cell(kind: str, text: str) -> dict[str, Any]:
    if kind == "code":
        return {"cell_type": kind, "execution_count": None, "metadata": {}, "outputs": [], "source": text.rstrip()}
    return {"cell_type": kind, "metadata": {}, "source": LINK.sub(r"\1", PICTURE.sub("", text)).strip()}


def on_files(files: Any, config: Any) -> Any:
    """MkDocs calls this with the pages that it found. Each of these gets a notebook beside it."""
    from mkdocs.structure.files import File

    for page in [one for one in files.documentation_pages() if one.src_uri.startswith(FOLDERS)]:
        made = json.dumps(notebook(page.content_string), indent=1, ensure_ascii=False)
        files.append(File.generated(config, page.src_uri.removesuffix(".md") + ".ipynb", content=made))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """MkDocs calls this with the text of each page. Below their title, these lead to their notebook."""
    if not page.file.src_uri.startswith(FOLDERS):
        return markdown
    title, _, rest = markdown.partition("\n")
    name = page.file.src_uri.rpartition("/")[2].removesuffix(".md")
    return f"{title}\n\n<small>[This page as a notebook]({name}.ipynb)</small>\n{rest}"
