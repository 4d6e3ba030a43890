"""The result of checking answers: single checks, all of one answer, and those of all answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import IntArray

PASSED_IN_WORDS = {True: "passed", False: "FAILED", None: "not checked"}


@dataclass(frozen=True)
class Check:
    """One check and its result.

    - `passed`: whether it passed; None if it could not be checked, or was left out;
    - `words`: what was found.
    """

    name: str
    passed: bool | None
    words: str = ""

    def __str__(self) -> str:
        return f"{PASSED_IN_WORDS[self.passed]} - {self.name}" + (f": {self.words}" if self.words else "")


@dataclass(frozen=True)
class Checked:
    """All checks of one answer. Print it to see them. It is true if nothing failed: `if bf.check(answer, model): ...`."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(check.passed is not False for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        failed = sum(check.passed is False for check in self.checks)
        open_ = sum(check.passed is None for check in self.checks)
        rest = f"; {open_} {_were(open_)} not checked" if open_ else ""
        verdict = (
            f"the answer does not hold: {failed} of {len(self.checks)} checks failed" if failed else "the answer holds"
        )
        return "\n".join([*map(str, self.checks), verdict + rest])


@dataclass(frozen=True, eq=False)
class CheckColumn:
    """One check of many answers. The words of a single one are made when they are read.

    - `at`: the answers that were checked, in order;
    - `passed`: the result for each of them;
    - `name`: what is checked of an answer;
    - `words`: what was found, where there is something to say.
    """

    at: IntArray
    passed: Sequence[bool | None]
    name: Callable[[int], str]
    words: Mapping[int, str] = field(default_factory=dict)

    def __reduce__(self) -> Any:
        """Names and words are made before the column goes to another process."""
        names = {answer: self.name(answer) for answer in self.at.tolist()}
        return CheckColumn, (self.at, self.passed, names.__getitem__, dict(self.words))

    def failed(self) -> IntArray:
        """The answers that did not pass it."""
        return self.at[[one is False for one in self.passed]]

    def open(self) -> int:
        """Of how many answers it was not checked."""
        return sum(one is None for one in self.passed)

    def of(self, answer: int) -> Check | None:
        """The check of one answer; None if it was not one of them."""
        place = int(np.searchsorted(self.at, answer))
        if place == len(self.at) or self.at[place] != answer:
            return None
        return Check(self.name(answer), self.passed[place], self.words.get(answer, ""))

    def with_singles(self, singles: Mapping[int, Sequence[Check]]) -> CheckColumn:
        """The same column, with the results of answers that were checked by themselves. Checks of other names are ignored."""
        passed, words = list(self.passed), dict(self.words)
        for place, answer in enumerate(self.at.tolist()):
            again = next((one for one in singles.get(answer, ()) if one.name == self.name(answer)), None)
            if again is not None:
                passed[place], words[answer] = again.passed, again.words
        return CheckColumn(self.at, passed, self.name, words)


@dataclass(frozen=True, eq=False)
class CheckedTogether(Sequence[Checked]):
    """The results for answers that were checked together, in columns."""

    size: int
    columns: tuple[CheckColumn, ...]

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> Checked: ...
    @overload
    def __getitem__(self, index: slice) -> list[Checked]: ...
    def __getitem__(self, index: Any) -> Checked | list[Checked]:
        if isinstance(index, slice):
            return [self[i] for i in range(self.size)[index]]
        i = range(self.size)[index]
        return Checked(tuple(check for column in self.columns if (check := column.of(i)) is not None))


LISTED_IN_FULL = 20
"""Of more results than this, only those that failed are listed."""


@dataclass(frozen=True, eq=False)
class Results(Sequence[Checked]):
    """The results for all answers that were checked, part by part."""

    parts: Sequence[CheckedTogether]

    @cached_property
    def _begins(self) -> IntArray:
        return np.cumsum([0, *map(len, self.parts)])

    def __len__(self) -> int:
        return int(self._begins[-1])

    @overload
    def __getitem__(self, index: int) -> Checked: ...
    @overload
    def __getitem__(self, index: slice) -> list[Checked]: ...
    def __getitem__(self, index: Any) -> Checked | list[Checked]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        i = range(len(self))[index]
        part = int(np.searchsorted(self._begins, i, side="right")) - 1
        found: Checked = self.parts[part][i - int(self._begins[part])]
        return found

    def failed(self) -> IntArray:
        """The answers that do not hold."""
        found: list[NDArray[np.intp]] = [
            begin + column.failed()
            for begin, part in zip(self._begins.tolist(), self.parts, strict=False)
            for column in part.columns
        ]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)

    def open(self) -> int:
        """How many checks were not made."""
        return sum(column.open() for part in self.parts for column in part.columns)


@dataclass(frozen=True)
class AllChecked:
    """The results for several answers. Print it to see those that failed. It is true if nothing failed.

    - `names`: which answer each result is for;
    - `results`: the results, in the order of the answers;
    - `left_out`: what was not checked because that was asked for, in words.
    """

    names: tuple[str, ...]
    results: Results
    left_out: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return not len(self.results.failed())

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        size, failed = len(self.results), self.results.failed()
        listed = range(size) if size <= LISTED_IN_FULL else failed.tolist()
        told = [f"{self.names[i]}:\n{self.results[i]!r}" for i in listed]
        open_ = self.results.open()
        rest = [f"{open_:,} {'check was' if open_ == 1 else 'checks were'} not made"] if open_ else []
        last = "; ".join([f"{size - len(failed)} of {size} answers hold", *rest, *self.left_out])
        return "\n".join([*told, last])


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
