"""The log of the library, called "butfor"."""

from __future__ import annotations

import logging

LOG = logging.getLogger("butfor")
