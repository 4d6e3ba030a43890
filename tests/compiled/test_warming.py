"""`butfor warm` compiles everything: afterwards no question compiles."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from butfor.compiled.ahead import uncompiled
from butfor.compiled.searches import SEARCHES, search_of
from tests.sources import modules

SOURCE = Path(__file__).resolve().parents[2] / "src"
MARKS = ("kernel", "part", "inlined", "numba.njit")


def marks(function: ast.FunctionDef) -> list[str]:
    return [ast.unparse(one).split("(")[0] for one in function.decorator_list]


@cache
def kernels() -> dict[str, set[str]]:
    """The compiled functions that Python may call, by search."""
    found: dict[str, set[str]] = {search: set() for search in SEARCHES}
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and {"kernel", "numba.njit"} & {*marks(node)}:
                found[search_of(name)].add(node.name)
    return found


@cache
def called_by_python() -> dict[str, set[str]]:
    """The names that functions of plain Python call, by search. `kernels.search(...)` calls `search`."""
    found: dict[str, set[str]] = {search: set() for search in SEARCHES}
    for name, tree in modules().items():
        if not name.startswith(tuple(SEARCHES)):
            continue
        plain = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and {*MARKS} & {*marks(node)})]
        calls = (call.func for node in plain for call in ast.walk(node) if isinstance(call, ast.Call))
        found[search_of(name)] |= {getattr(one, "attr", getattr(one, "id", "")) for one in calls}
    return found


@pytest.mark.parametrize("search", SEARCHES)
def test_the_shares_name_every_kernel_that_python_calls(search) -> None:
    named = {kernel for share in SEARCHES[search].shares for kernel in share}
    assert named <= kernels()[search], "each is a kernel"
    called = kernels()[search] & called_by_python()[search]
    assert called <= named
    assert sum(map(len, SEARCHES[search].shares)) == len(named), "no kernel is compiled twice"


def compiled_functions() -> list[str]:
    """Every function that is compiled, also as a part of a kernel."""
    return [
        f"{name}.{node.name}"
        for name, tree in modules().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and {*MARKS} & {*marks(node)}
    ]


def test_a_kernel_is_made_of_its_own_package() -> None:
    """All files of a package count when its compiled code is looked for. Of other packages, only types are known."""
    functions = {path: path.rpartition(".") for path in compiled_functions()}
    homes = {(module, name): search_of(module) for module, _, name in functions.values()}
    elsewhere = [
        f"{module} takes {node.module}.{alias.name}"
        for module in {module for module, _ in homes}
        for node in ast.walk(modules()[module])
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if homes.get((str(node.module), alias.name), search_of(module)) != search_of(module)
    ]
    assert elsewhere == []


QUICK = ("butfor.solvers.ensemble", "butfor.solvers.linear", "butfor.model")
"""The searches whose examples run as plain Python in the short run."""

CALLED = """
import sys
from butfor.compiled.kernel import compile_only
compile_only(frozenset())
from butfor.warming.examples import SMALL_PROBLEMS
called, search, compiled = set(), sys.argv[1], {*sys.argv[2:]}
def place(frame):
    return f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"
def note(frame, event, argument):
    if event == "call" and place(frame) in compiled and place(frame).startswith(search):
        if place(frame.f_back) not in compiled:
            called.add(frame.f_code.co_name)
sys.setprofile(note)
SMALL_PROBLEMS[search]()
sys.setprofile(None)
print(*called)
"""


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    "search",
    [
        search if search in QUICK else pytest.param(search, marks=pytest.mark.long)
        for search in SEARCHES
        if search != "butfor.trees.tao"  # it is compiled without a word of butfor, and never runs as Python
    ],
)
def test_the_example_of_a_search_calls_all_of_its_kernels(search) -> None:
    """Here as plain Python, from plain Python. What it never calls would be compiled inside a question."""
    command = [sys.executable, "-W", "ignore", "-c", CALLED, search, *compiled_functions()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    named = {kernel for share in SEARCHES[search].shares for kernel in share}
    assert named <= {*done.stdout.split()}


def test_a_share_that_leaves_a_kernel_out_is_told() -> None:
    assert uncompiled("butfor.solvers.tree", ("no_such_kernel",)) == ["no_such_kernel"]


LISTENING = """
from numba.core import event
compiled = []

