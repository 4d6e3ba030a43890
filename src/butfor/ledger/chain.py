"""The entries of a log, and the digests that make a chain of them.

    content = H(salt, H(shared), own)                            of an answer's record
    digest  = H(previous, number, kind, at, who, model, question, content)

Whoever purges an entry takes salt and record away. Its content is kept, so the chain still holds, and tells nothing of
the record: to try what may have stood there, one would have to guess the salt, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from secrets import token_hex
from typing import Any, NamedTuple

from butfor.errors import InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.question_record import QuestionRecord
from butfor.records.parted import answers_in, canonical, parted, whole

ANSWERED, NOTED = "answer", "purge"
"""The kinds of entries: an answer that was handed out, and a note that older ones were purged."""

NO_ENTRY = "0" * 64
"""What stands before the first entry in place of a digest."""

SALT_BYTES = 16


@dataclass(frozen=True, repr=False)
class Entry:
    """One entry of a log: an answer with who got it, when, and from which model; or the note of a purge.

    - `number`, `kind`: its place in the log, from 1; "answer" or "purge";
    - `at`, `who`: when it was written, in UTC, and who asked;
    - `model`: the fingerprint of the model (empty for a black box);
    - `question`: target, cost and constraints in words;
    - `content`: the digest of its record;
    - `previous`, `digest`: the digest of the entry before, and of this one;
    - `salt`, `shared`, `own`: what the content is made of. They are None if the entry was purged.
    """

    number: int
    kind: str
    at: str
    who: str
    model: str
    question: str
    content: str
    previous: str
    digest: str
    salt: str | None
    shared: str | None
    own: str | None

    def __repr__(self) -> str:
        return f"<Entry {self.number}: {self.kind} for {self.who} at {self.at.partition('.')[0]} UTC>"

    @property
    def purged(self) -> bool:
        """Whether the record was purged. What is left tells that there was one."""
        return self.own is None

    @property
    def noted(self) -> bool:
        """Whether it notes a purge, and no answer."""
        return self.kind == NOTED

    @property
    def record(self) -> dict[str, Any] | None:
        """The record of the answer, as `to_json` writes it, or what was purged; None if it was purged itself."""
        if self.own is None:
            return None
        return dict(json.loads(self.own)) if self.noted else whole(self.shared or "", self.own)

    @property
    def answer(self) -> Explanation:
        """The answer as it was handed out."""
        if self.noted or self.own is None:
            why = "notes a purge" if self.noted else "was purged"
            raise InputError(f"entry {self.number} {why}.", "It holds no answer.")
        return next(answers_in([(self.shared or "", self.own)])).only

    def after(self, number: int, previous: str) -> Entry:
        """The same entry, at its place in a log: behind the one that has this number and digest."""
        return replace(self, number=number + 1, previous=previous, digest=linked(self, number + 1, previous))


class EntryRow(NamedTuple):
    """An entry as it stands in its table: `shared` is the digest of the text."""

    number: int
    kind: str
    at: str
    who: str
    model: str
    question: str
    content: str
    previous: str
    digest: str
    salt: str | None
    shared: str | None
    own: str | None


def entries_of(answers: Explanations, at: str, who: str) -> Iterator[Entry]:
    """The entries of answers, which have no place yet."""
    answers = replace(answers, certificates=[*answers.certificates])  # they are read often, and each is made anew
    question = in_words(answers.question)
    for (shared, own), certificate in zip(parted(answers), answers.certificates, strict=True):
        yield entry(ANSWERED, at, who, certificate.fingerprint, question, shared, own)


def purge_entry(at: str, who: str, until: str, count: int) -> Entry:
    """The note that so many entries from before `until` were purged."""
    words = f"{count} {'entry' if count == 1 else 'entries'} from before {until} purged"
    return entry(NOTED, at, who, "", words, "", canonical({"purged": count, "until": until}))


def until_of(own: str) -> str:
    """Before which time a note says that records were purged: never, if it was changed and says nothing."""
    try:
        return str(json.loads(own)["until"])
    except (ValueError, LookupError, TypeError):
        return ""


def entry(kind: str, at: str, who: str, model: str, question: str, shared: str, own: str) -> Entry:
    """An entry that has no place yet."""
    salt = token_hex(SALT_BYTES)
    content = content_of(salt, text_digest(shared), own)
    return Entry(0, kind, at, who, model, question, content, "", "", salt, shared, own)


def in_words(question: QuestionRecord) -> str:
    """A question in one line."""
    return "; ".join([question.target, question.cost, *question.constraints])


def digest_of(text: str) -> str:
    """SHA-256 of a text."""
    return sha256(text.encode()).hexdigest()


text_digest = lru_cache(maxsize=64)(digest_of)
"""The digest of a text that many records share."""


def content_of(salt: str | None, shared: str | None, own: str) -> str:
    """The digest of a record of which `shared` is the digest of the shared text."""
    return digest_of(f"{salt}\n{shared}\n{own}")


def linked(one: Entry | EntryRow, number: int, previous: str) -> str:
    """The digest of an entry at its place, behind the one with the digest `previous`: of their list as JSON."""
    said = map(encode_basestring_ascii, (one.kind, one.at, one.who, one.model, one.question, one.content))
    return digest_of(f'["{previous}",{number},{",".join(said)}]')
