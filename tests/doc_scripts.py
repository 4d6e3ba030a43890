"""The scripts that write the documentation, loaded from their files, and which libraries some pages need."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]

NEEDS = {
    "survival": {"sksurv": "survival"}, "clinic": {"sksurv": "survival"}, "notebook": {"anywidget": "widget"},
    "networks": {"torch": "torch", "onnx": "onnx", "onnxruntime": "onnx"}, "network": {"torch": "torch"},
}  # fmt: skip
"""What the page of a name needs: the libraries, and the extra of each."""


def skip_without_libraries(page: Path) -> None:
    """Skip the test of a page whose libraries are not installed here."""
    for library, extra in NEEDS.get(page.stem, {}).items():
        pytest.importorskip(library, reason=f"{library} is not installed: pip install butfor[{extra}]")


def doc_script(name: str) -> ModuleType:
    """A script of the folder docs, loaded anew."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
