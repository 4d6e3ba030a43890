"""Pictures are drawn without a screen, libraries do not compete for processors, and no compiled code is out of date."""

import os
from pathlib import Path

import matplotlib as mpl

os.environ.setdefault("OMP_NUM_THREADS", "1")
mpl.use("Agg")


def pytest_configure(config) -> None:
    """Remove the compiled functions if the source of one of them has changed.

    Each one's cache knows its own file only, and not those of the functions that are compiled into it.
    """
    source = Path(__file__).resolve().parents[1] / "src"
    caches = [path for path in source.rglob("*.nb?") if path.is_file()]
    marks = ("import numba", "butfor.compiled.kernel import")
    texts = {path: path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    compiled = [path for path, text in texts.items() if any(mark in text for mark in marks)]
    main_process = not hasattr(config, "workerinput")
    if main_process and caches and max(map(_changed, compiled)) > min(map(_changed, caches)):
        for path in caches:
            path.unlink(missing_ok=True)


def _changed(path: Path) -> float:
    return path.stat().st_mtime
