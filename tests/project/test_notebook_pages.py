"""Each how-to page and each example is also a notebook, which runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doc_scripts import ROOT, doc_script, skip_without_libraries
from tests.shorter import unless

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.md"))
PAGES = [*EXAMPLES, *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
MOST_CELLS = 40


def test_a_page_becomes_text_and_code_and_its_output_is_left_to_the_notebook() -> None:
    page = (
        "# Title\n\nSee [prices](prices.md) and [a paper](https://example.org).\n\n![A picture](../images/a.png)\n\n"
        "```python\n1 + 1\n```\n\n```text\n2\n```\n\nAfter it.\n\n```console\n$ butfor warm\n```\n"
    )
    text, code, after = doc_script("notebooks").notebook(page)["cells"]
    assert text["source"] == "# Title\n\nSee prices and [a paper](https://example.org)."
    assert (code["cell_type"], code["source"], code["outputs"]) == ("code", "1 + 1", [])
    assert after["source"] == "After it.\n\n```console\n$ butfor warm\n```"


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_an_example_is_short(page: Path) -> None:
    assert len(doc_script("notebooks").notebook(page.read_text(encoding="utf-8"))["cells"]) < MOST_CELLS


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "page", unless([page for page in PAGES if page.stem != "credit"], PAGES), ids=lambda page: page.stem
)
def test_the_notebook_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install butfor[dev]")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install butfor[dev]")
    skip_without_libraries(page)
    import nbformat

    made = doc_script("notebooks").notebook(page.read_text(encoding="utf-8"))
    book = nbformat.from_dict(made)
    nbformat.validate(book)
    if "```console" in page.read_text(encoding="utf-8"):
        return  # its code uses what commands wrote
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")
