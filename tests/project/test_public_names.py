"""What is public is documented, what is documented is public, and `import butfor` loads nothing that it need not."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest

import butfor
from butfor.experimental import NOTE
from tests.doc_scripts import doc_script

HEAVY = ("sklearn", "scipy", "numba", "highspy", "matplotlib", "typer", "rich", "narwhals")
EXTRAS = (
    "pandas", "polars", "pyarrow", "hypothesis", "pytest", "mkdocs", "torch", "onnx", "onnxruntime", "skorch",
)  # fmt: skip


def loaded_after(code: str) -> set[str]:
    """The outside libraries that are loaded once a fresh process has run `code`."""
    told = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return {*HEAVY, *EXTRAS} & set(json.loads(done.stdout))


def test_public_names_are_documented_names() -> None:
    headings = re.findall(r"^### bf\.(\w+)$", doc_script("reference").page(), re.MULTILINE)
    assert sorted(headings) == sorted(butfor.__all__)


@pytest.mark.parametrize("name", butfor.__all__)
def test_every_public_name_says_what_it_is_for(name: str) -> None:
    thing = getattr(butfor, name)
    said = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    assert said
    assert not said.startswith(f"{name}("), "a docstring that dataclass made up"


def classes_in(hint: Any) -> Iterator[type]:
    """The classes of butfor in a type."""
    if inspect.isclass(hint) and hint.__module__.startswith("butfor"):
        yield hint
    for part in get_args(hint):
        yield from classes_in(part)


def returned_by(kind: type) -> Iterator[type]:
    """The classes of butfor that the public methods and properties of a class return."""
    for base in kind.__mro__:
        for name, member in vars(base).items() if base.__module__.startswith("butfor") else ():
            plain = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
            if not name.startswith("_") and inspect.isfunction(plain):
                yield from classes_in(get_type_hints(plain).get("return"))


def test_what_methods_return_has_a_public_name() -> None:
    seen: set[type] = set()
    found = [
        butfor.Explainer,
        *(one for call in (butfor.check, butfor.load) for one in classes_in(get_type_hints(call)["return"])),
    ]
    while found:
        kind = found.pop()
        found += [one for one in returned_by(kind) if one not in {*seen, kind}]
        seen.add(kind)
    hidden = {kind.__name__ for kind in seen if getattr(butfor, kind.__name__, None) is not kind}
    assert len(seen) > 20
    assert hidden == {"Reading", "Words"}, "what was read is experimental, and so is what was said in words"


def test_the_reference_shows_methods_and_examples() -> None:
    page = doc_script("reference").page()
    assert "#### explain\n\n```python\nexplain(\n    X,\n    target=None,\n    *,\n" in page
    assert "```pycon\n>>> fixed(" in page
    assert "- `PROVEN_OPTIMAL`: " in page


def test_what_is_younger_than_a_release_says_so() -> None:
    packages = (butfor.compress, butfor.groups, butfor.compat.dice)
    rooms = [getattr(room, name) for room in packages for name in room.__all__]
    young = [*rooms, butfor.TradeOff, butfor.Best, butfor.Explainer.trade_off, butfor.Explainer.best]
    assert len(young) > 25
    assert [thing for thing in young if NOTE not in thing.__doc__] == []


def test_dir_lists_public_names() -> None:
    assert set(butfor.__all__) <= set(dir(butfor))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        butfor.nonsense  # noqa: B018


def test_import_loads_nothing_heavy() -> None:
    assert loaded_after("import butfor") == set()


@pytest.mark.long
def test_reading_a_perceptron_loads_no_other_network_library() -> None:
    code = """
import numpy as np, butfor as bf
from sklearn.neural_network import MLPClassifier
X = np.random.default_rng(0).normal(size=(60, 2))
model = MLPClassifier((3,), solver="lbfgs", max_iter=500, random_state=0).fit(X, X[:, 0] > 0)
bf.Explainer(model, data=X)
"""
    assert not {"torch", "onnx", "onnxruntime", "skorch"} & loaded_after(code)


def test_explaining_arrays_needs_no_extra() -> None:
    code = f"""
import sys
class Absent:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import numpy as np, butfor as bf
from sklearn.tree import DecisionTreeClassifier
X = np.arange(20.0).reshape(10, 2)
tree = DecisionTreeClassifier().fit(X, X[:, 0] > 8)
answer = bf.Explainer(tree, data=X).explain(X[:1])
assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL, answer
repr(answer)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
