"""The application: the page, the interface under /api/v1, and who is asked for what."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from hashlib import sha256
from importlib.resources import files
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from butfor.errors import ButforError
from butfor.log import LOG
from butfor.serve.access import COOKIE, TOO_LARGE, App, Door, Keys, TooLargeError
from butfor.serve.answering import scored
from butfor.serve.desk import Desk
from butfor.serve.filled import Wanted
from butfor.serve.interface import interface
from butfor.serve.kept import KeptReplies, OtherQuestionError
from butfor.serve.page import page
from butfor.serve.plain import Json, refused
from butfor.serve.replies import replied, reply
from butfor.serve.team import ProcessEndedError, QueueFullError, Team
from butfor.views.html import style

STATIC = {
    "page.js": "text/javascript", "what-if.js": "text/javascript", "what-if.css": "text/css", "icon.svg": "image/svg+xml",
}  # fmt: skip

Handler = Callable[["Server", Request], Awaitable[Response]]


@dataclass
class Server:
    """A desk, its processes, and the replies that are kept."""

    desk: Desk
    team: Team
    keys: Keys
    kept: KeptReplies = field(default_factory=KeptReplies)


def application(desk: Desk, team: Team, hosts: tuple[str, ...], keys: Keys) -> App:
    """The application, behind its door."""
    server = Server(desk, team, keys)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await team.start()
        yield
        await team.close()

    def route(path: str, handler: Handler, *methods: str) -> Route:
        @wraps(handler)
        async def handled(request: Request) -> Response:
            return await _in_words(server, handler, request)

        return Route(path, handled, methods=list(methods or ("GET",)))

    routes = [
        route("/", _page), route("/session", _session, "POST"), route("/healthz", _health),
        route("/static/{name}", _static), route("/api/v1/openapi.json", _interface),
        route("/api/v1/model", _model), route("/api/v1/columns", _columns), route("/api/v1/rows", _rows),
        route("/api/v1/rows/{number:int}", _row), route("/api/v1/score", _score, "POST"),
        route("/api/v1/log", _log), route("/api/v1/explain", _explain, "POST"), route("/api/v1/menu", _work, "POST"),
        route("/api/v1/check", _work, "POST"), route("/api/v1/render", _work, "POST"),
    ]  # fmt: skip
    inner = Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _not_found, 405: _not_allowed})
    return Door(inner, hosts, keys)


async def _in_words(server: Server, handler: Handler, request: Request) -> Response:
    """The reply, or an error in words."""
    try:
        return await handler(server, request)
    except ButforError as error:
        return replied(400, refused(error)) if isinstance(error, BodyError) else _failed(refused(error))
    except TooLargeError:
        return TOO_LARGE
    except QueueFullError as error:
        return _busy(error)
    except ProcessEndedError:
        return reply(503, "WorkerEnded", *ENDED)
    except Exception as error:
        LOG.exception("%s failed", request.url.path)
        return reply(500, "Failure", f"{type(error).__name__}: {error}")


ENDED = ("the process that answered has ended.", "Another one takes its place.", "Ask again.")


def _busy(error: QueueFullError) -> Response:
    headers = {"retry-after": str(error.seconds)}
    return reply(429, "TooMany", "too many questions wait.", "", f"Come again in {error.seconds} s.", headers)


async def _not_found(request: Request, error: Exception) -> Response:
    return reply(404, "NotFound", f"there is no {request.url.path}.", "", "See /api/v1/openapi.json.")


async def _not_allowed(request: Request, error: Exception) -> Response:
    allowed = getattr(error, "headers", None) or {}
    return reply(405, "NotAllowed", f"{request.method} is not for {request.url.path}.", headers=dict(allowed))


async def _json(request: Request) -> Any:
    """The JSON in a body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        raise BodyError(f"a body of the type {kind or 'none'} was given.", "It must be application/json.")
    try:
        return json.loads(await request.body(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BodyError(f"the body is no JSON ({error}).") from None


class BodyError(ButforError, ValueError):
    """A body that is not JSON."""


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


async def _page(server: Server, request: Request) -> Response:
    """The page. Without a script, it answers the question in its address."""
    who = request.state.who
    asked = Wanted.of(request.url.query, who) if who is not None else None
    return HTMLResponse(await page(server.desk, server.team, server.keys.csrf, asked))


async def _session(server: Server, request: Request) -> Response:
    """A cookie for a token."""
    body = await _json(request)
    token = str(body.get("token", "")) if isinstance(body, dict) else ""
    if server.keys.tokens is not None and server.keys.name_of(token) is None:
        return reply(
            401, "NoToken", "the token is not known.", "", "Use the address that was printed when the server began."
        )
    response = JSONResponse({"ok": True})
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=request.url.scheme == "https", path="/")
    return response


async def _health(server: Server, request: Request) -> Response:
    return JSONResponse({"ok": True, **server.team.state})


async def _static(server: Server, request: Request) -> Response:
    name = request.path_params["name"]
    if name == "card.css":
        return Response(style(), media_type="text/css")
    if name not in STATIC:
        return await _not_found(request, Exception())
    return Response(files("butfor.serve.static").joinpath(name).read_bytes(), media_type=STATIC[name])


async def _interface(server: Server, request: Request) -> Response:
    return JSONResponse(interface())


async def _model(server: Server, request: Request) -> Response:
    return JSONResponse(server.desk.model)


async def _columns(server: Server, request: Request) -> Response:
    return JSONResponse({"columns": server.desk.columns})


async def _rows(server: Server, request: Request) -> Response:
    asked = request.query_params
    offset, limit = (_whole(asked.get(name, default), name) for name, default in (("offset", "0"), ("limit", "20")))
    return JSONResponse(await anyio.to_thread.run_sync(server.desk.rows, offset, limit, asked.get("where", "")))


def _whole(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise BodyError(f"{name}={text!r} was given.", "It must be a whole number.")
    return int(text)


async def _row(server: Server, request: Request) -> Response:
    return JSONResponse(await anyio.to_thread.run_sync(server.desk.row, request.path_params["number"]))


async def _score(server: Server, request: Request) -> Response:
    """What the model predicts for a row as it is typed."""
    return JSONResponse(await anyio.to_thread.run_sync(scored, server.desk, await _json(request)))


async def _log(server: Server, request: Request) -> Response:
    """The last entries of the log: who was told what, when, and their digests."""
    count = _whole(request.query_params.get("last", "20"), "last")
    return JSONResponse(await anyio.to_thread.run_sync(server.desk.logged, count))


async def _explain(server: Server, request: Request) -> Response:
    """The answers as they are found, or the last of them. Only the last are kept for an idempotency key."""
    body = await _json(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        return await _streamed(server, _from(request, body))
    return await _once(server, request, "explain", body)


async def _work(server: Server, request: Request) -> Response:
    return await _once(server, request, request.url.path.rpartition("/")[2], await _json(request))


async def _once(server: Server, request: Request, work: str, body: Any) -> Response:
    """All events of a question in one reply. The same key and body have the same reply."""
    key, digest = request.headers.get("idempotency-key", ""), sha256(json.dumps([work, body]).encode()).hexdigest()
    asked = partial(_found, server, work, _from(request, body))
    try:
        found = await (server.kept.reply(f"{request.state.who} {key}", digest, asked) if key else asked())
    except OtherQuestionError:
        return reply(409, "OtherQuestion", "this idempotency key was used for another question.", "", "Use a new one.")
    return _failed(found["error"]) if "error" in found else JSONResponse(found)


async def _found(server: Server, work: str, body: Json) -> Json:
    """All events of a question as one object. An error stands alone."""
    found: Json = {}
    async with aclosing(server.team.ask(work, body)) as events:
        async for event in events:
            kind = event.pop("event")
            if kind == "error":
                return event
            found |= {"region": event} if kind == "region" else event
    return found


def _from(request: Request, body: Any) -> Json:
    """A question with who asks it."""
    return {"asked": body, "who": request.state.who}


FAILED_WITH = {"Failure": 500, "LogError": 503}
"""The status of an error, if it is not that of a question which cannot be answered."""


def _failed(error: Json) -> Response:
    return replied(FAILED_WITH.get(error["kind"], 422), error)


async def _streamed(server: Server, body: Any) -> Response:
    """Server-sent events. The first one is awaited, so that an error has its status."""
    events = server.team.ask("explain", body)
    first: Json = await anext(events, {"event": "end"})
    if first["event"] == "error":
        await events.aclose()
        return _failed(first["error"])

    async def lines() -> AsyncIterator[str]:
        try:
            async with aclosing(events):
                yield _line(first)
                async for event in events:
                    yield _line(event)
            yield _line({"event": "done"})
        except ProcessEndedError:
            yield _line({"event": "error", "error": dict(zip(("given", "needed", "remedy"), ENDED, strict=True))})

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


def _line(event: Json) -> str:
    return f"event: {event['event']}\ndata: {json.dumps(event)}\n\n"
