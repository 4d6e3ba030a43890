"""The reference page, made of the docstrings when the site is built (`mkdocs.yml` names this file as a hook)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Any

import butfor
from butfor import compat, compress, errors, groups, measure, noise, plots, survival, teach, trees
from butfor.datasets import loans

PAGE = "reference/api.md"

GROUPS = {
    "Explaining": (
        "Explainer", "Explanation", "Explanations", "Certificate", "Evidence", "Status", "Stopped", "check", "prove", "load",
        "dossier", "concat", "Log", "widget", "warm",
    ),
    "Several answers": ("Menu", "Ladder", "TradeOff", "Best"),
    "What is returned": (
        "Change", "Score", "QuestionRecord", "Alternatives", "MenuLine", "Standing", "Stretch", "Region", "Robustness",
        "Contributions", "DecisionMap", "TreePath", "CrossedSplit", "Supports", "Checked", "AllChecked", "Check",
        "Proofs", "Proven", "Dossier", "Portfolio", "HowFar", "Entry", "Verified",
    ),
    "Targets": ("classes", "other", "class_costs", "probability", "value", "relative_change"),
    "Costs": ("L1", "L2", "LInf", "L0", "Gower", "MAD", "Table", "Missing", "Quadratic"),
    "Constraints": (
        "fixed", "only_up", "only_down", "between", "within", "step", "whole", "allowed", "moves", "may_be_missing", "plausible",
        "at_most_changes", "linear", "implies", "rises", "falls", "becomes", "follows", "linked", "combinations", "computed",
        "margin", "robust", "robust_to", "confident", "candidates", "suggest", "Suggestions",
    ),
    "Columns": (
        "Space", "Continuous", "Integer", "Step", "Categorical", "Ordinal", "one_hot", "thermometer", "describe", "Column",
        "reasons", "ReasonCode",
        "rules", "Rules",
    ),
    "Your own models": ("black_box", "calibrated", "torch_model", "keras_model", "onnx_model", "Scorecard"),
    "Solvers with settings": ("Swarm",),
    "Errors": ("ButforError",),
}  # fmt: skip
"""Every public name, in the order in which a reader meets them."""

ANSWERS = (
    *(getattr(butfor, name) for name in ("Explanation", "Explanations", "Certificate", "Evidence", "Space")),
    *(getattr(butfor, name) for group in ("Several answers", "What is returned") for name in GROUPS[group]),
    Enum,
    Exception,
    groups.Action,
    groups.ChosenActions,
    compress.BinaryColumn,
    compress.BinaryColumns,
    compress.CompressionReport,
    compress.Surrogate,
)
"""Classes of which butfor makes the objects."""

ROOMS = {
    "Measures": measure, "Survival": survival, "Compression": compress, "Groups": groups, "Pictures": plots, "Noise": noise,
    "Oblique trees": trees, "Teaching": teach, "Each error": errors,
}  # fmt: skip
"""The rooms of public names."""

WITH_METHODS = (butfor.Explainer, butfor.Log, butfor.Suggestions, measure.Judge, measure.Plausibility, groups.Actions)
"""Classes that a user makes objects of, whose methods are listed, too."""

LINE = 88
"""The longest line of a call."""

TOP = """# Reference

Every public name. `import butfor as bf` loads none of them until it is used.
"""


def page() -> str:
    """The whole page."""
    parts = [TOP]
    for group, names in GROUPS.items():
        parts.append(f"## {group}")
        for name in names:
            parts += entry(f"bf.{name}", getattr(butfor, name))
    for group, room in ROOMS.items():
        parts += [f"## {group}", inspect.getdoc(room) or ""]
        for name in room.__all__:
            parts += entry(f"{room.__name__.replace('butfor', 'bf', 1)}.{name}", getattr(room, name))
    parts += ["## Coming from elsewhere", inspect.getdoc(compat.dice) or ""]
    for name in compat.dice.__all__:
        parts += entry(f"bf.compat.dice.{name}", getattr(compat.dice, name))
    parts.append("## Built-in data")
    for function in (loans.load, loans.pipeline):
        parts += entry(f"butfor.datasets.loans.{function.__name__}", function)
    return "\n\n".join(parts) + "\n"


def entry(title: str, thing: Any, depth: int = 3) -> Iterator[str]:
    """A heading, the call, the docstring and, of a class, its public members."""
    yield f"{'#' * depth} {title}"
    if called(thing):
        yield f"```python\n{call(title, thing)}\n```"
    yield text(inspect.getdoc(thing) or "")
    if inspect.isclass(thing) and issubclass(thing, Enum):
        yield "\n".join(f"- `{member.name}`: {getattr(member, 'meaning', member.value)}" for member in thing)
    elif thing in (*WITH_METHODS, compat.dice.Dice, *ANSWERS):
        for name, member in members(thing):
            yield from entry(name, member, depth + 1)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The documented methods and properties that a class of ours defines or inherits, without those that Python defines."""
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        for name, member in vars(base).items() if base.__module__.startswith("butfor") else ():
            plain = getattr(member, "__func__", member)
            if not name.startswith("_") and (called(plain) or isinstance(plain, property | cached_property)):
                found.setdefault(name, plain)
    yield from found.items()


def called(thing: Any) -> bool:
    """Whether a user calls it: functions, and classes that a user makes objects of."""
    return inspect.isfunction(thing) or (inspect.isclass(thing) and not issubclass(thing, ANSWERS))


def call(title: str, thing: Any) -> str:
    """A call with its parameters and their defaults, on a line each if it is long.

    The types stand in the code and in the text.
    """
    parts: list[str] = []
    for parameter in inspect.signature(thing).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        parts.append(str(parameter.replace(annotation=parameter.empty)))
    line = f"{title}({', '.join(parts)})"
    return line if len(line) <= LINE else f"{title}(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def text(docstring: str) -> str:
    """A docstring as Markdown: its examples become blocks."""
    return re.sub(r"^(>>> .*(?:\n.+)*)", r"```pycon\n\1\n```", docstring, flags=re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """MkDocs calls this with the pages that it found."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, PAGE, content=page()))
    return files
