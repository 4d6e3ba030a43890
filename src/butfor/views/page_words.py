"""What a page says of an answer, in the language of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from butfor.explanation.changes import PLAIN_WORDS, Change, difference_of, shown, texts_of, texts_within, word
from butfor.solvers.conflict import MODEL, RANGES
from butfor.solvers.outcome import NOBODY, Status, Stopped
from butfor.verdict.certificate import Certificate
from butfor.verdict.verify import CHECKS, PREDICTION
from butfor.views import text
from butfor.views.languages import built_in, say, say_number, spoken, spoken_numbers
from butfor.views.letters import Letter
from butfor.views.words import blamed_in_words, why_in_words

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation


def status_told(name: str) -> str:
    """The name of a status."""
    return say(name)


def output_told(answer: Explanation, output: Any) -> str:
    """A prediction."""
    told = answer.told(output, spoken_numbers())
    return say_number(told) if isinstance(output, float) else told


def texts_told(change: Change) -> tuple[str, str]:
    """A column before and after."""
    return texts_of(change, change.words or PLAIN_WORDS, spoken_numbers())


def difference_told(change: Change) -> str:
    """The signed change of a number; empty for a level."""
    return difference_of(change, change.words or PLAIN_WORDS, spoken_numbers())


def value_told(change: Change, value: Any) -> str:
    """Another value of a column."""
    return shown(value, change.words or PLAIN_WORDS, spoken_numbers())


def stays_told(change: Change) -> str:
    """Between which values an answer stays valid; empty if that was not promised."""
    if change.stays is None:
        return ""
    low, high = texts_within(*change.stays, change.words or PLAIN_WORDS, spoken_numbers())
    return say("from {low} to {high}", low=low, high=high)


def wanted_told(answer: Explanation) -> str:
    """The target."""
    return text.wanted(answer) if spoken() == "en" else _letter(answer).wanted()


def score_told(answer: Explanation) -> str:
    """The score before and after, and what is needed; empty if nothing more is known than the title says."""
    line, score = text.score_line(answer), answer.score
    if not line or score is None or spoken() == "en":
        return line
    texts = list(map(say_number, score.texts))
    moved = " → ".join(texts[: 1 if score.after is None else 2])
    needed = say("at least {number} needed" if score.up else "at most {number} needed", number=texts[-1])
    return f"{_letter(answer).score_name()} {moved}" + (f" ({needed})" if score.threshold is not None else "")


def headline_told(answer: Explanation) -> str:
    """What the model predicts now, and what it would predict."""
    if spoken() == "en":
        return text.headline(answer)
    now = output_told(answer, answer.before)
    if not answer.found:
        kind = "{now}: no admissible change makes it {wanted}"
        if answer.certificate.status is not Status.PROVEN_INFEASIBLE:
            kind = "{now}: no change was found that makes it {wanted}"
        return say(kind, now=now, wanted=wanted_told(answer))
    if not answer.changes:
        return f"{now}: {why_told(answer.certificate, answer)}"
    return f"{now} → {output_told(answer, answer.after)}"


def check_told(name: str, answer: Explanation) -> str:
    """What was recomputed."""
    if spoken() == "en":
        return name
    if name == CHECKS[PREDICTION].format(target=answer.question.target):
        return say("the model predicts {target}", target=wanted_told(answer))
    return say(name) if name in CHECKS.values() else name


def why_told(certificate: Certificate, answer: Explanation) -> str:
    """The reason of a certificate. `answer` is one to the same question, which tells the target and the words."""
    if spoken() == "en":
        return why_in_words(certificate, answer.question, answer.words)
    status, bound = certificate.status, say_number(word(certificate.bound))
    failed = [check_told(check, answer) for check, fine in certificate.checks if not fine]
    if status is Status.NOT_FOUND and failed:
        return say("the solver's point failed a check: {checks}", checks="; ".join(failed))
    if status is Status.PROVEN_INFEASIBLE:
        return _blamed(certificate, answer) + _how_far(certificate)
    if certificate.solver == str(NOBODY):
        return say("the target is already met: nothing needs to change")
    if status is Status.PROVEN_OPTIMAL:
        later = "no admissible change that differs from the answers before it costs less than {bound}"
        return say(later if answer.rank > 1 else "no admissible change costs less than {bound}", bound=bound)
    if status is Status.WITHIN_GAP:
        gap = say_number(f"{100 * certificate.excess:.1f}")
        told = say("at most {gap} % above the optimum (proven lower bound {bound})", gap=gap, bound=bound)
        return told + _stopped(certificate)
    if status is Status.VALID:
        return say("optimality is not claimed")
    least = say("it costs at least {bound}, if there is one", bound=bound) if certificate.bound > 0 else ""
    return f"{say('no answer was found')}{_stopped(certificate)}; {least or say('there may be one')}"


def stopped_told(stopped: Stopped) -> str:
    """Why a search ended early; empty if it did not."""
    return say(stopped.words) if stopped else ""


def _stopped(certificate: Certificate) -> str:
    told = stopped_told(certificate.stopped)
    return f", {told}" if told else ""


def _blamed(certificate: Certificate, answer: Explanation) -> str:
    conflict = certificate.conflict
    wanted = wanted_told(answer)
    if conflict == (MODEL,):
        return say("the model never predicts {wanted}, whatever the values", wanted=wanted)
    if conflict == (RANGES,):
        return say("no values within the ranges of the data reach {wanted}", wanted=wanted)
    if not conflict:
        return say("no admissible change meets the target")
    told = [
        say(one) if one == RANGES else one
        for one in blamed_in_words(answer.question, conflict, answer.words, built_in(spoken()))
    ]
    listed = f"{say(' and ')}".join(told)
    if certificate.stopped is Stopped.EFFORT:
        return say("impossible if {listed}; whether all of them are needed for that was left open", listed=listed)
    one = "impossible if {listed}; without it there is an answer"
    many = "impossible if {listed}; without any one of them there is an answer"
    return say(one if len(conflict) == 1 else many, listed=listed)


def _how_far(certificate: Certificate) -> str:
    farthest, radius = certificate.evidence.farthest, certificate.evidence.radius
    if farthest is not None:
        far = say(
            "; no admissible row gets beyond {reached}, and {needed} is needed",
            reached=say_number(f"{farthest.reached:.4g}"),
            needed=say_number(f"{farthest.needed:.4g}"),
        )
        if farthest.closest is None:
            return far
        return far + say("; the closest that was found has {closest}", closest=say_number(f"{farthest.closest:.4g}"))
    if radius is not None:
        some, none = radius.possible, radius.impossible
        far = say("; with {share} % of the radius there is one", share=say_number(f"{100 * some:.4g}")) if some else ""
        return far + (say("; with {share} % there is none", share=say_number(f"{100 * none:.4g}")) if none < 1 else "")
    return ""


def _letter(answer: Explanation) -> Letter:
    return Letter(answer, built_in(spoken()), "technical")
