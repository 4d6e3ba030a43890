"""`import butfor` in a fresh process: at most 0.5 s."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness import Number, fresh, main

CODE = "import time; begin = time.perf_counter(); {}; print(time.perf_counter() - begin)"


def measure(smoke: bool) -> Iterator[Number]:
    """The import alone; and with the Explainer, which is loaded when it is first named."""
    for name, code, limit in (
        ("import butfor", "import butfor", 0.5),
        ("import butfor, butfor.Explainer", "import butfor; butfor.Explainer", None),
    ):
        fresh(CODE.format(code))
        times = [fresh(CODE.format(code))[1][0] for _ in range(1 if smoke else 9)]
        yield Number(name, times, "s", {"limit": limit} if limit else {})


if __name__ == "__main__":
    main({"import_time": measure}, __doc__ or "")
