"""`bf.widget`: the what-if page in a notebook."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from typing import Any

from butfor.errors import InputError, InputTypeError, MissingExtraError, choice, suggests
from butfor.experimental import experimental
from butfor.explain.explainer import Explainer
from butfor.ledger.log import Log
from butfor.serve.asked import LANGUAGES
from butfor.serve.desk import Desk
from butfor.space import frames
from butfor.space.given import rows_given
from butfor.views.html import style


@experimental
@suggests
def widget(
    explainer: Explainer, rows: Any, *, language: str = "en", log: Log | str | os.PathLike[str] | None = None
) -> Any:
    """The what-if page in a notebook: choose a row, say what may change, and see the bound close in on the cost.

    Choose it to look at single rows by hand. `butfor serve` opens the same in a browser, and `explainer.explain` answers
    many rows at once. Questions are answered beside the cells of the notebook, one after the other for each view, and asking
    anew ends the question before. `widget.answers` holds what the last one found.

    - `explainer`: answers under its rules, in its words;
    - `rows`: the rows to choose from, as `explainer.explain` takes them;
    - `language`: "en" or "de";
    - `log`: a log of answers (`bf.Log`, or its path or URL). Nothing is shown that is not in it.

    It is an anywidget: `pip install "butfor[widget]"`. It works where these do, and asks no other machine.

    >>> import butfor as bf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
    >>> desk = bf.widget(explainer, X)  # doctest: +SKIP
    """
    if not isinstance(explainer, Explainer):
        raise InputTypeError(f"{type(explainer).__name__} was given.", "A bf.Explainer is needed.")
    if language not in LANGUAGES:
        raise InputError(f"language={language!r} was given.", *choice("The languages are", language, LANGUAGES))
    made = _what_if()
    table = rows_given(explainer.reading.data, rows, explainer.space.unread)
    if not frames.height(table):
        raise InputError("no rows were given.", "At least one is needed.")
    return made(Desk(explainer, table, log if isinstance(log, Log | None) else Log(log)), language)


@cache
def _what_if() -> Any:
    """The class of widgets. It is made with the first of them: what it stands on may not be installed."""
    try:
        import anywidget
        import traitlets

        from butfor.serve.conversation import Conversation, desk_html
    except ImportError as error:
        raise MissingExtraError(
            f"a widget needs {error.name}.", "It is not installed.", 'Run: pip install "butfor[widget]"'
        ) from None
    static = files("butfor.serve.static")

    class WhatIf(anywidget.AnyWidget):  # type: ignore[misc]
        """A desk in a notebook."""

        _esm = static.joinpath("what-if.js").read_text(encoding="utf-8")
        _css = static.joinpath("notebook.css").read_text(encoding="utf-8")
        html = traitlets.Unicode().tag(sync=True)
        style = traitlets.Unicode().tag(sync=True)

        def __init__(self, desk: Desk, language: str) -> None:
            sheets = (style(), static.joinpath("what-if.css").read_text(encoding="utf-8"))
            super().__init__(html=desk_html(desk, f"row=0&language={language}"), style="\n".join(sheets))
            self._conversation = Conversation(desk, self.send)
            self.on_msg(lambda _, said, buffers: self._conversation.hear(said))

        @property
        def answers(self) -> Any:
            """The answers that were found last."""
            return self._conversation.answers

    return WhatIf
