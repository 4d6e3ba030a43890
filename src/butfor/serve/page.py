"""The page as the server writes it. A script makes it quicker, and nothing of the basic question needs one."""

from __future__ import annotations

from contextlib import aclosing

import anyio.to_thread
from markupsafe import Markup

from butfor.serve.desk import Desk
from butfor.serve.filled import Wanted, filled, shown
from butfor.serve.plain import Json
from butfor.serve.team import ProcessEndedError, QueueFullError, Team
from butfor.serve.words import words_for

SECONDS = 10.0
"""How long the page waits for an answer without a script."""


async def page(desk: Desk, team: Team, csrf: str, wanted: Wanted | None) -> str:
    """The page for what is wanted; without any, it only lets sign in."""
    if wanted is None:
        return filled("sign-in.html", "en", {})
    facts = await anyio.to_thread.run_sync(shown, desk, wanted)
    answer = await _answer(team, wanted, facts) if wanted.ask and facts["chosen"] else {}
    return filled("what-if.html", wanted.language, {**facts, **answer, "csrf": csrf})


async def _answer(team: Team, wanted: Wanted, facts: Json) -> Json:
    """The answer to the question in the address."""
    body: Json = {"row": wanted.row, "seconds": SECONDS, "language": wanted.language, "card": True}
    names = {column["name"] for column in facts["columns"]}
    body["columns"] = {name: {"frozen": True} for name in wanted.locked if name in names}
    classes = {str(label): label for label in facts["desk"]["classes"]}
    if wanted.target in classes:
        body["target"] = {"class": classes[wanted.target]}
    found: Json = {}
    try:
        async with aclosing(team.ask("explain", {"asked": body, "who": wanted.who})) as events:
            async for event in events:
                found |= event
    except (QueueFullError, ProcessEndedError):
        found = {
            "error": {
                "given": "Too many questions wait, or the process that answered has ended.",
                "remedy": "Ask again.",
            }
        }
    if "error" in found:
        return {"error": found["error"]}
    warned = {"given": found["outside"], "needed": "", "remedy": ""}
    if found["unlogged"]:
        given = words_for(wanted.language)["This answer is shown, but it is not in the log:"]
        warned = {"given": given, "needed": found["unlogged"], "remedy": found["outside"]}
    return {
        "answers": [Markup(one["html"]) for one in found["answers"]],
        "error": warned if any(warned.values()) else None,
    }
