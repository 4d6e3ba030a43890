"""The command starts at once: it imports what it needs when a command runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from butfor.cli.commands import app

HEAVY = ("numpy", "scipy", "sklearn", "numba", "pandas", "polars", "pyarrow", "narwhals", "joblib", "highspy", "rich")

WITHOUT = """
import sys
sys.modules["typer"] = None
from butfor.__main__ import main
main()
"""

LIST = """
import sys
from butfor.cli import main
sys.argv = ["butfor", {words}]
try:
    main()
finally:
    print("loaded:", *[name for name in {heavy} if name in sys.modules])
"""


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    "words", ["--help", "--version", *(f"{one.callback.__name__} --help" for one in app.registered_commands)]
)
def test_help_loads_no_library(words) -> None:
    code = LIST.format(words=", ".join(map(repr, words.split())), heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded:"


@pytest.mark.long
def test_it_is_a_module_too() -> None:
    done = subprocess.run([sys.executable, "-m", "butfor", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: butfor [OPTIONS] COMMAND [ARGS]...")
    wrong = subprocess.run(
        [sys.executable, "-m", "butfor", "explain", "nix", "nix.csv"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert wrong.stderr == "butfor: nix: No such file or directory\n"


def test_without_the_libraries_of_the_command_it_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        'butfor: the command line needs typer, which is not installed. Run: pip install "butfor[cli]"\n'
    )
