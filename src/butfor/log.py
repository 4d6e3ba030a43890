"""The log of the library, called "butfor", and whether anybody reads what is written."""

from __future__ import annotations

import logging
from typing import TextIO

LOG = logging.getLogger("butfor")


def on_terminal(stream: TextIO | None) -> bool:
    """Whether somebody reads what is written to a stream. A process without a console has none, or a closed one."""
    return stream is not None and not getattr(stream, "closed", False) and stream.isatty()
