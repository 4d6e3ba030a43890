"""The checker: one file of its own distribution, which proofs are checked with here, too, and which lies beside each proof."""

from __future__ import annotations

import sys
from functools import cache, lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

CHECKER_FILE = "butfor_check.py"
"""The file of the checker."""


def checker_file() -> Path:
    """Where the checker is: beside this file if butfor was installed, in `checker/` of a repository."""
    installed = Path(__file__).with_name(CHECKER_FILE)
    return installed if installed.exists() else Path(__file__).resolve().parents[3] / "checker" / CHECKER_FILE


@cache
def checker() -> Any:
    """The checker as a module. It knows nothing of butfor, and what butfor makes for it is read by its rules."""
    found = spec_from_file_location("butfor_check", checker_file())
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        found.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


class ReadByChecker:
    """A model as the checker reads it, and the questions about it."""

    def __init__(self, kind: str, content: bytes) -> None:
        self.model = checker().Model(kind, content)
        self.shared = lru_cache(maxsize=8)(self._shared)

    def _shared(self, question: str) -> Any:
        """What all rows of a question share, for each of the targets of which one is wanted."""
        return checker().either(checker().parsed(question), self.model)


@lru_cache(maxsize=1)
def read_by_checker(kind: str, content: bytes) -> ReadByChecker:
    """The last one is kept: whoever proves one answer after the other proves them about one model."""
    return ReadByChecker(kind, content)
