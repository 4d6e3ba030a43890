"""`butfor serve`: the what-if page, and the processes that answer its questions."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from butfor.cli.options import Data, LogOption, Model, RulesFile, Training, WordsFile
from butfor.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from butfor.serve.access import Keys

HERE = "127.0.0.1"

BACKLOG = 128
"""How many connections may wait while the model is read."""


def serve(
    model: Model,
    data: Data,
    training: Training = None,
    rules: RulesFile = None,
    words: WordsFile = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name or an address by which the server is called; one for each.  [default: this machine alone]",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 chooses a free one.")] = 8765,
    tokens: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='A .toml file with lines such as: anna = "a long secret".'),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many questions are answered at once.")] = 2,
    waiting: Annotated[int, typer.Option(min=0, help="How many more may wait.")] = 20,
    log: LogOption = None,
    unlogged: Annotated[
        bool, typer.Option("--unlogged", help="Show an answer that cannot be logged, and say so, in place of an error.")
    ] = False,
) -> None:
    """Open a page on which people ask "what if?", and an interface for programs.

    Nothing leaves this machine. It serves this machine alone, unless --host says another name: then a token is needed.
    """
    uvicorn = _uvicorn()
    from butfor.cli.desk import opened
    from butfor.serve.access import LOOPBACK
    from butfor.serve.app import application
    from butfor.serve.team import Team

    if unlogged and log is None:
        raise InputError("--unlogged was given without a log.", "", "Give --log, or leave it out.")
    given = {"model": model, "data": data, "training": training, "rules": rules, "words": words}
    opening = {name: None if path is None else str(path.resolve()) for name, path in given.items()} | {
        "log": log,
        "unlogged": unlogged,
    }
    desk = opened(opening)
    keys = _keys(tokens, away=bool(host))
    hosts = (*LOOPBACK, *(name.lower() for name in host or ()))
    team = Team([sys.executable, "-m", "butfor.cli.desk"], opening, workers, waiting)
    listener = _listener(HERE if not host else "0.0.0.0", port)
    port = listener.getsockname()[1]
    for name in host or [HERE]:
        for token, who in (keys.tokens or {"": ""}).items():
            typer.echo(f"{_address(name, port, token)}  {who}".rstrip())
    config = uvicorn.Config(
        application(desk, team, hosts, keys), log_level="warning", access_log=False, timeout_graceful_shutdown=5
    )
    uvicorn.Server(config).run(sockets=[listener])


def _address(name: str, port: int, token: str) -> str:
    """Where a browser finds the page. A token, if there is one, may hold signs that mean something in an address."""
    return f"http://{name}:{port}/" + (f"#token={quote(token, safe='')}" if token else "")


def _uvicorn() -> Any:
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise MissingExtraError(
            f"butfor serve needs {error.name}.", "It is not installed.", 'Run: pip install "butfor[serve]"'
        ) from None
    return uvicorn


def _listener(address: str, port: int) -> Any:
    """A socket that listens, or an error that says what to do."""
    import socket

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(BACKLOG)
    except OSError as error:
        raise InputError(
            f"--port {port} was given ({error.strerror}).", "A free port is needed.", "--port 0 chooses one."
        ) from None
    return listener


def _keys(tokens: Path | None, *, away: bool) -> Keys:
    """Who may ask: whoever has a token, if there are any. Another machine always needs one."""
    from butfor.serve.access import Keys

    if tokens is None:
        return Keys({secrets.token_urlsafe(24): "guest"} if away else None)
    import tomllib

    try:
        known = tomllib.loads(tokens.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"--tokens {tokens} cannot be read: {error}.", "", 'Write lines such as: anna = "a long secret".'
        ) from None
    bad = [name for name, token in known.items() if not isinstance(token, str) or len(token) < SHORTEST_TOKEN]
    if bad or not known:
        raise InputError(
            f"--tokens {tokens} has {f'no token for {bad[0]!r}' if bad else 'no token'}.",
            f"A token is a text of at least {SHORTEST_TOKEN} characters.",
            'Write lines such as: anna = "..."; python -c "import secrets; print(secrets.token_urlsafe(24))" makes one.',
        )
    return Keys({token: name for name, token in known.items()})


SHORTEST_TOKEN = 20
"""How many characters a token has, at least."""
