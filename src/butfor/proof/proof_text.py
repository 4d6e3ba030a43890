"""The text of a proof, and the name of its file."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any


def file_name(label: Any, rank: int) -> str:
    """The name of the file of a proof. Labels that letters do not tell apart get a part of their hash."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", str(label))
    own = "" if plain == str(label) else f"-{sha256_of(str(label).encode())[:8]}"
    return f"row-{plain}{own}{f'-answer-{rank}' if rank > 1 else ''}.proof"


def signed(body: list[str]) -> list[str]:
    """The lines of a proof, with their footer."""
    return [*body, json.dumps({"steps": len(body) - 1, "sha256": sha256_of("\n".join(body).encode())})]


def sha256_of(content: bytes) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
