"""Errors as replies: what was given, what is needed, what to do."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse


def reply(
    status: int, kind: str, given: str, needed: str = "", remedy: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    """An error as a reply."""
    return replied(status, {"kind": kind, "given": given, "needed": needed, "remedy": remedy}, headers)


def replied(status: int, error: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    """An error that is JSON already, as a reply."""
    return JSONResponse({"error": {"needed": "", "remedy": "", **error}}, status, headers)
