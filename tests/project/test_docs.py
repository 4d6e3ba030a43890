"""The README and every page of the documentation say what really happens: their blocks are run, in order, file by file.

A `python` block is executed, all blocks of a file in one namespace. A `text` block right after it is what it must print
(the value of a last expression is printed, as in a shell): word for word, but decimals only up to the last digit that is
shown. A line `$ butfor ...` of a `console` block is run as a
command; the lines below it, if there are any, are what it must print. `> FILE` at its end keeps what it prints. `...`
stands for anything.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib.pyplot as plt
import pytest

from butfor.cli import main
from tests.doc_scripts import skip_without_libraries
from tests.shorter import unless

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LONG_PAGES = {
    "networks", "network", "dossier", "oblique-trees", "portfolio", "portfolios", "black-boxes", "command-line", "gallery",
    "groups", "houses", "robust", "measure", "several", "compress", "clinic", "log", "survival",
}  # fmt: skip
"""Pages that take long, about what other tests look at, too."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page; `follows` says that nothing but space stands between it and the block before."""

    language: str
    text: str
    line: int
    follows: bool


def blocks(page: str) -> list[Block]:
    found, end = [], 0
    for match in BLOCK.finditer(page):
        line = page.count("\n", 0, match.start()) + 1
        found.append(Block(match[1], match[2], line, not page[end : match.start()].strip()))
        end = match.end()
    return found


def printed(run: Callable[[], object]) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out):
        run()
    out.seek(0)
    return out.read()


def run_python(block: Block, file: str, names: dict[str, Any]) -> str:
    """What a block prints; errors point into the page."""
    tree = ast.parse("\n" * block.line + block.text, file)
    shown = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None

    def run() -> None:
        exec(compile(tree, file, "exec"), names)
        value = eval(compile(ast.Expression(shown.value), file, "eval"), names) if isinstance(shown, ast.Expr) else None
        if value is not None:
            print(repr(value))

    return printed(run)


def run_command(command: str) -> str:
    """What `butfor ...` prints, unless it goes to a file. It is run in this process, which has everything loaded."""
    words = shlex.split(command, comments=True)
    words, file = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)

    def run() -> None:
        with mock.patch.object(sys, "argv", words), pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, f"{shlex.join(words)} ended with {ended.value.code}"

    said = printed(run)
    if file is None:
        return said
    Path(file).write_text(said, encoding="utf-8")
    return ""


def commands(block: Block) -> list[tuple[str, str]]:
    """Each command of a console block (continued lines joined), and the output shown below it."""
    said = block.text.replace("\\\n", " ")
    parts = re.split(r"^\$ ", said, flags=re.MULTILINE)[1:]
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1]) for part in parts]


NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*\.\d+(?:e[-+]?\d+)?(?![\w.])")
"""A number with decimals. Whole numbers are counts and are compared as they are."""


def tidy(text: str) -> str:
    """Without the white space that lays a table out: its width depends on the digits in it."""
    return "\n".join(" ".join(line.split()) for line in text.strip().split("\n")).strip()


def same(said: str, shown: str) -> bool:
    """Whether a block prints what is shown: text as it is, decimals up to the last digit that is shown.

    The last digits of a fitted model depend on the processor's linear algebra and on the versions of the libraries.
    """
    said, shown = tidy(said), tidy(shown)
    pattern = re.escape(NUMBER.sub("\0", shown)).replace(r"\.\.\.", r"[\s\S]*").replace("\0", f"({NUMBER.pattern})")
    found = re.fullmatch(pattern, said)
    return found is not None and all(map(close, found.groups(), NUMBER.findall(shown)))


def close(said: str, shown: str) -> bool:
    """Whether two numbers differ by no more than rounding to the digits shown, one more in the last of them."""
    a, b = (float(text.replace("−", "-").replace(",", "")) for text in (said, shown))
    digits = len(re.sub(r"e.*", "", shown).partition(".")[2])
    exponent = int(shown.partition("e")[2] or 0)
    return abs(a - b) <= 1.5 * 10.0 ** (exponent - digits)


def run_page(page: Path) -> int:
    """Run all blocks of a page; how many ran."""
    names: dict[str, Any] = {"__name__": "__main__"}
    said, ran = "", 0
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            said, ran = run_python(block, str(page), names), ran + 1
        elif block.language == "text" and block.follows:
            assert same(said, block.text), f"{where}: the block above prints\n{said}"
        elif block.language in ("console", "bash"):
            for command, shown in commands(block):
                if command.split()[0] == "butfor":
                    printed, ran = run_command(command), ran + 1
                    assert not shown.strip() or same(printed, shown), f"{where}: {command} prints\n{printed}"
    plt.close("all")
    return ran


@pytest.mark.slow
@pytest.mark.documentation
@pytest.mark.parametrize(
    "page", unless([page for page in PAGES if page.stem in LONG_PAGES], PAGES), ids=lambda page: page.stem
)
def test_every_block_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_libraries(page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    wanted = [block for block in blocks(page.read_text(encoding="utf-8")) if block.language == "python"]
    assert run_page(page) >= len(wanted)


@pytest.mark.slow
@pytest.mark.documentation
@pytest.mark.parametrize(
    "script",
    unless([script for script in EXAMPLES if script.stem in LONG_PAGES], EXAMPLES),
    ids=lambda script: script.stem,
)
def test_every_example_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script)])
    said = printed(lambda: runpy.run_path(str(script), run_name="__main__"))
    plt.close("all")
    assert "proven" in said or list(tmp_path.iterdir()), "it shows no answer"


@pytest.mark.slow
@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(PAGES)
    fetched = [
        page.name
        for page in pages
        if re.search(r'(src|href)="(https?:)?//[^"]+\.(js|css|woff2?)', page.read_text("utf-8"))
    ]
    assert not fetched, "a page loads a script, style or font from elsewhere"


def test_a_wrong_output_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\n1 + 1\n```\n\n```text\n3\n```\n")
    with pytest.raises(AssertionError, match="line 5"):
        run_page(page)


@pytest.mark.parametrize(
    ("said", "shown", "fine"),
    [
        ("cost 0.287538", "cost 0.287537", True), ("cost 0.287540", "cost 0.287537", False), ("0.99999 yes", "1.0 yes", True),
        ("5 of 10", "5 of 11", False), ("a  1.25\nb  2.50", "a 1.25\nb 2.50", True), ("a 1.25 b 2.50", "a 1.25\nb 2.50", False),
        ("1.500e-08", "1.501e-08", True), ("−1.50", "+1.50", False), ("version 1.2.3", "version 1.2.4", False),
        ("19,700.5 EUR", "19,700.6 EUR", True), ("x 1.25 y", "x ... y", True), ("0.5", "0.5 and more", False),
    ],
)  # fmt: skip
def test_numbers_are_compared_to_the_last_digit_shown(said: str, shown: str, fine: bool) -> None:
    assert same(said, shown) is fine


def test_dots_stand_for_anything() -> None:
    assert same("a\nb\nc\n", "a\n...\nc")
    assert not same("a\nb\nc\n", "a\n...\nd")
