"""A notebook in a browser, as far as a widget sees it: a page that is the front end, and the real Python side as its kernel."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.serve.conversation import Conversation, desk_html
from butfor.serve.desk import Desk
from butfor.serve.plain import Json
from butfor.views.html import style

ADDRESS = "http://notebook.test/"


class Kernel:
    """The Python side of a widget over the loan table, on an event loop of its own."""

    def __init__(self) -> None:
        X, y = loans.load()
        forest = RandomForestClassifier(30, max_depth=5, random_state=0)
        words = bf.describe({"amount": bf.Column("Amount", unit="EUR")})
        explainer = bf.Explainer(loans.pipeline().set_params(tree=forest).fit(X, y), data=X, words=words)
        self.desk, self.news, self.is_deaf = Desk(explainer, X), deque[Json](), False
        self._loop, self._conversation = asyncio.new_event_loop(), Conversation(self.desk, self.news.append)
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    @property
    def answers(self) -> tuple[bf.Explanation, ...]:
        """The answers that were found last."""
        return self._conversation.answers

    def told(self, source: Any, kind: str, said: Any = None) -> Any:
        """What the front end asks for: the facts of the widget, its news, or that a message is delivered."""
        if kind == "message" and not self.is_deaf:
            self._loop.call_soon_threadsafe(self._conversation.hear, said)
        if kind == "facts":
            static = files("butfor.serve.static")
            esm, css, sheet = (
                static.joinpath(f"{n}").read_text() for n in ("what-if.js", "notebook.css", "what-if.css")
            )
            return {"esm": esm, "css": css, "style": f"{style()}\n{sheet}", "html": desk_html(self.desk, "row=206")}
        return [self.news.popleft() for _ in range(len(self.news))] if kind == "news" else None

    def close(self) -> None:
        """End the event loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def opened(page: Any, kernel: Kernel) -> list[str]:
    """Open the notebook. The list has each address that is asked for, from then on."""
    asked = list[str]()
    html = Path(__file__).with_name("notebook.html").read_text()

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        if route.request.url == ADDRESS:
            route.fulfill(body=html, content_type="text/html")
        else:
            route.abort()

    page.route("**/*", answer)
    page.expose_binding("told", kernel.told)
    page.goto(ADDRESS)
    page.wait_for_selector(".desk")
    return asked