class Listener(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("butfor"):
            compiled.append(f"{function.__module__}.{function.__name__}")
    def on_end(self, event):
        pass

event.register("numba:compile", Listener())
"""
"""The beginning of a process that notes what it compiles."""


CONTRACT = """
import sys
import numpy as np
from sklearn.ensemble import RandomForestClassifier
import butfor as bf
from butfor.model.questions import evaluate
from butfor.solvers.solver import Budget
from butfor.trees import TAOClassifier
from tests.solvers import test_contract

asked = 0
for name, contract in vars(test_contract).items():
    if name.startswith("Test") and not name.startswith("TestMilp"):
        one = contract()
        for _, problem in one.problems(one.seeds[: int(sys.argv[1])]):
            evaluate(problem.model, problem.factuals)
            one.solver.solve(problem, Budget())
            asked += 1
X = np.random.default_rng(0).normal(size=(400, 6))
y = X[:, 0] + X[:, 1] * X[:, 2] > 0
for model in (RandomForestClassifier(60, max_depth=7, random_state=0), TAOClassifier(3, alpha=1.5, max_iter=2, random_state=0)):
    explainer = bf.Explainer(model.fit(X, y), data=X)
    for cost in ("L1", "L2", "L0", "LInf"):
        explainer.explain(X[:2], cost=cost, time_limit=30)
    explainer.explain(X[:1], constraints=[bf.robust(0.02)], time_limit=30)  # its search zooms in
print(asked, *compiled)
"""


EVERY_SEARCH = """
import numpy as np
import butfor as bf
from butfor.trees import TAOClassifier
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

X = np.random.default_rng(0).normal(size=(300, 5))
X.flags.writeable = False  # as pandas hands out what it holds
y = X[:, 0] + X[:, 1] * X[:, 2] > 0
models = (
    DecisionTreeClassifier(max_depth=4), LogisticRegression(), RandomForestClassifier(30, max_depth=4, random_state=0),
    GradientBoostingClassifier(n_estimators=20), TAOClassifier(2, alpha=1.5, max_iter=2, random_state=0),
)
for model in models:
    explainer = bf.Explainer(model.fit(X, y), data=X)
    for cost in ("L1", "L2"):
        explainer.explain(X[:2], cost=cost)
    answer = explainer.explain(X[:1]).only
    for point in (answer.point, answer.factual):
        explainer.explain(point, constraints=[bf.robust(0.01)], time_limit=30)
    if not isinstance(model, TAOClassifier):
        explainer.trade_off(X[:1], against="radius", time_limit=5)
bf.Explainer(bf.black_box(models[1].predict_proba, classes=[False, True]), data=X).explain(X[:2])
print(len(models), *compiled)
"""


def environment(place: Path) -> dict[str, str]:
    """That of a process with this cache."""
    path = os.pathsep.join([str(SOURCE.parent), *filter(None, sys.path)])
    return {**os.environ, "NUMBA_CACHE_DIR": str(place), "PYTHONPATH": path}


@pytest.fixture
def warmed(tmp_path) -> Path:
    """A cache of what `butfor warm` compiles, and nothing else. `make test` has made one before it began."""
    place = tmp_path / "warmed"
    if "WARMED" in os.environ:
        shutil.copytree(os.environ["WARMED"], place)
        return place
    done = subprocess.run(
        [sys.executable, "-m", "butfor", "warm"], capture_output=True, text=True, check=False, env=environment(place)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"Everything is compiled and kept in {place}.\n"
    return place


def asked_and_compiled(code: str, place: Path, *words: str) -> tuple[int, list[str]]:
    """How much a process asked, and what it compiled."""
    command = [sys.executable, "-c", LISTENING + code, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment(place), cwd=SOURCE.parent
    )
    assert (done.returncode, done.stderr) == (0, "")
    asked, *compiled = done.stdout.split()
    return int(asked), compiled


@pytest.mark.long
@pytest.mark.slow
def test_after_warm_no_search_compiles(warmed) -> None:
    assert asked_and_compiled(EVERY_SEARCH, warmed) == (5, [])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seeds", [2, 25])
def test_after_warm_no_question_of_the_solvers_contract_compiles(warmed, seeds) -> None:
    asked, compiled = asked_and_compiled(CONTRACT, warmed, str(seeds))
    assert asked > 8 * seeds
    assert compiled == []
