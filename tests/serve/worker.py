"""A process of a team that does what the body says: count slowly, do not stop, or die."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

from butfor.serve.team import work


def counted(work: str, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if body.get("deaf"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in range(body["count"]):
        yield {"event": "number", "number": number, "process": os.getpid()}
        if body.get("dies"):
            os._exit(3)
        time.sleep(body.get("pause", 0.0))


if __name__ == "__main__":
    work(lambda opening: counted)
