"""Who may come in: the right host, a token where one is needed, no foreign page, no huge body. And what every answer says.

It stands in front of everything else. The page about the threats lists each of these lines with its test.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import cookie_parser

from butfor.log import LOG
from butfor.serve.replies import reply

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 1_000_000
"""How many bytes a question may have."""

COOKIE = "butfor"

PUBLIC_PATHS = ("/", "/session", "/healthz")
"""Where nobody needs a token. The page shows nothing without one; its scripts and styles are everybody's."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

HEADERS = {
    "content-security-policy": "; ".join(
        ("default-src 'self'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'", "object-src 'none'")
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass
class Keys:
    """Who may ask: a name for each token. None: whoever sits at this machine.

    - `csrf`: what a page of this server sends with each question, and a foreign page cannot know.
    """

    tokens: Mapping[str, str] | None = None
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def name_of(self, token: str) -> str | None:
        """Whose token it is; None if it is nobody's. Every token is compared, in the same time."""
        found = None
        for known, name in (self.tokens or {}).items():
            if hmac.compare_digest(known.encode(), token.encode()):
                found = name
        return found


@dataclass
class Door:
    """Lets questions in, or says why not."""

    app: App
    hosts: tuple[str, ...]
    keys: Keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 0
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}

        async def sent(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name.decode("latin-1").lower() for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name not in own]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, sent)
        else:
            await self.app(scope, _limited(receive), sent)
        # neither the address of whoever asks, nor what was asked
        LOG.info("%s %s %d %.0f ms", scope["method"], scope["path"], status, 1000 * (time.perf_counter() - begin))

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> App | None:
        """Why it may not come in; None if it may. It notes who asks."""
        if _host(headers.get("host", "")) not in self.hosts:
            return reply(
                421, "NotThisHost", "the request is for another host.", "", "Add it with --host if it is meant to be."
            )
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > LARGEST_BODY:
            return TOO_LARGE
        by_header = headers.get("authorization", "").removeprefix("Bearer ").strip()
        token = by_header or cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
        who = "local" if self.keys.tokens is None else self.keys.name_of(token)
        is_open = scope["path"] in PUBLIC_PATHS or scope["path"].startswith("/static/")
        if who is None and not is_open:
            return reply(
                401, "NoToken", "no token was given, or a wrong one.", "", 'Send "Authorization: Bearer TOKEN".'
            )
        if scope["method"] not in ("GET", "HEAD") and not by_header and self._foreign(scope, headers):
            return reply(
                403, "ForeignPage", "the request does not come from a page of this server.", "", "Load it again."
            )
        scope["state"] = {**scope.get("state", {}), "who": who}
        return None

    def _foreign(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Whether a browser sent it from a page that is not ours. Browsers say so; other programs have no pages."""
        from_browser = "origin" in headers or "sec-fetch-site" in headers or "cookie" in headers
        own = hmac.compare_digest(headers.get("x-csrf-token", "").encode("latin-1"), self.keys.csrf.encode())
        same = headers.get("sec-fetch-site", "same-origin") == "same-origin"
        signs_in = scope["path"] == "/session" and same
        return from_browser and not (own and same) and not signs_in


TOO_LARGE = reply(413, "TooLarge", f"the body has more than {LARGEST_BODY:,} bytes.", "A question is shorter.")


class TooLargeError(Exception):
    """A body that did not say how long it is, and is too long."""


def _limited(receive: Receive) -> Receive:
    taken = 0

    async def received() -> MutableMapping[str, Any]:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise TooLargeError
        return message

    return received


def _host(given: str) -> str:
    """The name in a Host header, without its port."""
    if given.startswith("["):
        return given[1:].partition("]")[0].lower()
    return given.rpartition(":")[0].lower() if ":" in given else given.lower()
