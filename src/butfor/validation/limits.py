"""What is not proven: each limit follows from what happened, and says how many rows it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from butfor.explanation.cost_parts import prices_of
from butfor.groups.bias import UNSETTLED
from butfor.model.black_box import BlackBox
from butfor.solvers.outcome import Status, Stopped
from butfor.validation.facts import DossierSection, Fact, fact
from butfor.validation.material import Material
from butfor.validation.sections import count


def limits(of: Material) -> DossierSection:
    """The section of what is not proven here."""
    return DossierSection(
        "limits",
        "What is not proven here",
        limits=(*_rows(of), *_model(of), *_proofs(of), *_groups(of), *_always(of)),
    )


def _rows(of: Material) -> Iterator[Fact]:
    """About the rows that were asked, and those that were not."""
    asked, others = len(of.firsts), of.needing - len(of.firsts)
    if of.interrupted:
        yield fact(
            "interrupted", "Interrupted", of.drawn - asked,
            f"Ctrl-C ended it: {count(of.drawn - asked)} of the {count(of.drawn)} rows that were drawn were not asked.",
        )  # fmt: skip
    if others:
        told = f"{count(others)} rows that do not meet the target were not asked. About each of them, nothing is known."
        yield fact("not_asked", "Rows that were not asked", others, told)
    statuses = Counter(of.firsts.statuses)
    words = {
        Status.WITHIN_GAP: "have an answer and a bound below its cost",
        Status.VALID: "have a valid answer, of which nothing more is claimed",
        Status.NOT_FOUND: "have no answer, and there may be one",
    }
    told = "; ".join(f"{count(statuses[one])} {what}" for one, what in words.items() if statuses[one])
    if told:
        open_ = sum(statuses[one] for one in words)
        yield fact("unproven", "Rows that are not proven", open_, f"{told}.")
    proofs = of.answers.certificates
    late = sum(one.stopped is Stopped.TIME and not one.status.settled for one in proofs)
    if late:
        yield fact(
            "time", "Ended by the time limit", late, f"For {count(late)} rows, the time was up. More of it would help."
        )
    failed = sum(any(not fine for _, fine in one.checks) for one in proofs)
    if failed:
        told = f"{count(failed)} points of a solver failed a check with the estimator, and were not handed out."
        yield fact("failed", "Failed checks", failed, told)
    rounded = sum(one.evidence.left_open is not None for one in proofs)
    if rounded:
        told = f"In {count(rounded)} answers, the rounding of the model decides about the last digits of the cost."
        yield fact("rounding", "Rounding", rounded, told)


def _model(of: Material) -> Iterator[Fact]:
    """About the model that was read."""
    model, found = of.explainer.reading.model, of.faithful
    if isinstance(model, BlackBox):
        told = f"The model was not read ({model.why.rstrip('.')}). Its answers are valid, and none is proven to be the cheapest."
        yield fact("searched", "A searched model", len(of.firsts), told)
    elif found is not None and found.differing:
        told = f"On {count(len(found.differing))} rows, what was read predicts something else: nothing here is sure."
        yield fact("differing", "Read differently", len(found.differing), told)
    elif found is not None:
        told = f"Model and estimator were compared on {count(found.rows)} rows, and not on all that there could be."
        yield fact("compared", "Compared on rows", found.rows, told)


def _proofs(of: Material) -> Iterator[Fact]:
    """About what others can check."""
    why = Counter(filter(None, of.unprovable))
    if why:
        reasons = "; ".join(f"{reason} ({count(many)})" for reason, many in why.most_common())
        told = f"No proof that others check without butfor can be made of {count(why.total())} answers: {reasons}."
        yield fact("no_proof_files", "No proofs for others", why.total(), told)
    if prices_of(of.answers.question, of.explainer.space) is None:
        told = "The cost is not held as data, so butfor check cannot compute it again."
        yield fact("cost_not_held", "A cost that is a function", len(of.answers), told)


def _groups(of: Material) -> Iterator[Fact]:
    """About groups and the bias check."""
    if not of.wish.groups:
        told = (
            "No column was named by which to compare groups. Nothing is said about groups, and no bias check was made."
        )
        yield fact("no_groups", "Groups", 0, told)
    for name, found in of.bias.items():
        if isinstance(found, str):
            continue
        open_ = sum(line["flips"] == UNSETTLED for line in found)
        if open_:
            told = f"The bias check of {of.label(name)} left {count(open_)} rows open."
            yield fact(f"bias_open_{name}", "Bias check", open_, told)


def _always(of: Material) -> Iterator[Fact]:
    """What no proof about a model can say."""
    yield fact(
        "ranges", "Ranges", len(of.explainer.space),
        "All that is proven is about rows within the values that the section about the reading lists, under the constraints "
        "of the question.",
    )  # fmt: skip
    yield fact(
        "world", "Model and world", len(of.firsts),
        "A proof is about what the model predicts. Whether the prediction is right, whether a person can make such a change, "
        "and what else would change with it, is not said.",
    )  # fmt: skip
