"""The result of checking answers: single checks, all of one answer, and those of all answers."""

from __future__ import annotations

from dataclasses import dataclass

PASSED_IN_WORDS = {True: "passed", False: "FAILED", None: "not checked"}


@dataclass(frozen=True)
class Check:
    """One check and its result.

    - `passed`: whether it passed; None if it could not be checked;
    - `words`: what was found.
    """

    name: str
    passed: bool | None
    words: str = ""

    def __str__(self) -> str:
        return f"{PASSED_IN_WORDS[self.passed]} - {self.name}" + (f": {self.words}" if self.words else "")


@dataclass(frozen=True)
class Checked:
    """All checks of one answer. Print it to see them."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(check.passed is not False for check in self.checks)

    def __repr__(self) -> str:
        failed = sum(check.passed is False for check in self.checks)
        open_ = sum(check.passed is None for check in self.checks)
        rest = f"; {open_} could not be checked" if open_ else ""
        verdict = (
            f"the answer does not hold: {failed} of {len(self.checks)} checks failed" if failed else "the answer holds"
        )
        return "\n".join([*map(str, self.checks), verdict + rest])


LISTED_IN_FULL = 20
"""Of more results than this, only those that failed are listed."""


@dataclass(frozen=True)
class AllChecked:
    """The results for several answers. Print it to see those that failed.

    - `names`: which answer each result is for;
    - `results`: the results, in the order of the answers.
    """

    names: tuple[str, ...]
    results: tuple[Checked, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(result.passed for result in self.results)

    def __repr__(self) -> str:
        few = len(self.results) <= LISTED_IN_FULL
        listed = [
            f"{name}:\n{result!r}"
            for name, result in zip(self.names, self.results, strict=True)
            if few or not result.passed
        ]
        hold = sum(result.passed for result in self.results)
        return "\n".join([*listed, f"{hold} of {len(self.results)} answers hold"])
