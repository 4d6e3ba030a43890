"""Replies that are kept for their idempotency keys."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from butfor.serve.plain import Json

REPLIES_KEPT = 1000
"""So many replies are kept."""

Work = Callable[[], Coroutine[Any, Any, Json]]
"""What finds a reply."""


class OtherQuestionError(Exception):
    """A key was used for another question."""


@dataclass
class KeptReplies:
    """For each key its question, and the reply as it is worked out. It is known from the first moment on."""

    _known: OrderedDict[str, tuple[str, asyncio.Task[Json]]] = field(default_factory=OrderedDict)

    async def reply(self, key: str, question: str, work: Work) -> Json:
        """The reply to a question. Whoever asks it again, also while it is worked on, gets the same one."""
        if key in self._known:
            known, task = self._known[key]
            if known != question:
                raise OtherQuestionError
            return await asyncio.shield(task)
        task = asyncio.create_task(self._worked(key, work))
        self._known[key] = question, task
        while len(self._known) > REPLIES_KEPT:
            self._known.popitem(last=False)
        return await task

    async def _worked(self, key: str, work: Work) -> Json:
        """The reply. One that is an error is not kept."""
        found: Json = {"error": None}
        try:
            found = await work()
        finally:
            if "error" in found:
                self._known.pop(key, None)
        return found
