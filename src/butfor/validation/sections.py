"""The sections of a dossier about the answers: what was asked, read and proven, how long it took, and what changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import numpy as np
from scipy.stats import beta

from butfor import groups
from butfor.explanation.consequences import acted
from butfor.explanation.cost_parts import cost_parts, prices_of
from butfor.groups.counted import ALREADY, NOT_LOOKED_FOR, statuses_of_rows
from butfor.importers.faithful import Faithful
from butfor.model.black_box import BlackBox
from butfor.model.questions import kind_of
from butfor.report.lines import Line, lines_of, percent, rounded
from butfor.solvers.outcome import Status
from butfor.validation.facts import DossierSection, Fact, FactTable, Heading, fact, fact_table
from butfor.validation.material import Material
from butfor.views.text import wanted
from butfor.views.words import blamed_in_words, constraints_in_words, cost_in_words

TIME_QUANTILES = {"median": 0.5, "share_90": 0.9, "share_95": 0.95, "share_99": 0.99, "longest": 1.0}
"""How the times of rows are summed up."""

SHARE_CONFIDENCE = 0.95
"""The confidence of the interval of the share that is proven."""


def count(number: int) -> str:
    """A count as text."""
    return f"{number:,}"


def seconds(number: float) -> str:
    """A time as text."""
    return f"{number:.3g} s"


def asked(of: Material) -> DossierSection:
    """What was asked, and of which rows."""
    one, wish = of.answers[0], of.wish
    rules = constraints_in_words(of.answers.question, of.answers.words)
    asked_told = f"{count(len(of.answers))} of them were asked, each" if of.interrupted else "each was asked"
    return DossierSection(
        "question",
        "What was asked",
        (
            f"Of {count(of.rows)} rows, {count(of.needing)} do not meet the target. "
            f"Of these, {count(of.drawn)} were drawn at random, and {asked_told} alone.",
        ),
        (
            fact("target", "Wanted", of.answers.question.target, wanted(one)),
            fact("cost", "Cost", of.answers.question.cost, cost_in_words(of.answers.question, of.answers.words)),
            fact("constraints", "Constraints", list(of.answers.question.constraints), "; ".join(rules) or "none"),
            fact("rows", "Rows given", of.rows, count(of.rows)),
            fact("needing", "Rows that do not meet the target", of.needing, count(of.needing)),
            fact("drawn", "Rows drawn", of.drawn, count(of.drawn)),
            fact("asked", "Rows asked", len(of.answers), count(len(of.answers))),
            fact("seed", "Seed of the draw", wish.seed),
            fact("time_limit", "Time limit of all rows", wish.time_limit, _limit(wish.time_limit)),
            fact(
                "time_limit_per_row", "Time limit of each row", wish.time_limit_per_row, _limit(wish.time_limit_per_row)
            ),
        ),
    )


def _limit(limit: float | None) -> str:
    return "none" if limit is None else seconds(limit)


def reading(of: Material) -> DossierSection:
    """What was read of the model, and how faithfully."""
    model, space = of.explainer.reading.model, of.explainer.space
    kind, read = str(kind_of(model)), sum(not feature.unread for feature in space)
    listed = [dict(zip(("column", "kind", "values", "missing", "why"), row, strict=True)) for row in space.rows()]
    columns = fact_table(
        "columns",
        "The columns, and what they may become",
        listed,
        Heading("column", "Column", of.label, ""),
        Heading("kind", "Kind", look=""),
        Heading("values", "Values", look="typical"),
        Heading("missing", "Missing", look=""),
        Heading("why", "Known from", look="typical"),
    )
    return DossierSection(
        "reading",
        "What was read, and how faithfully",
        (faithful_told(of),),
        (
            fact("model", "Model", of.model),
            fact("form", "Read as", kind),
            fact("columns", "Columns read", read, count(read)),
            *_compared(of.faithful),
        ),
        (columns,),
    )


def faithful_told(of: Material) -> str:
    """How faithfully the model was read, in a sentence."""
    found, model = of.faithful, of.explainer.reading.model
    if found is None:
        why = model.why.rstrip(".") if isinstance(model, BlackBox) else ""
        return f"The model was not read: {why}. It was asked like any function."
    far = "" if found.largest is None else f" The largest difference of {found.compared} is {found.largest:.2g}."
    if found.differing:
        return (
            f"On {count(len(found.differing))} of {count(found.rows)} rows, what was read predicts something else.{far}"
        )
    return f"What was read agrees with the estimator on all {count(found.rows)} rows that were compared.{far}"


def _compared(found: Faithful | None) -> Iterator[Fact]:
    if found is None:
        return
    yield fact("rows_compared", "Rows compared with the estimator", found.rows, count(found.rows))
    yield fact("differing", "Rows that differ by more than rounding", len(found.differing), count(len(found.differing)))
    if found.largest is not None:
        yield fact("largest", f"Largest difference of {found.compared}", found.largest, f"{found.largest:.3g}")


def proven(of: Material) -> DossierSection:
    """What became of the rows, and how many are proven."""
    statuses = lines_of(groups.statuses(of.firsts))
    settled = sum(one.settled for one in of.firsts.statuses)
    low, high = exact_interval(settled, len(of.firsts))
    gaps = [one.gap for one in of.answers.certificates if one.status is Status.WITHIN_GAP and np.isfinite(one.gap)]
    tables = [
        fact_table(
            "statuses", "What became of the rows", statuses,
            Heading("status", "Status", look=""), Heading("rows", "Rows", count), Heading("share", "Share", percent, "share"),
        ),
        fact_table(
            "solvers", "Who found it", _credited(of),
            Heading("solver", "Method", look=""), Heading("rows", "Rows", count),
        ),
        *_conflicts(of),
    ]  # fmt: skip
    facts = [
        fact("proven", "Rows proven", settled, count(settled)),
        fact("share", "Share proven", settled / len(of.firsts), percent(settled / len(of.firsts))),
        fact("interval", "That share in all such rows (95 %)", [low, high], f"{percent(low)} to {percent(high)}"),
    ]
    if gaps:
        middle = float(np.median(gaps))
        facts += [
            fact("median_gap", "Median gap of the others that have a bound", middle, percent(middle)),
            fact("largest_gap", "Largest gap", max(gaps), percent(max(gaps))),
        ]
    says = (
        "A row is proven if it is certain that no admissible change is cheaper than its answer, or that none meets the target.",
        "The interval is that of Clopper and Pearson: if the share in all rows lay outside, such a sample would be unlikely.",
    )
    return DossierSection("proven", "What is proven", says, tuple(facts), tuple(tables))


def exact_interval(hits: int, of: int) -> tuple[float, float]:
    """The interval of Clopper and Pearson for a share: `hits` of `of` were seen (Biometrika 26, 1934)."""
    tail = (1 - SHARE_CONFIDENCE) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, of - hits + 1))
    high = 1.0 if hits == of else float(beta.ppf(1 - tail, hits + 1, of - hits))
    return low, high


def _credited(of: Material) -> list[Line]:
    found = Counter(one.solver for one in of.answers.certificates)
    return [{"solver": solver, "rows": rows} for solver, rows in found.most_common()]


def _conflicts(of: Material) -> Iterator[FactTable]:
    """Why rows are impossible, in words."""
    question, words = of.answers.question, of.answers.words
    told = {
        " and ".join(one.conflict): "; ".join(blamed_in_words(question, one.conflict, words))
        for one in of.answers.certificates
    }
    lines = lines_of(groups.conflicts(of.firsts))
    if lines:
        yield fact_table(
            "conflicts", "Why rows are impossible", lines,
            Heading("conflict", "Smallest conflict", lambda name: name if name == NOT_LOOKED_FOR else told[name], ""),
            Heading("rows", "Rows", count), Heading("share", "Share", percent, "share"),
        )  # fmt: skip


def times(of: Material) -> DossierSection:
    """How long rows took."""
    became = statuses_of_rows(of.firsts)
    ordered = sorted(zip(became, of.seconds, strict=True))
    lines = [_quantiles("all", of.seconds)]
    lines += [_quantiles(status, [time for _, time in its]) for status, its in groupby(ordered, lambda one: one[0])]
    table = fact_table(
        "seconds", "Seconds for a row", lines if len(lines) > 2 else lines[:1],
        Heading("status", "Rows", look=""), Heading("rows", "Number", count),
        Heading("median", "Median", seconds), Heading("share_90", "90 % within", seconds),
        Heading("share_95", "95 % within", seconds), Heading("share_99", "99 % within", seconds),
        Heading("longest", "Longest", seconds),
    )  # fmt: skip
    says = "Each row was asked alone, one after the other. The search for what makes a row impossible is counted."
    return DossierSection("times", "How long it took", (says,), (), (table,))


def _quantiles(status: str, known: list[float]) -> Line:
    figures = {name: float(np.quantile(known, share)) for name, share in TIME_QUANTILES.items()}
    return {"status": status, "rows": len(known), **figures}


def levers(of: Material) -> DossierSection:
    """By which columns the model can be moved: how often each is changed, and what part of the cost that is."""
    lines, parts = lines_of(groups.changes(of.firsts)), _parts(of)
    for line in lines:
        line["cost_share"] = parts.get(line["column"])
        line["typical"] = _typical(of, line)
    never = [name for name in of.explainer.space.names if name not in {line["column"] for line in lines}]
    table = fact_table(
        "columns", "What answers change", lines,
        Heading("column", "Column", of.label, ""), Heading("share", "Share of answers", percent, "share"),
        Heading("cost_share", "Share of all costs", percent, "share"), Heading("rows", "Answers", count),
        Heading("up", "Up", count), Heading("down", "Down", count), Heading("typical", "Typical change", look="typical"),
    )  # fmt: skip
    told = ", ".join(map(of.label, never))
    says = ["The parts of the cost are not known: it is not held as data."] if lines and not parts else []
    return DossierSection(
        "levers", "By which columns the model can be moved", tuple(says),
        (fact("never", "Columns that no answer changes", never, told or "none"),), (table,) if lines else (),
    )  # fmt: skip


def _parts(of: Material) -> dict[str, float]:
    """The share of each column in the costs of all answers."""
    known, question = of.firsts, of.answers.question
    prices, start = prices_of(question, known.space), known.start[known.found]
    if prices is None or not len(start):
        return {}
    own = acted(question, known.space, start, known.points[known.found])
    whole = cost_parts(prices, start, own).sum(axis=0)
    if not whole.sum() > 0:
        return {}
    return dict(zip(known.space.names, (whole / whole.sum()).tolist(), strict=True))


def _typical(of: Material, line: Line) -> str:
    if line["median"] is None:
        return "" if line["becomes"] is None else f"most often {of.show(line['column'], line['becomes'])}"
    sign = "+" if line["median"] > 0 else "−" if line["median"] < 0 else ""
    return f"median {sign}{of.show(line['column'], abs(line['median']))}"


def costs(of: Material) -> Line | None:
    """What answers cost, over all rows: the line of `bf.groups.costs`; None if no answer costs anything."""
    (line,) = lines_of(groups.costs(of.firsts, seed=of.wish.seed))
    return line if line["mean"] is not None else None


def headline(of: Material) -> DossierSection:
    """The whole in a few sentences."""
    became = Counter(statuses_of_rows(of.firsts))
    already = became.pop(ALREADY, 0)
    settled, paid = sum(one.settled for one in of.firsts.statuses), costs(of)
    told = ", ".join(f"{count(many)} {status}" for status, many in became.items())
    says = [
        faithful_told(of),
        f"{count(settled)} of {count(len(of.firsts))} rows are proven: {told}"
        + (f", {count(already)} {ALREADY}." if already else "."),
    ]
    if paid is not None:
        says.append(f"An answer costs {rounded(paid['mean'])} on average, and {rounded(paid['median'])} in the median.")
    if of.interrupted:
        says.append(
            f"It was interrupted: of {count(of.drawn)} rows that were drawn, {count(len(of.answers))} were asked."
        )
    return DossierSection("summary", "In short", tuple(says))
