"""Notebooks: each answer stands there once, the styles of the notebook have no say, and a bar needs no widgets."""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from types import SimpleNamespace

import pytest

from butfor.views import progress

SELECTOR = re.compile(r"^\s*([^@{}/*][^{}]*)\{", re.MULTILINE)


def test_every_rule_outweighs_those_of_the_page_around() -> None:
    css = files("butfor.views").joinpath("style.css").read_text(encoding="utf-8")
    css = re.sub(r"/\*.*?\*/|@media [^{]*", "", css, flags=re.DOTALL)
    rules = [found for found in SELECTOR.findall(css) if found.strip()]  # what is left of @media is blank
    selectors = [one.strip() for found in rules for one in re.split(r",(?![^()]*\))", found)]
    assert len(selectors) > 50
    assert [one for one in selectors if ":is(.butfor, #_)" not in one and not one.startswith(".butfor-page")] == []
    assert "all: revert" in css


class Notebook:
    """What a notebook shows: the last state of each output."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []
        self.history: list[str] = []

    def display(self, data, *, raw, display_id):
        assert raw
        assert display_id
        place = len(self.shown)
        self.shown.append(data)

        def update(again, *, raw):
            self.shown[place] = again
            self.history.append(again["text/plain"])

        return SimpleNamespace(update=update)


@pytest.fixture
def notebook(monkeypatch) -> Notebook:
    made = Notebook()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=made.display))
    return made


def test_a_bar_in_a_notebook_moves_and_leaves_nothing_behind(notebook, capsys) -> None:
    with progress.bar(3, True) as advance:
        advance(2)
        assert '<progress value="2" max="3">' in notebook.shown[0]["text/html"]
    assert notebook.history == ["explaining 0/3", "explaining 2/3", ""]
    assert notebook.shown == [{"text/plain": "", "text/html": ""}]
    assert capsys.readouterr() == ("", "")


def test_a_bar_that_is_not_wanted_or_not_needed_is_not_drawn(notebook) -> None:
    for show in (False, None):
        with progress.bar(3, show) as advance:
            advance(3)
    assert not notebook.shown


def test_the_shell_of_a_terminal_is_no_notebook(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert progress.display_of_a_notebook() is None
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert progress.display_of_a_notebook() is None


CELLS = """
import butfor as bf
from butfor.datasets import loans
X, y = loans.load()
explainer = bf.Explainer(loans.pipeline().fit(X, y), data=X)
===
answer = explainer.explain(X.iloc[[206]], target="approved", progress=True)
answer
===
text = str(answer)
assert text.startswith("rejected")
===
explainer.explain(X.iloc[204:208], target="approved")
"""


@pytest.mark.slow
def test_an_executed_notebook_shows_each_answer_once() -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install butfor[dev]")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install butfor[dev]")
    from nbformat import v4

    book = v4.new_notebook(cells=[v4.new_code_cell(cell.strip()) for cell in CELLS.split("===")])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    outputs = [[one for one in cell.outputs if one.get("name") != "stderr"] for cell in book.cells]
    assert [len(one) for one in outputs] == [0, 2, 0, 1]
    bar, answer = outputs[1]
    assert bar["data"] == {"text/plain": "", "text/html": ""}
    assert answer["data"]["text/plain"].startswith("rejected → approved")
    assert 'class="butfor"' in answer["data"]["text/html"]
    assert 'class="list"' in outputs[3][0]["data"]["text/html"]
